//! A run on a server that is there already.

use protocol::ModelRef;

use super::{Target, create, resume};
use crate::cli::RunArguments;
use crate::exit::Failure;
use crate::remote;
use crate::run::folder;
use crate::settings::Settings;

pub(super) async fn choose(
    settings: &Settings,
    arguments: &RunArguments,
    server: &str,
) -> Result<Target, Failure> {
    let client = remote::connect(server).await?;
    let model = arguments.model.clone().map(ModelRef::from);
    let (query, cwd) = (arguments.session.as_deref(), folder(&settings.cwd));
    match remote::session(client.as_ref(), query, arguments.continue_latest, &cwd).await? {
        None => create(client, settings, arguments, model).await,
        Some(session) => resume(client, session, arguments, model).await,
    }
}

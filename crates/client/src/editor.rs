//! Being the editor of a session: doing each request once, whatever becomes of the connection.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt;
use protocol::{HostAccepted, HostAnswer, HostCall, HostOffer, SessionId};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::{Client, ClientError};

/// Something with files, terminals or diagnostics of its own.
#[async_trait]
pub trait Editor: Send + Sync + 'static {
    /// Does it. Several may be under way at once.
    async fn call(&self, call: HostCall) -> HostAnswer;
}

/// Makes an offer and does what is asked, until the session is closed or the connection given up.
///
/// A request that comes again, because the connection was lost before its answer arrived, is answered again and not done
/// again. `accepted` hears what of the offer was taken.
pub async fn serve_editor(
    client: Arc<dyn Client>,
    session: SessionId,
    offer: HostOffer,
    editor: Arc<dyn Editor>,
    accepted: oneshot::Sender<HostAccepted>,
) -> Result<(), ClientError> {
    let (taken, mut requests) = client.offer_host(session.clone(), offer).await?;
    // Nobody may want to know.
    let _ = accepted.send(taken);
    let mut known: HashMap<u64, Option<HostAnswer>> = HashMap::new();
    let mut doing: JoinSet<(u64, HostAnswer)> = JoinSet::new();
    let mut telling: JoinSet<(u64, Result<(), ClientError>)> = JoinSet::new();
    let tell = |telling: &mut JoinSet<_>, request: u64, answer: HostAnswer| {
        let (client, session) = (client.clone(), session.clone());
        telling.spawn(async move { (request, client.answer_host(session, request, answer).await) });
    };
    loop {
        tokio::select! {
            request = requests.next() => match request {
                None => return Ok(()),
                Some(Err(error)) => return Err(error),
                Some(Ok(request)) => match known.get(&request.request) {
                    Some(Some(answer)) => tell(&mut telling, request.request, answer.clone()),
                    // It is being done.
                    Some(None) => {}
                    None => {
                        known.insert(request.request, None);
                        let editor = editor.clone();
                        doing.spawn(async move { (request.request, editor.call(request.call).await) });
                    }
                },
            },
            Some(Ok((request, answer))) = doing.join_next() => {
                known.insert(request, Some(answer.clone()));
                tell(&mut telling, request, answer);
            }
            Some(Ok((request, told))) = telling.join_next() => {
                // What arrived is never asked for again; what did not is asked for again and told again.
                if told.is_ok() {
                    known.remove(&request);
                }
            }
        }
    }
}

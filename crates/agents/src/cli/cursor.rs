mod reader;

use futures::FutureExt;
use futures::future::BoxFuture;
use protocol::Mode;
use tokio_util::sync::CancellationToken;

use super::per_turn::{Asked, By, Ended, catalogued, through_program};
use crate::fleet::{Post, Trouble};
use reader::Reader;

pub(super) fn run<'a>(
    post: &'a Post,
    asked: Asked<'a>,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<Ended, Trouble>> {
    async move {
        let mut args = Vec::new();
        if let Some(mode) = post.known.mode(asked.turn.mode) {
            args.extend(["--mode".to_owned(), mode.to_owned()]);
        }
        // Its process runs inside our walls, and asks nobody: force is what lets it act at all.
        if !post.known.only_looks(asked.turn.mode) && asked.turn.mode >= Mode::Auto {
            args.push("--force".to_owned());
        }
        args.extend(catalogued(post, &asked).await);
        args.push("--".to_owned());
        through_program::<Reader>(post, asked, args, By::Argument, cancel).await
    }
    .boxed()
}

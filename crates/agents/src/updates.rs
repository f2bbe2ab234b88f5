//! Writing an agent as one async function that reports as it goes.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{BoxStream, Stream, StreamExt};
use protocol::Update;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Enough that a burst of deltas does not stall the reader of a socket, little enough to bound memory.
const BUFFER: usize = 256;

/// Where a running turn sends its updates.
#[derive(Clone)]
pub struct Reporter(mpsc::Sender<Update>);

impl Reporter {
    /// Hands one update over. When nobody listens any more the turn is about to be dropped, so that is no error.
    pub async fn send(&self, update: Update) {
        let _ = self.0.send(update).await;
    }

    /// Hands one update over if there is room; for what the next one says better.
    pub fn try_send(&self, update: Update) {
        let _ = self.0.try_send(update);
    }
}

/// Runs `work` as a task of its own and streams what it reports. Dropping the stream ends the task; a panic in it ends
/// the stream without `Done`, and nothing else.
pub fn report<F>(work: impl FnOnce(Reporter) -> F) -> BoxStream<'static, Update>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, updates) = mpsc::channel(BUFFER);
    let task = tokio::spawn(work(Reporter(sender)));
    Reports { updates, task }.boxed()
}

struct Reports {
    updates: mpsc::Receiver<Update>,
    task: JoinHandle<()>,
}

impl Stream for Reports {
    type Item = Update;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Update>> {
        self.updates.poll_recv(cx)
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        self.task.abort();
    }
}

//! Editors that offer to do what the tools of a session want done.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt};
use protocol::{EventBody, HostAccepted, HostAnswer, HostOffer, HostRequest, Notice, NoticeLevel, SessionId};

use super::Engine;
use crate::EngineError;
use crate::editor::{BACK_WITHIN, Line, OfferRefused, Requests};
use crate::session::{SessionOp, Watched};

impl Engine {
    /// Takes an editor's offer, or takes up again with one that lost its connection. The stream is what it has to do; when
    /// it is dropped the editor counts as away.
    pub async fn offer_host(
        &self,
        session: SessionId,
        offer: HostOffer,
    ) -> Result<(HostAccepted, BoxStream<'static, HostRequest>), EngineError> {
        let handle = self.handle(&session).await?;
        let name = offer.name.clone();
        let refused = |refusal: OfferRefused| EngineError::Refused {
            hint: matches!(refusal, OfferRefused::Taken(_))
                .then(|| "close the session there first, or open another one".to_owned()),
            message: refusal.to_string(),
        };
        let (accepted, requests, is_new) = handle.editor.offer(offer).map_err(refused)?;
        if is_new {
            let text = format!("{} in {name} from here on", what_of(&accepted));
            self.say_where(&session, text).await;
        }
        let listening = Listening {
            requests,
            watched: handle.watched(),
            _farewell: Farewell { engine: self.clone(), session, line: handle.editor.clone(), name },
        };
        let stream = futures::stream::unfold(listening, |mut listening| async move {
            let request = tokio::select! {
                request = listening.requests.next() => request?,
                () = listening.watched.closed() => return None,
            };
            Some((request, listening))
        });
        Ok((accepted, stream.boxed()))
    }

    /// Takes an editor's answer. One that was given before changes nothing.
    pub async fn answer_host(
        &self,
        session: SessionId,
        request: u64,
        answer: HostAnswer,
    ) -> Result<(), EngineError> {
        self.handle(&session).await?.editor.answer(request, answer);
        Ok(())
    }

    /// Says in the log where tools act: later nobody could tell.
    async fn say_where(&self, session: &SessionId, text: String) {
        let body = Box::new(EventBody::Notice(Notice { level: NoticeLevel::Info, text }));
        // A log that can not be written says so by itself.
        let _ =
            self.ask(session.clone(), SessionOp::Note { body, idle: false, changes_history: false }).await;
    }
}

fn what_of(accepted: &HostAccepted) -> String {
    let parts =
        [(accepted.files, "files"), (accepted.terminal, "programs"), (accepted.diagnostics, "diagnostics")];
    let taken: Vec<&str> = parts.iter().filter(|(is_taken, _)| *is_taken).map(|(_, name)| *name).collect();
    if taken.is_empty() { "nothing".to_owned() } else { taken.join(", ") }
}

struct Listening {
    requests: Requests,
    watched: Watched,
    _farewell: Farewell,
}

/// Notes that an editor is gone, when it does not come back.
struct Farewell {
    engine: Engine,
    session: SessionId,
    line: Arc<Line>,
    name: String,
}

impl Drop for Farewell {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (engine, session, line, name) =
            (self.engine.clone(), self.session.clone(), self.line.clone(), self.name.clone());
        runtime.spawn(async move {
            // A little longer than it may stay away, so that it is then decided.
            tokio::time::sleep(BACK_WITHIN + Duration::from_secs(1)).await;
            let is_open = engine.inner.open.lock().await.get(&session).is_some_and(|open| open.is_open());
            if line.gave_up() && is_open {
                engine.say_where(&session, format!("{name} is gone; tools act on this machine again")).await;
            }
        });
    }
}

//! A turn that is to end: why, and how long its agent may take.

use std::time::Duration;

use protocol::{Stop, StopCause};
use tokio::time::Instant;

use crate::telling::End;

/// How long a cancelled agent may take to end its turn; a session waits two seconds.
const CANCELLING: Duration = Duration::from_millis(1500);

/// Nothing as long as nobody wants it to end.
#[derive(Debug, Default)]
pub(crate) struct Stopping(Option<(Instant, Stop, Option<StopCause>)>);

impl Stopping {
    pub(crate) fn has_begun(&self) -> bool {
        self.0.is_some()
    }

    pub(crate) fn begin(&mut self, stop: Stop, cause: Option<StopCause>) {
        self.0 = Some((Instant::now() + CANCELLING, stop, cause));
    }

    /// Waits until its agent does not listen; for ever as long as nothing has begun.
    pub(crate) async fn over(&self) {
        match self.0 {
            Some((deadline, ..)) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    }

    /// How a turn that its agent ended did end: as it says, unless somebody had stopped it.
    pub(crate) fn ended(&self, stop: Stop, cause: Option<StopCause>) -> End {
        let (stop, cause) = self.0.map_or((stop, cause), |(_, stop, cause)| (stop, cause));
        End { stop, cause, clean: true }
    }

    /// How a turn ends whose agent did not listen.
    pub(crate) fn forced(&self) -> End {
        End { clean: false, ..self.ended(Stop::Cancelled, None) }
    }
}

//! What an agent keeps between turns, and lets go of when nothing happens for long.
//!
//! Nothing happens as long as nobody asks it anything and nothing that it started computes: a build in the background is
//! waited for.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::roll::{OnRoll, Working};

/// After how long one that has been idle for long, and builds something, is looked at again.
const AGAIN: Duration = Duration::from_secs(30);

/// Something that runs, works and rests.
pub(crate) trait Rests: Send + 'static {
    fn on_roll(&self) -> &Arc<OnRoll>;

    /// Held as long as it works.
    fn working(&mut self) -> &mut Option<Working>;
}

/// Something that a turn takes, and brings back if it ends well.
pub(crate) struct Kept<T> {
    kept: Arc<Mutex<Option<T>>>,
    idle: Duration,
    again: Duration,
    timer: std::sync::Mutex<Option<JoinHandle<()>>>,
}

impl<T: Rests> Kept<T> {
    pub(crate) fn new(idle: Duration) -> Self {
        Self { kept: Arc::default(), idle, again: AGAIN, timer: std::sync::Mutex::default() }
    }

    pub(crate) fn is_there(&self) -> bool {
        // Whoever holds it just now takes it or brings it back.
        self.kept.try_lock().map_or(true, |kept| kept.is_some())
    }

    pub(crate) async fn take(&self) -> Option<T> {
        self.wind(None);
        let mut kept = self.kept.lock().await.take()?;
        let working = kept.on_roll().work();
        *kept.working() = Some(working);
        Some(kept)
    }

    pub(crate) async fn bring_back(&self, mut kept: T) {
        *kept.working() = None;
        let place = Arc::downgrade(kept.on_roll());
        *self.kept.lock().await = Some(kept);
        let (weak, idle, again) = (Arc::downgrade(&self.kept), self.idle, self.again);
        self.wind(Some(tokio::spawn(async move {
            tokio::time::sleep(idle).await;
            while let Some(place) = place.upgrade() {
                if !place.is_building().await {
                    place.leaves();
                    break;
                }
                tokio::time::sleep(again).await;
            }
            if let Some(kept) = weak.upgrade() {
                kept.lock().await.take();
            }
        })));
    }

    fn wind(&self, timer: Option<JoinHandle<()>>) {
        let mut slot = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(old) = std::mem::replace(&mut *slot, timer) {
            old.abort();
        }
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        let slot = self.timer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(timer) = slot.take() {
            timer.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Roll;
    use protocol::AgentId;

    struct Resting {
        place: Arc<OnRoll>,
        working: Option<Working>,
    }

    impl Rests for Resting {
        fn on_roll(&self) -> &Arc<OnRoll> {
            &self.place
        }

        fn working(&mut self) -> &mut Option<Working> {
            &mut self.working
        }
    }

    fn resting(roll: &Arc<Roll>) -> Resting {
        // A process that is not there has nothing that computes.
        let place = roll.enter(&AgentId::new("a"), u32::MAX, std::path::Path::new("/"));
        place.is_ready();
        Resting { place, working: None }
    }

    #[tokio::test]
    async fn who_is_asked_stays_and_who_is_not_asked_for_long_is_let_go() {
        let roll = Arc::new(Roll::default());
        let kept = Kept::new(Duration::from_secs(3600));
        kept.bring_back(resting(&roll)).await;
        assert!(kept.take().await.is_some());
        // The time counts from when it was brought back, and here there is none.
        let kept = Kept::new(Duration::ZERO);
        kept.bring_back(resting(&roll)).await;
        while kept.kept.lock().await.is_some() {
            tokio::task::yield_now().await;
        }
        assert!(kept.take().await.is_none());
    }

    #[tokio::test]
    async fn who_builds_something_is_kept_until_it_is_built() {
        let roll = Arc::new(Roll::default());
        let mut agent = std::process::Command::new("sh")
            .args(["-c", "read go; while :; do :; done & echo begun; read enough; kill $!; wait; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = agent.stdin.take().unwrap();
        let mut say = |line: &[u8]| std::io::Write::write_all(&mut input, line).unwrap();
        let place = roll.enter(&AgentId::new("a"), agent.id(), std::path::Path::new("/"));
        place.is_ready();
        // From here on what computes is a build.
        say(b"go\n");
        let mut begun = [0; 5];
        std::io::Read::read_exact(agent.stdout.as_mut().unwrap(), &mut begun).unwrap();
        let mut kept = Kept::new(Duration::ZERO);
        kept.again = Duration::ZERO;
        kept.bring_back(Resting { place: place.clone(), working: None }).await;
        // Its time is over, and it was looked at as often as here.
        for _ in 0..2 {
            assert!(place.is_building().await);
        }
        assert!(kept.is_there());
        say(b"enough\n");
        while kept.is_there() {
            tokio::task::yield_now().await;
        }
        say(b"leave\n");
        agent.wait().unwrap();
    }
}

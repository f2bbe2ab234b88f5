//! Leaving while an agent of another maker still builds something: that is waited for, unless somebody is in a hurry.

use std::time::Duration;

use engine::Engine;

/// No build is waited for longer than this.
const MOST: Duration = Duration::from_secs(30 * 60);

/// Waits as long as something computes under an agent. `tell` says once what is waited for.
pub(crate) async fn builds_end(engine: &Engine, mut tell: impl FnMut(&str)) {
    let waiting = async {
        let mut told = false;
        loop {
            let builds = engine.builds().await;
            let Some(first) = builds.first() else { return };
            if !std::mem::replace(&mut told, true) {
                let what = first.what.join(", ");
                tell(&format!(
                    "`{}` still runs {what}; waiting for that, Ctrl-C leaves at once",
                    first.agent
                ));
            }
        }
    };
    // Whatever takes longer is no build.
    let _ = tokio::time::timeout(MOST, waiting).await;
}

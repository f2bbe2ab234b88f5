//! What is known of the routes, in this process and from the ones before.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::ModelRef;
use serde::{Deserialize, Serialize};

use super::breaker::{Blame, Breaker, Condition};

/// More than this in the file is not ours.
const MAX_FILE: u64 = 1 << 20;

/// The breakers of all routes. One for a process, shared by its routers.
///
/// Kept in a file so that the next process does not knock at the same closed door; losing it costs nothing.
pub struct Health {
    file: Option<PathBuf>,
    routes: Mutex<Option<Routes>>,
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
}

type Routes = BTreeMap<String, Known>;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    breaker: Breaker,
    fingerprint: String,
    /// Milliseconds to the first event, smoothed.
    latency_ms: Option<f64>,
}

/// A route for people to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RouteStatus {
    pub model: ModelRef,
    #[serde(flatten)]
    pub condition: Condition,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
}

impl Health {
    /// Remembered for as long as the process lives.
    pub fn in_memory() -> Self {
        Self { file: None, routes: Mutex::new(Some(Routes::new())), clock: Box::new(system_clock) }
    }

    /// Remembered in this file, which is read when first needed.
    pub fn at(file: PathBuf) -> Self {
        Self { file: Some(file), routes: Mutex::new(None), clock: Box::new(system_clock) }
    }

    /// With another clock, in milliseconds since 1970: tests do not wait.
    pub fn with_clock(mut self, clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        self.clock = Box::new(clock);
        self
    }

    pub fn now(&self) -> i64 {
        (self.clock)()
    }

    /// Every route that was ever in trouble or in use.
    pub fn status(&self) -> Vec<RouteStatus> {
        let now = self.now();
        let status = |(model, known): (&String, &Known)| RouteStatus {
            model: ModelRef::new(model),
            condition: known.breaker.condition(now),
            reason: known.breaker.reason().map(str::to_owned),
            latency_ms: known.latency_ms.map(|latency| latency as u64),
        };
        self.with(|routes| routes.iter().map(status).collect())
    }

    /// Whether a route may be asked now. The caller reports what came of it.
    pub(super) fn admit(&self, model: &ModelRef, fingerprint: &str) -> bool {
        let now = self.now();
        self.change(model, fingerprint, |known| known.breaker.admit(now))
    }

    /// In how many milliseconds a route may be asked again; none if only new settings help.
    pub(super) fn free_in(&self, model: &ModelRef, fingerprint: &str) -> Option<i64> {
        let now = self.now();
        self.change(model, fingerprint, |known| known.breaker.free_at(now)).map(|at| at.saturating_sub(now))
    }

    /// What a route looks like now.
    pub(super) fn condition(&self, model: &ModelRef, fingerprint: &str) -> Condition {
        let now = self.now();
        self.change(model, fingerprint, |known| known.breaker.condition(now))
    }

    /// How often a route failed lately, and its milliseconds to the first event.
    pub(super) fn record(&self, model: &ModelRef, fingerprint: &str) -> (usize, Option<f64>) {
        let now = self.now();
        self.change(model, fingerprint, |known| (known.breaker.recent_failures(now), known.latency_ms))
    }

    pub(super) fn reason(&self, model: &ModelRef) -> Option<String> {
        self.with(|routes| routes.get(model.as_str())?.breaker.reason().map(str::to_owned))
    }

    pub(super) fn succeeded(&self, model: &ModelRef, fingerprint: &str, latency_ms: i64) {
        self.change(model, fingerprint, |known| {
            known.breaker.succeeded();
            // A clock that went back measures nothing.
            if let Ok(latency) = u32::try_from(latency_ms) {
                let latency = f64::from(latency);
                known.latency_ms = Some(known.latency_ms.map_or(latency, |old| old * 0.8 + latency * 0.2));
            }
        });
    }

    /// Writes down how quick a route is, if the file does not say about the same: for routes that are chosen by it.
    pub(super) fn keep_latency(&self, model: &ModelRef) {
        let mut guard = self.lock();
        let known = guard.get_or_insert_with(|| self.load()).get(model.as_str()).cloned();
        let Some(known) = known.filter(|known| known.latency_ms.is_some()) else { return };
        let written = self.load().get(model.as_str()).and_then(|known| known.latency_ms);
        let about_the_same = known.latency_ms.zip(written).is_some_and(|(now, written)| {
            let (less, more) = (now.min(written), now.max(written));
            more <= less * 1.25
        });
        if !about_the_same {
            self.save(model, known);
        }
    }

    pub(super) fn abandoned(&self, model: &ModelRef, fingerprint: &str) {
        self.change(model, fingerprint, |known| known.breaker.abandoned());
    }

    pub(super) fn failed(&self, model: &ModelRef, fingerprint: &str, blame: Blame, reason: &str) {
        let now = self.now();
        self.change(model, fingerprint, |known| known.breaker.failed(blame, reason, now));
    }

    fn change<T>(&self, model: &ModelRef, fingerprint: &str, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut guard = self.lock();
        let routes = guard.get_or_insert_with(|| self.load());
        let known = routes.entry(model.as_str().to_owned()).or_default();
        if known.fingerprint != fingerprint {
            // New settings: what was held against the old ones no longer counts.
            *known = Known { fingerprint: fingerprint.to_owned(), ..Known::default() };
        }
        let before = known.breaker.clone();
        let result = change(known);
        // Every failure counts for the next process too; a route that is well is not worth a write.
        let trouble = before.is_troubled() || known.breaker.is_troubled();
        if trouble && known.breaker != before {
            let known = known.clone();
            self.save(model, known);
        }
        result
    }

    fn with<T>(&self, look: impl FnOnce(&Routes) -> T) -> T {
        let mut guard = self.lock();
        look(guard.get_or_insert_with(|| self.load()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Routes>> {
        // A panic while it was held left it as it was before or after one change: both are fine.
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load(&self) -> Routes {
        let Some(file) = &self.file else { return Routes::new() };
        let small =
            std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_FILE);
        let text = small.then(|| std::fs::read(file).ok()).flatten();
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Best effort: the next process would only learn it anew. What others wrote of other routes stays.
    fn save(&self, model: &ModelRef, known: Known) {
        let Some(file) = &self.file else { return };
        let mut routes = self.load();
        routes.insert(model.as_str().to_owned(), known);
        let Ok(text) = serde_json::to_vec(&routes) else { return };
        let part = file.with_extension(format!("{}.part", std::process::id()));
        if let Some(folder) = file.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        if std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, file)).is_err() {
            let _ = std::fs::remove_file(&part);
        }
    }
}

fn system_clock() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

//! What one program printed: cleaned, its two ends in memory, the whole in a file once it is long.

use protocol::CallId;

use super::bounded::Bounded;
use super::clean::Cleaner;
use super::spool::{MAX_SPOOL, Spool};
use super::tally::Tally;
use crate::Desk;

/// What the model sees of each end of a long output.
const SHOWN: usize = 12 * 1024;
/// What a person sees while it runs.
const LIVE: usize = 2 * 1024;

pub(crate) struct Capture {
    handle: String,
    cleaner: Cleaner,
    bounded: Bounded,
    spool: Spool,
    /// Counts tests on the way, if somebody wants to know.
    tally: Option<Tally>,
}

impl Capture {
    pub(crate) fn new(call: &CallId, desk: &dyn Desk) -> Self {
        Self::named(call.as_str(), SHOWN, desk)
    }

    /// Of one of several programs of a call. `shown` is for each end.
    pub(crate) fn named(handle: &str, shown: usize, desk: &dyn Desk) -> Self {
        Self {
            handle: handle.to_owned(),
            cleaner: Cleaner::default(),
            bounded: Bounded::new(shown),
            spool: Spool::new(&desk.outputs(), handle),
            tally: None,
        }
    }

    pub(crate) fn counting(self) -> Self {
        Self { tally: Some(Tally::default()), ..self }
    }

    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_ref()
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Self { cleaner, bounded, spool, tally, .. } = self;
        cleaner.push(bytes, |text| keep(bounded, spool, tally, text));
    }

    pub(crate) fn finish(&mut self) {
        let Self { cleaner, bounded, spool, tally, .. } = self;
        cleaner.finish(|text| keep(bounded, spool, tally, text));
    }

    /// All of it, or both ends and where the rest is.
    pub(crate) fn text(&self) -> String {
        let mut text = self.bounded.text(|missing| self.gap(missing));
        text.push_str(&String::from_utf8_lossy(self.cleaner.partial()));
        text
    }

    /// What came after the first `seen` bytes, as far as it is still at hand, and how much there is by now.
    pub(crate) fn since(&self, seen: u64) -> (String, u64) {
        let total = self.bounded.total();
        if seen == 0 {
            return (self.text(), total);
        }
        let new = total.saturating_sub(seen);
        let kept = self.bounded.last(usize::try_from(new).unwrap_or(usize::MAX).min(SHOWN));
        let missing = new - kept.len() as u64;
        let mut text = if missing > 0 { format!("{}\n", self.gap(missing)) } else { String::new() };
        text.push_str(&String::from_utf8_lossy(&kept));
        text.push_str(&String::from_utf8_lossy(self.cleaner.partial()));
        (text, total)
    }

    /// The end, for somebody who watches.
    pub(crate) fn live(&self) -> String {
        let partial = self.cleaner.partial();
        let partial = &partial[partial.len().saturating_sub(LIVE)..];
        let mut bytes = self.bounded.last(LIVE - partial.len());
        bytes.extend_from_slice(partial);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if self.bounded.total() > LIVE as u64
            && let Some(first) = text.find('\n').filter(|first| first + 1 < text.len())
        {
            text.drain(..=first);
        }
        text
    }

    fn gap(&self, missing: u64) -> String {
        let handle = &self.handle;
        match (self.spool.exists(), self.spool.is_cut()) {
            (true, false) => format!("… [{missing} bytes left out; `read` them at `output:{handle}`] …"),
            (true, true) => {
                let most = MAX_SPOOL >> 20;
                format!("… [{missing} bytes left out; the first {most} MB are at `output:{handle}`] …")
            }
            (false, _) => format!("… [{missing} bytes left out] …"),
        }
    }
}

/// The file begins only when memory no longer holds all of it; most output never needs one.
fn keep(bounded: &mut Bounded, spool: &mut Spool, tally: &mut Option<Tally>, text: &[u8]) {
    if let Some(tally) = tally {
        tally.push(text);
    }
    if bounded.is_cut() {
        spool.push(text);
    } else if bounded.would_be_cut(text.len()) {
        spool.push(&bounded.last(usize::MAX));
        spool.push(text);
    }
    bounded.push(text);
}

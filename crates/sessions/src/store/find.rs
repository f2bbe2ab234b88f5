//! Finding the session a person means.

use protocol::{SessionId, SessionSummary};

use super::{ListOptions, Store};
use crate::error::StoreError;

/// What a few characters or words may stand for.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    One(SessionId),
    /// Several fit; the newest first.
    Ambiguous(Vec<SessionSummary>),
    None,
}

impl Store {
    /// Finds a session by its id, the beginning of its id, or words of its title (all of them, in any case).
    pub fn find(&self, query: &str) -> Result<Found, StoreError> {
        let query = query.trim();
        if let Ok(id) = query.parse::<SessionId>() {
            return Ok(if self.exists(&id) { Found::One(id) } else { Found::None });
        }
        if query.is_empty() {
            return Ok(Found::None);
        }
        let looks_like_id = query.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        if looks_like_id {
            // A folder's name is enough for this: no metadata is read for one hit.
            let ids: Vec<_> =
                self.ids()?.into_iter().filter(|id| id.as_str().starts_with(&query.to_lowercase())).collect();
            match ids.as_slice() {
                [] => {}
                [id] => return Ok(Found::One(id.clone())),
                _ => return self.ambiguous(|summary| ids.contains(&summary.session)),
            }
        }
        let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
        self.ambiguous(|summary| {
            let title = summary.title.to_lowercase();
            words.iter().all(|word| title.contains(word.as_str()))
        })
    }

    fn ambiguous(&self, fits: impl Fn(&SessionSummary) -> bool) -> Result<Found, StoreError> {
        let mut candidates = self.list(&ListOptions::default())?.sessions;
        candidates.retain(fits);
        Ok(match candidates.as_slice() {
            [] => Found::None,
            [one] => Found::One(one.session.clone()),
            _ => Found::Ambiguous(candidates),
        })
    }

    /// The session that was used last, in this folder if one is given: for `--continue`.
    pub fn latest(&self, cwd: Option<&str>) -> Result<Option<SessionSummary>, StoreError> {
        let options = ListOptions { cwd: cwd.map(str::to_owned), limit: Some(1) };
        Ok(self.list(&options)?.sessions.into_iter().next())
    }
}

//! Which segments make up the index.

use serde::{Deserialize, Serialize};

/// Changes whenever what is written would be read wrongly by an older program, or ranked differently.
pub(crate) const FORMAT: u32 = 2;

/// The list of what is valid. It is replaced in one step, so an index is always in some state that was meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The folder this is the index of, for people who look.
    pub(crate) root: String,
    pub(crate) segments: Vec<SegmentEntry>,
    /// The number of the next segment.
    pub(crate) next: u64,
    /// When the tree was last looked at as a whole, in milliseconds.
    pub(crate) checked_ms: i64,
    /// Counts of what was left out, by reason.
    #[serde(default)]
    pub(crate) skipped: std::collections::BTreeMap<String, u64>,
    /// The model whose vectors are kept.
    #[serde(default)]
    pub(crate) model: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentEntry {
    pub(crate) name: String,
    /// Files in it that are gone or are in a newer segment.
    pub(crate) dead: Vec<u32>,
}

impl Manifest {
    pub(crate) fn new(root: String) -> Self {
        Self { format: FORMAT, root, ..Self::default() }
    }

    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let manifest: Self = serde_json::from_slice(bytes).ok()?;
        // Names are joined to the folder, so nothing else may be in them.
        let plain = |entry: &SegmentEntry| entry.name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (manifest.format == FORMAT && manifest.segments.iter().all(plain)).then_some(manifest)
    }
}

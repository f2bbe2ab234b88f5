//! What a provider wants back with its own words: taken out of a step for the log, and put back in from it.

use models::Block;
use protocol::{VerbatimItem, VerbatimKind};

/// The provider's data in the blocks of a step, with its place.
pub(super) fn extract(blocks: &[Block]) -> Vec<VerbatimItem> {
    let item = |(at, block): (usize, &Block)| {
        let (kind, data) = match block {
            Block::Replay(data) => (VerbatimKind::Block, data),
            Block::Thinking { text, replay: Some(data) } if text.is_empty() => (VerbatimKind::Thought, data),
            Block::Thinking { replay: Some(data), .. } => (VerbatimKind::Part, data),
            _ => return None,
        };
        Some(VerbatimItem { at: u32::try_from(at).ok()?, kind, data: data.clone() })
    };
    blocks.iter().enumerate().filter_map(item).collect()
}

/// The blocks of a step as they were, from those that people saw and the provider's data.
pub(super) fn restore(visible: impl Iterator<Item = Block>, mut items: Vec<VerbatimItem>) -> Vec<Block> {
    items.sort_by_key(|item| item.at);
    let mut items = items.into_iter().peekable();
    let mut visible = visible.peekable();
    let mut blocks = Vec::new();
    loop {
        let at = blocks.len() as u32;
        // When nothing visible is left, what remains stands at the end, wherever it says it was.
        let own = items.next_if(|item| item.at <= at || visible.peek().is_none());
        match own {
            Some(VerbatimItem { kind: VerbatimKind::Block, data, .. }) => blocks.push(Block::Replay(data)),
            Some(VerbatimItem { kind: VerbatimKind::Thought, data, .. }) => {
                blocks.push(Block::Thinking { text: String::new(), replay: Some(data) });
            }
            Some(VerbatimItem { kind: VerbatimKind::Part, data, .. }) => match visible.next() {
                Some(Block::Thinking { text, .. }) => {
                    blocks.push(Block::Thinking { text, replay: Some(data) })
                }
                // The log was changed by somebody; the words count more than the seal.
                other => blocks.extend(other),
            },
            None => match visible.next() {
                Some(block) => blocks.push(block),
                None => return blocks,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use models::ToolCall;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn block() -> impl Strategy<Value = Block> {
        let data = || prop::option::of("[a-z]{1,4}").prop_map(|text| text.map(|text| json!(text)));
        prop_oneof![
            "[a-z]{1,5}".prop_map(Block::Text),
            ("[a-z]{1,5}", data()).prop_map(|(text, replay)| Block::Thinking { text, replay }),
            "[a-z]{1,4}".prop_map(|text| Block::Thinking { text: String::new(), replay: Some(json!(text)) }),
            "[a-z]{1,4}".prop_map(|text| Block::Replay(json!(text))),
            "[a-z]{1,4}".prop_map(|id| Block::ToolCall(ToolCall {
                id,
                name: "read".into(),
                arguments: json!({})
            })),
        ]
    }

    /// What people see of a step: no data, and no thought without words.
    fn visible(blocks: &[Block]) -> Vec<Block> {
        let seen = blocks.iter().filter_map(|block| match block {
            Block::Replay(_) => None,
            Block::Thinking { text, .. } if text.is_empty() => None,
            Block::Thinking { text, .. } => Some(Block::Thinking { text: text.clone(), replay: None }),
            other => Some(other.clone()),
        });
        seen.collect()
    }

    proptest! {
        #[test]
        fn what_is_taken_out_can_be_put_back(blocks in prop::collection::vec(block(), 0..8)) {
            prop_assert_eq!(restore(visible(&blocks).into_iter(), extract(&blocks)), blocks);
        }

        #[test]
        fn a_log_that_makes_no_sense_loses_no_words(
            blocks in prop::collection::vec(block(), 0..6),
            items in prop::collection::vec((0u32..9, 0u8..3), 0..6),
        ) {
            let kind = |n| [VerbatimKind::Part, VerbatimKind::Block, VerbatimKind::Thought][n as usize];
            let items = items.into_iter().map(|(at, n)| VerbatimItem { at, kind: kind(n), data: json!(1) }).collect();
            let words = visible(&blocks);
            prop_assert_eq!(visible(&restore(words.clone().into_iter(), items)), words);
        }
    }
}

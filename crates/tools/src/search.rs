//! Finding a tool by what it does: BM25 over names and descriptions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::Tool;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A word in the name says more than one in the description.
const NAME_WEIGHT: u32 = 3;

/// A tool, how often it has each word, and how many it has.
type Known = (Arc<dyn Tool>, HashMap<String, u32>, u32);

pub(crate) struct Finder {
    tools: Vec<Known>,
    average: f64,
    /// In how many tools a word is.
    spread: HashMap<String, u32>,
}

impl Finder {
    pub(crate) fn new(tools: impl Iterator<Item = Arc<dyn Tool>>) -> Self {
        let mut spread: HashMap<String, u32> = HashMap::new();
        let mut total = 0;
        let tools: Vec<_> = tools
            .map(|tool| {
                let mut counts: HashMap<String, u32> = HashMap::new();
                for word in words(tool.name()) {
                    *counts.entry(word).or_default() += NAME_WEIGHT;
                }
                for word in words(tool.description()) {
                    *counts.entry(word).or_default() += 1;
                }
                for word in counts.keys() {
                    *spread.entry(word.clone()).or_default() += 1;
                }
                let length: u32 = counts.values().sum();
                total += length;
                (tool, counts, length)
            })
            .collect();
        let average = f64::from(total) / (tools.len().max(1) as f64);
        Self { tools, average, spread }
    }

    /// The best ones first. An exact name always leads.
    pub(crate) fn find(&self, query: &str, limit: usize) -> Vec<Arc<dyn Tool>> {
        let wanted = words(query);
        let mut scored: Vec<(f64, &Arc<dyn Tool>)> = self
            .tools
            .iter()
            .map(|(tool, counts, length)| {
                let named = if query.split_whitespace().any(|word| word == tool.name()) { 1e6 } else { 0.0 };
                (named + self.score(&wanted, counts, *length), tool)
            })
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name().cmp(b.1.name())));
        scored.into_iter().take(limit).map(|(_, tool)| tool.clone()).collect()
    }

    fn score(&self, wanted: &[String], counts: &HashMap<String, u32>, length: u32) -> f64 {
        let all = self.tools.len() as f64;
        wanted
            .iter()
            .filter_map(|word| {
                let count = f64::from(*counts.get(word)?);
                let spread = f64::from(*self.spread.get(word)?);
                let rarity = ((all - spread + 0.5) / (spread + 0.5) + 1.0).ln();
                let norm = 1.0 - B + B * f64::from(length) / self.average.max(1.0);
                Some(rarity * count * (K1 + 1.0) / (count + K1 * norm))
            })
            .sum()
    }
}

/// Lower-case words, with the plainest endings off, so that `renames` finds `rename`.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 1)
        .map(|word| {
            let word = word.to_lowercase();
            let stem = word.strip_suffix("ing").or_else(|| word.strip_suffix('s')).filter(|s| s.len() > 2);
            stem.map_or_else(|| word.clone(), str::to_owned)
        })
        .collect()
}

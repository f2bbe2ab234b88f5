//! Both sides into one ranking.

use std::collections::HashMap;

use crate::chunk::{Kind, Level};
use crate::lexical::{Lexical, LexicalWeights, Shape};
use crate::query::{Query, QueryKind, plain_name};
use crate::rules::Part;
use crate::search::{Fusion, Mode};
use crate::store::View;

/// How the sides are weighed. See `docs/decisions` for how they were found.
#[derive(Debug, Clone)]
pub struct Weights {
    pub lexical: LexicalWeights,
    /// Of pieces: how much the vectors count, the words having the rest.
    pub piece_dense: f32,
    /// Of files: how much the vectors count, the words counting one.
    pub file_dense: f32,
    /// How much of a piece's score is its file's.
    pub file_share: f32,
    /// For questions without names.
    pub question_dense: f32,
    pub question_file_share: f32,
    /// For changes: people ask which files they touch.
    pub change_file_share: f32,
    /// For issues.
    pub long_dense: f32,
    pub long_file_share: f32,
    /// What a mention of a name, a path, a place adds.
    pub name: f32,
    pub path: f32,
    pub place: f32,
    /// What tests and documentation are worth when nobody asked for them.
    pub test: f32,
    pub docs: f32,
    pub example: f32,
    pub history: f32,
    pub settings: f32,
    /// How much of what a test fits goes to the file that it is named for.
    pub tested: f32,
    /// What each further piece of one file loses.
    pub again: f32,
    /// What the file itself is worth among its pieces, and loose code.
    pub whole_file: f32,
    pub loose: f32,
    /// And the head of a type or an `impl` whose methods are pieces of their own.
    pub head: f32,
    /// And any type, when a sentence says what something does.
    pub doing_type: f32,
    /// Similarities below this share of the best count nothing.
    pub clip: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            lexical: LexicalWeights::default(),
            piece_dense: 0.6,
            file_dense: 0.7,
            file_share: 0.3,
            question_dense: 0.9,
            question_file_share: 0.3,
            change_file_share: 0.65,
            long_dense: 0.3,
            long_file_share: 0.8,
            name: 0.2,
            path: 0.4,
            place: 0.4,
            test: 0.4,
            docs: 0.4,
            example: 0.6,
            history: 0.2,
            settings: 0.5,
            tested: 0.4,
            again: 0.95,
            whole_file: 0.7,
            loose: 0.8,
            head: 0.5,
            doing_type: 0.8,
            clip: 0.5,
        }
    }
}

/// Why a piece is where it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Why {
    /// Each side's share, 0 to 1.
    pub lexical: f32,
    pub dense: f32,
    pub file: f32,
    /// What mentions added.
    pub mentioned: f32,
    /// What the part that the file plays made of it.
    pub part: f32,
}

/// A piece and its score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) chunk: u32,
    pub(crate) score: f32,
    pub(crate) why: Why,
}

/// The two sides of one query.
pub(crate) struct Sides {
    pub(crate) lexical: Option<Lexical>,
    /// By chunk; nothing when there are no vectors to speak of.
    pub(crate) dense: Option<Vec<f32>>,
}

/// Every piece that fits, the best first.
pub(crate) fn rank(
    view: &dyn View,
    shape: &Shape,
    query: &Query,
    mut sides: Sides,
    fusion: Fusion,
    mode: Mode,
    weights: &Weights,
) -> Vec<Scored> {
    let parts: Vec<f32> = (0..shape.ranges.len() as u32)
        .map(|file| if view.is_live(file) { part_weight(view.file(file).part, query, weights) } else { 0.0 })
        .collect();
    if let Some(lexical) = &mut sides.lexical {
        for (chunk, score) in lexical.chunks.iter_mut().enumerate().filter(|(_, score)| **score > 0.0) {
            *score *= parts[shape.file[chunk] as usize];
        }
        lexical.files.iter_mut().zip(&parts).for_each(|(score, part)| *score *= part);
    }
    if let Some(dense) = &mut sides.dense {
        // A symbol is as near as the nearest of its parts.
        for (block, symbol) in &shape.blocks {
            let similarity = std::mem::take(&mut dense[*block as usize]);
            let symbol = &mut dense[*symbol as usize];
            *symbol = symbol.max(similarity);
        }
        let best = dense.iter().fold(0f32, |best, score| best.max(*score));
        let floor = best * weights.clip;
        for (chunk, score) in dense.iter_mut().enumerate().filter(|(_, score)| **score != 0.0) {
            let part =
                shape.file.get(chunk).and_then(|file| parts.get(*file as usize)).copied().unwrap_or(0.0);
            *score = (*score - floor).max(0.0) * part;
        }
    }
    let chunk_lexical = sides.lexical.as_ref().map(|lexical| normalized(lexical.chunks.clone()));
    let chunk_dense = sides.dense.map(normalized);
    if fusion == Fusion::Rrf && mode == Mode::Hybrid {
        return reciprocal(shape, chunk_lexical.as_deref(), chunk_dense.as_deref());
    }
    let with_tests = |scores: Vec<f32>| normalized(from_tests(shape, scores, &parts, weights.tested));
    let file_lexical = sides.lexical.as_ref().map(|lexical| with_tests(file_scores(shape, lexical)));
    let file_dense = chunk_dense.as_ref().map(|dense| with_tests(best_of(shape, dense)));
    let (dense_weight, file_dense_weight, share) = match query.kind {
        QueryKind::Question => (
            weights.question_dense,
            weights.question_dense / (1.0 - weights.question_dense).max(0.05),
            weights.question_file_share,
        ),
        QueryKind::Long => (weights.long_dense, weights.long_dense, weights.long_file_share),
        QueryKind::Change => (weights.piece_dense, weights.file_dense, weights.change_file_share),
        _ => (weights.piece_dense, weights.file_dense, weights.file_share),
    };
    let of = |list: &Option<Vec<f32>>, at: usize| list.as_ref().map_or(0.0, |list| list[at]);
    // A side that is missing leaves its share to the other.
    let (wl, wd) = match (&chunk_lexical, &chunk_dense) {
        (Some(_), Some(_)) => (1.0 - dense_weight, dense_weight),
        (Some(_), None) => (1.0, 0.0),
        _ => (0.0, 1.0),
    };
    let file_total =
        if file_lexical.is_some() && file_dense.is_some() { 1.0 + file_dense_weight } else { 1.0 };
    let file_dense_weight = if file_lexical.is_some() { file_dense_weight } else { 1.0 };
    let files: Vec<f32> = (0..shape.ranges.len())
        .map(|file| (of(&file_lexical, file) + file_dense_weight * of(&file_dense, file)) / file_total)
        .collect();
    let files = normalized(files);
    let mentions = Mentions::of(view, shape, query, weights);
    let mut scored = Vec::new();
    for chunk in 0..shape.file.len() {
        if !shape.searched[chunk] {
            continue;
        }
        let file = shape.file[chunk] as usize;
        let (lexical, dense) = (of(&chunk_lexical, chunk), of(&chunk_dense, chunk));
        let mentioned = mentions.of_chunk(view, chunk as u32, file);
        if lexical == 0.0 && dense == 0.0 && mentioned == 0.0 {
            continue;
        }
        let row = view.chunk(chunk as u32);
        // Who asks for a type by its name wants the type and not its methods.
        let asked_for = query.kind == QueryKind::Names && mentioned > 0.0;
        let own = match (row.level, row.kind) {
            (Level::Symbol, _) if asked_for => 1.0,
            (Level::File, _) => weights.whole_file,
            (_, Kind::Loose) => weights.loose,
            (_, Kind::Class | Kind::Type | Kind::Module) if has_members(view, chunk, shape) => weights.head,
            _ => 1.0,
        };
        let is_type = matches!(row.kind, Kind::Class | Kind::Type | Kind::Module);
        let own =
            if query.kind == QueryKind::Sentence && is_type { own.min(weights.doing_type) } else { own };
        let own = if !query.tests && is_test_symbol(row.name) { own * weights.test } else { own };
        let piece = (wl * lexical + wd * dense) * own;
        let score = (1.0 - share) * piece + share * files[file] + mentioned * parts[file];
        let why = Why { lexical, dense, file: files[file], mentioned, part: parts[file] };
        scored.push(Scored { chunk: chunk as u32, score, why });
    }
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    spread(shape, scored, weights.again)
}

/// Whether the piece after it is a part of it; parents come right before their first child.
fn has_members(view: &dyn View, chunk: usize, shape: &Shape) -> bool {
    chunk + 1 < shape.file.len()
        && shape.file[chunk + 1] == shape.file[chunk]
        && shape.searched[chunk + 1]
        && view.chunk(chunk as u32 + 1).parent == Some(chunk as u32)
}

/// Tests that live beside the code: `mod tests`, `test_this`, `TestThat`.
fn is_test_symbol(name: &str) -> bool {
    let mut parts = name.split([':', '.', '#', ' ']).filter(|part| !part.is_empty());
    parts.any(|part| {
        let camel =
            part.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
        camel || part == "tests" || part == "test" || part.starts_with("test_")
    })
}

fn part_weight(part: Part, query: &Query, weights: &Weights) -> f32 {
    match part {
        Part::Test if !query.tests => weights.test,
        Part::Docs if !query.docs => weights.docs,
        Part::Example if !query.examples => weights.example,
        Part::History if !query.docs => weights.history,
        Part::Settings if !query.settings => weights.settings,
        _ => 1.0,
    }
}

fn normalized(mut scores: Vec<f32>) -> Vec<f32> {
    let best = scores.iter().fold(0f32, |best, score| best.max(*score));
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
    scores
}

/// The best three pieces, each counting half of the one before, and the file as a document.
fn file_scores(shape: &Shape, lexical: &Lexical) -> Vec<f32> {
    let pieces: Vec<f32> = shape
        .ranges
        .iter()
        .map(|(from, to)| {
            let mut best = [0f32; 3];
            for score in &lexical.chunks[*from as usize..*to as usize] {
                if *score > best[0] {
                    best = [*score, best[0], best[1]];
                } else if *score > best[1] {
                    best = [best[0], *score, best[1]];
                } else if *score > best[2] {
                    best[2] = *score;
                }
            }
            best[0] + 0.5 * best[1] + 0.25 * best[2]
        })
        .collect();
    pieces.iter().zip(&lexical.files).map(|(pieces, file)| pieces + file).collect()
}

/// What fits a test speaks for the code that it tests, whatever the test itself is worth.
fn from_tests(shape: &Shape, mut scores: Vec<f32>, parts: &[f32], share: f32) -> Vec<f32> {
    let mut best: HashMap<u32, f32> = HashMap::new();
    for (test, code) in &shape.tests {
        let score = scores[*test as usize] / parts[*test as usize].max(0.05);
        let best = best.entry(*code).or_default();
        *best = best.max(score);
    }
    best.into_iter().for_each(|(code, score)| scores[code as usize] += share * score);
    scores
}

fn best_of(shape: &Shape, scores: &[f32]) -> Vec<f32> {
    let best =
        |(from, to): &(u32, u32)| scores[*from as usize..*to as usize].iter().fold(0f32, |a, b| a.max(*b));
    shape.ranges.iter().map(best).collect()
}

/// What the query mentions by name.
struct Mentions<'a> {
    query: &'a Query,
    files: Vec<f32>,
    /// Files with a place in them.
    places: Vec<(u32, u32)>,
    weights: &'a Weights,
}

impl<'a> Mentions<'a> {
    fn of(view: &dyn View, shape: &Shape, query: &'a Query, weights: &'a Weights) -> Self {
        let mut files = Vec::new();
        let mut places = Vec::new();
        if !query.paths.is_empty() {
            files = vec![0.0; shape.ranges.len()];
            for file in (0..shape.ranges.len() as u32).filter(|file| view.is_live(*file)) {
                let path = view.file(file).path.to_ascii_lowercase();
                let mentioned = query.paths.iter().any(|mention| names_path(&path, mention));
                files[file as usize] = if mentioned { weights.path } else { 0.0 };
                let lines = query.frames.iter().filter(|(mention, _)| names_path(&path, mention));
                places.extend(lines.map(|(_, line)| (file, *line)));
            }
        }
        Self { query, files, places, weights }
    }

    fn of_chunk(&self, view: &dyn View, chunk: u32, file: usize) -> f32 {
        let mut sum = self.files.get(file).copied().unwrap_or(0.0);
        if self.query.names.is_empty() && self.places.is_empty() {
            return sum;
        }
        let row = view.chunk(chunk);
        // Documentation names what else there is to know; an issue or a task names what it is about.
        let by_name = !self.query.names.is_empty() && self.query.kind != QueryKind::Sentence;
        if by_name && row.level == Level::Symbol && !row.name.is_empty() {
            let own = row.name.rsplit([':', '.', '#', ' ']).next().unwrap_or(row.name);
            if self.query.names.contains(&plain_name(own)) {
                sum += self.weights.name;
            }
        }
        let here =
            |(place, line): &(u32, u32)| *place == row.file && (row.start_line..=row.end_line).contains(line);
        if row.level == Level::Symbol && self.places.iter().any(here) {
            sum += self.weights.place;
        }
        sum
    }
}

/// Whether a mention is of this file: the end of its path, or the whole of it the end of the mention.
fn names_path(path: &str, mention: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || short.starts_with('/'))
    };
    let mention = mention.trim_start_matches("./").trim_start_matches("a/").trim_start_matches("b/");
    ends(path, mention) || (path.contains('/') && ends(mention, path))
}

/// Further pieces of one file step back a little, so that a list shows more than one place.
fn spread(shape: &Shape, mut scored: Vec<Scored>, again: f32) -> Vec<Scored> {
    const LOOKED_AT: usize = 400;
    scored.truncate(LOOKED_AT);
    let mut seen: HashMap<u32, i32> = HashMap::new();
    for item in &mut scored {
        let count = seen.entry(shape.file[item.chunk as usize]).or_default();
        item.score *= again.powi((*count).min(8));
        *count += 1;
    }
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    scored
}

/// Reciprocal rank fusion, k = 60.
fn reciprocal(shape: &Shape, lexical: Option<&[f32]>, dense: Option<&[f32]>) -> Vec<Scored> {
    let mut sums = vec![0f32; shape.file.len()];
    for side in [lexical, dense].into_iter().flatten() {
        let mut order: Vec<u32> =
            (0..side.len() as u32).filter(|chunk| side[*chunk as usize] > 0.0).collect();
        order.sort_by(|a, b| side[*b as usize].total_cmp(&side[*a as usize]).then(a.cmp(b)));
        for (rank, chunk) in order.iter().take(400).enumerate() {
            sums[*chunk as usize] += 1.0 / (61.0 + rank as f32);
        }
    }
    let of = |list: Option<&[f32]>, at: usize| list.map_or(0.0, |list| list[at]);
    let mut scored: Vec<Scored> = (0..sums.len())
        .filter(|chunk| sums[*chunk] > 0.0 && shape.searched[*chunk])
        .map(|chunk| {
            let why = Why { lexical: of(lexical, chunk), dense: of(dense, chunk), ..Why::default() };
            Scored { chunk: chunk as u32, score: sums[chunk], why }
        })
        .collect();
    scored.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    scored.truncate(400);
    scored
}

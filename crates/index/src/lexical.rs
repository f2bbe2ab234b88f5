//! BM25F: how well words fit, over path, name and body, for pieces and for files.

use crate::query::Query;
use crate::store::View;

/// Numbers that change the ranking. Chosen by measurement on other people's repositories.
#[derive(Debug, Clone)]
pub struct LexicalWeights {
    pub path: f32,
    pub name: f32,
    pub k1: f32,
    pub b: f32,
}

impl Default for LexicalWeights {
    fn default() -> Self {
        Self { path: 4.0, name: 4.0, k1: 1.2, b: 0.75 }
    }
}

/// Scores by number; zero for what does not fit at all.
#[derive(Debug, Default)]
pub(crate) struct Lexical {
    pub(crate) chunks: Vec<f32>,
    /// Of the file as one document.
    pub(crate) files: Vec<f32>,
}

/// What is needed of every chunk for every query.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    pub(crate) file: Vec<u32>,
    /// Zero for blocks, which are not searched.
    pub(crate) searched: Vec<bool>,
    name: Vec<f32>,
    body: Vec<f32>,
    /// For each file: its chunks, and its lengths relative to the average.
    pub(crate) ranges: Vec<(u32, u32)>,
    file_body: Vec<f32>,
    file_path: Vec<f32>,
    /// Blocks and the symbols that they are parts of.
    pub(crate) blocks: Vec<(u32, u32)>,
    /// Tests and the files that they are named for.
    pub(crate) tests: Vec<(u32, u32)>,
}

impl Shape {
    pub(crate) fn of(view: &dyn View) -> Self {
        let totals = *view.totals();
        let chunks = view.chunk_end() as usize;
        let mut shape = Self {
            file: vec![u32::MAX; chunks],
            searched: vec![false; chunks],
            name: vec![0.0; chunks],
            body: vec![0.0; chunks],
            ranges: vec![(0, 0); view.file_end() as usize],
            file_body: vec![0.0; view.file_end() as usize],
            file_path: vec![0.0; view.file_end() as usize],
            blocks: Vec::new(),
            tests: crate::tested::pairs(view),
        };
        let average = |sum: u64, count: u32| (sum as f32 / count.max(1) as f32).max(1.0);
        let name = average(totals.name_length, totals.chunks);
        let body = average(totals.body_length, totals.chunks);
        let file_body = average(totals.body_length, totals.files);
        let path = average(totals.path_length, totals.files);
        for file in (0..view.file_end()).filter(|file| view.is_live(*file)) {
            let row = view.file(file);
            shape.ranges[file as usize] = (row.first_chunk, row.first_chunk + row.chunk_count);
            let mut length = 0;
            crate::tokens::tokens(row.path, |_, _| length += 1);
            shape.file_path[file as usize] = length as f32 / path;
            for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                let row = view.chunk(chunk);
                let at = chunk as usize;
                shape.file[at] = file;
                shape.searched[at] = row.level != crate::chunk::Level::Block;
                shape.blocks.extend(row.parent.filter(|_| !shape.searched[at]).map(|parent| (chunk, parent)));
                shape.name[at] = f32::from(row.name_length) / name;
                shape.body[at] = row.body_length as f32 / body;
                shape.file_body[file as usize] += row.body_length as f32 / file_body;
            }
        }
        shape
    }
}

/// Scores every piece and every file.
pub(crate) fn score(view: &dyn View, shape: &Shape, query: &Query, weights: &LexicalWeights) -> Lexical {
    let totals = *view.totals();
    let mut out = Lexical { chunks: vec![0.0; shape.file.len()], files: vec![0.0; shape.ranges.len()] };
    let norm = |length: f32, b: f32| 1.0 / (1.0 - b + b * length);
    let mut path_counts = vec![0f32; shape.ranges.len()];
    let mut in_paths: Vec<(u32, f32)> = Vec::new();
    let mut found: Vec<(u32, f32)> = Vec::new();
    for term in &query.terms {
        in_paths.clear();
        found.clear();
        view.postings(term.hash, true, &mut |posting| {
            let norm = norm(shape.file_path[posting.at as usize], weights.b);
            let count = weights.path * posting.body as f32 * norm;
            path_counts[posting.at as usize] = count;
            in_paths.push((posting.at, count));
        });
        // The file as a document: the sums of its pieces.
        let mut files: Vec<(u32, f32, f32)> = Vec::new();
        view.postings(term.hash, false, &mut |posting| {
            let at = posting.at as usize;
            let file = shape.file[at];
            let name = weights.name * f32::from(posting.name) * norm(shape.name[at], weights.b);
            let body = posting.body as f32 * norm(shape.body[at], weights.b);
            found.push((posting.at, name + body + path_counts[file as usize]));
            match files.last_mut() {
                Some(last) if last.0 == file => {
                    last.1 += posting.body as f32;
                    last.2 = last.2.max(f32::from(posting.name));
                }
                _ => files.push((file, posting.body as f32, f32::from(posting.name))),
            }
        });
        // Pieces that have it only in their path.
        let with_posting = found.len();
        for (file, count) in &in_paths {
            let (from, to) = shape.ranges[*file as usize];
            let mut at = found[..with_posting].partition_point(|(chunk, _)| *chunk < from);
            for chunk in from..to {
                if at < with_posting && found[at].0 == chunk {
                    at += 1;
                } else if shape.searched[chunk as usize] {
                    found.push((chunk, *count));
                }
            }
        }
        if found.is_empty() {
            continue;
        }
        let idf = |documents: u32, with: usize| {
            let with = with as f32;
            (1.0 + (documents as f32 - with + 0.5) / (with + 0.5)).ln().max(0.0)
        };
        let weight = term.weight * idf(totals.chunks, found.len());
        for (chunk, count) in &found {
            out.chunks[*chunk as usize] += weight * count / (weights.k1 + count);
        }
        let only_path =
            in_paths.iter().filter(|(file, _)| files.binary_search_by_key(file, |(at, ..)| *at).is_err());
        let only_path: Vec<(u32, f32, f32)> = only_path.map(|(file, _)| (*file, 0.0, 0.0)).collect();
        let weight = term.weight * idf(totals.files, files.len() + only_path.len());
        for (file, body, name) in files.iter().chain(&only_path) {
            let at = *file as usize;
            let count =
                body * norm(shape.file_body[at], weights.b) + 0.5 * weights.name * name + path_counts[at];
            out.files[at] += weight * count / (weights.k1 + count);
        }
        in_paths.iter().for_each(|(file, _)| path_counts[*file as usize] = 0.0);
    }
    out
}

//! Several segments into one, without what is gone from them.

use std::collections::HashSet;

use super::build::{assemble, put_term};
use super::{CHUNK_ROW, FILE_ROW, PATH_SALT, Posting, Segment};
use crate::bytes::u32_at;

/// Makes one segment of several. `dead` names the files of each that are left out.
///
/// Also answers, for each chunk of the new segment, which chunk of which segment it was.
pub(crate) fn merge(parts: &[(&Segment, &HashSet<u32>)]) -> (Vec<u8>, Vec<(usize, u32)>) {
    let mut files = Vec::new();
    let mut chunks = Vec::new();
    let mut strings = Vec::new();
    let mut origins = Vec::new();
    // For each segment, the new numbers of its files and chunks.
    let mut file_maps: Vec<Vec<u32>> = Vec::new();
    let mut chunk_maps: Vec<Vec<u32>> = Vec::new();
    let (mut file_count, mut chunk_count) = (0u32, 0u32);
    for (which, (segment, dead)) in parts.iter().enumerate() {
        let old = segment.section(2);
        let mut file_map = vec![u32::MAX; segment.file_count() as usize];
        let mut chunk_map = vec![u32::MAX; segment.chunk_count() as usize];
        for file in (0..segment.file_count()).filter(|file| !dead.contains(file)) {
            let row = segment.file(file);
            file_map[file as usize] = file_count;
            let mut bytes = segment.section(0)[file as usize * FILE_ROW..][..FILE_ROW].to_vec();
            for at in [0, 8] {
                let length = u32_at(&bytes, at + 4);
                move_string(&mut bytes, at, length, old, &mut strings);
            }
            bytes[16..20].copy_from_slice(&chunk_count.to_le_bytes());
            files.extend_from_slice(&bytes);
            let moved = chunk_count.wrapping_sub(row.first_chunk);
            for chunk in row.first_chunk..row.first_chunk + row.chunk_count {
                chunk_map[chunk as usize] = chunk_count;
                let mut bytes = segment.section(1)[chunk as usize * CHUNK_ROW..][..CHUNK_ROW].to_vec();
                bytes[0..4].copy_from_slice(&file_count.to_le_bytes());
                if u32_at(&bytes, 12) != u32::MAX {
                    let parent = u32_at(&bytes, 12).wrapping_add(moved);
                    bytes[12..16].copy_from_slice(&parent.to_le_bytes());
                }
                let lengths = u32_at(&bytes, 28);
                move_string(&mut bytes, 20, lengths & 0xffff, old, &mut strings);
                move_string(&mut bytes, 24, lengths >> 16, old, &mut strings);
                chunks.extend_from_slice(&bytes);
                origins.push((which, chunk));
                chunk_count += 1;
            }
            file_count += 1;
        }
        file_maps.push(file_map);
        chunk_maps.push(chunk_map);
    }
    // Which salted hash is a path's is not written down, so both kinds of posting are told apart by trying.
    let path_terms = path_terms(parts);
    let (mut terms, mut lists) = (Vec::new(), Vec::new());
    let mut at = vec![0usize; parts.len()];
    let mut run: Vec<Posting> = Vec::new();
    loop {
        let heads = parts.iter().zip(&at).filter(|((segment, _), at)| **at < segment.term_count());
        let Some(term) = heads.map(|((segment, _), at)| segment.term(*at).0).min() else { break };
        run.clear();
        for (which, (segment, _)) in parts.iter().enumerate() {
            if at[which] < segment.term_count() && segment.term(at[which]).0 == term {
                let (_, offset, count) = segment.term(at[which]);
                let map = if path_terms.contains(&term) { &file_maps[which] } else { &chunk_maps[which] };
                run.extend(segment.list(offset, count).filter_map(|posting| {
                    let at = map.get(posting.at as usize).copied().filter(|at| *at != u32::MAX)?;
                    Some(Posting { at, ..posting })
                }));
                at[which] += 1;
            }
        }
        if !run.is_empty() {
            put_term(&mut terms, &mut lists, term, run.iter().copied());
        }
    }
    (assemble(&[&files, &chunks, &strings, &terms, &lists]), origins)
}

/// The hashes of all tokens that paths have.
fn path_terms(parts: &[(&Segment, &HashSet<u32>)]) -> HashSet<u64> {
    let mut terms = HashSet::new();
    for (segment, _) in parts {
        for file in 0..segment.file_count() {
            crate::tokens::tokens(segment.file(file).path, |_, token| {
                terms.insert(crate::tokens::hash(token) ^ PATH_SALT);
            });
        }
    }
    terms
}

/// Copies the string that a row points at, and points at the copy.
fn move_string(row: &mut [u8], at: usize, length: u32, old: &[u8], new: &mut Vec<u8>) {
    let from = u32_at(row, at) as usize;
    row[at..at + 4].copy_from_slice(&(new.len() as u32).to_le_bytes());
    new.extend_from_slice(old.get(from..from + length as usize).unwrap_or_default());
}

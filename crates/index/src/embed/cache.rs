//! Vectors by the hash of their text, for all projects and branches of a person.
//!
//! A log of rows of one length, only ever appended to, each with its checksum: a torn one costs itself. When it is full it
//! becomes the old one and the older one goes.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::bytes::u32_at;
use crate::error::IndexError;
use crate::vectors::{Quantized, model_key};

/// How large one of the two logs may get.
const FULL: u64 = 192 << 20;

pub(crate) struct VectorCache {
    path: PathBuf,
    row: usize,
    /// Which log, and where in it.
    places: HashMap<[u8; 16], (usize, u64)>,
    logs: Vec<File>,
    writer: Option<File>,
}

impl VectorCache {
    /// Reads what there is for a model. A folder that can not be used is a cache that stays empty.
    pub(crate) fn open(folder: &Path, model: &str, dimensions: usize) -> Self {
        let key = model_key(model);
        let name: String = key[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(format!("{name}.vectors"));
        let row = 16 + 4 + dimensions + 4;
        let mut cache = Self { path, row, places: HashMap::new(), logs: Vec::new(), writer: None };
        if project::create_private_dir(folder).is_err() {
            return cache;
        }
        let full = std::fs::metadata(&cache.path).is_ok_and(|metadata| metadata.len() > FULL);
        if full {
            // Another process may have done it just now, which is as good.
            let _ = std::fs::rename(&cache.path, cache.old());
        }
        for path in [cache.old(), cache.path.clone()] {
            cache.read(&path);
        }
        let open = File::options().create(true).append(true).mode(0o600).open(&cache.path);
        cache.writer = open.ok().filter(|file| align(file, row as u64));
        cache
    }

    fn old(&self) -> PathBuf {
        self.path.with_extension("vectors.old")
    }

    fn read(&mut self, path: &Path) {
        let Ok(bytes) = std::fs::read(path) else { return };
        let Ok(file) = File::open(path) else { return };
        let log = self.logs.len();
        for (at, row) in bytes.chunks_exact(self.row).enumerate() {
            if crc32fast::hash(&row[..self.row - 4]) == u32_at(row, self.row - 4)
                && let Ok(key) = row[..16].try_into()
            {
                self.places.insert(key, (log, (at * self.row) as u64));
            }
        }
        self.logs.push(file);
    }

    pub(crate) fn get(&self, key: &[u8; 16]) -> Option<Quantized> {
        let (log, at) = self.places.get(key)?;
        let mut row = vec![0; self.row];
        self.logs[*log].read_exact_at(&mut row, *at).ok()?;
        let sound = row[..16] == *key && crc32fast::hash(&row[..self.row - 4]) == u32_at(&row, self.row - 4);
        sound.then(|| Quantized {
            bytes: row[20..self.row - 4].to_vec(),
            scale: f32::from_bits(u32_at(&row, 16)),
        })
    }

    /// Adds vectors. Each call is one write, so that processes do not mix rows.
    pub(crate) fn add(&mut self, vectors: &[([u8; 16], &Quantized)]) -> Result<(), IndexError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let mut bytes = Vec::with_capacity(vectors.len() * self.row);
        for (key, vector) in vectors {
            let start = bytes.len();
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(&vector.scale.to_le_bytes());
            bytes.extend_from_slice(&vector.bytes);
            bytes.resize(start + self.row - 4, 128);
            let sum = crc32fast::hash(&bytes[start..]);
            bytes.extend_from_slice(&sum.to_le_bytes());
        }
        writer.write_all(&bytes).map_err(IndexError::io("write", &self.path))
    }
}

/// Cuts a torn row off, so that the rows after it lie where they are looked for.
fn align(file: &File, row: u64) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    let rest = metadata.len() % row;
    rest == 0 || file.set_len(metadata.len() - rest).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_found_again_and_torn_rows_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let vector = Quantized::of(&[0.5, -0.5, 0.25, 1.0]);
        let mut cache = VectorCache::open(folder.path(), "m", 4);
        cache.add(&[([1; 16], &vector), ([2; 16], &vector)]).unwrap();
        drop(cache);
        let path = VectorCache::open(folder.path(), "m", 4).path;
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[3] ^= 1;
        bytes.extend_from_slice(b"torn");
        std::fs::write(&path, bytes).unwrap();
        let mut cache = VectorCache::open(folder.path(), "m", 4);
        assert_eq!((cache.get(&[1; 16]), cache.get(&[2; 16])), (None, Some(vector.clone())));
        cache.add(&[([3; 16], &vector)]).unwrap();
        let cache = VectorCache::open(folder.path(), "m", 4);
        assert_eq!(cache.get(&[3; 16]), Some(vector));
        assert_eq!(VectorCache::open(folder.path(), "other", 4).get(&[2; 16]), None);
    }
}

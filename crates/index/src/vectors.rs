//! Vectors as bytes: one row a chunk, searched exactly.

use std::path::Path;

use crate::bytes::{u32_at, u64_at};
use crate::kernel;

const MAGIC: &[u8; 8] = b"CVYVEC01";
const HEAD: usize = 8 + 16 + 4 + 4 + 4;

/// A vector with each number in a byte. Values are stored with 128 added, which is what the multiplication wants.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantized {
    pub(crate) bytes: Vec<u8>,
    pub(crate) scale: f32,
}

impl Quantized {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let most = vector.iter().fold(0f32, |most, value| most.max(value.abs()));
        let scale = if most > 0.0 && most.is_finite() { most / 127.0 } else { 1.0 };
        let byte = |value: &f32| ((value / scale).round().clamp(-127.0, 127.0) as i32 + 128) as u8;
        Self { bytes: vector.iter().map(byte).collect(), scale }
    }
}

/// The vectors of a segment's chunks, those that are there yet.
#[derive(Debug)]
pub(crate) struct Vectors {
    pub(crate) model: [u8; 16],
    pub(crate) dimensions: usize,
    /// Zero where there is none.
    scales: Vec<f32>,
    rows: Vec<u8>,
}

impl Vectors {
    pub(crate) fn new(model: [u8; 16], dimensions: usize, count: usize) -> Self {
        Self { model, dimensions, scales: vec![0.0; count], rows: vec![128; count * dimensions] }
    }

    pub(crate) fn set(&mut self, at: usize, vector: &Quantized) {
        if vector.bytes.len() == self.dimensions && at < self.scales.len() {
            self.rows[at * self.dimensions..][..self.dimensions].copy_from_slice(&vector.bytes);
            self.scales[at] = vector.scale;
        }
    }

    pub(crate) fn get(&self, at: usize) -> Option<Quantized> {
        let scale = self.scales.get(at).copied().filter(|scale| *scale != 0.0)?;
        Some(Quantized { bytes: self.rows[at * self.dimensions..][..self.dimensions].to_vec(), scale })
    }

    pub(crate) fn has(&self, at: usize) -> bool {
        self.scales.get(at).is_some_and(|scale| *scale != 0.0)
    }

    /// The cosine of every row with `query`; nothing where there is no vector.
    pub(crate) fn scores(&self, query: &[f32], out: &mut Vec<f32>) {
        out.clear();
        if query.len() != self.dimensions {
            out.resize(self.scales.len(), 0.0);
            return;
        }
        let quantized = Quantized::of(query);
        let signed: Vec<i8> = quantized.bytes.iter().map(|byte| (i32::from(*byte) - 128) as i8).collect();
        let offset: i32 = 128 * signed.iter().map(|value| i32::from(*value)).sum::<i32>();
        let mut dots = vec![0i32; self.scales.len()];
        kernel::dots(&self.rows, &signed, &mut dots);
        out.extend(
            dots.iter().zip(&self.scales).map(|(dot, scale)| (dot - offset) as f32 * scale * quantized.scale),
        );
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD + self.scales.len() * (self.dimensions + 4));
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.model);
        out.extend_from_slice(&(self.dimensions as u32).to_le_bytes());
        out.extend_from_slice(&(self.scales.len() as u32).to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        self.scales.iter().for_each(|scale| out.extend_from_slice(&scale.to_le_bytes()));
        out.extend_from_slice(&self.rows);
        let sum = crc32fast::hash(&out[HEAD..]);
        out[HEAD - 4..HEAD].copy_from_slice(&sum.to_le_bytes());
        out
    }

    /// Nothing if it is damaged, of another model, or for another number of chunks.
    pub(crate) fn from_bytes(mut bytes: Vec<u8>, model: [u8; 16], count: usize) -> Option<Self> {
        let head = bytes.get(..HEAD)?;
        let (dimensions, rows) = (u32_at(head, 24) as usize, u32_at(head, 28) as usize);
        let fits = &head[..8] == MAGIC && head[8..24] == model && rows == count;
        let length = rows.checked_mul(dimensions + 4)?.checked_add(HEAD)?;
        if !fits || bytes.len() != length || crc32fast::hash(&bytes[HEAD..]) != u32_at(&bytes, HEAD - 4) {
            return None;
        }
        let scales = (0..rows).map(|row| f32::from_bits(u32_at(&bytes, HEAD + row * 4))).collect();
        bytes.drain(..HEAD + rows * 4);
        Some(Self { model, dimensions, scales, rows: bytes })
    }

    pub(crate) fn read(path: &Path, model: [u8; 16], count: usize) -> Option<Self> {
        Self::from_bytes(std::fs::read(path).ok()?, model, count)
    }
}

/// A short number for a model's name, to tell vectors apart.
pub(crate) fn model_key(id: &str) -> [u8; 16] {
    let hash = blake3::hash(id.as_bytes());
    let mut key = [0; 16];
    key.copy_from_slice(&hash.as_bytes()[..16]);
    debug_assert_ne!(u64_at(&key, 0), 0);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_and_the_nearest_is_found() {
        let model = model_key("m");
        let mut vectors = Vectors::new(model, 4, 3);
        vectors.set(0, &Quantized::of(&[1.0, 0.0, 0.0, 0.0]));
        vectors.set(2, &Quantized::of(&[0.6, 0.8, 0.0, 0.0]));
        let bytes = vectors.to_bytes();
        let again = Vectors::from_bytes(bytes.clone(), model, 3).unwrap();
        assert_eq!((again.has(0), again.has(1), again.get(1)), (true, false, None));
        let mut scores = Vec::new();
        again.scores(&[0.0, 1.0, 0.0, 0.0], &mut scores);
        assert!((scores[2] - 0.8).abs() < 0.01 && scores[0].abs() < 0.01 && scores[1] == 0.0, "{scores:?}");
        assert!(Vectors::from_bytes(bytes.clone(), model_key("n"), 3).is_none());
        assert!(Vectors::from_bytes(bytes.clone(), model, 4).is_none());
        let mut damaged = bytes;
        let last = damaged.len() - 1;
        damaged[last] ^= 1;
        assert!(Vectors::from_bytes(damaged, model, 3).is_none());
    }
}

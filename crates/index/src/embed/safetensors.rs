//! The file format of weights: a length, a JSON table of contents, the numbers.

use serde::Deserialize;
use std::collections::HashMap;

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

/// Tensors by name, in the bytes of the file.
pub(super) struct Tensors<'a> {
    entries: HashMap<String, Entry>,
    data: &'a [u8],
}

/// Rows of signed bytes, each with a scale.
pub(super) struct Bytes<'a> {
    pub(super) values: std::borrow::Cow<'a, [i8]>,
    pub(super) scales: Vec<f32>,
    pub(super) depth: usize,
}

impl<'a> Tensors<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let length = bytes.get(..8).and_then(|head| head.try_into().ok()).map(u64::from_le_bytes);
        let length =
            length.and_then(|length| usize::try_from(length).ok()).filter(|length| *length < 100_000_000);
        let length = length.ok_or("it has no table of contents")?;
        let head = bytes.get(8..8 + length).ok_or("it is cut short")?;
        let mut table: HashMap<String, serde_json::Value> = serde_json::from_slice(head)
            .map_err(|error| format!("its table of contents is broken: {error}"))?;
        table.remove("__metadata__");
        let data = &bytes[8 + length..];
        let mut entries = HashMap::new();
        for (name, value) in table {
            let entry: Entry = serde_json::from_value(value).map_err(|error| format!("`{name}`: {error}"))?;
            if entry.data_offsets.0 > entry.data_offsets.1 || entry.data_offsets.1 > data.len() {
                return Err(format!("`{name}` is cut short"));
            }
            entries.insert(name, entry);
        }
        Ok(Self { entries, data })
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    fn entry(&self, name: &str) -> Result<(&Entry, &'a [u8]), String> {
        // Some files have everything below `bert.`.
        let entry = self.entries.get(name).or_else(|| self.entries.get(&format!("bert.{name}")));
        let entry = entry.ok_or_else(|| format!("`{name}` is missing"))?;
        Ok((entry, &self.data[entry.data_offsets.0..entry.data_offsets.1]))
    }

    /// All numbers of a tensor.
    pub(super) fn floats(&self, name: &str) -> Result<Vec<f32>, String> {
        let (entry, bytes) = self.entry(name)?;
        match entry.dtype.as_str() {
            "F32" => Ok(bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()),
            "F16" => Ok(bytes.as_chunks::<2>().0.iter().map(|two| half(u16::from_le_bytes(*two))).collect()),
            "BF16" => {
                let wide = |two: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16);
                Ok(bytes.as_chunks::<2>().0.iter().map(wide).collect())
            }
            other => Err(format!("`{name}` holds `{other}`, which is not read here")),
        }
    }

    /// A matrix as bytes: as the file has it, or made from its numbers.
    pub(super) fn bytes(&self, name: &str) -> Result<Bytes<'a>, String> {
        let (entry, bytes) = self.entry(name)?;
        let &[rows, depth] = entry.shape.as_slice() else { return Err(format!("`{name}` is not a matrix")) };
        if entry.dtype == "I8" {
            let scales = self.floats(&format!("{name}.scale"))?;
            if scales.len() != rows || bytes.len() != rows * depth {
                return Err(format!("`{name}` does not fit its scales"));
            }
            return Ok(Bytes { values: signed(bytes), scales, depth });
        }
        let numbers = self.floats(name)?;
        if numbers.len() != rows * depth || depth == 0 {
            return Err(format!("`{name}` does not fit its shape"));
        }
        let mut values = Vec::with_capacity(numbers.len());
        let mut scales = Vec::with_capacity(rows);
        for row in numbers.chunks_exact(depth) {
            let scale = (row.iter().fold(0f32, |most, value| most.max(value.abs())) / 127.0).max(1e-12);
            values.extend(row.iter().map(|value| (value / scale).round() as i8));
            scales.push(scale);
        }
        Ok(Bytes { values: values.into(), scales, depth })
    }
}

fn signed(bytes: &[u8]) -> std::borrow::Cow<'_, [i8]> {
    crate::kernel::as_signed(bytes).into()
}

/// IEEE half precision.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        0 => f32::from_bits(sign | (fraction as f32 * 2f32.powi(-24)).to_bits()),
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

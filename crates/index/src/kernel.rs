//! The arithmetic that has to be fast: bytes times bytes, and a few functions over many numbers.
//!
//! Integers are exact, so every path gives the same answer; which one runs is found out once. Activations are unsigned
//! bytes and weights signed ones, because that is what the instructions for it take.
#![expect(
    unsafe_code,
    reason = "vector instructions are reached through functions that only some processors can run"
)]

#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(target_arch = "x86_64")]
pub(crate) use wide::{Finish, Packed, linear};

/// Writes a function three times: for AVX-512, for AVX2 and for everybody, chosen when it is called.
macro_rules! for_each_processor {
    ($(#[$doc:meta])* pub(crate) fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block) => {
        $(#[$doc])*
        pub(crate) fn $name($($argument: $type),*) {
            #[inline(always)]
            fn plain($($argument: $type),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma")]
                fn wide($($argument: $type),*) {
                    plain($($argument),*);
                }
                #[target_feature(enable = "avx2,fma")]
                fn half($($argument: $type),*) {
                    plain($($argument),*);
                }
                // SAFETY: the processor was asked for exactly the features that the function was compiled for.
                match level() {
                    Level::Vnni => return unsafe { wide($($argument),*) },
                    Level::Avx2 => return unsafe { half($($argument),*) },
                    Level::Plain => {}
                }
            }
            plain($($argument),*);
        }
    };
}

#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Vnni,
    Avx2,
    Plain,
}

#[cfg(target_arch = "x86_64")]
fn level() -> Level {
    // The standard library remembers what it found.
    let wide = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vnni")
        && is_x86_feature_detected!("fma");
    if wide {
        Level::Vnni
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        Level::Avx2
    } else {
        Level::Plain
    }
}

/// The same bytes, read as signed ones.
pub(crate) fn as_signed(bytes: &[u8]) -> &[i8] {
    // SAFETY: both types are one byte, without any pattern that would be invalid.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}

/// The products of each row with one vector: `out[r] = Σ rows[r][k] · query[k]`.
pub(crate) fn dots(rows: &[u8], query: &[i8], out: &mut [i32]) {
    multiply(rows, query, out, 1, query.len());
}

/// The products of each row of `left` with each row of `right`, both `depth` long: `out[m][n] = Σ left[m][k] · right[n][k]`.
///
/// Rows are taken as they lie, so weights are used where the file has them and nothing is packed.
pub(crate) fn multiply(left: &[u8], right: &[i8], out: &mut [i32], columns: usize, depth: usize) {
    if depth == 0 || columns == 0 {
        return;
    }
    let rows = out.len() / columns;
    assert!(left.len() >= rows * depth && right.len() >= columns * depth, "rows are cut short");
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: the processor has the features, and the assertion above holds for every row that is read.
        match level() {
            Level::Vnni if depth.is_multiple_of(64) => {
                return unsafe { vnni::multiply(left, right, out, rows, columns, depth) };
            }
            Level::Avx2 if depth.is_multiple_of(16) => {
                return unsafe { avx2::multiply(left, right, out, rows, columns, depth) };
            }
            _ => {}
        }
    }
    plain_multiply(left, right, out, columns, depth);
}

fn plain_multiply(left: &[u8], right: &[i8], out: &mut [i32], columns: usize, depth: usize) {
    for (row, out) in left.chunks_exact(depth).zip(out.chunks_exact_mut(columns)) {
        for (column, out) in right.chunks_exact(depth).zip(out) {
            *out = row.iter().zip(column).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        }
    }
}

/// How many rows of activations stay in the first cache while the weights stream by.
#[cfg(target_arch = "x86_64")]
const ROWS_AT_ONCE: usize = 64;

#[cfg(target_arch = "x86_64")]
mod vnni {
    use std::arch::x86_64::*;

    /// Four by four sums at a time, sixteen registers of them.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    pub(super) unsafe fn multiply(
        left: &[u8],
        right: &[i8],
        out: &mut [i32],
        rows: usize,
        columns: usize,
        depth: usize,
    ) {
        let (a, b) = (left.as_ptr(), right.as_ptr());
        for block in (0..rows).step_by(super::ROWS_AT_ONCE) {
            let end = (block + super::ROWS_AT_ONCE).min(rows);
            let mut n = 0;
            while n < columns {
                let width = (columns - n).min(4);
                let mut m = block;
                while m < end {
                    let height = (end - m).min(4);
                    let mut sums = [[0i32; 4]; 4];
                    // SAFETY: `m + height <= rows` and `n + width <= columns`, and both have rows of `depth`.
                    unsafe {
                        let (a, b) = (a.add(m * depth), b.add(n * depth));
                        match (height, width) {
                            (4, 4) => tile::<4, 4>(a, b, depth, &mut sums),
                            (3, 4) => tile::<3, 4>(a, b, depth, &mut sums),
                            (2, 4) => tile::<2, 4>(a, b, depth, &mut sums),
                            (1, 4) => tile::<1, 4>(a, b, depth, &mut sums),
                            (4, 1) => tile::<4, 1>(a, b, depth, &mut sums),
                            _ => {
                                for (y, sums) in sums.iter_mut().enumerate().take(height) {
                                    for (x, sum) in sums.iter_mut().enumerate().take(width) {
                                        let mut one = [[0i32; 4]; 4];
                                        tile::<1, 1>(a.add(y * depth), b.add(x * depth), depth, &mut one);
                                        *sum = one[0][0];
                                    }
                                }
                            }
                        }
                    }
                    for (y, sums) in sums.iter().enumerate().take(height) {
                        let out = &mut out[(m + y) * columns + n..];
                        // Of a length that the compiler knows, it is one instruction.
                        match out.first_chunk_mut::<4>() {
                            Some(out) if width == 4 => *out = *sums,
                            _ => out[..width].copy_from_slice(&sums[..width]),
                        }
                    }
                    m += height;
                }
                n += width;
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
    #[inline]
    unsafe fn tile<const M: usize, const N: usize>(
        a: *const u8,
        b: *const i8,
        depth: usize,
        sums: &mut [[i32; 4]; 4],
    ) {
        let mut wide = [[_mm512_setzero_si512(); N]; M];
        let mut k = 0;
        while k < depth {
            let mut columns = [_mm512_setzero_si512(); N];
            for (x, column) in columns.iter_mut().enumerate() {
                // SAFETY: the caller has N rows of `depth` here, and `depth` is a multiple of 64.
                *column = unsafe { _mm512_loadu_si512(b.add(x * depth + k).cast()) };
            }
            for (y, wide) in wide.iter_mut().enumerate() {
                // SAFETY: likewise for M rows.
                let row = unsafe { _mm512_loadu_si512(a.add(y * depth + k).cast()) };
                for x in 0..N {
                    wide[x] = _mm512_dpbusd_epi32(wide[x], row, columns[x]);
                }
            }
            k += 64;
        }
        for (wide, sums) in wide.iter().zip(sums) {
            if N == 4 {
                let pair = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
                let (low, high) = (pair(wide[0], wide[1]), pair(wide[2], wide[3]));
                let four =
                    _mm512_add_epi32(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
                let half =
                    _mm256_add_epi32(_mm512_castsi512_si256(four), _mm512_extracti64x4_epi64::<1>(four));
                let quarter =
                    _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half));
                // SAFETY: four numbers fit into four.
                unsafe { _mm_storeu_si128(sums.as_mut_ptr().cast(), quarter) };
            } else {
                for x in 0..N {
                    sums[x] = _mm512_reduce_add_epi32(wide[x]);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    /// Bytes are widened first: the instruction that multiplies bytes directly would saturate.
    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn multiply(
        left: &[u8],
        right: &[i8],
        out: &mut [i32],
        rows: usize,
        columns: usize,
        depth: usize,
    ) {
        for block in (0..rows).step_by(super::ROWS_AT_ONCE) {
            let end = (block + super::ROWS_AT_ONCE).min(rows);
            for n in 0..columns {
                // SAFETY: `n < columns`, whose rows are `depth` long.
                let b = unsafe { right.as_ptr().add(n * depth) };
                let mut m = block;
                while m < end {
                    // SAFETY: `m + height <= rows`, whose rows are `depth` long.
                    let a = unsafe { left.as_ptr().add(m * depth) };
                    let mut sums = [0i32; 4];
                    let height = if end - m >= 4 { 4 } else { 1 };
                    // SAFETY: as above.
                    unsafe {
                        if height == 4 {
                            column::<4>(a, b, depth, &mut sums)
                        } else {
                            column::<1>(a, b, depth, &mut sums)
                        }
                    }
                    for (y, sum) in sums.iter().enumerate().take(height) {
                        out[(m + y) * columns + n] = *sum;
                    }
                    m += height;
                }
            }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn column<const M: usize>(a: *const u8, b: *const i8, depth: usize, sums: &mut [i32; 4]) {
        let mut wide = [_mm256_setzero_si256(); M];
        let mut k = 0;
        while k < depth {
            // SAFETY: the caller has a row of `depth` here, a multiple of 16, and M of them on the other side.
            let weights = unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(b.add(k).cast())) };
            for (y, wide) in wide.iter_mut().enumerate() {
                // SAFETY: likewise.
                let row = unsafe { _mm256_cvtepu8_epi16(_mm_loadu_si128(a.add(y * depth + k).cast())) };
                *wide = _mm256_add_epi32(*wide, _mm256_madd_epi16(row, weights));
            }
            k += 16;
        }
        for (wide, sum) in wide.iter().zip(sums) {
            let half = _mm_add_epi32(_mm256_castsi256_si128(*wide), _mm256_extracti128_si256::<1>(*wide));
            let half = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
            let half = _mm_add_epi32(half, _mm_shuffle_epi32::<0b10_11_00_01>(half));
            *sum = _mm_cvtsi128_si32(half);
        }
    }
}

/// `e^x`, good to a few parts in ten million, without a branch.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let scaled = x * std::f32::consts::LOG2_E;
    // Adding and taking away a large number rounds to a whole one.
    let whole = (scaled + 12_582_912.0) - 12_582_912.0;
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let series = 1.0
        + rest
            * (1.0
                + rest
                    * (0.5
                        + rest
                            * (0.166_666_66
                                + rest * (0.041_666_66 + rest * (0.008_333_334 + rest * 0.001_388_889)))));
    f32::from_bits((((whole as i32) + 127) << 23) as u32) * series
}

/// Exact GELU, `x · Φ(x)`, by Abramowitz and Stegun 7.1.26 (error below 2e-7).
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series =
        t * (0.254_829_6 + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    let erf = 1.0 - series * exp(-z * z);
    0.5 * x * (1.0 + if x < 0.0 { -erf } else { erf })
}

for_each_processor! {
    /// Makes real numbers of sums: times both scales, less what the zero point added, plus the bias. Rows of `out` are
    /// `stride` apart.
    pub(crate) fn scale(
        sums: &[i32], rows: &[(f32, f32)], scales: &[f32], totals: &[f32], bias: &[f32], out: &mut [f32], stride: usize,
    ) {
        let columns = scales.len();
        let (totals, bias) = (&totals[..columns], &bias[..columns]);
        for ((sums, out), (scale, zero)) in sums.chunks_exact(columns).zip(out.chunks_mut(stride)).zip(rows) {
            let (sums, out) = (&sums[..columns], &mut out[..columns]);
            for n in 0..columns {
                out[n] = (sums[n] as f32 - zero * totals[n]) * (scale * scales[n]) + bias[n];
            }
        }
    }
}

/// Each row as unsigned bytes, with the scale and the zero point that give it back. `depth` is a multiple of 16.
pub(crate) fn quantize(values: &[f32], depth: usize, out: &mut [u8], rows: &mut [(f32, f32)]) {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Vnni {
        // SAFETY: the processor has the features.
        return unsafe { wide::quantize(values, depth, out, rows) };
    }
    quantize_by_loop(values, depth, out, rows);
}

for_each_processor! {
    pub(crate) fn quantize_by_loop(values: &[f32], depth: usize, out: &mut [u8], rows: &mut [(f32, f32)]) {
        for ((values, out), row) in values.chunks_exact(depth).zip(out.chunks_exact_mut(depth)).zip(rows) {
            let (mut least, mut most) = ([0f32; 16], [0f32; 16]);
            for values in values.as_chunks::<16>().0 {
                for at in 0..16 {
                    least[at] = if values[at] < least[at] { values[at] } else { least[at] };
                    most[at] = if values[at] > most[at] { values[at] } else { most[at] };
                }
            }
            let least = least.iter().fold(0f32, |a, b| a.min(*b));
            let most = most.iter().fold(0f32, |a, b| a.max(*b));
            let scale = ((most - least) / 255.0).max(1e-12);
            let zero = (-least / scale).round();
            let inverse = 1.0 / scale;
            for (values, out) in values.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
                for at in 0..16 {
                    // Adding a large number leaves the rounded one in the lowest bits.
                    let whole = (values[at] * inverse + zero).clamp(0.0, 255.0) + 12_582_912.0;
                    out[at] = whole.to_bits() as u8;
                }
            }
            *row = (scale, zero);
        }
    }
}

for_each_processor! {
    /// GELU of every number, in place.
    pub(crate) fn gelu_all(values: &mut [f32]) {
        for value in values {
            *value = gelu(*value);
        }
    }
}

for_each_processor! {
    /// Adds `other` to each row of `values` and normalises the row.
    pub(crate) fn add_and_normalize(values: &mut [f32], other: &[f32], weight: &[f32], bias: &[f32]) {
        let depth = weight.len();
        for (values, other) in values.chunks_exact_mut(depth).zip(other.chunks_exact(depth)) {
            let mut sums = [0f32; 16];
            for (values, other) in values.chunks_exact_mut(16).zip(other.chunks_exact(16)) {
                for at in 0..16 {
                    values[at] += other[at];
                    sums[at] += values[at];
                }
            }
            let mean = sums.iter().sum::<f32>() / depth as f32;
            let mut squares = [0f32; 16];
            for values in values.chunks_exact(16) {
                for at in 0..16 {
                    let distance = values[at] - mean;
                    squares[at] += distance * distance;
                }
            }
            let factor = 1.0 / (squares.iter().sum::<f32>() / depth as f32 + 1e-12).sqrt();
            for at in 0..depth {
                values[at] = (values[at] - mean) * factor * weight[at] + bias[at];
            }
        }
    }
}

/// Attention of one sequence: `qkv` has rows of queries, keys and values, one after the other; heads lie side by side.
pub(crate) fn attend(qkv: &[f32], width: usize, head: usize, scratch: &mut Vec<f32>, out: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if level() == Level::Vnni {
        // SAFETY: the processor has the features.
        return unsafe { wide::attend(qkv, width, head, scratch, out) };
    }
    attend_by_loop(qkv, width, head, scratch, out);
}

for_each_processor! {
    pub(crate) fn attend_by_loop(qkv: &[f32], width: usize, head: usize, scratch: &mut Vec<f32>, out: &mut [f32]) {
        if head == 32 {
            attend_heads::<32>(qkv, width, scratch, out);
        } else {
            attend_heads::<64>(qkv, width, scratch, out);
        }
    }
}

/// Sixteen keys at a time; what is beyond the last token is masked.
#[inline(always)]
fn attend_heads<const HEAD: usize>(qkv: &[f32], width: usize, scratch: &mut Vec<f32>, out: &mut [f32]) {
    let length = qkv.len() / (3 * width);
    let padded = length.next_multiple_of(16);
    let factor = 1.0 / (HEAD as f32).sqrt();
    scratch.clear();
    scratch.resize(HEAD * padded + padded, 0.0);
    let (keys, weights) = scratch.split_at_mut(HEAD * padded);
    for first in (0..width).step_by(HEAD) {
        // Groups of sixteen keys, each group by dimension.
        for token in 0..length {
            let key = &qkv[token * 3 * width + width + first..][..HEAD];
            let group = &mut keys[token / 16 * 16 * HEAD..][..16 * HEAD];
            for (at, value) in key.iter().enumerate() {
                group[at * 16 + token % 16] = *value;
            }
        }
        for token in 0..length {
            let query = &qkv[token * 3 * width + first..][..HEAD];
            let mut most = [f32::MIN; 16];
            for (group, weights) in keys.chunks_exact(16 * HEAD).zip(weights.as_chunks_mut::<16>().0) {
                let mut sums = [0f32; 16];
                for (value, keys) in query.iter().zip(group.as_chunks::<16>().0) {
                    for lane in 0..16 {
                        sums[lane] += value * keys[lane];
                    }
                }
                for lane in 0..16 {
                    let sum = sums[lane] * factor;
                    weights[lane] = sum;
                    most[lane] = if sum > most[lane] { sum } else { most[lane] };
                }
            }
            let most = most.iter().fold(f32::MIN, |a, b| a.max(*b));
            let mut total = [0f32; 16];
            for weights in weights.as_chunks_mut::<16>().0 {
                for lane in 0..16 {
                    weights[lane] = exp(weights[lane] - most);
                    total[lane] += weights[lane];
                }
            }
            // Keys that are not there had a product of zero each.
            let extra = exp(-most) * (padded - length) as f32;
            let total = 1.0 / (total.iter().sum::<f32>() - extra);
            let mut mixed = [0f32; HEAD];
            for (other, weight) in weights[..length].iter().enumerate() {
                let values = &qkv[other * 3 * width + 2 * width + first..][..HEAD];
                for at in 0..HEAD {
                    mixed[at] += weight * values[at];
                }
            }
            for (out, value) in out[token * width + first..][..HEAD].iter_mut().zip(mixed) {
                *out = value * total;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_multiplies_alike() {
        let mut state = 7u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        for (rows, columns, depth) in
            [(1, 1, 64), (5, 7, 128), (70, 9, 384), (3, 4, 48), (2, 2, 5), (6, 1, 64)]
        {
            let left: Vec<u8> = (0..rows * depth).map(|_| next()).collect();
            let right: Vec<i8> = (0..columns * depth).map(|_| next() as i8).collect();
            let (mut fast, mut slow) = (vec![0; rows * columns], vec![0; rows * columns]);
            multiply(&left, &right, &mut fast, columns, depth);
            plain_multiply(&left, &right, &mut slow, columns, depth);
            assert_eq!(fast, slow, "{rows} {columns} {depth}");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && depth % 16 == 0 {
                let mut half = vec![0; rows * columns];
                // SAFETY: asked for just above; the rows are whole.
                unsafe { avx2::multiply(&left, &right, &mut half, rows, columns, depth) };
                assert_eq!(half, slow, "{rows} {columns} {depth}");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn packed_weights_and_wide_loops_agree_with_the_plain_ones() {
        let mut state = 11u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as f32 / 32_768.0 - 1.0
        };
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
        for length in [1, 5, 16, 37, 96] {
            let (width, depth) = (64, 128);
            let values: Vec<f32> = (0..length * depth).map(|_| next()).collect();
            let (mut bytes, mut rows) = (vec![0; length * depth], vec![(0.0, 0.0); length]);
            quantize(&values, depth, &mut bytes, &mut rows);
            let (mut plain, mut plain_rows) = (bytes.clone(), rows.clone());
            quantize_by_loop(&values, depth, &mut plain, &mut plain_rows);
            assert!(bytes.iter().zip(&plain).all(|(a, b)| a.abs_diff(*b) <= 1), "{length}");
            assert_eq!(rows, plain_rows, "{length}");

            let weights: Vec<i8> = (0..width * depth).map(|_| (next() * 127.0) as i8).collect();
            let (scales, totals, bias) = (vec![0.01; width], vec![3.0; width], vec![0.5; width]);
            let mut sums = vec![0; length * width];
            multiply(&bytes, &weights, &mut sums, width, depth);
            let mut want = vec![0.0; length * width];
            scale(&sums, &rows, &scales, &totals, &bias, &mut want, width);
            gelu_all(&mut want);
            if let Some(packed) = Packed::of(&weights, width, depth) {
                let mut got = vec![0.0; length * width];
                let finish = Finish { scales: &scales, totals: &totals, bias: &bias, gelu: true };
                linear(&bytes, &rows, &packed, finish, &mut got, width);
                assert!(close(&got, &want), "{length}");
            }

            let qkv: Vec<f32> = (0..length * 3 * width).map(|_| next() * 3.0).collect();
            let (mut got, mut want) = (vec![0.0; length * width], vec![0.0; length * width]);
            for head in [32, 64] {
                attend(&qkv, width, head, &mut Vec::new(), &mut got);
                attend_by_loop(&qkv, width, head, &mut Vec::new(), &mut want);
                assert!(close(&got, &want), "{length} {head}");
            }
        }
    }

    #[test]
    fn functions_are_close_to_the_true_ones() {
        for step in -800..800 {
            let x = step as f32 / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-5, "{x}");
        }
        for (x, want) in [(0.0, 0.0), (1.0, 0.841_345), (-1.0, -0.158_655), (3.0, 2.995_95), (-8.0, 0.0)] {
            assert!((gelu(x) - want).abs() < 1e-5, "{x} {}", gelu(x));
        }
    }
}

//! The same arithmetic for processors with AVX-512 and VNNI, in sixteens.
//!
//! Sums stay in registers until they are whole: the weights are packed so that one register holds sixteen columns, which
//! needs no adding across it, and what follows a multiplication happens before anything is written.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Columns that are multiplied at once: four registers of sixteen.
const GROUP: usize = 64;
/// Rows that are multiplied at once: with four registers each, twenty-four of the thirty-two.
const ROWS: usize = 6;
/// Tokens that attend at once, and dimensions of their values.
const QUERIES: usize = 8;
const HALF: usize = 32;

/// Weights in the order in which they are used: 64 columns, of these four numbers of each, then the next four.
#[derive(Debug)]
pub(crate) struct Packed {
    bytes: Vec<i8>,
    columns: usize,
    depth: usize,
}

impl Packed {
    /// Nothing if this processor or this shape does not fit.
    pub(crate) fn of(weights: &[i8], columns: usize, depth: usize) -> Option<Self> {
        let fits = columns.is_multiple_of(GROUP) && depth.is_multiple_of(4) && depth > 0;
        if super::level() != super::Level::Vnni || !fits || weights.len() < columns * depth {
            return None;
        }
        let mut bytes = vec![0; columns * depth];
        for (group, out) in bytes.chunks_exact_mut(GROUP * depth).enumerate() {
            for (at, row) in weights[group * GROUP * depth..][..GROUP * depth].chunks_exact(depth).enumerate()
            {
                for (step, four) in row.as_chunks::<4>().0.iter().enumerate() {
                    out[step * GROUP * 4 + at * 4..][..4].copy_from_slice(four);
                }
            }
        }
        Some(Self { bytes, columns, depth })
    }
}

/// What turns sums into numbers; each has one value a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finish<'a> {
    pub(crate) scales: &'a [f32],
    pub(crate) totals: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) gelu: bool,
}

/// Multiplies rows of bytes with packed weights and finishes the sums, into rows that are `stride` apart.
pub(crate) fn linear(
    left: &[u8],
    rows: &[(f32, f32)],
    packed: &Packed,
    finish: Finish<'_>,
    out: &mut [f32],
    stride: usize,
) {
    let (columns, depth) = (packed.columns, packed.depth);
    let enough = |list: &[f32]| list.len() >= columns;
    assert!(enough(finish.scales) && enough(finish.totals) && enough(finish.bias), "columns are missing");
    assert!(left.len() >= rows.len() * depth, "rows are cut short");
    assert!(rows.is_empty() || out.len() >= (rows.len() - 1) * stride + columns, "no room for the rows");
    // SAFETY: `Packed` exists only where the processor has the features; everything that is reached was measured above.
    unsafe { linear_wide(left, rows, packed, finish, out, stride) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")]
unsafe fn linear_wide(
    left: &[u8],
    rows: &[(f32, f32)],
    packed: &Packed,
    finish: Finish<'_>,
    out: &mut [f32],
    stride: usize,
) {
    let depth = packed.depth;
    for group in 0..packed.columns / GROUP {
        let weights = packed.bytes[group * GROUP * depth..].as_ptr();
        let mut at = 0;
        while at < rows.len() {
            let height = (rows.len() - at).min(ROWS);
            // SAFETY: `at + height` rows are there, and the caller measured the rest.
            unsafe {
                let left = left.as_ptr().add(at * depth);
                let rows = rows.as_ptr().add(at);
                let out = out.as_mut_ptr().add(at * stride + group * GROUP);
                match height {
                    6 => tile::<6>(left, rows, weights, depth, group * GROUP, finish, out, stride),
                    5 => tile::<5>(left, rows, weights, depth, group * GROUP, finish, out, stride),
                    4 => tile::<4>(left, rows, weights, depth, group * GROUP, finish, out, stride),
                    3 => tile::<3>(left, rows, weights, depth, group * GROUP, finish, out, stride),
                    2 => tile::<2>(left, rows, weights, depth, group * GROUP, finish, out, stride),
                    _ => tile::<1>(left, rows, weights, depth, group * GROUP, finish, out, stride),
                }
            }
            at += height;
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "it is the inside of a loop")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma")]
#[inline]
unsafe fn tile<const M: usize>(
    left: *const u8,
    rows: *const (f32, f32),
    weights: *const i8,
    depth: usize,
    column: usize,
    finish: Finish<'_>,
    out: *mut f32,
    stride: usize,
) {
    let mut sums = [[_mm512_setzero_si512(); 4]; M];
    for step in 0..depth / 4 {
        let mut four = [_mm512_setzero_si512(); 4];
        for (x, four) in four.iter_mut().enumerate() {
            // SAFETY: a step has 256 bytes of weights.
            *four = unsafe { _mm512_loadu_si512(weights.add(step * GROUP * 4 + x * 64).cast()) };
        }
        for (y, sums) in sums.iter_mut().enumerate() {
            // SAFETY: each of the M rows has `depth` bytes.
            let row = unsafe { left.add(y * depth + step * 4).cast::<i32>().read_unaligned() };
            let row = _mm512_set1_epi32(row);
            for x in 0..4 {
                sums[x] = _mm512_dpbusd_epi32(sums[x], row, four[x]);
            }
        }
    }
    // All at once to where they can be counted through; otherwise they would never be in registers.
    let mut kept = MaybeUninit::uninit();
    let sums: &[[__m512i; 4]; M] = kept.write(sums);
    for x in 0..4 {
        let at = column + x * 16;
        // SAFETY: there is a value for each column, and room for each in M rows.
        unsafe {
            let scales = _mm512_loadu_ps(finish.scales.as_ptr().add(at));
            let totals = _mm512_loadu_ps(finish.totals.as_ptr().add(at));
            let bias = _mm512_loadu_ps(finish.bias.as_ptr().add(at));
            for (y, sums) in sums.iter().enumerate() {
                let (scale, zero) = *rows.add(y);
                let sum = _mm512_fnmadd_ps(_mm512_set1_ps(zero), totals, _mm512_cvtepi32_ps(sums[x]));
                let mut value = _mm512_fmadd_ps(sum, _mm512_mul_ps(_mm512_set1_ps(scale), scales), bias);
                if finish.gelu {
                    value = gelu(value);
                }
                _mm512_storeu_ps(out.add(y * stride + x * 16), value);
            }
        }
    }
}

/// As [`super::exp`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma")]
#[inline]
fn exp(x: __m512) -> __m512 {
    let one = |value| _mm512_set1_ps(value);
    let x = _mm512_max_ps(x, one(-87.0));
    let whole = _mm512_roundscale_ps::<0>(_mm512_mul_ps(x, one(std::f32::consts::LOG2_E)));
    let rest = _mm512_fnmadd_ps(whole, one(0.693_359_4), x);
    let rest = _mm512_fmadd_ps(whole, one(2.121_944_4e-4), rest);
    let mut series = one(0.001_388_889);
    for factor in [0.008_333_334, 0.041_666_66, 0.166_666_66, 0.5, 1.0, 1.0] {
        series = _mm512_fmadd_ps(series, rest, one(factor));
    }
    _mm512_scalef_ps(series, whole)
}

/// As [`super::gelu`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma")]
#[inline]
fn gelu(x: __m512) -> __m512 {
    let one = |value| _mm512_set1_ps(value);
    let z = _mm512_mul_ps(_mm512_abs_ps(x), one(std::f32::consts::FRAC_1_SQRT_2));
    let below = _mm512_fmadd_ps(z, one(0.327_591_1), one(1.0));
    // A good guess of the quotient, made better once.
    let guess = _mm512_rcp14_ps(below);
    let t = _mm512_mul_ps(guess, _mm512_fnmadd_ps(below, guess, one(2.0)));
    let mut series = one(1.061_405_4);
    for factor in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        series = _mm512_fmadd_ps(series, t, one(factor));
    }
    let tail = _mm512_mul_ps(_mm512_mul_ps(series, t), exp(_mm512_fnmadd_ps(z, z, _mm512_setzero_ps())));
    // Half of x, times 2 - tail where x is positive and tail where it is not.
    let negative = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(x, _mm512_setzero_ps());
    let both = _mm512_mask_blend_ps(negative, _mm512_sub_ps(one(2.0), tail), tail);
    _mm512_mul_ps(_mm512_mul_ps(x, one(0.5)), both)
}

/// As [`super::quantize`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma")]
pub(super) fn quantize(values: &[f32], depth: usize, out: &mut [u8], rows: &mut [(f32, f32)]) {
    for ((values, out), row) in values.chunks_exact(depth).zip(out.chunks_exact_mut(depth)).zip(rows) {
        let (mut least, mut most) = (_mm512_setzero_ps(), _mm512_setzero_ps());
        for values in values.as_chunks::<16>().0 {
            // SAFETY: sixteen numbers are read.
            let values = unsafe { _mm512_loadu_ps(values.as_ptr()) };
            least = _mm512_min_ps(values, least);
            most = _mm512_max_ps(values, most);
        }
        let (least, most) = (_mm512_reduce_min_ps(least), _mm512_reduce_max_ps(most));
        let scale = ((most - least) / 255.0).max(1e-12);
        let zero = (-least / scale).round();
        let (inverse, offset) = (_mm512_set1_ps(1.0 / scale), _mm512_set1_ps(zero));
        for (values, out) in values.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
            // SAFETY: sixteen numbers are read, sixteen bytes are written.
            unsafe {
                let whole = _mm512_fmadd_ps(_mm512_loadu_ps(values.as_ptr()), inverse, offset);
                let whole = _mm512_max_epi32(_mm512_cvtps_epi32(whole), _mm512_setzero_si512());
                _mm_storeu_si128(out.as_mut_ptr().cast(), _mm512_cvtusepi32_epi8(whole));
            }
        }
        *row = (scale, zero);
    }
}

/// As [`super::attend`]: eight tokens at a time look at all others.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,fma")]
pub(super) fn attend(qkv: &[f32], width: usize, head: usize, scratch: &mut Vec<f32>, out: &mut [f32]) {
    let length = qkv.len() / (3 * width);
    assert!(head.is_multiple_of(HALF) && width.is_multiple_of(head) && out.len() >= length * width);
    let padded = length.next_multiple_of(32);
    let factor = _mm512_set1_ps(1.0 / (head as f32).sqrt());
    scratch.clear();
    scratch.resize((head + QUERIES) * padded, 0.0);
    let (keys, weights) = scratch.split_at_mut(head * padded);
    for first in (0..width).step_by(head) {
        // Groups of thirty-two keys, each group by dimension.
        for token in 0..length {
            let key = &qkv[token * 3 * width + width + first..][..head];
            let group = &mut keys[token / 32 * 32 * head..][..32 * head];
            for (at, value) in key.iter().enumerate() {
                group[at * 32 + token % 32] = *value;
            }
        }
        for from in (0..length).step_by(QUERIES) {
            let count = (length - from).min(QUERIES);
            // Beyond the last token, the last one is worked out again.
            let rows: [&[f32]; QUERIES] =
                std::array::from_fn(|at| &qkv[(from + at).min(length - 1) * 3 * width + first..][..head]);
            for (group, keys) in keys.chunks_exact(32 * head).enumerate() {
                let mut sums = [[_mm512_setzero_ps(); 2]; QUERIES];
                for dimension in 0..head {
                    // SAFETY: a group has 32 keys for each dimension; every query has `head` of them.
                    unsafe {
                        let keys = keys.as_ptr().add(dimension * 32);
                        let (low, high) = (_mm512_loadu_ps(keys), _mm512_loadu_ps(keys.add(16)));
                        for (at, sums) in sums.iter_mut().enumerate() {
                            let query = _mm512_set1_ps(*rows[at].get_unchecked(dimension));
                            sums[0] = _mm512_fmadd_ps(query, low, sums[0]);
                            sums[1] = _mm512_fmadd_ps(query, high, sums[1]);
                        }
                    }
                }
                for (at, sums) in sums.iter().enumerate() {
                    let out = &mut weights[at * padded + group * 32..][..32];
                    // SAFETY: thirty-two numbers are written.
                    unsafe {
                        _mm512_storeu_ps(out.as_mut_ptr(), _mm512_mul_ps(sums[0], factor));
                        _mm512_storeu_ps(out.as_mut_ptr().add(16), _mm512_mul_ps(sums[1], factor));
                    }
                }
            }
            let mut totals = [0f32; QUERIES];
            for (weights, total) in weights.chunks_exact_mut(padded).zip(&mut totals) {
                weights[length..].fill(f32::NEG_INFINITY);
                let weights = weights.as_chunks_mut::<16>().0;
                let mut most = _mm512_set1_ps(f32::NEG_INFINITY);
                for weights in weights.iter() {
                    // SAFETY: sixteen numbers are read.
                    most = _mm512_max_ps(most, unsafe { _mm512_loadu_ps(weights.as_ptr()) });
                }
                let most = _mm512_set1_ps(_mm512_reduce_max_ps(most));
                let mut sum = _mm512_setzero_ps();
                for weights in weights {
                    // SAFETY: sixteen numbers are read and written.
                    unsafe {
                        let value = exp(_mm512_sub_ps(_mm512_loadu_ps(weights.as_ptr()), most));
                        sum = _mm512_add_ps(sum, value);
                        _mm512_storeu_ps(weights.as_mut_ptr(), value);
                    }
                }
                *total = _mm512_reduce_add_ps(sum);
            }
            for half in (0..head).step_by(HALF) {
                let mut mixed = [[_mm512_setzero_ps(); 2]; QUERIES];
                for other in 0..length {
                    // SAFETY: every token has `head` values, of which these are 32; every query a weight for it.
                    unsafe {
                        let values = qkv.as_ptr().add(other * 3 * width + 2 * width + first + half);
                        let (low, high) = (_mm512_loadu_ps(values), _mm512_loadu_ps(values.add(16)));
                        for (at, mixed) in mixed.iter_mut().enumerate() {
                            let weight = _mm512_set1_ps(*weights.get_unchecked(at * padded + other));
                            mixed[0] = _mm512_fmadd_ps(weight, low, mixed[0]);
                            mixed[1] = _mm512_fmadd_ps(weight, high, mixed[1]);
                        }
                    }
                }
                for (at, (mixed, total)) in mixed.iter().zip(totals).enumerate().take(count) {
                    let out = &mut out[(from + at) * width + first + half..][..HALF];
                    let share = _mm512_set1_ps(1.0 / total);
                    // SAFETY: thirty-two numbers are written.
                    unsafe {
                        _mm512_storeu_ps(out.as_mut_ptr(), _mm512_mul_ps(mixed[0], share));
                        _mm512_storeu_ps(out.as_mut_ptr().add(16), _mm512_mul_ps(mixed[1], share));
                    }
                }
            }
        }
    }
}

//! A BERT encoder on the CPU, in bytes. Layers, width and heads come from the file.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use super::safetensors::{Bytes, Tensors};
use super::wordpiece::WordPiece;
use super::{Embedder, Purpose};
use crate::error::IndexError;
use crate::kernel;

const WEIGHTS: &[u8] = include_bytes!("../../assets/code-embed-v2/model.safetensors");
const VOCABULARY: &str = include_str!("../../assets/code-embed-v2/vocab.txt");

/// How many tokens are worked on at once: enough to use the weights well, few enough to stay in the cache.
const TOKENS_AT_ONCE: usize = 768;

/// A BERT-family encoder: mean of all tokens, length one.
pub struct Bert {
    id: String,
    limits: (usize, usize),
    /// BGE and its like want to be told that a text is a question.
    query_prefix: &'static str,
    first_token_only: bool,
    make: Box<dyn Fn() -> Result<Network, String> + Send + Sync>,
    network: OnceLock<Result<Network, String>>,
    dimensions: usize,
}

impl std::fmt::Debug for Bert {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bert").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Bert {
    /// The model that comes with the program. Nothing of it is touched until the first text.
    pub fn built_in() -> Self {
        Self {
            id: "code-embed-v2".to_owned(),
            limits: (96, 64),
            query_prefix: "",
            first_token_only: false,
            make: Box::new(|| Network::load(Cow::Borrowed(WEIGHTS), VOCABULARY)),
            network: OnceLock::new(),
            dimensions: 384,
        }
    }

    /// A folder with `model.safetensors` and `vocab.txt`: BGE-small, MiniLM, E5 and other BERTs.
    pub fn from_folder(folder: &Path) -> Result<Self, IndexError> {
        let model = |what: String| IndexError::Model { path: folder.to_owned(), what };
        let weights =
            std::fs::read(folder.join("model.safetensors")).map_err(|error| model(error.to_string()))?;
        let vocabulary =
            std::fs::read_to_string(folder.join("vocab.txt")).map_err(|error| model(error.to_string()))?;
        let name = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let hash = blake3::hash(&weights).to_hex();
        let network = Network::load(Cow::Owned(weights), &vocabulary).map_err(model)?;
        let bge = name.contains("bge");
        let dimensions = network.width;
        Ok(Self {
            id: format!("{name}-{}", &hash[..12]),
            limits: if name.contains("code-embed") { (96, 64) } else { (256.min(network.positions), 64) },
            query_prefix: if bge { "Represent this sentence for searching relevant passages: " } else { "" },
            first_token_only: bge,
            make: Box::new(|| Err("it was loaded before".to_owned())),
            network: OnceLock::from(Ok(network)),
            dimensions,
        })
    }

    fn network(&self) -> Result<&Network, IndexError> {
        let made = self.network.get_or_init(|| (self.make)());
        made.as_ref().map_err(|what| IndexError::Embedder { id: self.id.clone(), what: what.clone() })
    }

    /// Ids of a text, to check against a reference.
    pub fn token_ids(&self, purpose: Purpose, text: &str) -> Result<Vec<u32>, IndexError> {
        let limit = if purpose == Purpose::Query { self.limits.1 } else { self.limits.0 };
        Ok(self.network()?.tokenizer.encode(text, limit))
    }
}

impl Embedder for Bert {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let network = self.network()?;
        let mut sequences = Vec::with_capacity(texts.len());
        for text in texts {
            sequences.push(match purpose {
                Purpose::Query if !self.query_prefix.is_empty() => {
                    self.token_ids(purpose, &format!("{}{text}", self.query_prefix))?
                }
                _ => self.token_ids(purpose, text)?,
            });
        }
        let mut vectors = Vec::with_capacity(texts.len());
        let mut from = 0;
        while from < sequences.len() {
            let mut to = from;
            let mut tokens = 0;
            while to < sequences.len() && (to == from || tokens + sequences[to].len() <= TOKENS_AT_ONCE) {
                tokens += sequences[to].len();
                to += 1;
            }
            let finely = purpose == Purpose::Query;
            vectors.extend(network.forward(&sequences[from..to], finely, self.first_token_only));
            from = to;
        }
        Ok(vectors)
    }
}

/// A matrix that multiplies, with what is added after.
struct Linear {
    /// Rows of weights, where the file has them.
    weights: Cow<'static, [i8]>,
    scales: Vec<f32>,
    /// The sum of each row, which the zero point of the activations is multiplied with.
    totals: Vec<f32>,
    bias: Vec<f32>,
    depth: usize,
    /// The weights in another order, made for the first passage: one query is answered sooner without.
    #[cfg(target_arch = "x86_64")]
    packed: OnceLock<Option<kernel::Packed>>,
}

/// What comes after a multiplication.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    Nothing,
    Gelu,
}

struct Layer {
    /// Queries, keys and values.
    attention: [Linear; 3],
    output: Linear,
    output_norm: (Vec<f32>, Vec<f32>),
    up: Linear,
    down: Linear,
    down_norm: (Vec<f32>, Vec<f32>),
}

struct Network {
    tokenizer: WordPiece,
    words: Bytes<'static>,
    /// Position and type together, since there is only one type.
    places: Vec<f32>,
    norm: (Vec<f32>, Vec<f32>),
    layers: Vec<Layer>,
    width: usize,
    head: usize,
    positions: usize,
}

impl Network {
    fn load(weights: Cow<'static, [u8]>, vocabulary: &str) -> Result<Self, String> {
        // Weights from a folder live as long as the program: there is one such model, chosen once.
        let bytes: &'static [u8] = match weights {
            Cow::Borrowed(bytes) => bytes,
            Cow::Owned(bytes) => Box::leak(bytes.into_boxed_slice()),
        };
        let tensors = Tensors::parse(bytes)?;
        let tokenizer = WordPiece::parse(vocabulary)?;
        let words = tensors.bytes("embeddings.word_embeddings.weight")?;
        if words.scales.len() < tokenizer.len() {
            return Err("the vocabulary is larger than the model".to_owned());
        }
        let width = words.depth;
        let numbers = |name: &str| matrix(&tensors, name);
        let (mut places, kinds) = (
            numbers("embeddings.position_embeddings.weight")?,
            numbers("embeddings.token_type_embeddings.weight")?,
        );
        for place in places.chunks_exact_mut(width) {
            place.iter_mut().zip(&kinds).for_each(|(place, kind)| *place += kind);
        }
        let norm = |name: &str| {
            Ok::<_, String>((
                tensors.floats(&format!("{name}.weight"))?,
                tensors.floats(&format!("{name}.bias"))?,
            ))
        };
        let count = (0..)
            .take_while(|layer| tensors.names().any(|name| name.contains(&format!("encoder.layer.{layer}."))))
            .count();
        if count == 0 || width == 0 || !width.is_multiple_of(64) {
            return Err("it is not a BERT encoder".to_owned());
        }
        let mut layers = Vec::with_capacity(count);
        for layer in 0..count {
            let at = |name: &str| format!("encoder.layer.{layer}.{name}");
            let linear = |name: &str| Linear::load(&tensors, &at(name));
            layers.push(Layer {
                attention: [
                    linear("attention.self.query")?,
                    linear("attention.self.key")?,
                    linear("attention.self.value")?,
                ],
                output: linear("attention.output.dense")?,
                output_norm: norm(&at("attention.output.LayerNorm"))?,
                up: linear("intermediate.dense")?,
                down: linear("output.dense")?,
                down_norm: norm(&at("output.LayerNorm"))?,
            });
        }
        let positions = places.len() / width;
        // BERTs of this family have heads of 32 (up to 384 wide) or 64.
        let head = if width <= 384 { 32 } else { 64 };
        Ok(Self {
            tokenizer,
            words,
            places,
            norm: norm("embeddings.LayerNorm")?,
            layers,
            width,
            head,
            positions,
        })
    }

    /// Runs sequences one after the other in one matrix: nothing is padded.
    ///
    /// A query is one short text that everything is compared with, so it is worked out twice as finely.
    fn forward(&self, sequences: &[Vec<u32>], finely: bool, first_token_only: bool) -> Vec<Vec<f32>> {
        let width = self.width;
        let tokens: usize = sequences.iter().map(Vec::len).sum();
        let mut state = vec![0f32; tokens * width];
        let mut row = 0;
        for sequence in sequences {
            for (place, id) in sequence.iter().enumerate() {
                let id = (*id as usize).min(self.words.scales.len() - 1);
                let scale = self.words.scales[id];
                let word = &self.words.values[id * width..][..width];
                let place = &self.places[place.min(self.positions - 1) * width..][..width];
                let out = &mut state[row * width..][..width];
                out.iter_mut()
                    .zip(word)
                    .zip(place)
                    .for_each(|((out, word), place)| *out = f32::from(*word) * scale + place);
                row += 1;
            }
        }
        let zeros = vec![0f32; tokens * width];
        kernel::add_and_normalize(&mut state, &zeros, &self.norm.0, &self.norm.1);
        let mut work = Work { rest: finely.then(Box::default), ..Work::default() };
        let mut mixed = vec![0f32; tokens * width];
        let mut qkv = vec![0f32; tokens * width * 3];
        // One buffer for each width: what grows and shrinks is filled with zeros each time.
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for layer in &self.layers {
            work.quantize(&state, width);
            for (at, linear) in layer.attention.iter().enumerate() {
                linear.apply_into(&mut work, &mut qkv[at * width..], 3 * width, Then::Nothing);
            }
            let mut row = 0;
            for sequence in sequences {
                let end = row + sequence.len();
                let own = &qkv[row * 3 * width..end * 3 * width];
                kernel::attend(
                    own,
                    width,
                    self.head,
                    &mut work.scratch,
                    &mut mixed[row * width..end * width],
                );
                row = end;
            }
            work.quantize(&mixed, width);
            layer.output.apply(&mut work, &mut inner, Then::Nothing);
            kernel::add_and_normalize(&mut state, &inner, &layer.output_norm.0, &layer.output_norm.1);
            work.quantize(&state, width);
            layer.up.apply(&mut work, &mut outer, Then::Gelu);
            work.quantize(&outer, layer.down.depth);
            layer.down.apply(&mut work, &mut inner, Then::Nothing);
            kernel::add_and_normalize(&mut state, &inner, &layer.down_norm.0, &layer.down_norm.1);
        }
        let mut row = 0;
        let mut vectors = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            let used = if first_token_only { 1 } else { sequence.len() };
            let mut vector = vec![0f32; width];
            for token in state[row * width..][..used * width].chunks_exact(width) {
                vector.iter_mut().zip(token).for_each(|(sum, value)| *sum += value);
            }
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
            vector.iter_mut().for_each(|value| *value /= length);
            vectors.push(vector);
            row += sequence.len();
        }
        vectors
    }
}

/// The numbers of a matrix, whichever way the file has them.
fn matrix(tensors: &Tensors<'_>, name: &str) -> Result<Vec<f32>, String> {
    let bytes = match tensors.floats(name) {
        Ok(numbers) => return Ok(numbers),
        Err(_) => tensors.bytes(name)?,
    };
    let rows = bytes.values.chunks_exact(bytes.depth).zip(&bytes.scales);
    Ok(rows.flat_map(|(row, scale)| row.iter().map(move |value| f32::from(*value) * scale)).collect())
}

/// What is reused from one multiplication to the next.
#[derive(Default)]
struct Work {
    /// What is in use of it is as long as `rows` says; it never shrinks.
    bytes: Vec<u8>,
    rows: Vec<(f32, f32)>,
    sums: Vec<i32>,
    scratch: Vec<f32>,
    /// Where every digit counts: what is left after rounding, rounded again.
    rest: Option<Box<Work>>,
}

impl Work {
    fn quantize(&mut self, values: &[f32], depth: usize) {
        if self.bytes.len() < values.len() {
            self.bytes.resize(values.len(), 0);
        }
        self.rows.resize(values.len() / depth, (0.0, 0.0));
        kernel::quantize(values, depth, &mut self.bytes, &mut self.rows);
        if let Some(rest) = &mut self.rest {
            let rows = self.bytes.chunks_exact(depth).zip(&self.rows);
            let rounded = rows.flat_map(|(row, (scale, zero))| {
                row.iter().map(move |byte| (f32::from(*byte) - zero) * scale)
            });
            let left: Vec<f32> = values.iter().zip(rounded).map(|(value, rounded)| value - rounded).collect();
            rest.quantize(&left, depth);
        }
    }
}

impl Linear {
    fn load(tensors: &Tensors<'static>, name: &str) -> Result<Self, String> {
        let Bytes { values, scales, depth } = tensors.bytes(&format!("{name}.weight"))?;
        let bias = tensors.floats(&format!("{name}.bias"))?;
        if bias.len() != scales.len() {
            return Err(format!("`{name}` has a bias of another length"));
        }
        let mut totals = vec![0; scales.len()];
        kernel::multiply(&vec![1; depth], &values, &mut totals, scales.len(), depth);
        let totals = totals.iter().map(|total| *total as f32).collect();
        Ok(Self {
            weights: values,
            scales,
            totals,
            bias,
            depth,
            #[cfg(target_arch = "x86_64")]
            packed: OnceLock::new(),
        })
    }

    /// Multiplies what `work` holds.
    fn apply(&self, work: &mut Work, out: &mut Vec<f32>, then: Then) {
        out.resize(work.rows.len() * self.scales.len(), 0.0);
        self.apply_into(work, out, self.scales.len(), then);
    }

    /// As [`apply`](Self::apply), into rows that are `stride` apart.
    fn apply_into(&self, work: &mut Work, out: &mut [f32], stride: usize, then: Then) {
        let columns = self.scales.len();
        #[cfg(target_arch = "x86_64")]
        if work.rest.is_none() {
            let packed = self.packed.get_or_init(|| kernel::Packed::of(&self.weights, columns, self.depth));
            if let Some(packed) = packed {
                let finish = kernel::Finish {
                    scales: &self.scales,
                    totals: &self.totals,
                    bias: &self.bias,
                    gelu: then == Then::Gelu,
                };
                kernel::linear(&work.bytes, &work.rows, packed, finish, out, stride);
                return;
            }
        }
        let rows = work.rows.len();
        work.sums.resize(rows * columns, 0);
        kernel::multiply(&work.bytes, &self.weights, &mut work.sums, columns, self.depth);
        kernel::scale(&work.sums, &work.rows, &self.scales, &self.totals, &self.bias, out, stride);
        if let Some(rest) = &work.rest {
            // What rounding left over, multiplied as well.
            kernel::multiply(&rest.bytes, &self.weights, &mut work.sums, columns, self.depth);
            let mut more = vec![0.0; rows * columns];
            kernel::scale(
                &work.sums,
                &rest.rows,
                &self.scales,
                &self.totals,
                &vec![0.0; columns],
                &mut more,
                columns,
            );
            for (out, more) in out.chunks_mut(stride).zip(more.chunks_exact(columns)) {
                out.iter_mut().zip(more).for_each(|(out, more)| *out += more);
            }
        }
        if then == Then::Gelu {
            kernel::gelu_all(out);
        }
    }
}

#[cfg(test)]
mod tests;

//! What turns text into vectors.

mod bert;
mod cache;
mod safetensors;
mod wordpiece;

pub use bert::Bert;
pub(crate) use cache::VectorCache;

use crate::error::IndexError;

/// What a text is to the encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Something to be found.
    Passage,
    /// Something to find it by.
    Query,
}

/// Turns texts into vectors of one length. Blocking; called from several threads at once.
///
/// The built-in one is [`Bert`]. Those that reach out over the network are made elsewhere and handed in, by opt-in only.
pub trait Embedder: Send + Sync {
    /// Names the model and everything that changes its vectors: those of different ids never meet in one index.
    fn id(&self) -> &str;

    fn dimensions(&self) -> usize;

    /// One vector for each text, of length one.
    fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError>;

    /// How many texts are best handed over at once.
    fn batch(&self) -> usize {
        32
    }

    /// Whether it runs on this machine: then as many threads as there are cores work at it.
    fn is_local(&self) -> bool {
        true
    }
}

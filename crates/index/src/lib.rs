//! Code search: pieces of files, found by words and by meaning.
//!
//! - [`outline`] cuts a file into pieces: the file, its symbols, blocks of long ones.
//! - [`Index`] keeps them for one project and brings them up to date; what is where is in `store`.
//! - [`Embedder`]s turn text into vectors: [`Bert`] is built in, others are handed in.
//! - [`Searcher`] answers: BM25F over code tokens, exact search over vectors, and a weighted sum of both.
//!
//! Everything here blocks and nothing is async: callers decide on which thread it runs. Talking to services is left to
//! whoever hands in an embedder, printing to the program. Start reading at `update.rs`, `search.rs` and `rank.rs`.

mod bytes;
mod cancel;
mod decode;
mod error;
mod language;
mod rules;
mod tokens;
mod walk;

mod chunk;

mod segment;
mod store;
mod tested;
mod vectors;

mod embed;
mod kernel;

mod embedding;
mod index;
mod update;

mod lexical;
mod query;
mod rank;
mod search;
mod snippet;

mod context;
mod evaluate;
mod watch;

pub use cancel::Cancel;
pub use chunk::{Chunk, Definition, Kind, Level, Outline, outline};
pub use context::{AutoContext, AutoOptions, Place, Related, Relation, RepoMap, SymbolReport};
pub use embed::{Bert, Embedder, Purpose};
pub use embedding::Embedded;
pub use error::IndexError;
pub use evaluate::{Commit, Pair, Score, commit_pairs, commits, evaluate};
pub use index::{IfBusy, Index, Options, Status};
pub use language::Language;
pub use lexical::LexicalWeights;
pub use query::QueryKind;
pub use rank::{Weights, Why};
pub use rules::Skipped;
pub use search::{Found, Fusion, Hit, Mode, SearchOptions, Searcher};
pub use snippet::SnippetLine;
pub use update::{Progress, Step, Updated};
pub use watch::Watch;

//! May this happen? Nothing with an effect happens before this crate says so.
//!
//! An [`Action`] is what a tool, or an agent of someone else's, is about to do, in terms that can be judged. A [`Guard`]
//! classes it, applies mode, rules and memory, and answers with a [`Verdict`]; whoever asked carries it out.

mod action;
mod request;
mod verdict;

mod audit;
mod guard;
mod memory;
mod secrets;
mod settings;
mod trust;
mod untrusted;

mod class;
mod corpus;
mod decide;
mod files;
mod finding;
mod generated;
mod glob;
mod hosts;
mod judge;
mod knowledge;
mod powershell;
mod rules;
mod shell;
#[cfg(test)]
mod testing;

mod sandbox;

pub use action::{Action, Change};
pub use audit::{Audit, AuditError, Record, Tampered, sessions as audited_sessions, verify as verify_audit};
pub use corpus::{Label, Matrix, corpus};
pub use generated::GENERATED;
pub use guard::{Guard, GuardOptions, fold_hook};
pub use memory::{Count, Kept, Memory, MemoryError};
pub use request::{Answer, HookSays, Request, Scope};
pub use rules::{Effect, Entry, Rule, RuleError, RuleSet, Source};
#[cfg(target_os = "linux")]
pub use sandbox::Outside;
pub use sandbox::{
    Backend, Enclosed, Grade, Limits, NotALevel, Reverted, SANDBOX, Sandbox, SandboxConfig, SandboxError,
    SandboxLauncher, SandboxLevel, SandboxNeeds, SandboxPolicy, Strength, Tampering, looks_secret,
};
pub use secrets::Redactor;
pub use settings::{GuardSettings, PERMISSIONS, PermissionsConfig, Temperament};
pub use trust::{Item, ItemKind, TrustError, TrustState, TrustStore};
pub use untrusted::{DATA_NOTICE, as_data};
pub use verdict::{Level, Needs, Ruling, Verdict};

/// Stands in a command for what can not be known before it runs.
pub(crate) const UNKNOWN: char = '\u{fffc}';

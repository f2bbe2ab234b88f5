//! What a person should hear of although nothing failed.

use std::fmt;
use std::path::PathBuf;

/// Something that went on without an error and still wants to be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Others could read the file of secrets. It is private again, but what it holds may have been seen.
    WasReadable { path: PathBuf, mode: u32 },
    /// Others may write into the folder, and so replace the file.
    OpenFolder { path: PathBuf, mode: u32 },
    /// A damaged file was moved aside before a new one was written.
    SetAside { from: PathBuf, to: PathBuf },
    /// An account's login has ended, and another account took its place.
    LoginEnded { provider: String, account: String },
    /// A renewed login could not be written down. It holds for this process, and is written as soon as that works.
    NotSaved { provider: String, account: String, what: String },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WasReadable { path, mode } => write!(
                f,
                "others could read `{}` (mode {mode:03o}); it is private now, but consider new keys",
                path.display()
            ),
            Self::OpenFolder { path, mode } => write!(
                f,
                "others may write into `{}` (mode {mode:03o}) and replace the keys there; `chmod go-w` closes it",
                path.display()
            ),
            Self::SetAside { from, to } => write!(
                f,
                "`{}` was damaged; it is kept as `{}`, and a new one was begun",
                from.display(),
                to.display()
            ),
            Self::LoginEnded { provider, account } => {
                write!(
                    f,
                    "the login of account `{account}` at `{provider}` has ended; another account is used"
                )
            }
            Self::NotSaved { provider, account, what } => {
                write!(f, "the renewed login of account `{account}` at `{provider}` is not saved yet: {what}")
            }
        }
    }
}

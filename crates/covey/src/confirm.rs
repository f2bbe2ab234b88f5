//! Asking before something is done.

use std::io::IsTerminal;

use crate::exit::Failure;
use crate::terminal::tell;

/// Whether the person says yes. Without a terminal nobody can, and `hint` says how to do it then.
pub(crate) fn confirmed(question: &str, hint: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("nobody is there to confirm it").hint(hint));
    }
    tell(&format!("{question} [y/N]"));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

//! macOS: the same policy in the language of `sandbox-exec`.
//!
//! The last rule that matches decides, so what is hidden comes after what is granted.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// What the profile is made from. All paths are real ones.
pub(super) struct Wishes<'a> {
    pub(super) writable: &'a [PathBuf],
    pub(super) hidden: &'a [PathBuf],
    /// Stay as they are inside what is writable.
    pub(super) protected: &'a [PathBuf],
    pub(super) network: bool,
    pub(super) env_files: bool,
}

/// The profile, as text.
pub(super) fn profile(wishes: &Wishes<'_>) -> String {
    let mut text = String::from(
        "(version 1)\n(deny default)\n\
         (allow process-exec)\n(allow process-fork)\n(allow process-info* (target same-sandbox))\n\
         (allow signal (target same-sandbox))\n(allow sysctl-read)\n(allow mach-lookup \
         (global-name \"com.apple.system.opendirectoryd.libinfo\") (global-name \"com.apple.system.logger\"))\n\
         (allow ipc-posix-sem)\n(allow pseudo-tty)\n(allow file-read*)\n\
         (allow file-write* (literal \"/dev/null\") (literal \"/dev/zero\") (regex #\"^/dev/tty\"))\n",
    );
    for path in wishes.writable {
        rule(&mut text, "allow file-write*", path);
    }
    for path in wishes.protected {
        rule(&mut text, "deny file-write*", path);
    }
    for path in wishes.hidden {
        rule(&mut text, "deny file-read* file-write*", path);
    }
    if !wishes.env_files {
        text.push_str("(deny file-read* file-write* (regex #\"/[.]env(rc|[.][^/]*)?$\"))\n");
        text.push_str(
            "(allow file-read* (regex #\"/[.]env[.](example|sample|template|dist|defaults|schema)$\"))\n",
        );
    }
    if wishes.network {
        // Not to sockets of the system: only by address, and to look names up.
        text.push_str("(allow network-outbound (remote ip))\n(allow network-bind (local ip))\n(allow network-inbound (local ip))\n");
        text.push_str(
            "(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))\n(allow system-socket)\n",
        );
    }
    text
}

fn rule(text: &mut String, what: &str, path: &Path) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "({what} (subpath {}))", quoted(path));
}

/// As a string of the profile's language. A quote in a file's name must not end it.
fn quoted(path: &Path) -> String {
    let inside = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{inside}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(network: bool) -> String {
        let (writable, hidden) = ([PathBuf::from("/p")], [PathBuf::from("/h/.ssh")]);
        let protected = [PathBuf::from("/p/.git/hooks")];
        profile(&Wishes {
            writable: &writable,
            hidden: &hidden,
            protected: &protected,
            network,
            env_files: false,
        })
    }

    #[test]
    fn what_is_hidden_comes_after_what_is_granted() {
        let text = made(false);
        let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in {text}"));
        assert!(text.starts_with("(version 1)\n(deny default)\n"));
        assert!(
            at("(allow file-write* (subpath \"/p\"))") < at("(deny file-write* (subpath \"/p/.git/hooks\"))")
        );
        assert!(at("(allow file-read*)") < at("(deny file-read* file-write* (subpath \"/h/.ssh\"))"));
        assert!(at("(allow file-write* (subpath \"/p\"))") < at("[.]env(rc|"));
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    }

    #[test]
    fn the_network_is_off_unless_asked_for() {
        assert!(!made(false).contains("network"));
        assert!(made(true).contains("(allow network-outbound (remote ip))"));
    }

    #[test]
    fn a_name_does_not_break_out_of_its_quotes() {
        assert_eq!(quoted(Path::new("/a\" (allow default) \\")), r#""/a\" (allow default) \\""#);
    }
}

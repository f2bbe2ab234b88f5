//! What a program is given to read, as part of the command line that the guard judges: to an interpreter it is a program.

/// `command` with `input` as a here-document.
pub(crate) fn with_input(command: &str, input: &str) -> String {
    if !input.chars().all(is_plain) {
        // Keys that edit a line make something else of it than what is read here.
        return format!("{{ {command}\n}} < \"$typed\"");
    }
    let mut mark = "TYPED".to_owned();
    while input.contains(&mark) {
        mark.push('_');
    }
    let end = if input.ends_with('\n') { "" } else { "\n" };
    format!("{{ {command}\n}} <<'{mark}'\n{input}{end}{mark}")
}

fn is_plain(character: char) -> bool {
    matches!(character, '\n' | INTERRUPT | END) || !character.is_control()
}

/// Ctrl-C.
const INTERRUPT: char = '\u{3}';
/// Ctrl-D.
const END: char = '\u{4}';

#[cfg(test)]
mod tests {
    use super::with_input;

    #[test]
    fn what_is_typed_is_a_here_document_of_the_command() {
        assert_eq!(with_input("bash -i", "ls\n"), "{ bash -i\n} <<'TYPED'\nls\nTYPED");
        assert_eq!(with_input("cat", "no end"), "{ cat\n} <<'TYPED'\nno end\nTYPED");
    }

    #[test]
    fn nothing_typed_ends_the_document_early() {
        let line = with_input("bash", "TYPED\nrm -rf /\nTYPED_\n");
        assert!(line.starts_with("{ bash\n} <<'TYPED__'\n") && line.ends_with("\nTYPED__"), "{line}");
    }

    #[test]
    fn keys_that_edit_are_not_taken_for_text() {
        for keys in ["echo rm -rf /\u{1}\u{1b}[3~", "rm -rf /ho\t\n", "a\u{8}b", "\r"] {
            assert_eq!(with_input("bash", keys), "{ bash\n} < \"$typed\"");
        }
    }
}

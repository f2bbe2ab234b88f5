//! Which server knows which language, and how to get it.

use std::path::Path;

/// One language server.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) command: &'static [&'static str],
    /// What it is called by when there is another program of the same kind.
    others: &'static [&'static [&'static str]],
    /// File ending and what the protocol calls its language.
    languages: &'static [(&'static str, &'static str)],
    install: &'static str,
    /// What it is told when it starts, as JSON.
    pub(crate) options: &'static str,
    /// It says when it has read the project; before that its answers are empty.
    pub(crate) tells_when_ready: bool,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "rust-analyzer",
        command: &["rust-analyzer"],
        others: &[],
        languages: &[("rs", "rust")],
        install: "rustup component add rust-analyzer",
        options: "{}",
        tells_when_ready: true,
    },
    Program {
        name: "pyright",
        command: &["basedpyright-langserver", "--stdio"],
        others: &[&["pyright-langserver", "--stdio"]],
        languages: &[("py", "python"), ("pyi", "python")],
        install: "pip install basedpyright",
        options: "{}",
        tells_when_ready: false,
    },
    Program {
        name: "typescript-language-server",
        command: &["typescript-language-server", "--stdio"],
        others: &[],
        languages: &[
            ("ts", "typescript"),
            ("tsx", "typescriptreact"),
            ("js", "javascript"),
            ("jsx", "javascriptreact"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
        ],
        install: "npm install -g typescript-language-server typescript@5",
        // The quick half of it knows no other file than the one that is open.
        options: "{\"tsserver\": {\"useSyntaxServer\": \"never\"}}",
        tells_when_ready: false,
    },
    Program {
        name: "gopls",
        command: &["gopls"],
        others: &[],
        languages: &[("go", "go")],
        install: "go install golang.org/x/tools/gopls@latest",
        options: "{}",
        tells_when_ready: false,
    },
    Program {
        name: "clangd",
        command: &["clangd"],
        others: &[],
        languages: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hpp", "cpp"),
            ("hh", "cpp"),
        ],
        install: "your system's package `clangd`",
        options: "{}",
        tells_when_ready: false,
    },
];

/// The server for a file, by its ending.
pub(crate) fn program_for(path: &Path) -> Option<&'static Program> {
    let ending = path.extension()?.to_str()?;
    PROGRAMS.iter().find(|program| program.languages.iter().any(|(known, _)| *known == ending))
}

/// File endings that are known, for a person.
pub(crate) fn known() -> String {
    let endings = PROGRAMS.iter().flat_map(|program| program.languages.iter().map(|(ending, _)| *ending));
    endings.collect::<Vec<_>>().join(", ")
}

impl Program {
    pub(crate) fn language(&self, path: &Path) -> &'static str {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        self.languages
            .iter()
            .find(|(known, _)| *known == ending)
            .map_or("plaintext", |(_, language)| language)
    }

    /// The first of its names that is in the search path.
    pub(crate) fn found(&self) -> Option<&'static [&'static str]> {
        let folders: Vec<_> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
        let there = |words: &&'static [&'static str]| {
            words.first().is_some_and(|program| folders.iter().any(|folder| folder.join(program).is_file()))
        };
        std::iter::once(self.command).chain(self.others.iter().copied()).find(there)
    }

    pub(crate) fn does_not_start(&self) -> String {
        format!("{} is there, but ends at once; to get it: {}", self.name, self.install)
    }

    pub(crate) fn missing(&self) -> String {
        format!("`{}` is not installed; to get it: {}", self.command[0], self.install)
    }
}

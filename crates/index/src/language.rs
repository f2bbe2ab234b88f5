//! Which language a file is written in.

use std::fmt;

macro_rules! languages {
    ($($variant:ident $name:literal [$($extension:literal)*]),* $(,)?) => {
        /// What a file is written in, as far as chunking cares.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Language { $($variant),* }

        impl Language {
            /// All there are.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As people write it after `--lang`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            fn extensions(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($extension),*]),* }
            }
        }
    };
}

languages! {
    Rust "rust" ["rs"],
    Python "python" ["py" "pyi" "pyw"],
    JavaScript "javascript" ["js" "jsx" "mjs" "cjs"],
    TypeScript "typescript" ["ts" "mts" "cts"],
    Tsx "tsx" ["tsx"],
    Go "go" ["go"],
    Java "java" ["java"],
    C "c" ["c"],
    Cpp "cpp" ["cc" "cpp" "cxx" "hpp" "hh" "hxx" "ipp" "inl" "cu" "cuh"],
    CSharp "csharp" ["cs"],
    Ruby "ruby" ["rb" "rake" "gemspec" "ru"],
    Php "php" ["php" "phtml"],
    Bash "bash" ["sh" "bash" "zsh" "ksh" "bats"],
    Kotlin "kotlin" ["kt" "kts"],
    Swift "swift" ["swift"],
    Scala "scala" ["scala" "sc" "sbt"],
    Html "html" ["html" "htm" "xhtml" "vue" "svelte"],
    Css "css" ["css" "scss" "less"],
    Json "json" ["json" "jsonc" "json5"],
    Toml "toml" ["toml"],
    Yaml "yaml" ["yaml" "yml"],
    Markdown "markdown" ["md" "markdown" "mdx" "rst" "adoc" "txt"],
    Other "other" [],
}

impl Language {
    /// By name, extension and, for a file without either, its first line. A `.h` is C++ when it says so.
    pub fn detect(path: &str, text: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        if let Some(extension) = &extension {
            if extension == "h" {
                let head = prefix(text, 20_000);
                let cpp = ["class ", "namespace ", "template<", "template <", "public:", "std::"];
                return if cpp.iter().any(|word| head.contains(word)) { Self::Cpp } else { Self::C };
            }
            let known = Self::ALL.iter().find(|language| language.extensions().contains(&extension.as_str()));
            if let Some(language) = known {
                return *language;
            }
        }
        match name {
            "Rakefile" | "Gemfile" | "Guardfile" | "Vagrantfile" | "Brewfile" => return Self::Ruby,
            "BUILD" | "WORKSPACE" | "SConstruct" | "wscript" => return Self::Python,
            _ => {}
        }
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with("#!") {
            return Self::Other;
        }
        let script = [
            ("python", Self::Python),
            ("node", Self::JavaScript),
            ("ruby", Self::Ruby),
            ("php", Self::Php),
            ("sh", Self::Bash),
        ];
        script.iter().find(|(word, _)| first.contains(word)).map_or(Self::Other, |(_, language)| *language)
    }

    /// By the name or an extension, as typed by a person.
    pub fn by_name(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let alias = match text.as_str() {
            "c++" => Some(Self::Cpp),
            "c#" => Some(Self::CSharp),
            "shell" => Some(Self::Bash),
            "golang" => Some(Self::Go),
            _ => None,
        };
        alias.or_else(|| {
            let mut all = Self::ALL.iter();
            all.find(|language| language.name() == text || language.extensions().contains(&text.as_str()))
                .copied()
        })
    }

    pub(crate) fn from_byte(byte: u8) -> Self {
        Self::ALL.get(usize::from(byte)).copied().unwrap_or(Self::Other)
    }

    /// Prose rather than code.
    pub(crate) fn is_prose(self) -> bool {
        self == Self::Markdown
    }

    /// Settings and data rather than code.
    pub(crate) fn is_data(self) -> bool {
        matches!(self, Self::Json | Self::Toml | Self::Yaml)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// At most the first `limit` bytes, at a character's boundary.
pub(crate) fn prefix(text: &str, limit: usize) -> &str {
    &text[..text.floor_char_boundary(limit)]
}

//! The languages whose structure is known.

use std::path::Path;

macro_rules! languages {
    ($($variant:ident $name:literal [$($extension:literal)*] $grammar:expr, [$($around:literal)*]);* $(;)?) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Language { $($variant),* }

        impl Language {
            pub(crate) const NAMES: &[&str] = &[$($name),*];

            pub(crate) fn by_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            pub(crate) fn grammar(self) -> tree_sitter::Language {
                match self { $(Self::$variant => $grammar.into()),* }
            }

            pub(super) fn extensions(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($extension),*]),* }
            }

            /// What a piece of code may have to stand in to be read; it comes in the place of `@`.
            pub(super) fn surroundings(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($around),*]),* }
            }
        }
    };
}

languages! {
    Rust "rust" ["rs"] tree_sitter_rust::LANGUAGE, ["@" "fn f() { @; }" "fn f() { @ }" "type T = @;" "impl T { @ }" "match x { @ }"];
    Python "python" ["py" "pyi"] tree_sitter_python::LANGUAGE, ["@" "def f():\n    @" "class C:\n    @"];
    JavaScript "javascript" ["js" "jsx" "mjs" "cjs"] tree_sitter_javascript::LANGUAGE, ["@" "(@)" "class C { @ }"];
    TypeScript "typescript" ["ts" "mts" "cts"] tree_sitter_typescript::LANGUAGE_TYPESCRIPT, ["@" "(@)" "class C { @ }" "type T = @;"];
    Tsx "tsx" ["tsx"] tree_sitter_typescript::LANGUAGE_TSX, ["@" "(@)" "class C { @ }" "type T = @;"];
    Go "go" ["go"] tree_sitter_go::LANGUAGE, ["@" "package p\nfunc f() { @ }" "package p\n@" "package p\nvar x = @"];
    Java "java" ["java"] tree_sitter_java::LANGUAGE, ["@" "class C { void m() { @; } }" "class C { void m() { @ } }" "class C { @ }"];
    C "c" ["c" "h"] tree_sitter_c::LANGUAGE, ["@" "void f() { @; }" "void f() { @ }"];
    Cpp "cpp" ["cc" "cpp" "cxx" "hpp" "hh" "hxx" "h"] tree_sitter_cpp::LANGUAGE, ["@" "void f() { @; }" "void f() { @ }" "class C { @ };"];
    CSharp "csharp" ["cs"] tree_sitter_c_sharp::LANGUAGE, ["@" "class C { void M() { @; } }" "class C { void M() { @ } }" "class C { @ }"];
    Ruby "ruby" ["rb" "rake"] tree_sitter_ruby::LANGUAGE, ["@" "class C\n@\nend"];
    Php "php" ["php"] tree_sitter_php::LANGUAGE_PHP, ["<?php @;" "<?php @" "<?php class C { @ }"];
    Bash "bash" ["sh" "bash"] tree_sitter_bash::LANGUAGE, ["@"];
}

impl Language {
    pub(crate) fn is_of(self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        self.extensions().contains(&extension)
    }

    /// By the extension of a file that was named.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let all = Self::NAMES.iter().filter_map(|name| Self::by_name(name));
        all.into_iter().find(|language| language.is_of(Path::new(path)))
    }
}

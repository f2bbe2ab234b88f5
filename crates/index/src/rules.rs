//! What is left out of an index, and why.

use std::path::Path;

use serde::Serialize;

use crate::language::prefix;

/// Why a file is not in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Skipped {
    Binary,
    Minified,
    Generated,
    Vendored,
    /// Larger than the limit.
    Huge,
    /// Tables, drawings, logs: text, but nothing to find in it.
    Data,
    /// It could not be read, or was gone when we came.
    Unreadable,
}

impl Skipped {
    /// As people read it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Minified => "minified",
            Self::Generated => "generated",
            Self::Vendored => "vendored",
            Self::Huge => "huge",
            Self::Data => "data",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Folders of other people's code, or of machines'.
const VENDORED: &[&str] = &[
    "node_modules",
    "bower_components",
    "jspm_packages",
    "vendor",
    "third_party",
    "third-party",
    "thirdparty",
    "site-packages",
    "__pycache__",
    "Pods",
    "Carthage",
    "venv",
    "virtualenv",
];

/// These hold products, or copies, only beside a file that says how something is built.
const PRODUCTS: &[&str] = &["dist", "build", "target", "out", "deps", "_build", "obj", "coverage"];

const MANIFESTS: &[&str] = &[
    "package.json",
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "CMakeLists.txt",
    "setup.py",
    "pyproject.toml",
    "Makefile",
    "Makefile.am",
    "go.mod",
    "mix.exs",
    "composer.json",
    "Gemfile",
];

const BINARY: &[&str] = &[
    "png",
    "jpg",
    "jpeg",
    "gif",
    "webp",
    "ico",
    "bmp",
    "tiff",
    "pdf",
    "zip",
    "gz",
    "tgz",
    "bz2",
    "xz",
    "zst",
    "7z",
    "tar",
    "jar",
    "war",
    "class",
    "o",
    "a",
    "so",
    "dylib",
    "dll",
    "exe",
    "wasm",
    "pyc",
    "ttf",
    "otf",
    "woff",
    "woff2",
    "eot",
    "mp3",
    "mp4",
    "mov",
    "avi",
    "ogg",
    "wav",
    "flac",
    "sqlite",
    "db",
    "bin",
    "dat",
    "pack",
    "idx",
    "rlib",
    "node",
    "safetensors",
    "onnx",
    "npy",
    "npz",
    "parquet",
];

const DATA: &[&str] = &[
    "svg", "csv", "tsv", "log", "map", "ipynb", "lock", "sum", "patch", "diff", "snap", "po", "pot",
    "geojson", "jsonl",
];

const LOCKS: &[&str] =
    &["package-lock.json", "pnpm-lock.yaml", "npm-shrinkwrap.json", "composer.lock", "yarn.lock"];

/// Whether a folder is left out as a whole. The rules for products need to see what is beside it.
pub(crate) fn skip_folder(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    if VENDORED.contains(&name) {
        return true;
    }
    // A build folder of CMake's, an environment of Python's, whatever they are called.
    if PRODUCTS.contains(&name) {
        return path.parent().is_some_and(|parent| MANIFESTS.iter().any(|file| parent.join(file).exists()));
    }
    false
}

/// What the name alone tells.
pub(crate) fn skip_name(path: &str) -> Option<Skipped> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    if LOCKS.contains(&name) {
        return Some(Skipped::Generated);
    }
    if lower.contains(".min.") || lower.ends_with("-min.js") || lower.ends_with(".bundle.js") {
        return Some(Skipped::Minified);
    }
    let generated =
        [".pb.go", "_pb2.py", "_pb2_grpc.py", ".pb.cc", ".pb.h", ".g.dart", ".designer.cs", ".g.cs"];
    if generated.iter().any(|end| lower.ends_with(end)) {
        return Some(Skipped::Generated);
    }
    let extension = lower.rsplit_once('.')?.1;
    if BINARY.contains(&extension) {
        return Some(Skipped::Binary);
    }
    DATA.contains(&extension).then_some(Skipped::Data)
}

/// What the text tells.
pub(crate) fn skip_text(path: &str, text: &str) -> Option<Skipped> {
    let longest = text.as_bytes().split(|byte| *byte == b'\n').map(<[u8]>::len).max().unwrap_or(0);
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let prose = [".md", ".txt", ".rst"].iter().any(|end| path.ends_with(end));
    if longest > 20_000 || (!prose && text.len() > 4_000 && text.len() / lines > 300) {
        return Some(Skipped::Minified);
    }
    let data = [".json", ".yaml", ".yml", ".xml", ".txt"].iter().any(|end| path.ends_with(end));
    if data && text.len() > 256 * 1024 {
        return Some(Skipped::Data);
    }
    says_generated(text).then_some(Skipped::Generated)
}

/// The words that tools put at the top of what they write, in a comment line of their own.
fn says_generated(text: &str) -> bool {
    prefix(text, 2_000).lines().take(12).any(|line| {
        let line = line.trim_start();
        let comment =
            ["//", "#", "/*", "*", "--", ";", "<!--", "\"\"\""].iter().any(|mark| line.starts_with(mark));
        if !comment {
            return false;
        }
        let line = line.to_ascii_lowercase();
        (line.contains("generated") && (line.contains("do not edit") || line.contains("do not modify")))
            || line.contains("@generated")
            || line.contains("this file is automatically generated")
            || line.contains("this file was automatically generated")
            || line.contains("autogenerated by")
    })
}

/// What a path says about the part a file plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Code,
    Test,
    Docs,
    Example,
    /// What changed and who did it. It has every word of the project and answers no question about its code.
    History,
    /// Settings, data, and what is in no language that we know.
    Settings,
}

impl Part {
    pub(crate) fn of(path: &str) -> Self {
        let lower = path.to_ascii_lowercase();
        let mut segments: Vec<&str> = lower.split('/').collect();
        let name = segments.pop().unwrap_or_default();
        let stem = name.split('.').next().unwrap_or(name);
        let test_folder = |segment: &&str| {
            matches!(
                *segment,
                "test"
                    | "tests"
                    | "__tests__"
                    | "testing"
                    | "spec"
                    | "specs"
                    | "testdata"
                    | "fixture"
                    | "fixtures"
                    | "__mocks__"
                    | "mock"
                    | "mocks"
                    | "e2e"
                    | "integration"
                    | "__snapshots__"
                    | "runtime-tests"
                    | "test-data"
                    | "androidtest"
                    | "testutil"
                    | "testutils"
                    | "regression-test"
                    | "integration-tests"
            )
        };
        let test_name = stem == "test"
            || stem == "tests"
            || stem == "conftest"
            || stem.starts_with("test_")
            || stem.ends_with("_test")
            || stem.ends_with("_tests")
            || stem.ends_with("_spec")
            || name.contains(".test.")
            || name.contains(".spec.")
            || name.contains(".stories.")
            || is_camel_test(path);
        if test_name || segments.iter().any(test_folder) {
            return Self::Test;
        }
        let doc_folder = |segment: &&str| {
            matches!(*segment, "doc" | "docs" | "documentation" | "website" | "man" | "manual")
        };
        let prose =
            [".md", ".rst", ".txt", ".adoc", ".mdx", ".markdown"].iter().any(|end| name.ends_with(end));
        let history = |name: &str| {
            matches!(
                name,
                "changelog"
                    | "changelogs"
                    | "changes"
                    | "history"
                    | "news"
                    | "releases"
                    | "license"
                    | "authors"
                    | "contributors"
                    | "whatsnew"
            )
        };
        if (history(stem) && (prose || stem == name)) || (prose && segments.iter().any(|name| history(name)))
        {
            return Self::History;
        }
        if prose || segments.iter().any(doc_folder) {
            return Self::Docs;
        }
        let example = |segment: &&str| {
            matches!(
                *segment,
                "example"
                    | "examples"
                    | "demo"
                    | "demos"
                    | "sample"
                    | "samples"
                    | "bench"
                    | "benches"
                    | "benchmark"
                    | "benchmarks"
                    | "perf"
                    | "sandbox"
                    | "playground"
                    | "tutorial"
                    | "tutorials"
            )
        };
        if segments.iter().any(example) { Self::Example } else { Self::Code }
    }

    pub(crate) fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Test,
            2 => Self::Docs,
            3 => Self::Example,
            4 => Self::History,
            5 => Self::Settings,
            _ => Self::Code,
        }
    }

    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Code => 0,
            Self::Test => 1,
            Self::Docs => 2,
            Self::Example => 3,
            Self::History => 4,
            Self::Settings => 5,
        }
    }
}

/// `FooTest.java`, `FooTests.cs`, `FooSpec.scala`.
fn is_camel_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    ["Test", "Tests", "Spec", "TestCase", "IT"].iter().any(|end| {
        stem.strip_suffix(end)
            .is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_a_file_is() {
        assert_eq!(skip_name("a/app.min.js"), Some(Skipped::Minified));
        assert_eq!(skip_name("yarn.lock"), Some(Skipped::Generated));
        assert_eq!(skip_name("api/x.pb.go"), Some(Skipped::Generated));
        assert_eq!(skip_name("logo.PNG"), Some(Skipped::Binary));
        assert_eq!(skip_name("src/main.rs"), None);
        assert_eq!(skip_name("Makefile"), None);
    }

    #[test]
    fn text_tells_what_machines_wrote() {
        assert_eq!(
            skip_text("a.go", "// Code generated by x. DO NOT EDIT.\npackage a\n"),
            Some(Skipped::Generated)
        );
        assert_eq!(skip_text("a.rs", "fn generated() { /* do not edit */ }\n"), None);
        assert_eq!(skip_text("a.js", &"x".repeat(30_000)), Some(Skipped::Minified));
    }

    #[test]
    fn paths_tell_the_part() {
        for (path, part) in [
            ("src/lib.rs", Part::Code),
            ("tests/it/main.rs", Part::Test),
            ("pkg/a_test.go", Part::Test),
            ("src/FooTest.java", Part::Test),
            ("src/latest.py", Part::Code),
            ("src/Audit.java", Part::Code),
            ("README.md", Part::Docs),
            ("examples/a.py", Part::Example),
            ("CHANGELOG.md", Part::History),
            ("AUTHORS", Part::History),
            ("doc/whatsnew/v0.11.rst", Part::History),
            ("src/history.rs", Part::Code),
            ("src/changes/mod.rs", Part::Code),
        ] {
            assert_eq!(Part::of(path), part, "{path}");
            assert_eq!(Part::from_byte(part.byte()), part);
        }
    }
}

//! Which nodes of each grammar are symbols. Tables, read once per language.

use std::sync::OnceLock;

use super::Kind;
use crate::language::Language;

/// What to do with a node of some kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// A symbol, named by its field `name` or as `syntax::name_of` knows.
    Symbol(Kind),
    /// A symbol when it has a body; else only mentioned.
    WithBody(Kind),
    /// A symbol when its value is a function or a class.
    Value,
    /// Too small for a piece of its own, unless it is several lines long.
    Small(Kind),
    /// Starts the symbol that it wraps: decorators, templates, `export`.
    Wrapper,
}

/// A grammar and its rules by node kind.
pub(super) struct Grammar {
    pub(super) language: tree_sitter::Language,
    rules: Vec<Option<Rule>>,
}

impl Grammar {
    pub(super) fn rule(&self, kind: u16) -> Option<Rule> {
        self.rules.get(usize::from(kind)).copied().flatten()
    }

    fn new(language: tree_sitter::Language, table: &[(&str, Rule)]) -> Self {
        let count = language.node_kind_count();
        let rules = (0..count).map(|id| {
            let id = id as u16;
            let name = language.node_kind_for_id(id).filter(|_| language.node_kind_is_named(id))?;
            table.iter().find(|(kind, _)| *kind == name).map(|(_, rule)| *rule)
        });
        Self { rules: rules.collect(), language }
    }
}

macro_rules! grammar {
    ($language:expr, $table:expr) => {{
        static GRAMMAR: OnceLock<Grammar> = OnceLock::new();
        Some(GRAMMAR.get_or_init(|| Grammar::new($language.into(), $table)))
    }};
}

/// The grammar for a language, if it has one that is built in.
pub(super) fn grammar(language: Language) -> Option<&'static Grammar> {
    match language {
        Language::Rust => grammar!(tree_sitter_rust::LANGUAGE, RUST),
        Language::Python => grammar!(tree_sitter_python::LANGUAGE, PYTHON),
        Language::JavaScript => grammar!(tree_sitter_javascript::LANGUAGE, SCRIPT),
        Language::TypeScript => grammar!(tree_sitter_typescript::LANGUAGE_TYPESCRIPT, SCRIPT),
        Language::Tsx => grammar!(tree_sitter_typescript::LANGUAGE_TSX, SCRIPT),
        Language::Go => grammar!(tree_sitter_go::LANGUAGE, GO),
        Language::Java => grammar!(tree_sitter_java::LANGUAGE, JAVA),
        Language::C => grammar!(tree_sitter_c::LANGUAGE, C),
        Language::Cpp => grammar!(tree_sitter_cpp::LANGUAGE, C),
        Language::CSharp => grammar!(tree_sitter_c_sharp::LANGUAGE, JAVA),
        Language::Ruby => grammar!(tree_sitter_ruby::LANGUAGE, RUBY),
        Language::Php => grammar!(tree_sitter_php::LANGUAGE_PHP, PHP),
        Language::Bash => grammar!(tree_sitter_bash::LANGUAGE, BASH),
        #[cfg(feature = "langs-extra")]
        Language::Kotlin => grammar!(tree_sitter_kotlin_ng::LANGUAGE, KOTLIN),
        #[cfg(feature = "langs-extra")]
        Language::Swift => grammar!(tree_sitter_swift::LANGUAGE, SWIFT),
        #[cfg(feature = "langs-extra")]
        Language::Scala => grammar!(tree_sitter_scala::LANGUAGE, SCALA),
        _ => None,
    }
}

use Kind::{Class, Constant, Function, Method, Module, Type};
use Rule::{Small, Symbol, Value, WithBody, Wrapper};

const RUST: &[(&str, Rule)] = &[
    ("function_item", Symbol(Function)),
    ("function_signature_item", Small(Method)),
    ("struct_item", Symbol(Type)),
    ("enum_item", Symbol(Type)),
    ("union_item", Symbol(Type)),
    ("trait_item", Symbol(Type)),
    ("impl_item", Symbol(Class)),
    ("mod_item", WithBody(Module)),
    ("macro_definition", Symbol(Function)),
    ("type_item", Small(Type)),
    ("const_item", Small(Constant)),
    ("static_item", Small(Constant)),
];

const PYTHON: &[(&str, Rule)] = &[
    ("function_definition", Symbol(Function)),
    ("class_definition", Symbol(Class)),
    ("decorated_definition", Wrapper),
];

/// JavaScript, TypeScript and TSX: the kinds that one has and the other lacks do not clash.
const SCRIPT: &[(&str, Rule)] = &[
    ("function_declaration", Symbol(Function)),
    ("generator_function_declaration", Symbol(Function)),
    ("function_signature", Small(Function)),
    ("class_declaration", Symbol(Class)),
    ("abstract_class_declaration", Symbol(Class)),
    ("method_definition", Symbol(Method)),
    ("interface_declaration", Symbol(Type)),
    ("type_alias_declaration", Small(Type)),
    ("enum_declaration", Symbol(Type)),
    ("internal_module", Symbol(Module)),
    ("variable_declarator", Value),
    ("field_definition", Value),
    ("public_field_definition", Value),
    ("assignment_expression", Value),
    ("pair", Value),
    ("export_statement", Wrapper),
    ("lexical_declaration", Wrapper),
    ("variable_declaration", Wrapper),
    ("expression_statement", Wrapper),
];

const GO: &[(&str, Rule)] = &[
    ("function_declaration", Symbol(Function)),
    ("method_declaration", Symbol(Method)),
    ("type_spec", Symbol(Type)),
    ("type_alias", Small(Type)),
    ("type_declaration", Wrapper),
    ("const_spec", Small(Constant)),
    ("var_spec", Small(Constant)),
];

/// Java and C#.
const JAVA: &[(&str, Rule)] = &[
    ("class_declaration", Symbol(Class)),
    ("struct_declaration", Symbol(Class)),
    ("interface_declaration", Symbol(Class)),
    ("annotation_type_declaration", Symbol(Type)),
    ("enum_declaration", Symbol(Type)),
    ("record_declaration", Symbol(Class)),
    ("record_struct_declaration", Symbol(Class)),
    ("method_declaration", Symbol(Method)),
    ("constructor_declaration", Symbol(Method)),
    ("compact_constructor_declaration", Symbol(Method)),
    ("local_function_statement", Symbol(Function)),
    ("operator_declaration", Symbol(Method)),
    ("property_declaration", Small(Method)),
    ("delegate_declaration", Small(Type)),
    ("namespace_declaration", Symbol(Module)),
];

/// C and C++.
const C: &[(&str, Rule)] = &[
    ("function_definition", Symbol(Function)),
    ("struct_specifier", WithBody(Type)),
    ("union_specifier", WithBody(Type)),
    ("enum_specifier", WithBody(Type)),
    ("class_specifier", WithBody(Class)),
    ("namespace_definition", Symbol(Module)),
    ("concept_definition", Small(Type)),
    ("alias_declaration", Small(Type)),
    ("type_definition", Small(Type)),
    ("preproc_def", Small(Constant)),
    ("preproc_function_def", Small(Function)),
    ("template_declaration", Wrapper),
];

const RUBY: &[(&str, Rule)] = &[
    ("method", Symbol(Method)),
    ("singleton_method", Symbol(Method)),
    ("class", Symbol(Class)),
    ("module", Symbol(Module)),
];

const PHP: &[(&str, Rule)] = &[
    ("function_definition", Symbol(Function)),
    ("method_declaration", Symbol(Method)),
    ("class_declaration", Symbol(Class)),
    ("interface_declaration", Symbol(Class)),
    ("trait_declaration", Symbol(Class)),
    ("enum_declaration", Symbol(Type)),
    ("namespace_definition", WithBody(Module)),
    ("const_element", Small(Constant)),
];

const BASH: &[(&str, Rule)] = &[("function_definition", Symbol(Function))];

#[cfg(feature = "langs-extra")]
const KOTLIN: &[(&str, Rule)] = &[
    ("class_declaration", Symbol(Class)),
    ("object_declaration", Symbol(Class)),
    ("companion_object", Symbol(Class)),
    ("function_declaration", Symbol(Function)),
    ("type_alias", Small(Type)),
];

#[cfg(feature = "langs-extra")]
const SWIFT: &[(&str, Rule)] = &[
    ("class_declaration", Symbol(Class)),
    ("protocol_declaration", Symbol(Type)),
    ("function_declaration", Symbol(Function)),
    ("init_declaration", Symbol(Method)),
    ("typealias_declaration", Small(Type)),
];

#[cfg(feature = "langs-extra")]
const SCALA: &[(&str, Rule)] = &[
    ("class_definition", Symbol(Class)),
    ("object_definition", Symbol(Class)),
    ("trait_definition", Symbol(Type)),
    ("enum_definition", Symbol(Type)),
    ("function_definition", Symbol(Function)),
    ("type_definition", Small(Type)),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule for a node that the grammar does not have would silently find nothing.
    #[test]
    fn every_table_finds_most_of_its_kinds() {
        for language in Language::ALL {
            let Some(grammar) = grammar(*language) else { continue };
            let used = grammar.rules.iter().flatten().count();
            assert!(used > 0, "{language} has no rules");
        }
    }
}

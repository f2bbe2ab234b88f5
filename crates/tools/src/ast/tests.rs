use tree_sitter::Parser;

use super::*;

fn found(shape: &Shape, language: Language, text: &str) -> Vec<String> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).unwrap();
    let tree = parse(&mut parser, text, &Stop::default()).unwrap();
    let told = |one: Match| {
        let holes: Vec<String> = one.holes.iter().map(|(name, text)| format!("{name}={text}")).collect();
        format!("{}: {} {}", one.first, one.text, holes.join(" ")).trim_end().to_owned()
    };
    shape.find(&tree, text).into_iter().map(told).collect()
}

fn pattern(text: &str, language: Language, code: &str) -> Vec<String> {
    found(&Shape::pattern(text, language).unwrap(), language, code)
}

#[test]
fn holes_take_any_code_and_the_same_name_the_same() {
    let code = "fn f() {\n    let a = g(1, h(2));\n    x.unwrap();\n    y == y;\n    g(3, /* why */ 4);\n}\n";
    assert_eq!(
        pattern("g($A, $B)", Language::Rust, code),
        ["2: g(1, h(2)) $A=1 $B=h(2)", "5: g(3, /* why */ 4) $A=3 $B=4"]
    );
    assert_eq!(pattern("$X.unwrap()", Language::Rust, code), ["3: x.unwrap() $X=x"]);
    assert_eq!(pattern("$X == $X", Language::Rust, code), ["4: y == y $X=y"]);
    assert_eq!(pattern("$_ == 1", Language::Rust, code), Vec::<String>::new());
}

#[test]
fn three_dollars_take_any_number() {
    let code = "print()\nprint(1)\nlog(a, b, c)\n";
    assert_eq!(pattern("print($$$)", Language::Python, code).len(), 2);
    assert_eq!(pattern("log($$$A, c)", Language::Python, code), ["3: log(a, b, c)"]);
    let code = "function a(x) { go(); return x }\nfunction b() {}\n";
    assert_eq!(pattern("function $F($$$) { $$$ }", Language::JavaScript, code).len(), 2);
}

#[test]
fn every_language_reads_its_patterns() {
    let cases = [
        (Language::Go, "package m\nfunc main() { fmt.Println(1) }\n", "fmt.Println($A)"),
        (Language::Java, "class A { void m() { foo(1); } }", "foo($A)"),
        (Language::C, "int main(void) { foo(1); }", "foo($A)"),
        (Language::Cpp, "int main() { foo(1); }", "foo($A)"),
        (Language::CSharp, "class A { void M() { foo(1); } }", "foo($A)"),
        (Language::TypeScript, "const x: number = foo(1);", "foo($A)"),
        (Language::Tsx, "const x = <div>{foo(1)}</div>;", "foo($A)"),
        (Language::Ruby, "foo(1)\n", "foo($A)"),
        (Language::Php, "<?php foo(1);", "foo($A)"),
        (Language::Bash, "echo hi\n", "echo hi"),
    ];
    for (language, code, text) in cases {
        assert_eq!(pattern(text, language, code).len(), 1, "{language:?}");
    }
}

#[test]
fn queries_tell_what_they_capture() {
    let shape = Shape::query("(function_item name: (identifier) @name)", Language::Rust).unwrap();
    assert_eq!(found(&shape, Language::Rust, "fn a() {}\nfn b() {}\n"), ["1: a @name=a", "2: b @name=b"]);
    assert!(Shape::query("(no_such_node)", Language::Rust).is_err());
    assert!(Shape::pattern("fn (", Language::Rust).is_err());
    assert!(Shape::pattern("  ", Language::Rust).is_err());
}

use super::*;

/// Level, lines, name and kind of every piece.
fn of(path: &str, text: &str) -> String {
    let outline = outline(path, text);
    assert_eq!(outline.owners.len(), text.lines().count());
    let show = |chunk: &Chunk| {
        format!("{}-{} {} {}", chunk.start_line, chunk.end_line, chunk.kind.word(), chunk.name)
            .trim_end()
            .to_owned()
    };
    outline.chunks[1..]
        .iter()
        .filter(|chunk| chunk.level == Level::Symbol)
        .map(show)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn rust() {
    let text = "use std::io;\n\n/// Adds.\n#[inline]\nfn add(a: i32) -> i32 {\n    a\n}\n\nstruct Cart { a: u8 }\n\nimpl Cart {\n    fn apply(&self) {\n    }\n}\n\nimpl Drop for Cart {\n    fn drop(&mut self) {}\n}\n";
    assert_eq!(
        of("a.rs", text),
        "3-7 function add\n9-9 type Cart\n11-14 class Cart\n12-13 function Cart::apply\n16-18 class Cart as Drop\n17-17 function Cart as Drop::drop"
    );
    let outline = outline("a.rs", text);
    assert_eq!(outline.imports, ["std::io"]);
    assert_eq!(outline.chunks[1].signature, "fn add(a: i32) -> i32");
}

#[test]
fn python() {
    let text = "import os\nfrom a.b import c\n\nclass A(B):\n    x = 1\n\n    @property\n    def f(self):\n        return 1\n\n# About g.\ndef g(): pass\n";
    assert_eq!(of("a.py", text), "4-9 class A\n7-9 function A.f\n11-12 function g");
    assert_eq!(outline("a.py", text).imports, ["os", "a.b"]);
}

#[test]
fn javascript_and_typescript() {
    let text = "import x from './x'\nexport const f = async (a) => {\n  return a\n}\nexport default class A {\n  m() {\n    return 1\n  }\n  h = () => {\n    return 2\n  }\n}\nmodule.exports.go = function () {\n  return 3\n}\n";
    let want = "2-4 function f\n5-12 class A\n6-8 method A.m\n9-11 function A.h\n13-15 function go";
    assert_eq!(of("a.js", text), want);
    assert_eq!(of("a.ts", text), want);
    assert_eq!(of("a.tsx", text), want);
    let types = "export interface Options {\n  a: string\n}\nexport type Id = string\nenum Color { Red }\nnamespace N {\n  export function f(): void {\n  }\n}\n";
    assert_eq!(of("b.ts", types), "1-3 type Options\n5-5 type Color\n6-9 module N\n7-8 function N.f");
    assert_eq!(outline("b.ts", types).definitions[0].name, "Id");
}

#[test]
fn go_java_csharp() {
    let go = "package a\n\nimport (\n\t\"fmt\"\n)\n\n// Run runs.\nfunc (s *Server[T]) Run() error {\n\treturn nil\n}\n\ntype Server struct {\n\ta int\n}\n";
    assert_eq!(of("a.go", go), "7-10 method Server.Run\n12-14 type Server");
    let java =
        "package a;\n/** Doc. */\npublic class A {\n  @Override\n  public int f() {\n    return 1;\n  }\n}\n";
    assert_eq!(of("A.java", java), "2-8 class A\n4-7 method A.f");
    let csharp = "namespace N {\n  class A {\n    int F() {\n      return 1;\n    }\n  }\n}\n";
    assert_eq!(of("A.cs", csharp), "1-7 module N\n2-6 class N.A\n3-5 method N.A.F");
}

#[test]
fn c_and_cpp() {
    let c = "#include \"a.h\"\n#define N 3\n\nstatic char *\nname(int a)\n{\n  return 0;\n}\n\nstruct point {\n  int x;\n};\n";
    assert_eq!(of("a.c", c), "4-8 function name\n10-12 type point");
    let cpp = "namespace n {\ntemplate <class T>\nclass A {\n  void f() {\n  }\n};\n}\nvoid n::A::g() {\n}\n";
    assert_eq!(of("a.cpp", cpp), "1-7 module n\n2-6 class n::A\n4-5 function n::A::f\n8-9 function n::A::g");
}

#[test]
fn ruby_php_bash() {
    let ruby = "require 'x'\nmodule M\n  class A\n    # Doc\n    def f\n    end\n    def self.g\n    end\n  end\nend\n";
    assert_eq!(of("a.rb", ruby), "2-10 module M\n3-9 class M#A\n4-6 method M#A#f\n7-8 method M#A#g");
    let php = "<?php\nnamespace N;\nclass A {\n  public function f() {\n  }\n}\nfunction g() {}\n";
    assert_eq!(of("a.php", php), "3-6 class A\n4-5 method A::f\n7-7 function g");
    assert_eq!(of("run", "#!/bin/sh\n# Doc\ngo() {\n  ls\n}\n"), "2-5 function go");
}

#[cfg(feature = "langs-extra")]
#[test]
fn kotlin_swift_scala() {
    let kotlin = "package a\n\nimport b.C\n\n/** Doc. */\nclass Cart(val a: Int) {\n    fun apply(code: String): Boolean {\n        return true\n    }\n\n    companion object {\n        fun make() = Cart(1)\n    }\n}\n\nobject Shop {\n    fun open() {\n    }\n}\n\nfun top() {\n}\n";
    assert_eq!(
        of("A.kt", kotlin),
        "5-14 class Cart\n7-9 function Cart.apply\n11-13 class Cart.Companion\n12-12 function Cart.Companion.make\n16-19 class Shop\n17-18 function Shop.open\n21-22 function top"
    );
    assert_eq!(outline("A.kt", kotlin).imports, ["b.C"]);
    let swift = "import Foundation\n\n/// Doc.\nclass Cart {\n    init(a: Int) {\n    }\n\n    func apply(code: String) -> Bool {\n        return true\n    }\n}\n\nprotocol Shop {\n    func open()\n}\n\nextension Cart {\n    func more() {\n    }\n}\n\nstruct Point {\n    var x: Int\n}\n\nfunc top() {\n}\n";
    assert_eq!(
        of("A.swift", swift),
        "3-11 class Cart\n5-6 method Cart.init\n8-10 function Cart.apply\n13-15 type Shop\n17-20 class Cart\n18-19 function Cart.more\n22-24 class Point\n26-27 function top"
    );
    assert_eq!(outline("A.swift", swift).imports, ["Foundation"]);
    let scala = "package a\n\nimport b.C\n\n/** Doc. */\nclass Cart(a: Int) {\n  def apply(code: String): Boolean = {\n    true\n  }\n}\n\nobject Cart {\n  def make() = new Cart(1)\n}\n\ntrait Shop {\n  def open(): Unit\n}\n";
    assert_eq!(
        of("A.scala", scala),
        "5-10 class Cart\n7-9 function Cart.apply\n12-14 class Cart\n13-13 function Cart.make\n16-18 type Shop"
    );
    assert_eq!(outline("A.scala", scala).imports, ["b.C"]);
}

#[test]
fn sections_of_prose_and_settings() {
    let text = "# Title\n\nHello.\n\n## Use\n\n```\n# not a title\n```\n\n## Install\n\ncargo\n";
    assert_eq!(
        of("a.md", text),
        "1-13 section Title\n5-10 section Title › Use\n11-13 section Title › Install"
    );
    assert_eq!(of("a.toml", "[a]\nb = 1\nc = 2\n\n[d]\ne = 1\nf = 2\n"), "1-4 section a\n5-7 section d");
    assert_eq!(
        of("a.yml", "jobs:\n  a: 1\n  b: 2\non:\n  c: 1\n  d: 1\n"),
        "1-3 section jobs\n4-6 section on"
    );
    assert_eq!(of("a.css", ".a,\n.b {\n  c: d\n}\n.e {\n  f: g\n}\n"), "1-4 section .a\n5-7 section .e");
    assert_eq!(
        of("a.json", "{\n  \"scripts\": {\n    \"a\": 1\n  },\n  \"b\": {\n    \"c\": 1\n  }\n}\n"),
        "2-4 section scripts\n5-8 section b"
    );
    assert_eq!(
        of("a.html", "<body>\n<div id=\"x\">\n1\n2\n</div>\n</body>\n"),
        "1-1 section body\n2-6 section #x"
    );
}

#[test]
fn loose_code_and_long_symbols() {
    let script: String = (0..100).map(|line| format!("step{line} = {line}\n")).collect();
    assert_eq!(of("a.py", &script), "1-40 code\n41-80 code\n81-100 code");
    let long = format!("def f():\n{}", "    x = 1\n".repeat(200));
    let outline = outline("a.py", &long);
    let blocks: Vec<_> = outline.chunks.iter().filter(|chunk| chunk.level == Level::Block).collect();
    assert!(blocks.len() >= 4);
    assert_eq!((blocks[0].start_line, blocks[blocks.len() - 1].end_line), (1, 201));
    assert!(blocks.windows(2).all(|pair| pair[0].end_line + 1 == pair[1].start_line));
    assert!(outline.owners.iter().all(|owner| *owner == 1));
}

#[test]
fn hostile_files_end() {
    let started = std::time::Instant::now();
    for (path, text) in [
        ("a.rs", "(".repeat(100_000)),
        ("a.js", "[".repeat(100_000)),
        ("a.json", "[".repeat(100_000)),
        ("a.c", "{".repeat(100_000)),
        ("a.cpp", "<".repeat(100_000)),
        ("a.py", "(\n".repeat(100_000)),
        ("a.py", (0..3_000).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect()),
        ("a.php", "<?php ".to_owned() + &"if(1){".repeat(50_000)),
        ("a.md", "#".repeat(100_000)),
        ("a.rb", "class A\n".repeat(30_000)),
        ("a.sh", "$(".repeat(50_000)),
        ("empty.rs", String::new()),
    ] {
        let outline = outline(path, &text);
        assert_eq!(outline.owners.len(), text.lines().count(), "{path}");
        assert!(outline.owners.iter().all(|owner| (*owner as usize) < outline.chunks.len()));
    }
    assert!(started.elapsed().as_secs() < 90, "{:?}", started.elapsed());
}

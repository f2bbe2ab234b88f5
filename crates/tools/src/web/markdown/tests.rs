use net::Url;

use super::convert;

fn markdown(html: &str) -> String {
    convert(html, &Url::parse("https://example.org/docs/page").unwrap()).1
}

#[test]
fn a_page_becomes_what_one_would_write() {
    let html = r#"<!DOCTYPE html><html><head><title>The &amp; Cart</title><style>p{}</style></head>
<body><nav><ul><li><a href="/">Home</a></li></ul></nav>
<h1>Cart</h1><p>A <b>cart</b> holds <em>things</em>,
   see <a href="../api?a=1&amp;b=2">the <code>API</code></a>.</p>
<ul><li>one</li><li>two<ol><li>deep</li><li>deeper</li></ol></li></ul>
<pre><code>fn main() {
    x &lt; 1
}</code></pre>
<blockquote><p>said</p><p>twice</p></blockquote>
<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<img src="x.png" alt="a cart"><script>if (a < b) { alert("</p>") }</script><hr><p>end</p>
<footer>imprint</footer></body></html>"#;
    let (title, text) = convert(html, &Url::parse("https://example.org/docs/page").unwrap());
    assert_eq!(title.as_deref(), Some("The & Cart"));
    assert_eq!(
        text,
        "# Cart\n\nA **cart** holds *things*, see [the `API`](https://example.org/api?a=1&b=2).\n\n- one\n- two\n  1. deep\n  \
         2. deeper\n\n```\nfn main() {\n    x < 1\n}\n```\n\n> said\n>\n> twice\n\na | b\n--- | ---\n1 | 2\n\n\
         [image: a cart]\n\n---\n\nend\n"
    );
}

#[test]
fn the_text_is_taken_from_where_the_page_says_it_is() {
    let long = "word ".repeat(100);
    let html = format!("<div>menu</div><main><p>{long}</p></main><div>ads</div>");
    assert_eq!(markdown(&html), format!("{}\n", long.trim()));
    assert_eq!(markdown("<div>menu</div><main>short</main>"), "menu\n\nshort\n");
}

#[test]
fn what_is_no_link_is_text() {
    assert_eq!(
        markdown(r##"<a href="#x">a</a> <a href="javascript:x()">b</a> <a>c</a> <a href="">d</a>"##),
        "a b c d\n"
    );
    assert_eq!(markdown(r#"<a href="//other.org/x"> e </a>f"#), "[e](https://other.org/x) f\n");
    assert_eq!(markdown(r#"<a href=/x><img src=y></a>g"#), "g\n");
}

#[test]
fn bad_markup_is_read_as_well_as_can_be() {
    assert_eq!(markdown("a < b && c > d &unknown; &#65;&#x42;&#0;&;"), "a < b && c > d &unknown; AB&#0;&;\n");
    assert_eq!(markdown("<p>one<p>two<br>three"), "one\n\ntwo\nthree\n");
    assert_eq!(markdown("<p title='a>b' x=\"c>d\">in</p><"), "in\n\n<\n");
    assert_eq!(markdown("before<!-- <p>x</p> --><?php x ?><![CDATA[y]]>after"), "beforeafter\n");
    assert_eq!(markdown("open <b>bold <p hidden>secret</p><script>never closed"), "open **bold\n");
    assert_eq!(markdown("</ul></li></blockquote></pre></a></b>x"), "x\n");
    assert_eq!(markdown(""), "");
    assert_eq!(markdown("<p <a =\"\" / é=ü>x"), "x\n");
}

/// A page is written by anybody. Nesting and what is never closed must cost neither stack nor time.
#[test]
fn hostile_pages_take_no_longer_than_others() {
    let size = 50_000;
    for html in [
        "<div>".repeat(size),
        "<ul><li>".repeat(size),
        "<blockquote>x".repeat(size / 10),
        "<a href=x>".repeat(size / 4),
        "<".repeat(size),
        "<a \"".repeat(size),
        "<script".repeat(size),
        "<!--".repeat(size),
        "&".repeat(size),
        "<b>".repeat(size),
        "<svg>".repeat(size),
        "<main>".repeat(size / 4),
        "</main".repeat(size / 4),
        "<main".repeat(size / 4),
        "<p hidden ".repeat(size / 4),
    ] {
        let start = std::time::Instant::now();
        markdown(&html);
        assert!(start.elapsed().as_secs() < 5, "{}… {:?}", &html[..12], start.elapsed());
    }
}

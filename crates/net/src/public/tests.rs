use super::{check_public, is_public, public_client};
use crate::{NetError, Url};

#[test]
fn only_the_public_internet_is_public() {
    for ip in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "0.1.2.3",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "198.18.0.1",
        "192.0.2.1",
        "192.0.0.8",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd12::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:0:1::",
        "2001:db8::1",
        "fec0::1",
        "4000::1",
    ] {
        assert!(!is_public(ip.parse().unwrap()), "{ip}");
    }
    for ip in [
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "8.8.8.8",
        "2606:4700::1111",
        "64:ff9b::101:101",
        "::ffff:1.1.1.1",
    ] {
        assert!(is_public(ip.parse().unwrap()), "{ip}");
    }
}

#[tokio::test]
async fn what_is_at_home_is_refused_however_it_is_spelled() {
    for url in [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.localhost:80/",
        "http://printer.local/",
        "http://metadata.google.internal/",
        "http://169.254.169.254/latest/meta-data/",
    ] {
        let refused = check_public(&Url::parse(url).unwrap()).await;
        assert!(matches!(refused, Err(NetError::Private { .. })), "{url}: {refused:?}");
    }
    assert!(check_public(&Url::parse("http://1.1.1.1/").unwrap()).await.is_ok());
    assert!(check_public(&Url::parse("data:text/plain,x").unwrap()).await.is_err());
}

/// Even if the check were skipped, a name that leads home does not connect.
#[tokio::test]
async fn the_look_up_itself_refuses() {
    let url = Url::parse("http://localhost:9/").unwrap();
    let error = public_client(&url).unwrap().get(url).send().await.unwrap_err();
    assert!(crate::describe(&error).contains("not a public address"), "{}", crate::describe(&error));
}

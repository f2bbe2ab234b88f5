//! Several processes with one store.
//!
//! A test that needs another process runs this test program again with the name of a job in its environment.

use std::time::Duration;

use auth::Secret;
use testkit::OAuthServer;
use tokio::process::Command;

use crate::support::*;

fn again(job: &str, home: &Home) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "processes::job", "--nocapture", "--test-threads=1"])
        .env("AUTH_TEST_JOB", job)
        .env("AUTH_TEST_FILE", home.path())
        .kill_on_drop(true);
    command
}

/// Runs in the other process. Without a job it is an empty test.
#[tokio::test]
async fn job() {
    let Ok(job) = std::env::var("AUTH_TEST_JOB") else { return };
    let store = auth::FileStore::new(std::env::var("AUTH_TEST_FILE").unwrap());
    let credentials = auth::Credentials::new(store, |_| None);
    match job.split_once(' ').unwrap() {
        ("add", name) => {
            for number in 0..15 {
                let (label, key) = (format!("{name}-{number}"), Secret::new(format!("key-{name}-{number}")));
                credentials.add_key("p", Some(&label), &key).await.unwrap();
            }
        }
        ("renew", token_url) => {
            let config = auth::OAuthConfig {
                token_url: Some(token_url.to_owned()),
                client_id: Some("test-client".to_owned()),
                ..auth::OAuthConfig::default()
            };
            let credentials = credentials.with_oauth(PROVIDER, config);
            let found = credentials.resolve(PROVIDER, &no_key()).await.unwrap().unwrap();
            println!("\nfound {}", found.secret.reveal());
        }
        other => panic!("no job {other:?}"),
    }
}

#[tokio::test]
async fn two_processes_lose_none_of_their_accounts() {
    let home = Home::new();
    let (mut one, mut two) = (again("add one", &home), again("add two", &home));
    let (one, two) = tokio::join!(one.output(), two.output());
    for output in [one.unwrap(), two.unwrap()] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let book = home.book();
    assert_eq!(book.accounts("p").len(), 30);
    assert_eq!(book.accounts("p").iter().filter(|account| account.active).count(), 1);
}

#[tokio::test]
async fn two_processes_renew_a_login_once() {
    let (home, server) = (Home::new(), OAuthServer::start().await.unwrap());
    home.logged_in("me", &a_grant(&server).await, 10);
    let before = server.requests_to("/token").len();
    // Long enough for both to be there while one renews.
    server.set(|behaviour| behaviour.pause = Duration::from_millis(300));
    let job = format!("renew {}", server.token_url());
    let (mut one, mut two) = (again(&job, &home), again(&job, &home));
    let (one, two) = tokio::join!(one.output(), two.output());
    let found = [one, two].map(|output| {
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        text.lines().find_map(|line| line.strip_prefix("found ")).expect(&text).to_owned()
    });
    assert_eq!(found[0], found[1]);
    assert!(server.accepts(&found[0]));
    assert_eq!(server.requests_to("/token").len() - before, 1);
}

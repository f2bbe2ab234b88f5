//! Model servers that misbehave, disks that are full, terminals that go away.

use std::process::Stdio;

use crate::world::{World, finish};

/// Each fault: the script, the exit code, and what the error must tell.
#[tokio::test]
async fn a_misbehaving_server_is_a_clear_error_with_a_hint() {
    for (script, code, told) in [
        ("reply\n  fault: html\nforever\n", 5, "does not speak this API"),
        ("reply\n  fault: close\nforever\n", 5, "could not reach"),
        ("reply\n  fault: 401 message=\"bad key\"\nforever\n", 5, "credentials"),
        ("reply\n  fault: 404\nforever\n", 5, "404"),
        ("reply\n  text: hello\n  fault: flood mb=1024\nforever\n", 1, "more than"),
        ("reply\n  text: hello\n  fault: giant mb=64\nforever\n", 1, ""),
        ("reply\n  fault: 400 message=\"you sent nonsense\"\nforever\n", 1, "nonsense"),
    ] {
        let world = World::new(script).await;
        // Waiting between tries is tested where it is decided; here it only costs time.
        world.configure(
            &format!("{}\n", world.server.config())
                .replace("[providers.testkit]", "[providers.testkit]\nretries = 0"),
        );
        let (done, result) = world.result(&["hello"]).await;
        assert_eq!(done.code, Some(code), "{script}: {done:?}");
        assert_eq!(result["stop"], "error", "{script}");
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{script}: {message}");
        assert!(result["error"]["hint"].is_string(), "{script}: {result}");
        let verified = world.covey(&["session", "verify"]).await;
        assert_eq!(verified.code, Some(0), "{script}: {verified:?}");
    }
}

#[tokio::test]
async fn errors_are_told_on_stderr_in_words_and_with_a_hint() {
    let world = World::new("reply\n  fault: html\n").await;
    let done = world.covey(&["run", "hello"]).await;
    assert_eq!((done.code, done.out.as_str()), (Some(5), ""));
    assert!(done.err.starts_with("error: `testkit` at http://127.0.0.1:"), "{}", done.err);
    assert!(done.err.contains("\nhint: "), "{}", done.err);
}

#[tokio::test]
async fn a_server_that_never_answers_is_left_after_the_first_byte_limit() {
    let world = World::new("reply\n  fault: never\nforever\n").await;
    world.configure(
        &format!("{}\n[providers.testkit.timeouts]\nfirst_byte = 0.3\n", world.server.config())
            .replace("[providers.testkit]", "[providers.testkit]\nretries = 1"),
    );
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!(done.code, Some(5), "{done:?}");
    assert!(result["error"]["message"].as_str().unwrap().contains("too long"), "{result}");
}

#[tokio::test]
async fn nobody_listens_there() {
    let world = World::new("").await;
    world.configure("model = \"gone/small\"\n[providers.gone]\nwire = \"openai-chat\"\nbase_url = \"http://127.0.0.1:1/v1\"\nretries = 0\n");
    let (done, result) = world.result(&["hello"]).await;
    assert_eq!(done.code, Some(5));
    let message = result["error"]["message"].as_str().unwrap();
    assert!(message.contains("could not reach `gone`") && message.contains("127.0.0.1:1"), "{message}");
}

#[tokio::test]
async fn bytes_split_anywhere_are_put_together() {
    let world = World::new(
        "reply\n  text: naïve 漢字 🦀 done\n  fault: split-utf8\nreply\n  text: ünï 🦀\n  fault: trickle\n",
    )
    .await;
    assert_eq!(world.covey(&["run", "hello"]).await.out, "naïve 漢字 🦀 done\n");
    assert_eq!(world.covey(&["run", "hello"]).await.out, "ünï 🦀\n");
}

#[tokio::test]
async fn a_full_disk_stops_the_turn_harms_nothing_and_is_over_when_there_is_room() {
    let world =
        World::new("model: one\nreply\n  repeat: 4000 \"many many words \"\n  pace: 1\nmodel: three\n").await;
    let (_, first) = world.result(&["the first"]).await;
    let id = first["session"].as_str().unwrap();
    // A limit on the size of files stands for a disk that fills up in the middle of the answer.
    let mut limited = tokio::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 16; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_covey")]);
    limited.args(["run", "--json", "--continue", "the second"]);
    limited
        .current_dir(&world.project)
        .env_clear()
        .env("COVEY_HOME", &world.home)
        .env("PATH", "/usr/bin:/bin");
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let done = finish(limited.spawn().unwrap()).await;
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("no space left"), "{}", done.err);
    assert!(done.err.contains("hint:"), "{}", done.err);

    let verified = world.covey(&["session", "verify", id]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let (done, third) = world.result(&["the third", "--session", id]).await;
    assert_eq!((done.code, &third["text"]), (Some(0), &"three".into()));
}

#[tokio::test]
async fn an_ordinary_user_without_a_writable_home_is_told_so() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new("model: hi\n").await;
    std::fs::create_dir_all(world.home.join("sessions")).unwrap();
    for path in [&world.home, &world.home.join("sessions")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o555)).unwrap();
    }
    // Others must be able to come as far as the home.
    let outside = world.home.parent().unwrap();
    std::fs::set_permissions(outside, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(world.home.join("config.toml"), std::fs::Permissions::from_mode(0o444)).unwrap();
    // Root may write anywhere, so the case is run as somebody else.
    let mut command = world.command(&["run", "hello"]);
    if rustix::process::geteuid().is_root() {
        // The binary may lie where nobody else may look; a copy in the open is the same program.
        let copy = world.project.join("covey");
        std::fs::copy(env!("CARGO_BIN_EXE_covey"), &copy).unwrap();
        let mut other = tokio::process::Command::new(&copy);
        other.args(["run", "hello"]).current_dir(&world.project).env_clear().env("COVEY_HOME", &world.home);
        other.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        other.uid(65534).gid(65534);
        command = other;
    }
    let done = finish(command.spawn().unwrap()).await;
    for path in [&world.home, &world.home.join("sessions")] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(done.code, Some(1), "{done:?}");
    assert!(done.err.contains("error:") && done.err.contains("hint:"), "{}", done.err);
}

#[tokio::test]
async fn closed_standard_streams_are_survived() {
    let world = World::new("model: hi\nforever\n").await;
    for redirections in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let mut shell = tokio::process::Command::new("sh");
        shell.args(["-c", &format!("exec \"$0\" run hello {redirections}"), env!("CARGO_BIN_EXE_covey")]);
        shell.current_dir(&world.project).env_clear().env("COVEY_HOME", &world.home).kill_on_drop(true);
        let status =
            tokio::time::timeout(crate::world::PATIENCE, shell.status()).await.expect("covey hangs").unwrap();
        assert!(status.code().is_some_and(|code| code <= 1), "{redirections}: {status:?}");
    }
    assert_eq!(world.covey(&["session", "verify"]).await.code, Some(0));
}

#[tokio::test]
async fn readers_of_both_streams_that_leave_are_no_crash() {
    let world = World::new("reply\n  text: Some words.\n  fault: stall after=3\nforever\n").await;
    let mut child = world.command(&["run", "hello", "--timeout", "2s"]).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let status =
        tokio::time::timeout(crate::world::PATIENCE, child.wait()).await.expect("covey hangs").unwrap();
    assert!(status.code().is_some_and(|code| code != 101), "{status:?}");
    assert_eq!(world.covey(&["session", "verify"]).await.code, Some(0));
    // A list that is cut short by `head` ends without a word.
    let mut list = world.command(&["session", "list"]).spawn().unwrap();
    drop(list.stdout.take());
    let done = finish(list).await;
    assert_eq!(done.err, "");
}

/// Issue 3: what answers there proves to be somebody else.
#[tokio::test]
async fn a_certificate_for_another_host_is_refused_in_words() {
    let world = World::new("").await;
    let server = testkit::WrongHostServer::start().unwrap();
    world.configure(&format!(
        "model = \"far/small\"\n[providers.far]\nwire = \"openai-chat\"\nbase_url = \"{}/v1\"\napi_key = \"sk-canary-of-tls\"\nretries = 0\n",
        server.url()
    ));
    for (trusted, words) in [(true, "other.example"), (false, "UnknownIssuer")] {
        let mut command = world.command(&["run", "--json", "hello"]);
        if trusted {
            command.env("SSL_CERT_FILE", server.root());
        }
        let done = crate::world::finish(command.spawn().unwrap()).await;
        assert_eq!(done.code, Some(5), "{done:?}");
        let result = done.lines().pop().unwrap();
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.contains("could not reach `far` at https://localhost"), "{message}");
        assert!(message.contains("certificate") && message.contains(words), "{message}");
        let shown = format!("{}{}", done.out, done.err);
        assert!(shown.contains("can not prove that it is this host"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
    }
    assert_eq!(server.asked(), 0, "our key was sent to somebody else");
    // The session is whole, and goes on elsewhere.
    world.configure(&world.server.config());
    let (done, _) = world.result(&["hello", "--continue", "--model", "testkit/scripted"]).await;
    assert_eq!(done.code, Some(0), "{done:?}");
}

//! What a person types, and what the model is sent.

use protocol::{CommandOrigin, Content, EventBody, Reply, Request};

use crate::play::World;

/// The messages of the last request, as text.
fn sent(world: &World) -> String {
    let messages = world.server.requests().last().unwrap().json["messages"].clone();
    // The first is who the model is told it is.
    messages.as_array().unwrap()[1..].iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn mentioned_files_lines_and_folders_come_along_as_data() {
    let world = World::new("model: Seen.\n").await;
    world.write("src/cart.rs", "one\ntwo\nthree\nfour\n");
    world.write("a file.txt", "spaced\n");
    world.write("bin.dat", "a\0b");
    let session = world.session().await;
    let prompt =
        "look at @src/cart.rs:2-3, @src/ and @\"a file.txt\" (@bin.dat) not @missing.rs or me@example.org";
    let events = world.ask(&session, prompt).await;
    let content = events.iter().find_map(|event| match &event.body {
        EventBody::UserPrompt(prompt) => Some(prompt.content.clone()),
        _ => None,
    });
    let names: Vec<String> = content
        .unwrap()
        .iter()
        .filter_map(|content| match content {
            Content::Resource(resource) => Some(resource.uri.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["src/cart.rs#L2-3", "src/", "a file.txt", "bin.dat"]);
    let sent = sent(&world);
    assert!(sent.contains(r"two\nthree\n") && !sent.contains(r"one\ntwo"), "{sent}");
    assert!(sent.contains("cart.rs\\n") && sent.contains("spaced"), "{sent}");
    assert!(sent.contains(r#"from=\"src/cart.rs#L2-3\""#), "{sent}");
    assert!(sent.contains("3 bytes that are no text"), "{sent}");
}

#[tokio::test]
async fn a_mention_reaches_nothing_outside_the_project() {
    let world = World::new("model: No.\n").await;
    std::fs::write(world.folder.path().join("secret.txt"), "hunter2").unwrap();
    std::os::unix::fs::symlink(world.folder.path().join("secret.txt"), world.project.join("link.txt"))
        .unwrap();
    let session = world.session().await;
    let outside = world.folder.path().join("secret.txt");
    world.ask(&session, &format!("@../secret.txt @link.txt @{} @/etc/hostname", outside.display())).await;
    let sent = sent(&world);
    assert!(!sent.contains("hunter2") && !sent.contains("<data"), "{sent}");
}

#[tokio::test]
async fn a_long_file_comes_along_in_part_and_says_how_to_go_on() {
    let world = World::new("model: Long.\n").await;
    let text: String = (1..=20_000).map(|line| format!("line {line}\n")).collect();
    world.write("long.txt", &text);
    let session = world.session().await;
    world.ask(&session, "@long.txt @long.txt @long.txt:19999-20000").await;
    let sent = sent(&world);
    assert!(sent.contains("line 1\\n") && sent.contains("line 20000") && !sent.contains("line 15000"));
    assert!(sent.contains("this is not all of it"), "{}", &sent[sent.len() - 2000..]);
    assert_eq!(sent.matches("line 1\\n").count(), 1);
    assert!(sent.len() < 60_000, "{}", sent.len());
}

#[tokio::test]
async fn a_picture_that_is_mentioned_is_shown() {
    let world = World::new("model: Nice.\n").await;
    let png = [0x89u8, b'P', b'N', b'G', 13, 10, 26, 10];
    std::fs::write(world.project.join("shot.png"), png).unwrap();
    let session = world.session().await;
    world.ask(&session, "what is in @shot.png?").await;
    assert!(sent(&world).contains("data:image/png;base64,iVBORw0KGgo="), "{}", sent(&world));
}

#[tokio::test]
async fn commands_are_spelled_out_once_the_person_has_accepted_them() {
    let world = World::new("model: A.\nmodel: B.\nmodel: C.\n").await;
    world.keep(
        "commands/tidy.md",
        "---\ndescription: Tidy up\nargument-hint: [what]\n---\nTidy $ARGUMENTS, see @notes.txt\n",
    );
    world.write("notes.txt", "mind the gap\n");
    world.write(".claude/commands/ship.md", "Ship $1 now.\n");
    let session = world.session().await;
    world.ask(&session, "/tidy the cart").await;
    let first = sent(&world);
    assert!(first.contains("/tidy the cart") && first.contains("Tidy the cart, see"), "{first}");
    assert!(first.contains("mind the gap"), "{first}");
    world.ask(&session, "/ship v2").await;
    assert!(!sent(&world).contains("Ship v2 now"), "{}", sent(&world));
    world.trust();
    world.ask(&session, "/ship v2").await;
    assert!(sent(&world).contains("Ship v2 now"), "{}", sent(&world));
    let Reply::Commands(commands) =
        world.engine.read(Request::Commands { session: session.clone() }).await.unwrap()
    else {
        panic!("not a list of commands");
    };
    let seen: Vec<_> = commands.iter().map(|c| (c.name.as_str(), c.hint.as_deref(), c.origin)).collect();
    let expected = [
        ("tidy", Some("what"), CommandOrigin::Person),
        ("ship", None, CommandOrigin::Project),
        ("init", None, CommandOrigin::Covey),
    ];
    assert_eq!(seen, expected);
}

/// What the person runs themselves is asked of nobody, and the model knows of it afterwards, also after a restart.
#[tokio::test]
async fn a_command_of_the_persons_own_is_run_and_remembered() {
    let world = World::new("model: It printed hello.\n").await;
    let session = world.session().await;
    let events = world.ask(&session, "! echo hello @src/ there").await;
    let printed = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallUpdate(update) => update.content.clone(),
        _ => None,
    });
    assert!(format!("{printed:?}").contains("hello @src/ there"), "{printed:?}");
    assert!(!events.iter().any(|event| matches!(event.body, EventBody::PermissionRequest(_))));
    assert_eq!(world.server.requests().len(), 0);
    world.ask(&session, "what did it print?").await;
    let sent = sent(&world);
    assert!(sent.contains("! echo hello") && sent.contains("hello @src/ there"), "{sent}");
}

#[tokio::test]
async fn rules_of_a_folder_come_with_what_is_touched_in_it_and_once() {
    let read = |path: &str| format!("reply\n  call: read {{\"path\": \"{path}\"}}\n");
    let script = [read("lib/deep/a.rs"), read("lib/b.rs"), read("c.rs"), "model: Done.".to_owned()].concat();
    let world = World::new(&script).await;
    for (path, text) in [
        ("AGENTS.md", "of the root"),
        ("lib/AGENTS.md", "of the library"),
        ("lib/deep/CLAUDE.md", "of the deep"),
    ] {
        let path = world.project.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for path in ["lib/deep/a.rs", "lib/b.rs", "c.rs"] {
        std::fs::write(world.project.join(path), "x\n").unwrap();
    }
    world.trust();
    let session = world.session().await;
    world.ask(&session, "look").await;
    let sent = world.server.requests().last().unwrap().json["messages"].to_string();
    assert_eq!(sent.matches("of the root").count(), 1, "{sent}");
    let (library, deep) = (sent.find("of the library").unwrap(), sent.find("of the deep").unwrap());
    assert!(library < deep && sent.matches("of the library").count() == 1, "{sent}");
    assert!(sent.contains("[rules for lib/deep/**, from "), "{sent}");
}

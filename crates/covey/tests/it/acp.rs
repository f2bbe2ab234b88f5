//! Covey as an agent of an editor: the real binary, and an editor that is our own end of the protocol.

mod leaving;
mod proxy;
mod sdk;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ::acp::{
    About, Ask, Client, Incoming, News, Offer, Opened, Peer, Place, PromptBlock, PromptEnd, SessionNews,
    Takes, TerminalAsk, Wire, permission_answer,
};
use protocol::{Content, Image, Resource, Source, Stop, ToolContent};
use serde_json::json;
use testkit::ModelServer;
use tokio::process::Child;

use crate::world::{World, signal};

/// An editor with one window.
struct Desk {
    client: Client,
    heard: Arc<Mutex<Heard>>,
    child: Child,
}

/// What the agent told and asked.
#[derive(Default)]
struct Heard {
    news: Vec<News>,
    asked: Vec<String>,
    /// Whether questions are answered with yes.
    says_yes: bool,
    /// What is open and not saved, by its path.
    unsaved: Vec<(PathBuf, String)>,
    written: Vec<PathBuf>,
    terminals: Vec<std::process::Output>,
}

impl Desk {
    async fn open(world: &World, offer: Offer) -> Self {
        let mut command = world.command(&["acp"]);
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (peer, mut incoming) = Peer::start(stdout, stdin, Wire::default());
        let heard: Arc<Mutex<Heard>> = Arc::default();
        let (hears, answers) = (heard.clone(), peer.clone());
        tokio::spawn(async move {
            while let Some(message) = incoming.recv().await {
                match message {
                    Incoming::Notification { params, method } if method == "session/update" => {
                        hears.lock().unwrap().news.push(SessionNews::parse(&params).unwrap().news);
                    }
                    Incoming::Request { id, method, params } => {
                        let (_, ask) = Ask::parse(&method, &params).unwrap();
                        let answer = hears.lock().unwrap().answer(ask);
                        answers.respond(&id, answer).await.unwrap();
                    }
                    Incoming::Notification { .. } => {}
                    Incoming::Odd(odd) => panic!("{odd:?}"),
                }
            }
        });
        let client = Client::new(peer);
        client.initialize(&offer).await.unwrap();
        Self { client, heard, child }
    }

    async fn prompt(&self, session: &Opened, text: &str) -> PromptEnd {
        self.send(session, vec![Content::text(text)]).await
    }

    async fn send(&self, session: &Opened, prompt: Vec<Content>) -> PromptEnd {
        let takes = Takes { images: true, audio: false, embedded: true };
        let blocks = prompt.iter().map(|content| PromptBlock::new(content, takes).unwrap()).collect();
        self.client.prompt(&session.id, blocks).await.unwrap()
    }

    /// The editor is closed, and its agent ends.
    async fn leave(self) {
        let Self { client, mut child, .. } = self;
        drop(client);
        signal(&child, rustix::process::Signal::TERM);
        child.wait().await.unwrap();
    }

    /// What was said since the last time.
    fn said(&self) -> String {
        let news = std::mem::take(&mut self.heard.lock().unwrap().news);
        let said = news.into_iter().filter_map(|news| match news {
            News::Said { content, .. } => content.as_text().map(str::to_owned),
            _ => None,
        });
        said.collect()
    }
}

impl Heard {
    fn answer(&mut self, ask: Ask) -> Result<serde_json::Value, ::acp::RpcError> {
        match ask {
            Ask::Permission { tool, options } => {
                self.asked.push(tool.title.unwrap_or_default());
                let chosen = options.iter().find(|option| option.kind.allows() == self.says_yes);
                Ok(permission_answer(chosen.map(|option| option.id.as_str())))
            }
            Ask::Read { path, .. } => {
                let open = self.unsaved.iter().find(|(open, _)| *open == path).map(|(_, text)| text.clone());
                match open.or_else(|| std::fs::read_to_string(&path).ok()) {
                    Some(text) => Ok(json!({"content": text})),
                    None => Err(::acp::RpcError::new(::acp::RpcError::NOT_FOUND, "no such file")),
                }
            }
            Ask::Write { path, text } => {
                self.unsaved.retain(|(open, _)| *open != path);
                std::fs::write(&path, text).unwrap();
                self.written.push(path);
                Ok(json!({}))
            }
            Ask::Terminal(TerminalAsk::Create { command, args, env, cwd, .. }) => {
                let mut program = std::process::Command::new(command);
                program.args(args).envs(env).current_dir(cwd.unwrap());
                self.terminals.push(program.output().unwrap());
                Ok(json!({"terminalId": (self.terminals.len() - 1).to_string()}))
            }
            Ask::Terminal(TerminalAsk::Output(id)) => {
                let done = &self.terminals[id.parse::<usize>().unwrap()];
                let output = String::from_utf8([done.stdout.clone(), done.stderr.clone()].concat()).unwrap();
                Ok(
                    json!({"output": output, "truncated": false, "exitStatus": {"exitCode": done.status.code()}}),
                )
            }
            Ask::Terminal(TerminalAsk::Wait(id)) => {
                Ok(json!({"exitCode": self.terminals[id.parse::<usize>().unwrap()].status.code()}))
            }
            Ask::Terminal(_) => Ok(json!({})),
        }
    }
}

fn offer(files: bool, terminals: bool) -> Offer {
    Offer { name: "desk".to_owned(), version: "1".to_owned(), files, terminals }
}

/// A world with a model that obeys its prompt.
async fn world() -> World {
    let mut world = World::bare("").await;
    world.server = ModelServer::obedient(0).await.unwrap();
    world.configure(&world.server.config());
    world
}

fn place(world: &World) -> Place {
    Place { cwd: world.project.clone(), folders: vec![], servers: vec![] }
}

#[tokio::test]
async fn an_editor_has_a_conversation_and_takes_it_up_again() {
    let world = world().await;
    let desk = Desk::open(&world, offer(false, false)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    let modes = session.options.iter().find(|option| option.about == About::Mode).unwrap();
    assert_eq!((modes.current.as_str(), modes.choices.len()), ("ask", 6));
    let end = desk.prompt(&session, "Say hello").await;
    assert_eq!((end.stop, desk.said().contains("Hello from the scripted model")), (Stop::Done, true));
    assert!(end.usage.is_some());

    let listed = desk.client.list_sessions(&world.project).await.unwrap();
    assert_eq!((listed.len(), listed[0].title.as_deref()), (1, Some("Say hello")));

    // Another editor, later: loading tells all of it, resuming nothing.
    desk.leave().await;
    let desk = Desk::open(&world, offer(false, false)).await;
    desk.client.load_session(&session.id, &place(&world)).await.unwrap();
    let news = std::mem::take(&mut desk.heard.lock().unwrap().news);
    let prompts = news.iter().filter(|news| matches!(news, News::UserSaid { .. })).count();
    assert_eq!(prompts, 1, "{news:?}");
    desk.client.close_session(&session.id).await.unwrap();
    let again = desk.client.resume_session(&session.id, &place(&world)).await.unwrap();
    desk.said();
    desk.prompt(&again, "And again").await;
    let last = world.server.requests().pop().unwrap().text().to_owned();
    assert_eq!((last.matches("Say hello").count(), last.matches("And again").count()), (1, 1), "{last}");
}

#[tokio::test]
async fn questions_are_asked_in_the_editor_and_its_no_is_heard() {
    let world = world().await;
    let desk = Desk::open(&world, offer(false, false)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    let touch = r#"Do it. [[tool:shell {"command":"touch made.txt"}]]"#;
    desk.prompt(&session, touch).await;
    assert!(!world.project.join("made.txt").exists());
    desk.heard.lock().unwrap().says_yes = true;
    desk.prompt(&session, touch).await;
    assert!(world.project.join("made.txt").exists());
    assert_eq!(desk.heard.lock().unwrap().asked, ["$ touch made.txt", "$ touch made.txt"]);

    let mode = session.options.iter().find(|option| option.about == About::Mode).unwrap();
    desk.client.choose(&session, mode, "plan").await.unwrap();
    desk.prompt(&session, r#"Do it. [[tool:write {"path":"planned.txt","content":"x"}]]"#).await;
    assert!(!world.project.join("planned.txt").exists());
}

#[tokio::test]
async fn files_are_what_the_editor_has_open() {
    let world = world().await;
    world.write("a.txt", "on the disk\n");
    let desk = Desk::open(&world, offer(true, false)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    let file = world.project.join("a.txt");
    desk.heard.lock().unwrap().unsaved.push((file.clone(), "not saved yet\n".to_owned()));
    desk.heard.lock().unwrap().says_yes = true;
    desk.prompt(&session, r#"Do it. [[tool:read {"path":"a.txt"}]]"#).await;
    assert!(desk.said().contains("not saved yet"));

    let edit = r#"Do it. [[tool:edit {"path":"a.txt","old":"saved yet","new":"lost"}]]"#;
    desk.prompt(&session, edit).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not lost\n", "{}", desk.said());
    assert_eq!(desk.heard.lock().unwrap().written, std::slice::from_ref(&file));
    let news = std::mem::take(&mut desk.heard.lock().unwrap().news);
    let diff = news.iter().find_map(|news| match news {
        News::Tool(tool) => tool.content.as_ref()?.iter().find_map(|part| match part {
            ToolContent::Diff { path, new, .. } => Some((path.clone(), new.clone())),
            _ => None,
        }),
        _ => None,
    });
    let (path, new) = diff.unwrap();
    assert_eq!((path, new.trim()), (file.to_string_lossy().into_owned(), "not lost"));

    // No path leads out of the project, whatever the editor would do.
    let outside = world.home.join("outside.txt");
    let call = json!({"path": outside, "content": "x"});
    desk.prompt(&session, &format!("Do it. [[tool:write {call}]]")).await;
    assert!(desk.heard.lock().unwrap().written.iter().all(|path| *path == file));
}

#[tokio::test]
async fn a_command_runs_in_the_editors_terminal_and_keeps_its_walls() {
    let world = world().await;
    let desk = Desk::open(&world, offer(false, true)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    desk.heard.lock().unwrap().says_yes = true;
    let outside = world.project.parent().unwrap().join("outside.txt");
    let line = format!("echo shown; touch inside.txt; touch {} || echo refused", outside.display());
    // In mode `full` nobody is asked, and nothing beyond the project is granted.
    let mode = session.options.iter().find(|option| option.about == About::Mode).unwrap();
    desk.client.choose(&session, mode, "full").await.unwrap();
    desk.prompt(&session, &format!("Do it. [[tool:shell {}]]", json!({"command": line}))).await;
    assert_eq!(desk.heard.lock().unwrap().terminals.len(), 1);
    assert!(world.project.join("inside.txt").exists());
    assert!(!outside.exists(), "the walls were not there");
    let news = &desk.heard.lock().unwrap().news;
    let shown = news.iter().any(|news| {
        matches!(news, News::Tool(tool) if tool.content.iter().flatten().any(|part| matches!(part, ToolContent::Terminal { .. })))
    });
    assert!(shown, "{news:?}");
    let last = world.server.requests().pop().unwrap().text().to_owned();
    assert!(last.contains("shown") && last.contains("refused"), "{last}");
}

#[tokio::test]
async fn pictures_and_files_come_along() {
    let world = world().await;
    world.write("a.txt", "said in the file");
    let desk = Desk::open(&world, offer(false, false)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let image =
        Image { media_type: "image/png".to_owned(), name: None, source: Source::Data(pixel.to_owned()) };
    let link = |uri: String, text: Option<&str>| {
        Content::Resource(Resource { uri, media_type: None, text: text.map(str::to_owned), blob: None })
    };
    let prompt = vec![
        Content::text("Say hello"),
        Content::Image(image),
        link(format!("file://{}", world.project.join("a.txt").display()), None),
        link("file:///elsewhere/b.txt".to_owned(), Some("said in the prompt")),
    ];
    let end = desk.send(&session, prompt).await;
    assert_eq!(end.stop, Stop::Done);
    let body = world.server.requests().pop().unwrap().json.to_string();
    assert!(body.contains(&pixel[..40]), "no picture");
    assert!(body.contains("said in the file") && body.contains("said in the prompt"), "{body}");
}

#[tokio::test]
async fn a_turn_is_cancelled_and_the_next_one_runs() {
    let world = world().await;
    let desk = Desk::open(&world, offer(false, false)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    let text = "word ".repeat(200);
    let blocks =
        vec![PromptBlock::new(&Content::text(format!("[[slow]] [[say:{text}]]")), Takes::default()).unwrap()];
    let running = desk.client.prompt(&session.id, blocks);
    let cancel = async {
        while !desk.heard.lock().unwrap().news.iter().any(|news| matches!(news, News::Said { .. })) {
            tokio::task::yield_now().await;
        }
        desk.client.cancel(&session.id).await.unwrap();
    };
    let (end, ()) = tokio::join!(running, cancel);
    assert_eq!(end.unwrap().stop, Stop::Cancelled);
    assert_eq!(desk.prompt(&session, "Say hello").await.stop, Stop::Done);
}

#[tokio::test]
async fn commands_are_offered_and_carried_out() {
    let world = world().await;
    let desk = Desk::open(&world, offer(false, false)).await;
    let session = desk.client.new_session(&place(&world)).await.unwrap();
    desk.prompt(&session, "/status").await;
    let offered = desk.heard.lock().unwrap().news.iter().find_map(|news| match news {
        News::Commands(list) => {
            Some(list.commands.iter().map(|command| command.name.clone()).collect::<Vec<_>>())
        }
        _ => None,
    });
    assert!(offered.unwrap().contains(&"undo".to_owned()));
    assert!(desk.said().contains("mode ask"));
    desk.heard.lock().unwrap().says_yes = true;
    desk.prompt(&session, r#"Do it. [[tool:write {"path":"new.txt","content":"x"}]]"#).await;
    assert!(world.project.join("new.txt").exists());
    desk.said();
    desk.prompt(&session, "/undo").await;
    assert!(!world.project.join("new.txt").exists(), "{}", desk.said());
    assert_eq!(world.server.requests().len(), 2, "commands of ours go to no model");
}

#[tokio::test]
async fn without_a_model_it_says_what_to_do() {
    let world = World::bare("").await;
    let desk = Desk::open(&world, offer(false, false)).await;
    let error = desk.client.new_session(&place(&world)).await.unwrap_err().to_string();
    assert!(error.contains("hint:"), "{error}");
    let unknown = desk.client.load_session("20200101-000000-00000000", &place(&world)).await.unwrap_err();
    assert!(unknown.to_string().contains("20200101-000000-00000000"), "{unknown}");
}

/// Our own client drives our own agent, a process within a process.
#[tokio::test]
async fn covey_is_an_agent_of_covey() {
    let world = world().await;
    let inner = world.project.parent().unwrap().join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::copy(world.home.join("config.toml"), inner.join("config.toml")).unwrap();
    let covey = env!("CARGO_BIN_EXE_covey");
    let settings = format!(
        "\n[agents.inner]\nacp = [{covey:?}, \"acp\"]\nstate = [{inner:?}]\nenv = {{ COVEY_HOME = {inner:?} }}\n"
    );
    world.configure(&(world.server.config() + &settings));
    let done = world.covey(&["run", "--json", "--agent", "inner", "Say hello"]).await;
    let result = done.lines().pop().unwrap();
    assert!(result["text"].as_str().unwrap().contains("Hello from the scripted model"), "{done:?}");
    let write = r#"Do it. [[tool:write {"path":"a.txt","content":"text"}]]"#;
    let done = world.covey(&["run", "--json", "--agent", "inner", "--continue", write]).await;
    assert_eq!((done.code, world.project.join("a.txt").exists()), (Some(3), false), "{done:?}");
    let done =
        world.covey(&["run", "--json", "--agent", "inner", "--continue", "--mode", "edit", write]).await;
    assert_eq!((done.code, world.project.join("a.txt").exists()), (Some(0), true), "{done:?}");
}

/// What is no message is answered as JSON-RPC has it, and the conversation goes on.
#[tokio::test]
async fn what_is_no_message_is_refused() {
    let world = world().await;
    let input = b"hello\n{\"jsonrpc\": oops}\n{\"neither\": 1}\n\n{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n";
    let mut child = world.command(&["acp"]).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stdin, input).await.unwrap();
    let mut lines =
        tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(child.stdout.take().unwrap()));
    let mut answers = Vec::new();
    for _ in 0..4 {
        let line = lines.next_line().await.unwrap().unwrap();
        let answer: serde_json::Value = serde_json::from_str(&line).unwrap();
        answers.push((answer["id"].clone(), answer["error"]["code"].as_i64().unwrap_or_default()));
    }
    drop(stdin);
    child.wait().await.unwrap();
    let nobody = serde_json::Value::Null;
    let expected = [(nobody.clone(), -32700), (nobody.clone(), -32700), (nobody, -32600), (json!(7), 0)];
    assert_eq!(answers, expected);
}

/// One process of an agent serves several sessions of one editor.
#[tokio::test]
async fn one_process_serves_several_sessions() {
    let world = crate::agents::world(&["--resume"]).await;
    let config = std::fs::read_to_string(world.home.join("config.toml")).unwrap();
    world.configure(&format!("agent = \"fake\"\n{config}"));
    let desk = Desk::open(&world, offer(false, false)).await;
    for count in 1..=2 {
        let session = desk.client.new_session(&place(&world)).await.unwrap();
        desk.prompt(&session, "process").await;
        assert_eq!(desk.said(), format!("process with {count} sessions"));
    }
    let status = world.covey(&["agents", "status", "--json"]).await;
    assert_eq!(status.out.lines().count(), 1, "{status:?}");
    desk.leave().await;
}

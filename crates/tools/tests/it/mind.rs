//! Tools that touch nothing but the session.

use protocol::PlanStatus;
use serde_json::{Value, json};
use tools::{DISPATCHER, Toolbox, describe_found};

use crate::folder::Folder;

impl Folder {
    async fn says(&self, tool: &str, input: Value) -> String {
        self.call(tool, input).await.map_or_else(|error| format!("error: {error}"), |output| output.text)
    }
}

#[tokio::test]
async fn a_todo_list_is_the_plan_that_front_ends_draw() {
    let folder = Folder::new();
    let items = json!({"items": [{"text": "look", "status": "completed"}, {"text": "leap"}]});
    assert_eq!(folder.says("todo", items).await, "noted: 1 of 2 done\n");
    let plan = folder.desk.plans.lock().unwrap()[0].clone();
    let statuses: Vec<_> = plan.entries.iter().map(|entry| (entry.content.as_str(), entry.status)).collect();
    assert_eq!(statuses, [("look", PlanStatus::Completed), ("leap", PlanStatus::Pending)]);
    assert!(
        folder.says("todo", json!({"items": [{"text": "x", "status": "maybe"}]})).await.contains("one of")
    );
    let many: Vec<Value> = (0..51).map(|n| json!({"text": n.to_string()})).collect();
    assert!(folder.says("todo", json!({"items": many})).await.starts_with("error"));
}

#[tokio::test]
async fn a_question_is_answered_or_nobody_is_there() {
    let folder = Folder::new();
    let question = json!({"question": "Which?", "options": ["a", "b"]});
    assert_eq!(
        folder.says("ask_user", question.clone()).await,
        "nobody is there to answer; go on with your best judgement\n"
    );
    *folder.desk.answer.lock().unwrap() = Some("b".to_owned());
    assert_eq!(folder.says("ask_user", question).await, "the person answers: b\n");
    assert_eq!(folder.desk.questions.lock().unwrap()[1].options, ["a", "b"]);
    assert!(folder.says("ask_user", json!({"question": ""})).await.starts_with("error"));
}

#[tokio::test]
async fn a_task_goes_to_a_sub_agent() {
    let folder = Folder::new();
    let task = json!({"title": "Count files", "prompt": "How many?", "role": "explorer"});
    assert_eq!(folder.says("task", task).await, "done: How many?");
    let errand = folder.desk.errands.lock().unwrap()[0].clone();
    assert_eq!((errand.role.as_deref(), errand.title.as_str()), (Some("explorer"), "Count files"));
    assert!(folder.says("task", json!({"title": "x"})).await.contains("`prompt` is missing"));
}

#[test]
fn what_is_found_can_be_called_at_once() {
    let found = Toolbox::builtin().find("end a background job", 2);
    let text = describe_found(&found);
    assert!(text.contains(DISPATCHER));
    assert!(text.contains("job_kill: End a background job"), "{text}");
    assert!(text.contains(r#""required":["job"]"#), "{text}");
    assert!(describe_found(&[]).contains("other words"));
}

#[tokio::test]
async fn thoughts_and_notes_stay_inside() {
    let folder = Folder::new();
    assert_eq!(folder.says("think", json!({"thought": "what if"})).await, "go on\n");
    assert_eq!(folder.says("note", json!({})).await, "(no notes)\n");
    folder.says("note", json!({"text": "port 8080"})).await;
    assert_eq!(folder.says("note", json!({"text": "two"})).await, "1. port 8080\n2. two\n");
    assert_eq!(tools::notes(&folder.context.state), ["port 8080", "two"]);
    assert_eq!(folder.says("note", json!({"drop": 1})).await, "1. two\n");
    assert!(folder.says("note", json!({"drop": 9})).await.contains("no note 9"));
    assert!(folder.says("note", json!({"text": "x".repeat(3000)})).await.starts_with("error"));
    for tool in ["think", "note", "todo", "ask_user", "task", "job_list", "load_skill"] {
        assert_eq!(folder.actions(tool, json!({})), [guard::Action::Inward], "{tool}");
    }
    assert!(folder.says("load_skill", json!({"name": "nosuch"})).await.contains("no skill"));
}

#[tokio::test]
async fn a_plan_is_a_file_and_a_list() {
    let folder = Folder::new();
    let plan =
        json!({"title": "Split ../the Cart!", "text": "Why.\n- [x] look\n- [ ] split\n- not a step\n"});
    let output = folder.call("plan", plan.clone()).await.unwrap();
    assert_eq!(output.text, "written to `.covey/plans/split-the-cart.md`\n");
    assert_eq!(output.wrote[0].path, ".covey/plans/split-the-cart.md");
    assert!(!output.shown.is_empty());
    assert!(
        folder.text(".covey/plans/split-the-cart.md").starts_with("# Split ../the Cart!\n\nWhy.\n- [x] look")
    );
    let plans = folder.desk.plans.lock().unwrap();
    assert_eq!(plans[0].entries.len(), 2);
    assert_eq!(plans[0].entries[0].status, PlanStatus::Completed);
    let asked = folder.actions("plan", plan);
    let path = folder.context.cwd.join(".covey/plans/split-the-cart.md");
    assert_eq!(asked, [guard::Action::Write { change: guard::Change::Create, paths: vec![path] }]);
}

#[tokio::test]
async fn a_plan_of_any_title_stays_in_its_folder() {
    let folder = Folder::new();
    for title in ["..", "/etc/passwd", "é ü", "\n", "a\0b", &"long ".repeat(19)] {
        let asked = folder.actions("plan", json!({"title": title, "text": "x"}));
        let [guard::Action::Write { paths, .. }] = &asked[..] else { panic!("{asked:?}") };
        assert_eq!(paths[0].parent().unwrap(), folder.context.cwd.join(".covey/plans"), "{title}");
        folder.call("plan", json!({"title": title, "text": "x"})).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_remembered_is_short_said_once_and_no_secret() {
    let folder = Folder::new();
    assert_eq!(folder.says("memory_read", json!({})).await, "(nothing is remembered yet)\n");
    assert_eq!(
        folder.says("memory_write", json!({"text": "Tests need\n  `make db`."})).await,
        "remembered\n"
    );
    assert_eq!(
        folder.says("memory_write", json!({"text": "tests need make db"})).await,
        "already remembered\n"
    );
    assert_eq!(folder.says("memory_read", json!({})).await, "- Tests need `make db`.\n");
    for bad in [
        json!({"text": "the key is sk-abcdefghijklmnop1234"}),
        json!({"text": "x".repeat(501)}),
        json!({"forget": "nosuch"}),
        json!({}),
        json!({"text": "a", "forget": "b"}),
    ] {
        assert!(folder.says("memory_write", bad.clone()).await.starts_with("error"), "{bad}");
    }
    for n in 0..40 {
        let text = format!("fact {n} {}", "x".repeat(450));
        if folder.says("memory_write", json!({"text": text})).await.contains("full") {
            assert!(n > 20);
            break;
        }
    }
    assert!(folder.says("memory_write", json!({"forget": "fact"})).await.contains("entries hold"));
    assert_eq!(folder.says("memory_write", json!({"forget": "make db"})).await, "forgotten\n");
    // It goes into later prompts, so the person has a say.
    let asked = folder.actions("memory_write", json!({"text": "x"}));
    assert!(matches!(&asked[..], [guard::Action::Write { paths, .. }] if paths[0].ends_with("MEMORY.md")));
}

#[tokio::test]
async fn suggestions_are_few_short_and_make_sense() {
    let folder = Folder::new();
    let good = json!({"actions": [
        {"label": "Run the tests", "type": "run_tool", "tool": "verify", "input": {"checks": ["test"]}},
        {"label": "Go on", "type": "send_message", "text": "go on"},
        {"label": "Change", "type": "fill_input", "text": "but "}
    ]});
    assert_eq!(folder.says("suggest_actions", good).await, "shown\n");
    assert_eq!(folder.desk.suggestions.lock().unwrap().len(), 3);
    let one = |action: Value| json!({"actions": [action]});
    for bad in [
        json!({"actions": []}),
        json!({"actions": vec![json!({"label": "x", "type": "fill_input", "text": "y"}); 6]}),
        json!({"actions": vec![json!({"label": "x", "type": "fill_input", "text": "y"}); 2]}),
        one(json!({"label": "x".repeat(41), "type": "fill_input", "text": "y"})),
        one(json!({"label": " ", "type": "fill_input", "text": "y"})),
        one(json!({"label": "a\nb", "type": "fill_input", "text": "y"})),
        one(json!({"label": "x", "type": "send_message"})),
        one(json!({"label": "x", "type": "run_tool", "text": "y"})),
        one(json!({"label": "x", "type": "other", "text": "y"})),
    ] {
        assert!(folder.says("suggest_actions", bad.clone()).await.starts_with("error"), "{bad}");
    }
    assert_eq!(folder.desk.suggestions.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn waiting_ends_when_it_happens() {
    let folder = Folder::new();
    folder.write("log", "starting\n");
    let job = json!({"command": "echo listening on 8080; exec sleep 1000", "background": true});
    folder.call("shell", job).await.unwrap();
    let found = folder.says("wait", json!({"job": 1, "pattern": "listening on \\d+"})).await;
    assert_eq!(found, "found: listening on 8080\n");
    assert_eq!(folder.says("wait", json!({"path": "log", "pattern": "^start"})).await, "found: starting\n");
    assert_eq!(folder.says("wait", json!({"path": "log"})).await, "it exists\n");
    let never = folder.says("wait", json!({"path": "none", "seconds": 1})).await;
    assert_eq!(never, "1 s went by and it did not happen\n");
    folder.call("job_kill", json!({"job": 1})).await.unwrap();
    assert_eq!(folder.says("wait", json!({"job": 1})).await, "job 1 ended: ended by signal 15\n");
    assert_eq!(
        folder.says("wait", json!({"job": 1, "pattern": "never"})).await,
        "job 1 ended: ended by signal 15\n"
    );
    for bad in [
        json!({"job": 1, "path": "log"}),
        json!({"pattern": "x"}),
        json!({"job": 1, "pattern": "("}),
        json!({"job": 1, "pattern": "(a{1000}){1000}"}),
        json!({"job": 5}),
        json!({"seconds": 100_000}),
    ] {
        assert!(folder.says("wait", bad.clone()).await.starts_with("error"), "{bad}");
    }
}

#[tokio::test]
async fn tail_shows_the_end_and_what_comes_next() {
    let folder = Folder::new();
    let text: String = (1..=10_000).map(|n| format!("line {n}\n")).collect();
    folder.write("log", text);
    assert_eq!(folder.says("tail", json!({"path": "log", "lines": 2})).await, "line 9999\nline 10000\n");
    folder
        .call("shell", json!({"command": "sleep 0.3; echo more >> log", "background": true}))
        .await
        .unwrap();
    let followed = folder.says("tail", json!({"path": "log", "lines": 1, "seconds": 1})).await;
    assert_eq!(followed, "line 10000\n[added meanwhile]\nmore\n");
    let job = folder.says("tail", json!({"job": 1, "seconds": 5})).await;
    assert_eq!(job, "\n[exit code 0]\n");
    assert!(folder.says("tail", json!({"path": "none"})).await.contains("does not exist"));
    assert!(folder.says("tail", json!({})).await.starts_with("error"));
    let asked = folder.actions("tail", json!({"path": "/etc/shadow"}));
    assert_eq!(asked, [guard::Action::Read { paths: vec!["/etc/shadow".into()] }]);
}

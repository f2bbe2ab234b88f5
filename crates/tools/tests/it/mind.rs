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
    let plans = folder.desk.plans.lock().unwrap();
    let statuses: Vec<_> =
        plans[0].entries.iter().map(|entry| (entry.content.as_str(), entry.status)).collect();
    assert_eq!(statuses, [("look", PlanStatus::Completed), ("leap", PlanStatus::Pending)]);
    drop(plans);
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

use serde_json::json;

use super::*;

fn actions(kind: ToolKind, input: Value) -> Vec<Action> {
    Described { kind, title: "", input: &input, locations: &[], content: &[], cwd: Path::new("/p") }.actions()
}

fn shell(command: &str, cwd: &str) -> Action {
    Action::Shell { command: command.to_owned(), cwd: cwd.into() }
}

#[test]
fn commands_come_in_many_shapes() {
    let run = |input| actions(ToolKind::Execute, input);
    assert_eq!(run(json!({"command": "ls -1"})), [shell("ls -1", "/p")]);
    assert_eq!(run(json!({"command": "ls", "workdir": "sub"})), [shell("ls", "/p/sub")]);
    assert_eq!(run(json!({"command": ["/bin/bash", "-lc", "rm -rf /"]})), [shell("rm -rf /", "/p")]);
    assert_eq!(run(json!({"commands": ["a", "b"]})), [shell("a", "/p"), shell("b", "/p")]);
    let argv = vec!["git".to_owned(), "status".to_owned()];
    assert_eq!(run(json!({"command": ["git", "status"]})), [Action::Program { argv, cwd: "/p".into() }]);
    // The same in two forms is told once.
    assert_eq!(run(json!({"command": "ls -1", "commands": ["ls -1"]})), [shell("ls -1", "/p")]);
}

#[test]
fn what_is_not_understood_is_left_to_the_worst_case() {
    assert_eq!(actions(ToolKind::Execute, json!({})), []);
    assert_eq!(actions(ToolKind::Execute, json!({"command": 3})), []);
    assert_eq!(actions(ToolKind::Execute, json!({"command": ["ls", 3]})), []);
    assert_eq!(actions(ToolKind::Edit, json!({})), []);
    assert_eq!(actions(ToolKind::Other, json!({"x": 1})), [Action::Foreign { read_only: false }]);
}

#[test]
fn every_file_that_is_named_counts() {
    let content = [ToolContent::Diff { path: "/p/b".to_owned(), old: None, new: String::new() }];
    let locations = [Location { path: "c".to_owned(), line: None }];
    let input = json!({"file_path": "a", "changes": {"/etc/passwd": {}}});
    let described = Described {
        kind: ToolKind::Edit,
        title: "",
        input: &input,
        locations: &locations,
        content: &content,
        cwd: Path::new("/p"),
    };
    let paths = ["/p/a", "/p/b", "/p/c", "/etc/passwd"].map(PathBuf::from).to_vec();
    assert_eq!(described.actions(), [Action::Write { change: Change::Edit, paths }]);
}

#[test]
fn a_command_without_arguments_is_its_title() {
    let described = |input: &Value| {
        let (kind, title) = (ToolKind::Execute, "touch a.txt");
        Described { kind, title, input, locations: &[], content: &[], cwd: Path::new("/p") }.actions()
    };
    assert_eq!(described(&Value::Null), [shell("touch a.txt", "/p")]);
    assert_eq!(described(&json!({"other": 1})), []);
}

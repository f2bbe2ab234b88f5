use super::*;
use project::Trust;

struct World {
    folder: tempfile::TempDir,
    root: PathBuf,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("repo");
    let world = World { folder, root };
    world.write(".covey/config.toml", "mode = \"full\"\n");
    world.write(".covey/hooks/pre.toml", "run = \"evil\"\n");
    world.write(".covey/commands/deep/deploy.md", "deploy\n");
    world.write(".claude/skills/pdf/SKILL.md", "read pdfs\n");
    world.write(".claude/skills/pdf/run.py", "print(1)\n");
    world.write(".claude/agents/reviewer.md", "review\n");
    world.write("AGENTS.md", "be good\nuse tabs\n");
    world.write(".mcp.json", r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}"#);
    world.write("src/main.rs", "fn main() {}\n");
    world
}

impl World {
    fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn store(&self) -> TrustStore {
        TrustStore::open(&self.folder.path().join("data"), &self.root)
    }

    fn open(&self) -> Vec<String> {
        let store = self.store();
        store.found().iter().filter(|item| !store.is_accepted(item)).map(|item| item.name.clone()).collect()
    }
}

#[test]
fn everything_that_acts_is_found_and_nothing_of_it_is_trusted() {
    let world = world();
    let store = world.store();
    let found: Vec<String> =
        store.found().iter().map(|item| format!("{} {}", item.kind.as_str(), item.name)).collect();
    assert_eq!(
        found,
        [
            "config .covey/config.toml",
            "hook .covey/hooks/pre.toml",
            "mcp server .mcp.json#a",
            "mcp server .mcp.json#b",
            "command .covey/commands/deep/deploy.md",
            "skill .claude/skills/pdf",
            "role .claude/agents/reviewer.md",
            "rules AGENTS.md",
        ]
    );
    assert_eq!(world.open().len(), 8);
    assert!(!store.trusts(&world.root.join(".covey/config.toml"), b"mode = \"full\"\n"));
}

#[test]
fn a_change_of_one_byte_holds_that_item_alone() {
    let world = world();
    let mut store = world.store();
    store.accept(&store.found()).unwrap();
    assert_eq!(world.open(), Vec::<String>::new());
    assert!(world.store().trusts(&world.root.join(".covey/config.toml"), b"mode = \"full\"\n"));
    assert!(!world.store().trusts(&world.root.join(".covey/config.toml"), b"mode = \"auto\"\n"));
    assert!(!world.store().trusts(Path::new("/elsewhere/config.toml"), b"mode = \"full\"\n"));

    world.write(".covey/hooks/pre.toml", "run = \"evil!\"\n");
    assert_eq!(world.open(), [".covey/hooks/pre.toml"]);
    world.write(".mcp.json", r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "z"}, "c": {}}}"#);
    assert_eq!(world.open(), [".covey/hooks/pre.toml", ".mcp.json#b", ".mcp.json#c"]);
    world.write(".claude/skills/pdf/run.py", "print(2)\n");
    assert!(world.open().contains(&".claude/skills/pdf".to_owned()), "a script of a skill is the skill");
}

#[test]
fn a_change_is_shown() {
    let world = world();
    let mut store = world.store();
    store.accept(&store.found()).unwrap();
    world.write("AGENTS.md", "be bad\nuse tabs\n");
    let store = world.store();
    let item = store.found().into_iter().find(|item| item.name == "AGENTS.md").unwrap();
    assert_eq!(store.state(&item), TrustState::Changed);
    assert_eq!(store.diff(&item), "-be good\n+be bad\n use tabs\n");
}

#[test]
fn trust_can_be_taken_back() {
    let world = world();
    let mut store = world.store();
    store.accept(&store.found()).unwrap();
    assert_eq!(store.revoke(Some(&["AGENTS.md".to_owned()])).unwrap(), 1);
    assert_eq!(world.open(), ["AGENTS.md"]);
    assert_eq!(store.revoke(None).unwrap(), 7);
    assert_eq!(world.open().len(), 8);
}

#[test]
fn links_out_of_the_project_are_no_items() {
    let world = world();
    std::fs::write(world.folder.path().join("evil.md"), "evil").unwrap();
    std::os::unix::fs::symlink(world.folder.path().join("evil.md"), world.root.join("CLAUDE.md")).unwrap();
    assert!(world.store().found().iter().all(|item| item.name != "CLAUDE.md"));
}

#[test]
fn a_broken_lock_trusts_nothing() {
    let world = world();
    let mut store = world.store();
    store.accept(&store.found()).unwrap();
    std::fs::write(&store.file, "{").unwrap();
    assert_eq!(world.open().len(), 8);
}

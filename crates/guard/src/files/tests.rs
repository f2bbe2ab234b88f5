use super::*;

struct World {
    _folder: tempfile::TempDir,
    around: Surroundings,
    root: PathBuf,
}

fn world() -> World {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (root, home) = (real.join("home/me/shop"), real.join("home/me"));
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join(".gitignore"), "/target\n*.log\n").unwrap();
    std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
    let roots = Roots::new([&root]).unwrap();
    World { _folder: folder, around: Surroundings::new(roots, home, vec![]), root }
}

impl World {
    fn spot(&self, word: &str) -> Spot {
        self.around.spot(word, &self.root)
    }
}

#[test]
fn a_path_is_where_it_leads() {
    let world = world();
    assert!(world.spot("src/a.rs").inside);
    assert!(world.spot("src/../src/new/file").inside);
    assert!(!world.spot("../other").inside);
    assert!(!world.spot("out/passwd").inside, "a link out of the project is out of the project");
    assert!(!world.spot("~/notes").inside);
    assert!(!world.spot("src/*/../../../x").inside);
    assert!(
        world.spot(".").whole_project && world.spot("..").whole_project && !world.spot("src").whole_project
    );
}

#[test]
fn secrets_are_known_by_place_and_by_name() {
    let world = world();
    for word in [
        "~/.ssh/id_rsa",
        "~/.aws",
        "~/.a*/credentials",
        "~/.[s]sh/config",
        "/etc/shadow",
        ".env",
        ".e*",
        "config/.env.production",
        "certs/server.pem",
        "/proc/1/environ",
        "~/.bash_history",
        "/home/you/.ssh/x",
    ] {
        assert!(world.spot(word).secret.is_some(), "{word}");
    }
    for word in [
        ".env.example",
        "src/environment.ts",
        ".environment",
        "*",
        "*.rs",
        "keys.rs",
        "README.md",
        "/etc/hosts",
    ] {
        assert_eq!(world.spot(word).secret, None, "{word}");
    }
}

#[test]
fn files_that_run_later_are_known() {
    let world = world();
    for word in [
        ".git/hooks/pre-commit",
        ".git/config",
        "sub/.GIT/config",
        ".github/workflows/ci.yml",
        "package.json",
        "app/package.json",
        "~/.bashrc",
        "/etc/cron.d/x",
        ".covey/config.toml",
        ".mcp.json",
        "~/.config/fish/config.fish",
    ] {
        assert!(world.spot(word).later.is_some(), "{word}");
    }
    for word in ["src/main.rs", ".gitignore", "docs/github/workflows/x.md", "~/notes.txt"] {
        assert_eq!(world.spot(word).later, None, "{word}");
    }
}

#[test]
fn what_git_ignores_is_known() {
    let world = world();
    assert!(world.around.is_ignored(&world.root.join("target/debug/x")));
    assert!(world.around.is_ignored(&world.root.join("deep/a.log")));
    assert!(!world.around.is_ignored(&world.root.join("src/a.rs")));
}

//! Leaving something behind that runs when the person uses git.

use guard::{Backend, Tampering};

use crate::sandbox::stage::{Stage, git};

with_each_backend! {
    hooks_cannot_be_planted
    configuration_cannot_be_changed
    git_cannot_be_swapped_for_another
    a_new_repository_brings_no_hooks
    a_linked_worktree_is_protected_where_its_data_is
    a_pointer_to_a_stranger_grants_nothing
    submodules_are_protected
    our_own_folder_is_protected
}

/// As it was, whether it was walled off or put back.
fn unharmed(stage: &Stage, text: &str) {
    assert!(!stage.read("project/.git/config").contains("evil"), "{text}");
    assert!(stage.read("project/.git/config").contains("a@example.org"), "{text}");
    for hook in ["pre-commit", "post-checkout"] {
        assert!(!stage.path("project/.git/hooks").join(hook).exists(), "{hook}: {text}");
    }
    for name in ["commondir", "config.worktree"] {
        assert!(!stage.path("project/.git").join(name).exists(), "{name}: {text}");
    }
}

async fn hooks_cannot_be_planted(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; cp a.txt .git/hooks/post-checkout;
            mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/post-checkout",
        )
        .await;
    unharmed(&stage, &ran.text);
    if backend == Backend::Landlock {
        assert!(
            ran.reverted.iter().any(|one| one.path.ends_with("hooks/post-checkout")),
            "{:?}",
            ran.reverted
        );
        assert!(ran.reverted.iter().all(|one| one.failed.is_none()), "{:?}", ran.reverted);
    }
}

async fn configuration_cannot_be_changed(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "git config core.fsmonitor evil; echo '[core] fsmonitor = evil' >> .git/config; rm -f .git/config;
            echo evil > .git/commondir; echo evil > .git/config.worktree; git config core.hooksPath evil",
        )
        .await;
    unharmed(&stage, &ran.text);
    assert!(ran.reverted.iter().any(|one| one.change == Tampering::Created), "{:?}", ran.reverted);
}

async fn git_cannot_be_swapped_for_another(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run("mv .git old; mkdir -p .git/hooks; echo '[core] fsmonitor = evil' > .git/config; echo evil > .git/hooks/pre-commit")
        .await;
    unharmed(&stage, &ran.text);
    let ran = stage
        .run("mv .git older; ln -s elsewhere .git; mkdir -p elsewhere; echo evil > elsewhere/config")
        .await;
    unharmed(&stage, &ran.text);
}

async fn a_new_repository_brings_no_hooks(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    std::fs::remove_dir_all(stage.path("project/.git")).unwrap();
    let ran = stage
        .run("git init -q . && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit && git status -s")
        .await;
    assert!(ran.ok, "{}", ran.text);
    assert!(!stage.path("project/.git/hooks/pre-commit").exists());
    assert_eq!(ran.reverted.len(), 1, "{:?}", ran.reverted);
    let ran = stage.run("git add a.txt && git -c user.name=a -c user.email=a@example.org commit -qm x").await;
    assert!(ran.ok, "{}", ran.text);
}

async fn a_linked_worktree_is_protected_where_its_data_is(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    git(&stage.path("project"), &["add", "a.txt"]);
    git(&stage.path("project"), &["commit", "-qm", "one"]);
    git(&stage.path("project"), &["worktree", "add", "-q", "../linked"]);
    let folder = stage.path("linked");
    let stage = stage.again(|policy| policy.roots = vec![folder.clone()]);
    let ran = stage
        .run_in(
            &folder,
            "echo two > b.txt && git add b.txt && git commit -qm two && git log --oneline | wc -l",
        )
        .await;
    assert!(ran.ok && ran.text.trim() == "2", "{}", ran.text);
    let attack = "echo evil > ../project/.git/hooks/pre-commit; git config core.fsmonitor evil; echo evil >> ../project/.git/config;
        echo 'gitdir: /evil' > .git; echo evil > ../project/a.txt; echo evil > ../project/.git/worktrees/linked/commondir";
    let ran = stage.run_in(&folder, attack).await;
    unharmed(&stage, &ran.text);
    assert_eq!(stage.read("project/a.txt"), "hello");
    assert!(stage.read("linked/.git").contains("worktrees/linked"));
    assert_eq!(stage.read("project/.git/worktrees/linked/commondir").trim(), "../..");
}

/// A file that says "my data is in your home folder" does not make the home folder writable.
async fn a_pointer_to_a_stranger_grants_nothing(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    std::fs::remove_dir_all(stage.path("project/.git")).unwrap();
    std::fs::write(stage.path("home/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(stage.path("project/.git"), "gitdir: ../home\n").unwrap();
    let ran = stage.run("echo evil > $HOME/notes.txt; cat $HOME/.netrc").await;
    assert!(!ran.ok, "{}", ran.text);
    assert_eq!(stage.read("home/notes.txt"), "plain");
}

async fn submodules_are_protected(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let module = stage.path("project/.git/modules/part");
    std::fs::create_dir_all(module.join("hooks")).unwrap();
    std::fs::write(module.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(module.join("config"), "[core]\n").unwrap();
    std::fs::create_dir_all(stage.path("project/part")).unwrap();
    std::fs::write(stage.path("project/part/.git"), "gitdir: ../.git/modules/part\n").unwrap();
    std::fs::write(stage.path("project/.gitmodules"), "[submodule \"part\"]\n\tpath = part\n").unwrap();
    let ran = stage
        .run(
            "echo evil >> .git/modules/part/config; echo evil > .git/modules/part/hooks/pre-commit; mv .git/modules/part m;
            echo 'gitdir: /evil' > part/.git",
        )
        .await;
    assert_eq!(stage.read("project/.git/modules/part/config"), "[core]\n", "{}", ran.text);
    assert!(!module.join("hooks/pre-commit").exists(), "{}", ran.text);
    assert_eq!(stage.read("project/part/.git"), "gitdir: ../.git/modules/part\n", "{}", ran.text);
}

async fn our_own_folder_is_protected(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run("mkdir -p .covey/hooks; echo evil > .covey/config.toml").await;
    assert!(!stage.path("project/.covey").exists(), "{}", ran.text);
    std::fs::create_dir_all(stage.path("project/.covey")).unwrap();
    std::fs::write(stage.path("project/.covey/config.toml"), "mode = \"ask\"\n").unwrap();
    let ran = stage.run("echo evil > .covey/config.toml; echo evil > .covey/new; mv .covey x").await;
    assert_eq!(stage.read("project/.covey/config.toml"), "mode = \"ask\"\n", "{}", ran.text);
    assert!(!stage.path("project/.covey/new").exists(), "{}", ran.text);
}

//! Getting at files.

use std::os::unix::fs::symlink;

use guard::{Backend, SandboxLevel, SandboxNeeds};

use crate::sandbox::stage::{CANARY, Stage};

with_each_backend! {
    secrets_are_not_read
    nothing_outside_is_written
    links_lead_nowhere
    hard_links_lead_nowhere
    a_link_put_in_the_way_leads_nowhere
    env_files_are_not_read
    moving_a_folder_uncovers_nothing
    the_home_folder_as_project_keeps_its_secrets
    read_only_means_read_only
    other_people_temporary_files_are_not_seen
    covey_is_not_seen_by_another_name
    devices_are_not_there
    a_grant_opens_what_it_names_and_nothing_else
}

async fn secrets_are_not_read(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    for path in [
        "home/.ssh/id_ed25519",
        "home/.config/gh/hosts.yml",
        "home/.aws/credentials",
        "home/.netrc",
        "home/.npmrc",
        "covey/auth.json",
        "outside-secret",
    ] {
        let script =
            format!("cat $STAGE/{path}; cat ../{path}; cat sub/../../{path}; cp -r $STAGE/{path} x; cat x");
        let ran = stage.run(&script).await;
        assert!(!ran.ok, "{path}: {}", ran.text);
        // The same through a program that opens files in its own way.
        let ran = stage.run(&format!("/usr/bin/python3 -c \"print(open('$STAGE/{path}').read())\"")).await;
        assert!(!ran.ok, "{path}: {}", ran.text);
    }
    let ran = stage.run("cat $HOME/notes.txt").await;
    assert!(ran.text.contains("plain"), "what is no secret can be read: {}", ran.text);
}

async fn nothing_outside_is_written(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "echo evil > $HOME/notes.txt; echo evil > $HOME/new; rm -f $HOME/notes.txt; mkdir ../evil;
            mv $HOME/notes.txt $HOME/moved; ln -s x $HOME/link; touch /etc/evil /usr/evil /evil;
            echo evil >> $HOME/.bashrc; cp a.txt $HOME/.local/bin/ls; truncate -s 0 $HOME/notes.txt;
            /usr/bin/python3 -c \"import os; os.truncate('$HOME/notes.txt', 0)\"; echo evil > /proc/sys/kernel/hostname",
        )
        .await;
    assert_eq!(stage.read("home/notes.txt"), "plain", "{}", ran.text);
    for path in ["home/new", "home/moved", "home/link", "home/.bashrc", "home/.local/bin/ls", "evil"] {
        assert!(!stage.path(path).exists(), "{path}: {}", ran.text);
    }
    for path in ["/etc/evil", "/usr/evil", "/evil"] {
        assert!(!std::path::Path::new(path).exists(), "{path}");
    }
}

async fn links_lead_nowhere(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    symlink(stage.path("home/.ssh"), stage.path("project/keys")).unwrap();
    symlink(stage.path("home"), stage.path("project/there")).unwrap();
    let ran = stage
        .run(
            "cat keys/id_ed25519; cat there/.ssh/id_ed25519; echo evil > there/notes.txt;
            ln -s $HOME/.aws mine; cat mine/credentials; ln -s $HOME up; echo evil > up/notes.txt; cat there/.netrc",
        )
        .await;
    assert!(!ran.ok, "{}", ran.text);
    assert_eq!(stage.read("home/notes.txt"), "plain");
}

async fn hard_links_lead_nowhere(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "ln $HOME/.ssh/id_ed25519 key; cat key; ln $HOME/notes.txt notes; echo evil >> notes;
            ln a.txt $HOME/a.txt; ln .git/config config; echo evil >> config",
        )
        .await;
    assert_eq!(stage.read("home/notes.txt"), "plain", "{}", ran.text);
    assert!(!stage.path("home/a.txt").exists());
    assert!(!stage.read("project/.git/config").contains("evil"), "{}", ran.text);
}

/// A loop swaps a folder for a link as fast as it can, while another command runs through it.
async fn a_link_put_in_the_way_leads_nowhere(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "mkdir -p d real; echo x > d/notes.txt
            (for i in $(seq 300); do mv -T d e; ln -s $HOME d; rm d; mv -T e d; done) &
            for i in $(seq 300); do echo evil > d/notes.txt; cat d/.netrc; done 2>/dev/null; wait",
        )
        .await;
    assert_eq!(stage.read("home/notes.txt"), "plain", "{}", ran.text);
}

async fn env_files_are_not_read(backend: Backend) {
    // Landlock cannot take away what is inside a granted folder, and says so.
    if backend == Backend::Landlock {
        let Some(stage) = Stage::new(backend) else { return };
        assert!(stage.sandbox.grade().missing.iter().any(|text| text.contains(".env")));
        return;
    }
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run("cat .env; cat sub/.env.local; cp .env x; mv .env y; cat y; rm -f .env; echo z > .env")
        .await;
    assert_eq!(stage.read("project/.env"), CANARY, "{}", ran.text);
    let Some(stage) = Stage::with(backend, |policy| policy.env_files = true) else { return };
    let ran = stage.run("wc -c < .env").await;
    assert_eq!(ran.text.trim(), CANARY.len().to_string());
}

async fn moving_a_folder_uncovers_nothing(backend: Backend) {
    if backend == Backend::Landlock {
        return;
    }
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run("mv sub other; cat other/.env.local; mkdir sub; cat sub/.env.local").await;
    assert!(!ran.ok, "{}", ran.text);
    // And for the next command, which finds it in its new place.
    let ran = stage.run("cat other/.env.local").await;
    assert!(!ran.ok, "{}", ran.text);
}

async fn the_home_folder_as_project_keeps_its_secrets(backend: Backend) {
    let stage = Stage::with(backend, |policy| policy.roots = vec![policy.home.clone().unwrap()]);
    let Some(stage) = stage else { return };
    let mut command = project::command("/bin/sh");
    let script = "cat .ssh/id_ed25519 .netrc .config/gh/hosts.yml; echo x >> .ssh/config; mv .ssh s; echo y >> notes.txt";
    command.args(["-c", script]).cwd(stage.path("home")).stdout(project::Stream::Piped);
    let mut enclosed = stage.sandbox.enclose(command, &SandboxNeeds::none()).unwrap();
    let output = enclosed.spawn().unwrap().output(1 << 16).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert!(!stage.path("home/.ssh/config").exists());
    assert!(stage.path("home/.ssh/id_ed25519").exists());
    assert_eq!(stage.read("home/notes.txt"), "plainy\n");
}

async fn read_only_means_read_only(backend: Backend) {
    let Some(stage) = Stage::with(backend, |policy| policy.level = SandboxLevel::ReadOnly) else { return };
    let ran = stage
        .run("cat a.txt; echo evil > a.txt; rm a.txt; touch b; echo t > ${TMPDIR:-/tmp}/t && cat $TMPDIR/t")
        .await;
    assert_eq!(stage.read("project/a.txt"), "hello");
    assert!(!stage.path("project/b").exists());
    assert!(ran.ok && ran.text.contains("hello"), "{}", ran.text);
}

async fn other_people_temporary_files_are_not_seen(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let outside = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(outside.path(), CANARY).unwrap();
    let path = outside.path().display();
    let ran =
        stage.run(&format!("cat {path}; echo evil > {path}; echo evil > /tmp/covey-evil; ls /tmp")).await;
    assert_eq!(std::fs::read_to_string(outside.path()).unwrap(), CANARY, "{}", ran.text);
    assert!(!std::path::Path::new("/tmp/covey-evil").exists());
}

async fn covey_is_not_seen_by_another_name(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    symlink(stage.path("covey"), stage.path("home/alias")).unwrap();
    let ran = stage
        .run(
            "cat $HOME/alias/auth.json; cat /proc/self/root$STAGE/covey/auth.json; cat /proc/self/cwd/../covey/auth.json;
            cat /proc/$OUTER/root$STAGE/covey/auth.json; cat /proc/1/root$STAGE/covey/auth.json; cat /proc/$PPID/cwd/auth.json",
        )
        .await;
    assert!(!ran.ok, "{}", ran.text);
}

/// Root's number, without root's rights, could still open a disk that root owns.
async fn devices_are_not_there(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "for d in /dev/mem /dev/kmem /dev/port /dev/kmsg /dev/vda /dev/sda /dev/nvme0n1 /dev/kvm /dev/fuse; do
                [ -e $d ] && (exec 3<> $d) 2>/dev/null && echo opened $d; done
            mknod node b 8 0 && (exec 3<> node) && echo made a device; echo x > /dev/null && head -c1 /dev/urandom | wc -c",
        )
        .await;
    assert_eq!(
        ran.text.lines().filter(|line| line.starts_with("opened") || line.starts_with("made")).count(),
        0,
        "{}",
        ran.text
    );
    assert!(ran.text.lines().any(|line| line == "1"), "{}", ran.text);
}

async fn a_grant_opens_what_it_names_and_nothing_else(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    std::fs::create_dir_all(stage.path("home/.agent")).unwrap();
    std::fs::write(stage.path("home/.agent/login"), "mine").unwrap();
    let needs = SandboxNeeds::foreign_agent(vec![stage.path("home/.agent")], Vec::new());
    let ran = stage
        .run_with("cat $HOME/.agent/login && echo new > $HOME/.agent/state; cat $HOME/.ssh/id_ed25519; echo evil > $HOME/x", &needs)
        .await;
    assert!(ran.text.contains("mine"), "{}", ran.text);
    assert_eq!(stage.read("home/.agent/state"), "new\n");
    assert!(!stage.path("home/x").exists());
}

//! Attacks. Each must fail on every backend.

use guard::Backend;

use super::ordinary::with_each_backend;
use super::stage::Stage;

with_each_backend! { secrets_are_not_read nothing_outside_is_written }

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
        let ran = stage
            .run(&format!(
                "cat $STAGE/{path}; cd $STAGE/project; cat ../{path}; cp -r $STAGE/{path} x; cat x"
            ))
            .await;
        assert!(!ran.ok, "{path}: {}", ran.text);
    }
}

async fn nothing_outside_is_written(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run("echo evil > $STAGE/home/notes.txt; echo evil > $STAGE/home/new; rm $STAGE/home/notes.txt; mkdir ../evil; touch /etc/evil /usr/evil")
        .await;
    assert_eq!(stage.read("home/notes.txt"), "plain", "{}", ran.text);
    for path in ["home/new", "evil"] {
        assert!(!stage.path(path).exists(), "{path}");
    }
    assert!(!std::path::Path::new("/etc/evil").exists());
}

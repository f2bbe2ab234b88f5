//! Work that must go on as if there were no walls.

use guard::Backend;

use super::{stage::Stage, with_each_backend};

with_each_backend! { the_project_is_writable }

async fn the_project_is_writable(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran =
        stage.run("echo more >> a.txt && mkdir -p x/y && mv a.txt x/y/b.txt && cat x/y/b.txt; echo $?").await;
    assert!(ran.ok, "{}", ran.text);
    assert_eq!(stage.read("project/x/y/b.txt"), "hellomore\n", "{}", ran.text);
    assert!(ran.reverted.is_empty(), "{:?}", ran.reverted);
}

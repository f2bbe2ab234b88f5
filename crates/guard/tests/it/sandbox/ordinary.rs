//! Work that must go on as if there were no walls.

use guard::Backend;

use super::stage::Stage;

/// One test for each backend.
macro_rules! with_each_backend {
    ($($name:ident)*) => {
        mod namespaces { $(#[tokio::test] async fn $name() { super::$name(guard::Backend::Namespaces).await })* }
        mod bubblewrap { $(#[tokio::test] async fn $name() { super::$name(guard::Backend::Bubblewrap).await })* }
        mod landlock { $(#[tokio::test] async fn $name() { super::$name(guard::Backend::Landlock).await })* }
    };
}
pub(super) use with_each_backend;

with_each_backend! { the_project_is_writable }

async fn the_project_is_writable(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran =
        stage.run("echo more >> a.txt && mkdir -p x/y && mv a.txt x/y/b.txt && cat x/y/b.txt; echo $?").await;
    assert!(ran.ok, "{}", ran.text);
    assert_eq!(stage.read("project/x/y/b.txt"), "hellomore\n", "{}", ran.text);
    assert!(ran.reverted.is_empty(), "{:?}", ran.reverted);
}

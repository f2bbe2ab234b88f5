//! Real processes inside real walls, for each backend that this machine has.

mod stage;

/// One test for each backend.
macro_rules! with_each_backend {
    ($($name:ident)*) => {
        mod namespaces { $(#[tokio::test] async fn $name() { super::$name(guard::Backend::Namespaces).await })* }
        mod bubblewrap { $(#[tokio::test] async fn $name() { super::$name(guard::Backend::Bubblewrap).await })* }
        mod landlock { $(#[tokio::test] async fn $name() { super::$name(guard::Backend::Landlock).await })* }
    };
}

mod hostile;
mod ordinary;

//! What an agent started in the background, when Covey leaves.

use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, BufReader};

use super::world;
use crate::world::{World, finish, signal};

/// A build that ends when it finds the file `enough`, and says so.
const BUILD: &str =
    "run! (while [ ! -e enough ]; do :; done; echo built > built.txt) > /dev/null 2>&1 &\nsay started";

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--agent", "fake", "--mode", "full"], more, &[BUILD]].concat()
}

/// Until Covey says that it waits.
async fn until_it_waits(world: &World) -> tokio::process::Child {
    let mut child = world.command(&arguments(&[])).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.contains("`fake` still runs sh; waiting for that") {
            return child;
        }
    }
    panic!("it did not wait: {:?}", finish(child).await);
}

#[tokio::test]
async fn a_build_in_the_background_is_waited_for() {
    let world = world(&[]).await;
    let child = until_it_waits(&world).await;
    world.write("enough", "");
    let done = finish(child).await;
    assert_eq!((done.code, world.project.join("built.txt").exists()), (Some(0), true), "{done:?}");
}

#[tokio::test]
async fn who_is_in_a_hurry_leaves_at_once() {
    let world = world(&[]).await;
    let child = until_it_waits(&world).await;
    signal(&child, Signal::INT);
    let done = finish(child).await;
    assert_eq!((done.code, world.project.join("built.txt").exists()), (Some(0), false), "{done:?}");
    let done = world.covey(&arguments(&["--force"])).await;
    assert_eq!((done.code, done.err.contains("waiting")), (Some(0), false), "{done:?}");
}

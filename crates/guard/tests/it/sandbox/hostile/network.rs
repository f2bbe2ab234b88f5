//! Talking to somebody.

use std::io::Read;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use guard::{Backend, SandboxLevel, SandboxNeeds};

use crate::sandbox::stage::{PYTHON, Stage};

with_each_backend! {
    the_network_is_off
    names_are_not_looked_up
    sockets_of_the_system_are_out_of_reach
    abstract_sockets_are_out_of_reach
    the_host_of_a_virtual_machine_is_out_of_reach
    the_network_can_be_allowed
    an_agent_has_the_network_and_no_sockets
}

/// Connects to an address given as Python and says so.
fn connect(family: &str, address: &str) -> String {
    format!(
        "{PYTHON} -c \"import socket
s = socket.socket(socket.{family}, socket.SOCK_STREAM)
s.settimeout(2)
s.connect({address})
s.send(b'out')
print('connected')\""
    )
}

async fn the_network_is_off(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ran = stage.run(&connect("AF_INET", &format!("('127.0.0.1', {port})"))).await;
    assert!(!ran.ok && !ran.text.contains("connected"), "{}", ran.text);
    let ran =
        stage.run(&format!("echo out > /dev/tcp/127.0.0.1/{port}; echo out > /dev/udp/127.0.0.1/53")).await;
    assert!(!ran.ok || backend != Backend::Landlock, "{}", ran.text);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody connected");
    // Not by the address of another interface either.
    let ran = stage.run(&format!("{PYTHON} -c \"import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('192.0.2.1', 53)); print('routed')\"")).await;
    assert!(!ran.text.contains("routed"), "{}", ran.text);
}

async fn names_are_not_looked_up(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(&format!(
            "timeout 10 {PYTHON} -c \"import socket; print('found', socket.getaddrinfo('example.org', 80))\""
        ))
        .await;
    assert!(!ran.ok && !ran.text.contains("found"), "{}", ran.text);
}

async fn sockets_of_the_system_are_out_of_reach(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    for (place, level) in
        [("home/service.sock", SandboxLevel::Workspace), ("project/service.sock", SandboxLevel::WorkspaceNet)]
    {
        let path = stage.path(place);
        let listener = listen(&path);
        let stage = stage.again(|policy| policy.level = level);
        let ran = stage
            .run(&format!(
                "cd {} && {}",
                path.parent().unwrap().display(),
                connect("AF_UNIX", "'service.sock'")
            ))
            .await;
        assert!(!ran.ok && !ran.text.contains("connected"), "{place}: {}", ran.text);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "{place}: somebody connected");
    }
    let ran = stage
        .run(
            "ls /run/docker.sock /run/user /run/dbus /var/run/docker.sock /tmp/.X11-unix 2>/dev/null | wc -l",
        )
        .await;
    assert!(ran.text.trim() == "0" || backend == Backend::Landlock, "{}", ran.text);
}

/// Listens at a path that may be too long for the name of a socket.
fn listen(path: &Path) -> UnixListener {
    let link = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(path.parent().unwrap(), link.path().join("l")).unwrap();
    let listener = UnixListener::bind(link.path().join("l").join(path.file_name().unwrap())).unwrap();
    // The system goes on telling the name it was bound by. In the project it is found without.
    if !path.ends_with("project/service.sock") {
        let _ = link.keep();
    }
    listener
}

async fn abstract_sockets_are_out_of_reach(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let name = format!("covey-test-{backend}-{}", std::process::id());
    let listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    for needs in [SandboxNeeds::none(), SandboxNeeds::foreign_agent(Vec::new(), Vec::new())] {
        let ran = stage.run_with(&connect("AF_UNIX", &format!("'\\x00{name}'")), &needs).await;
        assert!(!ran.ok && !ran.text.contains("connected"), "{}", ran.text);
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

async fn the_host_of_a_virtual_machine_is_out_of_reach(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(&format!(
            "{PYTHON} -c \"import socket; socket.socket(40, socket.SOCK_STREAM); print('vsock made')\""
        ))
        .await;
    assert!(!ran.text.contains("vsock made"), "{}", ran.text);
}

async fn the_network_can_be_allowed(backend: Backend) {
    let Some(stage) = Stage::with(backend, |policy| policy.level = SandboxLevel::WorkspaceNet) else {
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let accepted = std::thread::spawn(move || {
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    let ran = stage.run(&connect("AF_INET", &format!("('127.0.0.1', {port})"))).await;
    assert!(ran.ok && ran.text.contains("connected"), "{}", ran.text);
    assert_eq!(accepted.join().unwrap(), "out");
}

async fn an_agent_has_the_network_and_no_sockets(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let needs = SandboxNeeds::foreign_agent(Vec::new(), Vec::new());
    // As an agent for keys listens, and Covey itself: where nobody looks anyway.
    let _among_secrets = [listen(&stage.path("home/.ssh/agent")), listen(&stage.path("covey/door.sock"))];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ran = stage.run_with(&connect("AF_INET", &format!("('127.0.0.1', {port})")), &needs).await;
    assert!(ran.ok, "{}", ran.text);
    let socket = listen(&stage.path("home/service.sock"));
    let ran = stage.run_with(&format!("cd $HOME && {}", connect("AF_UNIX", "'service.sock'")), &needs).await;
    assert!(!ran.ok && !ran.text.contains("connected"), "{}", ran.text);
    drop(socket);
}

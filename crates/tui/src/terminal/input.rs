//! Bytes from the terminal, read by a thread that can be told to stop.

use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::mpsc;

const CHUNK: usize = 64 << 10;

/// Reads until it is dropped; then the terminal's input is somebody else's.
pub(crate) struct Input {
    bytes: mpsc::Receiver<Vec<u8>>,
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Input {
    pub(crate) fn start() -> io::Result<Self> {
        let (wake, stop) = rustix::pipe::pipe()?;
        for end in [&wake, &stop] {
            // A child that had it, too, would keep the pipe open.
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        let (sender, bytes) = mpsc::channel(64);
        let thread = std::thread::Builder::new()
            .name("terminal input".to_owned())
            .spawn(move || read_all(&wake, &sender))?;
        Ok(Self { bytes, stop: Some(stop), thread: Some(thread) })
    }

    /// The next bytes; none when the terminal is gone.
    pub(crate) async fn next(&mut self) -> Option<Vec<u8>> {
        self.bytes.recv().await
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.bytes.close();
        if let Some(stop) = self.stop.take() {
            // The thread looks at the other end; closing this one would do as well.
            let _ = rustix::io::write(&stop, b"!");
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_all(wake: &OwnedFd, sender: &mpsc::Sender<Vec<u8>>) {
    let stdin = io::stdin();
    let mut buffer = vec![0; CHUNK];
    loop {
        let mut ready = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(wake, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        }
        if !ready[1].revents().is_empty() {
            return;
        }
        match rustix::io::read(&stdin, &mut buffer) {
            Ok(0) => return,
            Ok(length) => {
                if sender.blocking_send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

//! Frames to the terminal, written by a thread: a slow terminal slows nobody but itself.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use tokio::sync::Notify;

/// Takes a frame at a time. While one is being written there is no use in drawing the next.
pub(crate) struct Output {
    frames: Option<mpsc::SyncSender<Vec<u8>>>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    busy: AtomicBool,
    gone: AtomicBool,
    idle: Notify,
}

impl Output {
    pub(crate) fn start() -> io::Result<Self> {
        let (frames, queue) = mpsc::sync_channel::<Vec<u8>>(1);
        let state = Arc::new(State::default());
        let shared = state.clone();
        // Never joined: a terminal that takes nothing must not keep the program from ending.
        std::thread::Builder::new().name("terminal output".to_owned()).spawn(move || {
            while let Ok(frame) = queue.recv() {
                if write_all(&frame).is_err() {
                    shared.gone.store(true, Ordering::Release);
                }
                shared.busy.store(false, Ordering::Release);
                shared.idle.notify_one();
            }
        })?;
        Ok(Self { frames: Some(frames), state })
    }

    pub(crate) fn is_idle(&self) -> bool {
        !self.state.busy.load(Ordering::Acquire)
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.state.gone.load(Ordering::Acquire)
    }

    /// Only when it is idle.
    pub(crate) fn send(&self, frame: String) {
        if frame.is_empty() {
            return;
        }
        self.state.busy.store(true, Ordering::Release);
        let sent = self.frames.as_ref().map(|frames| frames.send(frame.into_bytes()));
        if !matches!(sent, Some(Ok(()))) {
            self.state.gone.store(true, Ordering::Release);
        }
    }

    /// Until the frame under way is written.
    pub(crate) async fn idle(&self) {
        while !self.is_idle() {
            self.state.idle.notified().await;
        }
    }
}

fn write_all(mut bytes: &[u8]) -> io::Result<()> {
    let stdout = io::stdout();
    while !bytes.is_empty() {
        match rustix::io::write(&stdout, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                use rustix::event::{PollFd, PollFlags, poll};
                poll(&mut [PollFd::new(&stdout, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

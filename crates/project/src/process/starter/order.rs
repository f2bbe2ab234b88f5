//! What to start, as it is told to the starter.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::io::Errno;

use super::wire::{FILES, Told, Words};
use crate::process::before_exec::{Announcement, Leads};
use crate::process::walls::{self, BuildWalls};

/// A program, and what the child has to know before it becomes it.
pub(crate) struct Order<'a> {
    pub(crate) program: &'a Command,
    /// Whether `program` inherits nothing, which std does not tell.
    pub(crate) cleared: bool,
    pub(crate) leads: Leads,
    pub(crate) walls: Option<&'a [u8]>,
    /// Standard input, output and error; nothing where there is none.
    pub(crate) streams: [Option<OwnedFd>; 3],
    pub(crate) watcher: &'a PipeWriter,
    pub(crate) token: u64,
    outcome: PipeWriter,
}

impl<'a> Order<'a> {
    /// The order, and what tells how it went.
    pub(crate) fn new(
        program: &'a Command,
        watcher: &'a PipeWriter,
        token: u64,
    ) -> io::Result<(Self, PipeReader)> {
        let (reader, outcome) = io::pipe()?;
        let streams = [None, None, None];
        let order = Self {
            program,
            cleared: false,
            leads: Leads::Group,
            walls: None,
            streams,
            watcher,
            token,
            outcome,
        };
        Ok((order, reader))
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut words = Words::default();
        words.put([u8::from(self.cleared), u8::from(self.leads == Leads::Session)]);
        words.put(self.streams.each_ref().map(|stream| u8::from(stream.is_some())));
        words.put_number(self.token).put_option(self.walls);
        words.put_option(self.program.get_current_dir().map(|folder| folder.as_os_str().as_bytes()));
        words.put(self.program.get_program().as_bytes());
        words.put_number(self.program.get_args().count() as u64);
        for argument in self.program.get_args() {
            words.put(argument.as_bytes());
        }
        for (name, value) in self.program.get_envs() {
            words.put(name.as_bytes()).put_option(value.map(OsStr::as_bytes));
        }
        words.bytes().to_vec()
    }

    pub(super) fn files(&self) -> Vec<BorrowedFd<'_>> {
        let streams = self.streams.iter().flatten().map(OwnedFd::as_fd);
        [self.watcher.as_fd(), self.outcome.as_fd()].into_iter().chain(streams).collect()
    }
}

/// An order as the starter has it.
pub(super) struct Ordered {
    command: Command,
    /// Open until the child announced itself there.
    _watcher: OwnedFd,
    outcome: OwnedFd,
}

impl Ordered {
    pub(super) fn decode(message: &[u8], files: Vec<OwnedFd>, build: BuildWalls) -> io::Result<Self> {
        let unfit = || io::Error::from(io::ErrorKind::InvalidData);
        debug_assert!(files.len() <= FILES);
        let mut files = files.into_iter();
        let mut file = || files.next().ok_or_else(unfit);
        let (watcher, outcome) = (file()?, file()?);
        let mut told = Told(message);
        let [cleared, session] = *told.word()? else { return Err(unfit()) };
        let [input, output, errors] = *told.word()? else { return Err(unfit()) };
        let token = told.number()?;
        let walls = told.option()?;
        let folder = told.option()?;
        let mut command = Command::new(text(told.word()?));
        for _ in 0..told.number()? {
            command.arg(text(told.word()?));
        }
        if cleared != 0 {
            command.env_clear();
        }
        while !told.is_empty() {
            let name = text(told.word()?);
            match told.option()? {
                Some(value) => command.env(name, text(value)),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = folder {
            command.current_dir(text(folder));
        }
        let mut stream = |given: u8| if given != 0 { file().map(Stdio::from) } else { Ok(Stdio::null()) };
        command.stdin(stream(input)?).stdout(stream(output)?).stderr(stream(errors)?);
        let leads = if session != 0 { Leads::Session } else { Leads::Group };
        let announcement = Announcement::install(&mut command, leads);
        announcement.aim(&watcher, token);
        if let Some(told) = walls {
            walls::install(&mut command, build(told)?);
        }
        Ok(Self { command, _watcher: watcher, outcome })
    }

    /// Becomes the program, in a process that is made for it. Returns if that does not work, and has told so.
    pub(super) fn carry_out(mut self) {
        let error = self.command.exec().raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
        rustix::io::write(&self.outcome, &error.to_le_bytes()).ok();
    }
}

fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

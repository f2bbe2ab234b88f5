//! What to start, as it is told to the starter.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;

use rustix::io::Errno;

use super::image::Image;
use super::server::START;
use super::wire::{FILES, Told, Words};
use crate::process::before_exec::{Leads, Numbered, announce};
use crate::process::walls::{Finish, Place};

/// A program, and what the child has to know before it becomes it.
pub(crate) struct Order<'a> {
    pub(crate) program: &'a Command,
    /// Whether `program` inherits nothing, which std does not tell.
    pub(crate) cleared: bool,
    pub(crate) leads: Leads,
    /// Standard input, output and error; nothing where there is none.
    pub(crate) streams: [Option<OwnedFd>; 3],
    pub(crate) watcher: &'a PipeWriter,
    pub(crate) token: u64,
    /// Where a child that is not the program itself writes how that ended.
    pub(crate) ending: Option<PipeWriter>,
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
            streams,
            watcher,
            token,
            ending: None,
            outcome,
        };
        Ok((order, reader))
    }

    /// The order as it is told to a starter, with what is left to do of its walls.
    pub(super) fn encode(&self, walls: Option<&[u8]>) -> Vec<u8> {
        let mut words = Words::default();
        words.put(START);
        words.put([self.cleared, self.leads == Leads::Session, self.ending.is_some()].map(u8::from));
        words.put(self.streams.each_ref().map(|stream| u8::from(stream.is_some())));
        words.put_number(self.token).put_option(walls);
        words.put_option(self.program.get_current_dir().map(|folder| folder.as_os_str().as_bytes()));
        words.put_number(1 + self.program.get_args().count() as u64);
        for word in [self.program.get_program()].into_iter().chain(self.program.get_args()) {
            words.put(word.as_bytes());
        }
        for (name, value) in self.program.get_envs() {
            words.put(name.as_bytes()).put_option(value.map(OsStr::as_bytes));
        }
        words.into_bytes()
    }

    pub(super) fn files(&self) -> Vec<BorrowedFd<'_>> {
        let ending = self.ending.iter().map(PipeWriter::as_fd);
        let streams = self.streams.iter().flatten().map(OwnedFd::as_fd);
        [self.watcher.as_fd(), self.outcome.as_fd()].into_iter().chain(ending).chain(streams).collect()
    }
}

/// An order as the starter has it.
pub(super) struct Ordered<'a> {
    image: Image,
    walls: Option<Finish<'a>>,
    watcher: OwnedFd,
    token: u64,
    outcome: OwnedFd,
    /// Open until whoever is to write there has it.
    _ending: Option<OwnedFd>,
    numbered: Numbered,
}

impl<'a> Ordered<'a> {
    pub(super) fn decode(mut told: Told<'_>, files: Vec<OwnedFd>, place: &'a dyn Place) -> io::Result<Self> {
        debug_assert!(files.len() <= FILES);
        let mut files = files.into_iter();
        let mut file = || files.next().ok_or_else(unfit);
        let (watcher, outcome) = (file()?, file()?);
        let [cleared, session, ends] = *told.word()? else { return Err(unfit()) };
        let ending = if ends != 0 { Some(file()?) } else { None };
        let given = <[u8; 3]>::try_from(told.word()?).map_err(|_| unfit())?;
        let token = told.number()?;
        let walls = told.option()?;
        let folder = told.option()?.map(CString::new).transpose()?;
        let words = (0..told.number()?).map(|_| Ok(CString::new(told.word()?)?));
        let words = words.collect::<io::Result<Vec<_>>>()?;
        let mut changes = BTreeMap::new();
        while !told.is_empty() {
            changes.insert(text(told.word()?), told.option()?.map(text));
        }
        let mut image = match cleared {
            0 => Image::new(words, std::env::vars_os(), &changes)?,
            _ => Image::new(words, std::iter::empty(), &changes)?,
        };
        for (stream, given) in image.streams.iter_mut().zip(given) {
            *stream = if given != 0 { Some(file()?) } else { None };
        }
        image.folder = folder;
        image.leads = if session != 0 { Leads::Session } else { Leads::Group };
        let build = |told| place.build(told, ending.as_ref().map(OwnedFd::as_fd));
        let walls = walls.map(build).transpose()?;
        let apart = place.apart() & libc::CLONE_NEWPID != 0;
        let numbered = if apart { Numbered::Anew } else { Numbered::AsOutside };
        Ok(Self { image, walls, watcher, token, outcome, _ending: ending, numbered })
    }

    /// Becomes the program, in a process that is made for it. Returns if that does not work, and has told so.
    pub(super) fn carry_out(mut self) {
        let error = self.become_it().raw_os_error().unwrap_or(Errno::INVAL.raw_os_error());
        rustix::io::write(&self.outcome, &error.to_le_bytes()).ok();
    }

    fn become_it(&mut self) -> io::Error {
        let ready = self.image.prepare();
        if let Err(error) = ready.and_then(|()| announce(self.watcher.as_fd(), self.token, self.numbered)) {
            return error;
        }
        match self.walls.take() {
            Some(finish) => finish(&|| self.image.become_it()),
            None => self.image.become_it(),
        }
    }
}

fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

fn unfit() -> io::Error {
    io::ErrorKind::InvalidData.into()
}

//! How the starter is spoken to: messages of words, with open files beside them.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// At most so many files go with a message.
pub(super) const FILES: usize = 6;

/// Byte strings one after the other, each behind its length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<u8>);

impl Words {
    pub fn put(&mut self, word: impl AsRef<[u8]>) -> &mut Self {
        let word = word.as_ref();
        // Longer ones than this are no message that the system would take.
        let length = u32::try_from(word.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&length.to_le_bytes());
        self.0.extend_from_slice(word);
        self
    }

    pub fn put_number(&mut self, number: u64) -> &mut Self {
        self.put(number.to_le_bytes())
    }

    /// A word that may be missing is one that begins with nothing, or is empty.
    pub fn put_option(&mut self, word: Option<impl AsRef<[u8]>>) -> &mut Self {
        match word {
            Some(word) => self.put([1]).put(word),
            None => self.put([]),
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Words that were told, to be taken one by one.
#[derive(Debug, Clone)]
pub struct Told<'a>(pub &'a [u8]);

impl<'a> Told<'a> {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn word(&mut self) -> io::Result<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk::<4>().ok_or_else(cut_short)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (word, rest) = rest.split_at_checked(length).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(word)
    }

    pub fn number(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.word()?.try_into().map_err(|_| cut_short())?))
    }

    pub fn option(&mut self) -> io::Result<Option<&'a [u8]>> {
        if self.word()?.is_empty() { Ok(None) } else { self.word().map(Some) }
    }
}

fn cut_short() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "a message was cut short")
}

pub(super) fn send(
    socket: impl AsFd,
    message: &[u8],
    files: &[BorrowedFd<'_>],
) -> Result<(), rustix::io::Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut beside = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        beside.push(SendAncillaryMessage::ScmRights(files));
    }
    // Who is gone is an error here, and no signal.
    let flags = SendFlags::NOSIGNAL;
    rustix::io::retry_on_intr(|| sendmsg(&socket, &[IoSlice::new(message)], &mut beside, flags)).map(drop)
}

/// The next message into `buffer`: how long it is. Nothing when the other side is gone.
pub(super) fn receive(
    socket: impl AsFd,
    buffer: &mut [u8],
    files: &mut Vec<OwnedFd>,
) -> io::Result<Option<usize>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let got =
        rustix::io::retry_on_intr(|| recvmsg(&socket, &mut [IoSliceMut::new(buffer)], &mut beside, flags))?;
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            files.extend(more);
        }
    }
    if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(cut_short());
    }
    Ok((got.bytes > 0).then_some(got.bytes))
}

pub(super) fn receive_number(socket: impl AsFd) -> io::Result<i32> {
    let mut bytes = [0; 4];
    match receive(socket, &mut bytes, &mut Vec::new())? {
        Some(4) => Ok(i32::from_le_bytes(bytes)),
        _ => Err(cut_short()),
    }
}

/// A number from a pipe, if one comes before its end.
pub(super) fn read_number(pipe: BorrowedFd<'_>) -> io::Result<Option<i32>> {
    let mut bytes = [0; 4];
    // A pipe takes writes this small whole or not at all.
    match rustix::io::retry_on_intr(|| rustix::io::read(pipe, &mut bytes))? {
        0 => Ok(None),
        4 => Ok(Some(i32::from_le_bytes(bytes))),
        _ => Err(cut_short()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_come_out_as_they_went_in(words: Vec<Option<Vec<u8>>>, number: u64) {
            let mut told = Words::default();
            told.put_number(number);
            for word in &words {
                told.put_option(word.as_ref());
            }
            let mut heard = Told(told.bytes());
            prop_assert_eq!(heard.number().unwrap(), number);
            for word in &words {
                prop_assert_eq!(heard.option().unwrap(), word.as_deref());
            }
            prop_assert!(heard.is_empty());
        }

        #[test]
        fn any_bytes_are_words_or_an_error(bytes: Vec<u8>) {
            let mut heard = Told(&bytes);
            while !heard.is_empty() && heard.word().is_ok() {}
        }
    }
}

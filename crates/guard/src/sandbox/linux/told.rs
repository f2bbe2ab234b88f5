//! Walls as they are told to the process that builds them.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use project::{Told, Words};

use crate::sandbox::policy::Limits;
use crate::sandbox::view::{Access, Expect, Mount};

/// All that is to be known of walls made of namespaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Walls {
    pub(crate) room: Room,
    pub(crate) view: View,
    pub(crate) own: Own,
}

/// What the commands of a session may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Those with the same number share it; one without has it for itself.
    pub(crate) number: Option<u64>,
    pub(crate) network: bool,
    /// Whether it takes a user namespace.
    pub(crate) user: bool,
}

/// What is seen of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) mounts: Vec<Mount>,
    /// Changes when anything is mounted or unmounted outside; unknown where that cannot be told.
    pub(crate) table: Option<u64>,
}

/// What one command has for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Own {
    /// Where the program starts.
    pub(crate) folder: PathBuf,
    pub(crate) limits: Limits,
}

impl Walls {
    /// For [`project::Walls`]: the places that it may be born in, and the rest.
    pub(crate) fn tell(&self) -> (Vec<Vec<u8>>, Vec<u8>) {
        let places = vec![self.room.tell(), self.view.tell()];
        let own = self.own.tell();
        if self.room.number.is_some() && self.view.table.is_some() {
            (places, own)
        } else {
            (Vec::new(), [places.concat(), own].concat())
        }
    }

    /// Everything in one.
    pub(crate) fn hear(told: &[u8]) -> io::Result<Self> {
        only(told, |told| {
            Ok(Self { room: Room::hear(told)?, view: View::hear(told)?, own: Own::hear(told)? })
        })
    }
}

impl Room {
    fn tell(&self) -> Vec<u8> {
        let mut words = Words::default();
        words.put_option(self.number.map(u64::to_le_bytes));
        words.put([u8::from(self.network), u8::from(self.user)]);
        words.into_bytes()
    }

    pub(super) fn hear(told: &mut Told<'_>) -> io::Result<Self> {
        let number = told.option()?.map(number).transpose()?;
        let [network, user] = *told.word()? else { return Err(unfit()) };
        Ok(Self { number, network: network != 0, user: user != 0 })
    }
}

impl View {
    fn tell(&self) -> Vec<u8> {
        let mut words = Words::default();
        words.put_option(self.table.map(u64::to_le_bytes));
        words.put_number(self.mounts.len() as u64);
        for mount in &self.mounts {
            tell_mount(&mut words, mount);
        }
        words.into_bytes()
    }

    pub(super) fn hear(told: &mut Told<'_>) -> io::Result<Self> {
        let table = told.option()?.map(number).transpose()?;
        // A wall that was not heard of is a hole: they are counted.
        let mounts = (0..told.number()?).map(|_| hear_mount(told)).collect::<io::Result<Vec<Mount>>>()?;
        Ok(Self { mounts, table })
    }
}

impl Own {
    fn tell(&self) -> Vec<u8> {
        let mut words = Words::default();
        words.put(bytes(&self.folder));
        let Limits { time, processes, memory } = self.limits;
        let time = time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        for limit in [time, processes.map(u64::from), memory] {
            words.put_option(limit.map(u64::to_le_bytes));
        }
        words.into_bytes()
    }

    pub(super) fn hear(told: &mut Told<'_>) -> io::Result<Self> {
        let folder = path(told.word()?);
        let mut limit = || told.option()?.map(number).transpose();
        let (time, processes, memory) = (limit()?, limit()?, limit()?);
        let limits = Limits {
            time: time.map(Duration::from_millis),
            processes: processes.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            memory,
        };
        Ok(Self { folder, limits })
    }
}

/// What was told, if it was that and nothing else.
pub(super) fn only<T>(told: &[u8], hear: impl Fn(&mut Told<'_>) -> io::Result<T>) -> io::Result<T> {
    let mut told = Told(told);
    let heard = hear(&mut told)?;
    if told.is_empty() { Ok(heard) } else { Err(unfit()) }
}

fn tell_mount(words: &mut Words, mount: &Mount) {
    match mount {
        Mount::Bind { source, target, access, expect } => {
            let access = match access {
                Access::Read => b'r',
                Access::Write => b'w',
                Access::Device => b'd',
            };
            words.put([access]).put(bytes(source)).put(bytes(target));
            let identity = expect.map(|expect| [expect.device.to_le_bytes(), expect.inode.to_le_bytes()]);
            words.put_option(identity.as_ref().map(|identity| identity.as_flattened()));
        }
        Mount::Memory(target) => drop(words.put(b"m").put(bytes(target))),
        Mount::Processes => drop(words.put(b"p")),
        Mount::Terminals => drop(words.put(b"t")),
    }
}

fn hear_mount(told: &mut Told<'_>) -> io::Result<Mount> {
    let access = match told.word()? {
        b"r" => Access::Read,
        b"w" => Access::Write,
        b"d" => Access::Device,
        b"m" => return Ok(Mount::Memory(path(told.word()?))),
        b"p" => return Ok(Mount::Processes),
        b"t" => return Ok(Mount::Terminals),
        _ => return Err(unfit()),
    };
    let (source, target) = (path(told.word()?), path(told.word()?));
    let expect = match told.option()? {
        Some(identity) => {
            let (device, inode) = identity.split_first_chunk::<8>().ok_or_else(unfit)?;
            Some(Expect { device: u64::from_le_bytes(*device), inode: number(inode)? })
        }
        None => None,
    };
    Ok(Mount::Bind { source, target, access, expect })
}

fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn path(bytes: &[u8]) -> PathBuf {
    OsStr::from_bytes(bytes).into()
}

fn number(bytes: &[u8]) -> io::Result<u64> {
    Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| unfit())?))
}

fn unfit() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "these are no walls")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_is_heard() {
        let expect = Some(Expect { device: u64::MAX, inode: 7 });
        let bind = |access, expect| Mount::Bind {
            source: OsStr::from_bytes(b"/a \xff\n").into(),
            target: "/b".into(),
            access,
            expect,
        };
        let walls = Walls {
            room: Room { number: Some(3), network: true, user: false },
            view: View {
                mounts: vec![
                    bind(Access::Read, None),
                    bind(Access::Write, expect),
                    bind(Access::Device, expect),
                    Mount::Memory("/dev/shm".into()),
                    Mount::Processes,
                    Mount::Terminals,
                ],
                table: Some(1),
            },
            own: Own {
                folder: "/work".into(),
                limits: Limits {
                    time: Some(Duration::from_millis(1)),
                    processes: None,
                    memory: Some(u64::MAX),
                },
            },
        };
        let (places, own) = walls.tell();
        let [room, view] = &places[..] else { panic!("{places:?}") };
        assert_eq!(only(room, Room::hear).unwrap(), walls.room);
        assert_eq!(only(view, View::hear).unwrap(), walls.view);
        assert_eq!(only(&own, Own::hear).unwrap(), walls.own);
        let told = [room, view, &own[..]].concat();
        assert_eq!(Walls::hear(&told).unwrap(), walls);
        for cut in 0..told.len() {
            assert!(Walls::hear(&told[..cut]).is_err(), "cut at {cut}");
        }
    }
}

//! A program to become. std has the same for a process that starts others; here all that takes memory is done before
//! the copy is made, so that the last step can be taken in memory that is not our own.
#![expect(unsafe_code, reason = "`execvp` is; the arrays that it takes are ours and terminated")]

use std::collections::BTreeMap;
use std::ffi::{CString, OsString, c_char};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::ptr::null;

use crate::process::before_exec::{Leads, take_terminal};

unsafe extern "C" {
    static mut environ: *const *const c_char;
}

/// What the child has to be before it becomes its program, and the program.
pub(super) struct Image {
    words: Array,
    variables: Array,
    pub(super) folder: Option<CString>,
    /// Those that are missing lead where the starter's do, which is nowhere.
    pub(super) streams: [Option<OwnedFd>; 3],
    pub(super) leads: Leads,
}

/// Strings as the system takes them: pointers behind each other, and nothing at the end.
struct Array {
    pointers: Vec<*const c_char>,
    _strings: Vec<CString>,
}

impl Image {
    /// `words` are the program and its arguments, `changes` what is set and taken out over what is inherited.
    pub(super) fn new(
        words: Vec<CString>,
        inherited: impl Iterator<Item = (OsString, OsString)>,
        changes: &BTreeMap<OsString, Option<OsString>>,
    ) -> io::Result<Self> {
        let set = changes.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
        let kept = inherited.filter(|(name, _)| !changes.contains_key(name));
        let variables = kept.chain(set).map(|(name, value)| {
            let mut text = name.into_vec();
            text.push(b'=');
            text.extend_from_slice(&value.into_vec());
            Ok(CString::new(text)?)
        });
        Ok(Self {
            words: Array::new(words),
            variables: Array::new(variables.collect::<io::Result<_>>()?),
            folder: None,
            streams: [None, None, None],
            leads: Leads::Group,
        })
    }

    /// In the child: everything but to become the program.
    pub(super) fn prepare(&self) -> io::Result<()> {
        let [stdin, stdout, stderr] = &self.streams;
        for (stream, stdio) in [
            (stdin, rustix::stdio::dup2_stdin as fn(_) -> _),
            (stdout, rustix::stdio::dup2_stdout),
            (stderr, rustix::stdio::dup2_stderr),
        ] {
            stream.as_ref().map(|stream| stdio(stream.as_fd())).transpose()?;
        }
        if let Some(folder) = &self.folder {
            rustix::process::chdir(folder)?;
        }
        match self.leads {
            Leads::Group => Ok(rustix::process::setpgid(None, None)?),
            Leads::Session => take_terminal(),
        }
    }

    /// Becomes the program; why not, if it returns. May be called in memory that another process waits to have back.
    pub(super) fn become_it(&self) -> io::Error {
        let Some(&program) = self.words.pointers.first().filter(|program| !program.is_null()) else {
            return io::ErrorKind::InvalidInput.into();
        };
        // SAFETY: this process has one thread, and what it points to outlives it or the program takes its place.
        // Rust ignores broken pipes, which programs do not expect. Names are looked for where the program's own
        // variables say.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            environ = self.variables.pointers.as_ptr();
            libc::execvp(program, self.words.pointers.as_ptr());
        }
        io::Error::last_os_error()
    }
}

impl Array {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|string| string.as_ptr()).chain([null()]).collect();
        Self { pointers, _strings: strings }
    }
}

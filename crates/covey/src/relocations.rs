//! What the loader read to adjust the program is not needed again, and would count as our memory for as long as we run.
//!
//! Some 90,000 places in the program hold addresses. The list of them is 2 MB, which is more than most runs of Covey use
//! of its own memory.
#![expect(unsafe_code, reason = "the loader's tables have no other interface")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// An entry of the program's dynamic section.
#[repr(C)]
struct Entry {
    tag: i64,
    value: u64,
}

const END: i64 = 0;
const RELOCATIONS: i64 = 7;
const SIZE_OF_RELOCATIONS: i64 = 8;
const PAGE: u64 = 4096;

/// Lets the list go. What is asked for once more would be read from the program's file again.
pub(crate) fn let_go() {
    // SAFETY: it calls `program` with what the loader knows, and keeps nothing.
    unsafe { libc::dl_iterate_phdr(Some(program), null_mut()) };
}

/// Called first for the program itself; what it answers ends the iteration.
unsafe extern "C" fn program(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    const LAST: c_int = 1;
    // SAFETY: the loader passes a valid description, whose headers and dynamic section stay as long as the program, and
    // the section ends with an entry that says so.
    let (base, list, size) = unsafe {
        let info = &*info;
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
            return LAST;
        };
        let mut entry = (info.dlpi_addr + dynamic.p_vaddr) as *const Entry;
        let (mut list, mut size) = (0, 0);
        while (*entry).tag != END {
            match (*entry).tag {
                RELOCATIONS => list = (*entry).value,
                SIZE_OF_RELOCATIONS => size = (*entry).value,
                _ => {}
            }
            entry = entry.add(1);
        }
        (info.dlpi_addr, list, size)
    };
    // Some loaders write the address where it is now over the one in the file.
    let start = if list < base { base + list } else { list };
    let (first, last) = (start.next_multiple_of(PAGE), (start + size) / PAGE * PAGE);
    if first < last {
        // SAFETY: whole pages of a list that is mapped from a file and never written: reading them brings them back.
        unsafe { libc::madvise(first as *mut c_void, (last - first) as usize, libc::MADV_DONTNEED) };
    }
    LAST
}

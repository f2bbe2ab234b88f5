//! Which system calls a child may make, as a program for the kernel.
//!
//! Everything is allowed but what reaches into other processes, the kernel or other namespaces. A list of what is
//! allowed would break the next compiler that uses a call we never heard of.
//!
//! The calls are looked up by halving, not one by one: when a filter is loaded the kernel runs it once for each
//! call there is, and with a chain of comparisons that alone took longer than all else in the sandbox.

use libc::sock_filter;

/// Which sockets may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sockets {
    /// The network and Unix sockets. In a network namespace of its own a child reaches only itself with them.
    All,
    /// The network only. For where nothing else keeps a child from the Unix sockets of the system.
    Network,
    /// None; pairs, which lead nowhere else, stay.
    None,
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;
#[cfg(target_arch = "riscv64")]
const ARCHITECTURE: u32 = 0xC000_00F3;

const ALLOW: u32 = 0x7FFF_0000;
const REFUSE: u32 = 0x0005_0000;

/// New namespaces of any kind, in the flags of `clone` and `unshare`.
const NAMESPACES: u32 = 0x7E02_0000;
/// The only such flag that is a part of the exit signal in `clone`.
const TIME_NAMESPACE: u32 = 0x80;
/// Types into the terminal as if the person did.
const TIOCSTI: u32 = 0x5412;
/// Selects and pastes on a console.
const TIOCLINUX: u32 = 0x541C;

/// Refused with "not permitted".
const REFUSED: &[i64] = &[
    // other processes
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // what is mounted where
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_fanotify_init,
    // keys of the kernel's ring, which is shared by all processes of a person
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // the kernel itself
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Refused with "no such call", upon which programs use what they used before there was one: a ring takes calls
/// past this filter, and the flags of `clone3` are in memory, where a filter does not see them.
const UNKNOWN: &[i64] =
    &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register, libc::SYS_clone3];

/// The filter.
pub(super) fn filter(sockets: Sockets, without_truncate: bool) -> Vec<sock_filter> {
    let mut calls: Vec<(u32, Vec<sock_filter>)> = Vec::new();
    let mut add = |call: i64, answer: Vec<sock_filter>| calls.push((call as u32, answer));
    for call in REFUSED {
        add(*call, vec![answer(libc::EPERM)]);
    }
    for call in UNKNOWN {
        add(*call, vec![answer(libc::ENOSYS)]);
    }
    if without_truncate {
        add(libc::SYS_truncate, vec![answer(libc::EPERM)]);
    }
    add(libc::SYS_clone, any_bit(0, NAMESPACES));
    add(libc::SYS_unshare, any_bit(0, NAMESPACES | TIME_NAMESPACE));
    add(libc::SYS_ioctl, any_of(1, &[TIOCSTI, TIOCLINUX], libc::EPERM));
    add(libc::SYS_socket, none_but(0, families(sockets), libc::EAFNOSUPPORT));
    calls.sort_by_key(|(call, _)| *call);

    let mut program = vec![load(4), test(libc::BPF_JEQ, ARCHITECTURE, 1, 0), answer(libc::ENOSYS), load(0)];
    if cfg!(target_arch = "x86_64") {
        // The same calls under other numbers.
        program.extend([test(libc::BPF_JGE, 0x4000_0000, 0, 1), answer(libc::ENOSYS)]);
    }
    program.extend(lookup(&calls));
    program
}

/// Vsock is not here: it leads out of every network namespace.
fn families(sockets: Sockets) -> &'static [u32] {
    const UNIX: u32 = libc::AF_UNIX as u32;
    const INET: u32 = libc::AF_INET as u32;
    const INET6: u32 = libc::AF_INET6 as u32;
    const NETLINK: u32 = libc::AF_NETLINK as u32;
    match sockets {
        Sockets::All => &[UNIX, INET, INET6, NETLINK],
        Sockets::Network => &[INET, INET6, NETLINK],
        Sockets::None => &[],
    }
}

/// Finds the call among sorted ones. Every way through ends in an answer.
fn lookup(calls: &[(u32, Vec<sock_filter>)]) -> Vec<sock_filter> {
    if calls.len() <= 3 {
        let mut program = Vec::new();
        for (call, answer) in calls {
            program.push(test(libc::BPF_JEQ, *call, 0, answer.len() as u8));
            program.extend(answer);
        }
        program.push(answer_raw(ALLOW));
        return program;
    }
    let (low, high) = calls.split_at(calls.len() / 2);
    let (first_high, low, high) = (high[0].0, lookup(low), lookup(high));
    // A conditional jump reaches 255 instructions; an unconditional one any number.
    let mut program = vec![test(libc::BPF_JGE, first_high, 0, 1), jump(low.len() as u32)];
    program.extend(low);
    program.extend(high);
    program
}

/// Refuses if the argument has any of these bits.
fn any_bit(argument: u32, bits: u32) -> Vec<sock_filter> {
    vec![load_argument(argument), test(libc::BPF_JSET, bits, 0, 1), answer(libc::EPERM), answer_raw(ALLOW)]
}

/// Refuses if the argument is one of these.
fn any_of(argument: u32, values: &[u32], error: i32) -> Vec<sock_filter> {
    let mut program = vec![load_argument(argument)];
    for value in values {
        program.extend([test(libc::BPF_JEQ, *value, 0, 1), answer(error)]);
    }
    program.push(answer_raw(ALLOW));
    program
}

/// Refuses unless the argument is one of these.
fn none_but(argument: u32, values: &[u32], error: i32) -> Vec<sock_filter> {
    let mut program = vec![load_argument(argument)];
    for value in values {
        program.extend([test(libc::BPF_JEQ, *value, 0, 1), answer_raw(ALLOW)]);
    }
    program.push(answer(error));
    program
}

fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt, jf, k }
}

/// Loads a word of the kernel's `struct seccomp_data`: 0 is the call, 4 the architecture.
fn load(offset: u32) -> sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

/// The low half of an argument. The kernel itself looks at no more of those that are tested here.
fn load_argument(number: u32) -> sock_filter {
    load(16 + 8 * number)
}

fn test(kind: u32, value: u32, then: u8, otherwise: u8) -> sock_filter {
    instruction(libc::BPF_JMP | kind | libc::BPF_K, then, otherwise, value)
}

fn jump(over: u32) -> sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JA, 0, 0, over)
}

fn answer(error: i32) -> sock_filter {
    answer_raw(REFUSE | error.cast_unsigned())
}

fn answer_raw(value: u32) -> sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, 0, 0, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel would: the answer and how many steps it took.
    fn run(program: &[sock_filter], call: i64, arguments: [u64; 2]) -> (u32, usize) {
        let (mut at, mut value, mut steps) = (0, 0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            steps += 1;
            at += 1;
            let step = |holds| usize::from(if holds { jt } else { jf });
            match u32::from(code) {
                0x20 => {
                    value = match k {
                        0 => call as u32,
                        4 => ARCHITECTURE,
                        _ => arguments[(k as usize - 16) / 8] as u32,
                    }
                }
                0x15 => at += step(value == k),
                0x35 => at += step(value >= k),
                0x45 => at += step(value & k != 0),
                0x05 => at += k as usize,
                0x06 => return (k, steps),
                other => panic!("unexpected instruction {other:#x}"),
            }
        }
    }

    fn says(sockets: Sockets, call: i64, first: u64, second: u64) -> u32 {
        run(&filter(sockets, false), call, [first, second]).0
    }

    const NOT_PERMITTED: u32 = REFUSE | libc::EPERM as u32;

    #[test]
    fn every_listed_call_is_refused_and_all_others_pass() {
        let program = filter(Sockets::All, false);
        for call in 0..500_i64 {
            let expected = match call {
                call if REFUSED.contains(&call) => NOT_PERMITTED,
                call if UNKNOWN.contains(&call) => REFUSE | libc::ENOSYS as u32,
                libc::SYS_socket => ALLOW,
                _ => ALLOW,
            };
            let (answer, steps) = run(&program, call, [libc::AF_UNIX as u64, 0]);
            assert_eq!(answer, expected, "call {call}");
            assert!(steps < 30, "call {call} takes {steps} steps");
        }
        assert!(program.len() < 4096);
    }

    #[test]
    fn namespaces_are_refused_and_plain_forks_are_not() {
        assert_eq!(says(Sockets::All, libc::SYS_clone, libc::SIGCHLD as u64, 0), ALLOW);
        assert_eq!(says(Sockets::All, libc::SYS_clone, libc::CLONE_NEWUSER as u64, 0), NOT_PERMITTED);
        assert_eq!(says(Sockets::All, libc::SYS_unshare, libc::CLONE_FS as u64, 0), ALLOW);
        assert_eq!(says(Sockets::All, libc::SYS_unshare, libc::CLONE_NEWNS as u64, 0), NOT_PERMITTED);
        // The kernel looks at 32 bits only, so the others must not hide them.
        assert_eq!(says(Sockets::All, libc::SYS_ioctl, 0, 0xFFFF_FFFF_0000_5412), NOT_PERMITTED);
    }

    #[test]
    fn sockets_are_as_told() {
        let refused = REFUSE | libc::EAFNOSUPPORT as u32;
        let asked = |sockets, family: i32| says(sockets, libc::SYS_socket, family as u64, 0);
        assert_eq!(asked(Sockets::All, libc::AF_UNIX), ALLOW);
        assert_eq!(asked(Sockets::All, libc::AF_VSOCK), refused);
        assert_eq!(asked(Sockets::Network, libc::AF_INET6), ALLOW);
        assert_eq!(asked(Sockets::Network, libc::AF_UNIX), refused);
        assert_eq!(asked(Sockets::None, libc::AF_INET), refused);
        assert_eq!(says(Sockets::None, libc::SYS_socketpair, libc::AF_UNIX as u64, 0), ALLOW);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_other_numbers_of_the_same_calls_do_not_exist() {
        assert_eq!(says(Sockets::All, 0x4000_0000 + 101, 0, 0), REFUSE | libc::ENOSYS as u32);
    }
}

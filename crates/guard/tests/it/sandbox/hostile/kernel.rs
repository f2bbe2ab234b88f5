//! Undoing the walls, as root too.

use guard::Backend;

use crate::sandbox::stage::{PYTHON, Stage};

with_each_backend! {
    nothing_is_traced
    nothing_is_mounted
    no_namespace_is_made
    there_are_no_capabilities
    setuid_programs_gain_nothing
    the_terminal_is_not_typed_into
    a_preloaded_library_stays_inside
    settings_of_the_kernel_stay
    no_ring_takes_calls_past_the_filter
    files_of_ours_are_not_handed_down
}

async fn nothing_is_traced(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(&format!(
            "sleep 5 & {PYTHON} -c \"
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for name, number, args in [('ptrace', 101, (16, $!, 0, 0)), ('traceme', 101, (0, 0, 0, 0)), ('vm_readv', 310, ($!, 0, 0, 0, 0, 0)), ('keyctl', 250, (0, -3, 1)), ('bpf', 321, (0, 0, 0)), ('perf', 298, (0, 0, -1, -1, 0))]:
    if libc.syscall(number, *args) != -1 or ctypes.get_errno() != 1: print('allowed', name, ctypes.get_errno())
\"; kill $!"
        ))
        .await;
    assert!(!ran.text.contains("allowed") && !ran.text.contains("Error"), "{}", ran.text);
}

async fn nothing_is_mounted(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "mkdir -p m; mount -t tmpfs x m && echo mounted; mount --bind $HOME/.ssh m && echo mounted;
            umount $HOME/.ssh && echo unmounted; umount -l .env && echo unmounted; umount -l .git/hooks && echo unmounted;
            mount -o remount,rw / && echo mounted; mount -o remount,rw,bind $HOME && echo mounted;
            chroot . /bin/true && echo rooted; cat $HOME/.ssh/id_ed25519",
        )
        .await;
    assert!(!ran.ok, "{}", ran.text);
    for word in ["mounted\n", "unmounted\n", "rooted\n"] {
        assert!(!ran.text.lines().any(|line| line == word.trim()), "{}", ran.text);
    }
}

async fn no_namespace_is_made(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "unshare -Ur true && echo made; unshare -m true && echo made; unshare -n true && echo made; unshare -p -f true && echo made;
            nsenter -t 1 -m true && echo made; bwrap --ro-bind / / true && echo made; true",
        )
        .await;
    assert!(!ran.text.lines().any(|line| line == "made"), "{}", ran.text);
}

async fn there_are_no_capabilities(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage.run("grep -E '^(Cap(Prm|Eff|Amb|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status").await;
    let value = |name: &str| {
        ran.text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned()
    };
    // With Landlock root may still write what others own, where Landlock lets it.
    let most = if backend == Backend::Landlock { 2 } else { 0 };
    for name in ["CapPrm:", "CapEff:", "CapAmb:"] {
        let mask = u64::from_str_radix(&value(name), 16).unwrap();
        assert_eq!(mask & !most, 0, "{}", ran.text);
    }
    assert_eq!((value("NoNewPrivs:"), value("Seccomp:")), ("1".into(), "2".into()), "{}", ran.text);
}

async fn setuid_programs_gain_nothing(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "cp /bin/cat mycat && chmod u+s mycat; ./mycat $HOME/.ssh/id_ed25519; cp /bin/bash sh && chmod 6755 sh;
            ./sh -p -c 'grep CapEff /proc/self/status; cat $HOME/.netrc'; su -c 'cat $HOME/.netrc' < /dev/null; mount 2>&1 >/dev/null",
        )
        .await;
    assert!(ran.text.contains("CapEff:\t00000000"), "{}", ran.text);
}

async fn the_terminal_is_not_typed_into(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(&format!(
            "{PYTHON} -c \"
import fcntl, os, pty
a, b = pty.openpty()
for request in (0x5412, 0x541C, 0x100005412):
    try:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        r = libc.ioctl(b, ctypes.c_ulong(request), ctypes.c_char_p(b'x'))
        if r == 0 or ctypes.get_errno() != 1: print('typed', hex(request), r, ctypes.get_errno())
    except OSError as e: print(e)
print('done')
\""
        ))
        .await;
    assert!(ran.text.contains("done") && !ran.text.contains("typed"), "{}", ran.text);
}

/// A library named for the program must not run in anything of ours, which is still outside.
async fn a_preloaded_library_stays_inside(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let source = "#include <stdio.h>\n__attribute__((constructor)) void f() { FILE *o = fopen(TARGET, \"w\"); if (o) fclose(o); }\n";
    std::fs::write(stage.path("project/evil.c"), source).unwrap();
    let target = stage.path("home/loaded");
    let status = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(stage.path("project/evil.so"))
        .arg(format!("-DTARGET=\"{}\"", target.display()))
        .arg(stage.path("project/evil.c"))
        .status();
    assert!(status.unwrap().success());
    let mut command = project::command("/bin/true");
    command.env("LD_PRELOAD", stage.path("project/evil.so")).cwd(stage.path("project"));
    let mut enclosed = stage.sandbox.enclose(command, &guard::SandboxNeeds::none()).unwrap();
    assert!(enclosed.spawn().unwrap().wait().await.unwrap().success());
    assert!(!target.exists());
}

async fn settings_of_the_kernel_stay(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(
            "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness /proc/sysrq-trigger /proc/sys/kernel/pid_max /sys/kernel/uevent_helper /sys/power/state; do
            [ -e $f ] && (cat $f > keep; cat keep > $f) 2>/dev/null && echo wrote $f; done; true",
        )
        .await;
    assert!(!ran.text.contains("wrote"), "{}", ran.text);
}

async fn no_ring_takes_calls_past_the_filter(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    let ran = stage
        .run(&format!(
            "{PYTHON} -c \"
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 8, ctypes.create_string_buffer(256)), ctypes.get_errno())\""
        ))
        .await;
    assert_eq!(ran.text.trim(), "-1 38");
}

async fn files_of_ours_are_not_handed_down(backend: Backend) {
    let Some(stage) = Stage::new(backend) else { return };
    use std::os::fd::AsRawFd;
    let secret = std::fs::File::open(stage.path("covey/auth.json")).unwrap();
    // As a careless library might leave it.
    rustix::io::fcntl_setfd(&secret, rustix::io::FdFlags::empty()).unwrap();
    let ran = stage.run(&format!("cat <&{}; ls /proc/self/fd | wc -l", secret.as_raw_fd())).await;
    let open: usize = ran.text.lines().rev().find_map(|line| line.trim().parse().ok()).unwrap();
    assert!(open <= 5, "{}", ran.text);
}

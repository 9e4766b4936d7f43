//! Runs a command transparently: the command inherits the three standard streams, receives this
//! process's signals, and determines its exit code or the signal that ends it.
//!
//! A key press (Ctrl-C, Ctrl-\) or a closed terminal signals the whole foreground process group, so
//! the child has already received such a signal. A signal sent with `kill` reaches this process
//! only, so it is forwarded. The kernel distinguishes the two cases in `si_code`.
//!
//! The signals are handled and not ignored (`SIG_IGN`): an ignored signal would stay ignored in the
//! child after `exec`, while a handled signal is reset. Signals that were ignored before (`nohup`)
//! stay ignored for both processes.

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use libc::c_int;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Resource, Rlimit, WaitId, WaitIdOptions, setrlimit, waitid};

/// The signals that are sent to applications, to end them or for other purposes.
const SIGNALS: [c_int; 6] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// The process that receives the signals; 0 before its start and after its end.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// Signals that arrived before the child was started, one bit for each.
static PENDING: AtomicU64 = AtomicU64::new(0);

/// Starts the command, forwards signals to it, and waits for its end. Calls `started` with its
/// process id in between, and also returns the result of that call.
pub fn run<T>(
    command: &mut Command,
    started: impl FnOnce(u32) -> T,
) -> io::Result<(ExitStatus, T)> {
    install_handlers()?;
    let child = command.spawn()?;
    let pid = child.id() as c_int;
    CHILD.store(pid, Ordering::SeqCst);
    let early = PENDING.swap(0, Ordering::SeqCst);
    for signal in SIGNALS {
        if early & (1 << signal) != 0 {
            send(pid, signal);
        }
    }
    let begun = started(child.id());
    Ok((wait(child)?, begun))
}

/// Ends this process in the same way as the child ended: with the same exit code, or by the same
/// signal.
pub fn exit_with_status(status: ExitStatus) -> u8 {
    if let Some(code) = status.code() {
        return code as u8;
    }
    let signal = status.signal().unwrap_or(libc::SIGKILL);
    // The child has written its own core dump. A dump of this process would have no value. If the
    // limit cannot be set, this process writes one too.
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let _ = setrlimit(Resource::Core, none);
    // SAFETY: these calls only affect this process, and `set` is valid for the calls that use it.
    // No other thread is running.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        let mut set = MaybeUninit::uninit();
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, set.as_ptr(), ptr::null_mut());
        libc::raise(signal);
    }
    // Reached only if the signal does not end a process.
    (128 + signal) as u8
}

/// Waits in two steps, so that no signal is sent to a process id that may already belong to another
/// process. The first step does not reap the child, so the id stays reserved until `CHILD` is 0.
fn wait(mut child: Child) -> io::Result<ExitStatus> {
    let pid = Pid::from_child(&child);
    let ended_but_not_reaped = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    retry_on_intr(|| waitid(WaitId::Pid(pid), ended_but_not_reaped))?;
    CHILD.store(0, Ordering::SeqCst);
    child.wait()
}

fn install_handlers() -> io::Result<()> {
    for signal in SIGNALS {
        // SAFETY: `sigaction` is plain data that may be zero; the handler only makes
        // async-signal-safe calls.
        unsafe {
            let mut now = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            if libc::sigaction(signal, ptr::null(), &mut now) != 0 {
                return Err(io::Error::last_os_error());
            }
            if now.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
            action.sa_sigaction = forward_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigemptyset(&mut action.sa_mask);
            if libc::sigaction(signal, &action, ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

extern "C" fn forward_signal(
    signal: c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: with SA_SIGINFO the kernel passes a valid `siginfo_t`.
    let from_process = unsafe { info.as_ref() }.is_none_or(|info| info.si_code <= 0);
    if !from_process {
        return;
    }
    match CHILD.load(Ordering::SeqCst) {
        0 => {
            PENDING.fetch_or(1 << signal, Ordering::SeqCst);
        }
        pid => send(pid, signal),
    }
}

/// Calls `kill` without changing `errno`, for use in a signal handler.
fn send(pid: c_int, signal: c_int) {
    // SAFETY: `kill` is async-signal-safe; `__errno_location` returns this thread's `errno`.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        libc::kill(pid, signal);
        *errno = before;
    }
}

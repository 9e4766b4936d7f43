//! The processor time of the current thread, almost free: the thread's clock is read only after the
//! thread was switched out.
//!
//! ```text
//!   thread pointer + __rseq_offset ─▶ struct rseq │ cpu_id_start │ cpu_id │ rseq_cs │ …
//!                                                                           │
//!             watch: rseq_cs = &SECTION                                     ▼
//!             the kernel switches the thread out: rseq_cs = 0     version │ start │ length │ abort
//! ```
//!
//! glibc 2.35 and newer register a `struct rseq` with the kernel for each thread (*restartable
//! sequences*). The field `rseq_cs` names a section of code. If the kernel preempts a thread, or
//! delivers a signal to it, outside this section, it sets the field to zero. The section here is
//! never executed, so the field is zero whenever the thread was switched out since the last
//! [`Watch::begin`]. As long as it is not, the thread's clock has advanced as the monotonic clock
//! has. A test of the field is one load; `CLOCK_THREAD_CPUTIME_ID` is a system call of 0.7 µs.
//!
//! If other code of the thread uses restartable sequences, it replaces the field, which then looks
//! like a switch and costs one more reading.

use rustix::time::{ClockId, clock_gettime};
use std::ffi::CStr;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

/// The signature that glibc registers, which the kernel expects before the abort handler.
#[cfg(target_arch = "x86_64")]
const SIGNATURE: Option<u32> = Some(0x5305_3053);
#[cfg(target_arch = "aarch64")]
const SIGNATURE: Option<u32> = Some(0xd428_bc00);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const SIGNATURE: Option<u32> = None;

/// Offset of `cpu_id` in `struct rseq`. The value is negative if the thread is not registered.
const CPU_ID: usize = 4;
/// Offset of `rseq_cs` in `struct rseq`.
const RSEQ_CS: usize = 8;
/// The section's position, length and abort handler in its 64 bytes.
const SECTION_LENGTH: u64 = 8;
const SIGNATURE_OFFSET: usize = 28;
const ABORT_OFFSET: u64 = 32;

/// The word that threads without a watched field compare. It is always zero.
static ZERO: AtomicU64 = AtomicU64::new(0);

/// The source of the processor times of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorTime {
    /// Restartable sequences, as the module describes.
    Rseq,
    /// The thread's clock is read at each event.
    Clock,
    /// Processor times are not recorded.
    None,
}

impl ProcessorTime {
    /// The name in traces and filters.
    pub fn name(self) -> &'static str {
        match self {
            ProcessorTime::Rseq => "rseq",
            ProcessorTime::Clock => "clock",
            ProcessorTime::None => "none",
        }
    }

    /// The source of this name. `rseq` becomes `clock` if this process cannot use it, and a
    /// recording without a choice has processor times only if they are almost free.
    pub fn choose(name: Option<&str>) -> ProcessorTime {
        match (name, is_rseq_usable()) {
            (Some("clock"), _) | (Some("rseq"), false) => ProcessorTime::Clock,
            (Some("rseq") | None, true) => ProcessorTime::Rseq,
            _ => ProcessorTime::None,
        }
    }

    /// The value that the watched word of a thread has while the thread was not switched out.
    pub fn mark(self) -> u64 {
        match self {
            ProcessorTime::Rseq => section(),
            ProcessorTime::Clock => 1,
            ProcessorTime::None => 0,
        }
    }
}

/// The critical section of `linux/rseq.h`.
#[repr(C, align(32))]
struct Section {
    version: u32,
    flags: u32,
    start: u64,
    length: u64,
    abort: u64,
    /// The section itself, which is never executed, and its abort handler with the signature.
    code: [u8; 64],
}

/// The address of the section, which stays valid for ever.
fn section() -> u64 {
    static SECTION: OnceLock<u64> = OnceLock::new();
    *SECTION.get_or_init(|| {
        let section = Box::leak(Box::new(Section {
            version: 0,
            flags: 0,
            start: 0,
            length: SECTION_LENGTH,
            abort: 0,
            code: [0; 64],
        }));
        let code = section.code.as_ptr().expose_provenance() as u64;
        section.start = code;
        section.abort = code + ABORT_OFFSET;
        let signature = SIGNATURE.unwrap_or(0).to_ne_bytes();
        section.code[SIGNATURE_OFFSET..ABORT_OFFSET as usize].copy_from_slice(&signature);
        ptr::from_mut(section).expose_provenance() as u64
    })
}

/// The value of a number that glibc exports; `None` if the C library has no such number.
///
/// # Safety
/// The symbol must be that of a `T`, if it exists.
unsafe fn exported<T: Copy>(name: &CStr) -> Option<T> {
    // SAFETY: the name is NUL-terminated.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: given by the caller; the symbol exists.
    (!symbol.is_null()).then(|| unsafe { symbol.cast::<T>().read() })
}

/// The distance of the thread's `struct rseq` from its thread pointer. `None` if the C library
/// registers none.
fn rseq_offset() -> Option<isize> {
    static OFFSET: OnceLock<Option<isize>> = OnceLock::new();
    *OFFSET.get_or_init(|| {
        SIGNATURE?;
        // SAFETY: glibc 2.35 declares `const unsigned int __rseq_size` and
        // `const ptrdiff_t __rseq_offset`. The size is 0 if the kernel refused.
        let size = unsafe { exported::<u32>(c"__rseq_size") }?;
        // SAFETY: as above.
        let offset = unsafe { exported::<isize>(c"__rseq_offset") }?;
        (size > 0).then_some(offset)
    })
}

/// The address of the current thread's control block, from which glibc counts offsets.
#[cfg(target_arch = "x86_64")]
fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: on x86-64 Linux, the first word of the control block is its own address.
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly));
    }
    pointer
}

/// The address of the current thread's control block, from which glibc counts offsets.
#[cfg(target_arch = "aarch64")]
fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: every thread may read this register.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags));
    }
    pointer
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn thread_pointer() -> usize {
    0
}

/// The address of the current thread's field `rseq_cs`; `None` if the thread is not registered.
fn own_field() -> Option<usize> {
    let area = thread_pointer().checked_add_signed(rseq_offset()?)?;
    // SAFETY: the C library has registered this area for the current thread, which lives as long as
    // the thread does. The kernel writes the number of the processor to it.
    let cpu = unsafe { ptr::with_exposed_provenance::<i32>(area + CPU_ID).read_volatile() };
    (cpu >= 0).then_some(area + RSEQ_CS)
}

/// Whether the kernel clears the field of this thread when it switches the thread out. The answer
/// for the first thread that asks holds for the process.
pub fn is_rseq_usable() -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    *USABLE.get_or_init(|| {
        let Some(watch) = own_field().map(|field| Watch::Field { field }) else {
            return false;
        };
        watch.begin();
        let stays = !watch.was_switched();
        // The thread gives up the processor.
        std::thread::sleep(std::time::Duration::from_micros(50));
        stays && watch.was_switched()
    })
}

/// A moment at which both clocks of a thread are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The time by the clock of the recording.
    pub time: u64,
    /// The processor time of the thread in nanoseconds.
    pub cpu_ns: u64,
}

/// The way in which one thread learns that it was switched out. Only that thread uses the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watch {
    /// The field at this address, which belongs to the thread.
    Field {
        /// The address of `rseq_cs`.
        field: usize,
    },
    /// Each question is answered with yes.
    Always,
    /// Each question is answered with no.
    Never,
}

impl Watch {
    /// The watch of the current thread.
    pub fn current(source: ProcessorTime) -> Watch {
        match (source, own_field()) {
            (ProcessorTime::None, _) => Watch::Never,
            (ProcessorTime::Rseq, Some(field)) => Watch::Field { field },
            _ => Watch::Always,
        }
    }

    /// The address of the word that Java code compares with [`ProcessorTime::mark`].
    pub fn address(self) -> u64 {
        match self {
            Watch::Field { field } => field as u64,
            _ => ptr::from_ref(&ZERO).expose_provenance() as u64,
        }
    }

    fn begin(self) {
        if let Watch::Field { field } = self {
            // SAFETY: the field belongs to the current thread. The section that it names from now
            // on is valid for ever, and has the signature before its abort handler.
            unsafe { ptr::with_exposed_provenance_mut::<u64>(field).write_volatile(section()) };
        }
    }

    /// Whether the current thread was switched out since the last reading.
    pub fn was_switched(self) -> bool {
        match self {
            // SAFETY: the field belongs to the current thread; the kernel writes to it only while
            // the thread does not run.
            Watch::Field { field } => unsafe {
                ptr::with_exposed_provenance::<u64>(field).read_volatile() != section()
            },
            Watch::Always => true,
            Watch::Never => false,
        }
    }

    /// Reads `clock` and the clock of the current thread at one moment, and watches for a switch from
    /// that moment on.
    ///
    /// A thread that has used up its turn is often switched out by the reading itself: the system call
    /// brings the thread's account up to date, and the kernel looks at the account before it returns.
    /// This switch counts as later than the reading. The time of the thread does not go on meanwhile,
    /// so it belongs to the moment before the system call.
    pub fn read(self, clock: impl Fn() -> u64) -> Reading {
        self.begin();
        let before = clock();
        let cpu_ns = thread_clock();
        let after = clock();
        let is_whole = self == Watch::Always || !self.was_switched();
        // The system call reads the clock about in its middle.
        let time = if is_whole {
            before.midpoint(after)
        } else {
            before
        };
        Reading { time, cpu_ns }
    }
}

/// The processor time of the current thread in nanoseconds.
pub fn thread_clock() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The processor time in nanoseconds of a thread of this process, by its number in the operating system;
/// `None` if it has ended.
pub fn clock_of_thread(os_id: libc::pid_t) -> Option<u64> {
    /// `CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED` of `linux/posix-timers.h`.
    const CLOCK_OF_THREAD: libc::clockid_t = 6;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes the time to the structure, or fails.
    let code = unsafe { libc::clock_gettime(!os_id << 3 | CLOCK_OF_THREAD, &raw mut time) };
    (code == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::monotonic::monotonic;
    use std::hint::black_box;
    use std::sync::atomic::Ordering;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no restartable sequences")]
    fn a_thread_that_gives_up_the_processor_was_switched() {
        let watch = Watch::current(ProcessorTime::choose(None));
        if !is_rseq_usable() {
            assert_eq!(watch, Watch::Never);
            return;
        }
        let first = watch.read(monotonic);
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(watch.was_switched());
        let second = watch.read(monotonic);
        assert!(second.time - first.time >= 20_000_000);
        assert!(second.cpu_ns - first.cpu_ns < 20_000_000);
    }

    /// Adds up the processor time as a reader of a trace does, while the thread works and sleeps.
    #[test]
    #[cfg_attr(miri, ignore = "Miri has no restartable sequences")]
    fn the_sum_of_intervals_without_a_switch_is_the_time_of_the_thread_clock() {
        if !is_rseq_usable() {
            return;
        }
        let watch = Watch::current(ProcessorTime::Rseq);
        let first = watch.read(monotonic);
        let (mut reading, mut last, mut switches) = (first, first.time, 0);
        while reading.cpu_ns - first.cpu_ns < 30_000_000 {
            for n in 0..5_000u64 {
                black_box(n * n);
            }
            let now = monotonic();
            if watch.was_switched() {
                reading = watch.read(monotonic);
                switches += 1;
            } else {
                last = now;
                if last - reading.time > 5_000_000 {
                    std::thread::sleep(std::time::Duration::from_micros(100));
                }
            }
        }
        let derived = reading.cpu_ns + last.saturating_sub(reading.time);
        let exact = thread_clock();
        assert!(switches > 0);
        let difference = exact.abs_diff(derived);
        assert!(difference < 2_000_000, "{derived} and {exact}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri does not know the clocks of threads")]
    fn the_clock_of_another_thread_is_read_by_its_number() {
        let (send, receive) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            // SAFETY: a system call without arguments, which cannot fail.
            let own = unsafe { libc::gettid() };
            let begin = thread_clock();
            while thread_clock() - begin < 20_000_000 {}
            send.send((own, thread_clock())).expect("a receiver");
            std::thread::sleep(std::time::Duration::from_millis(200));
        });
        let (os_id, worked) = receive.recv().expect("a thread");
        std::thread::sleep(std::time::Duration::from_millis(50));
        let read = clock_of_thread(os_id).expect("the thread runs");
        assert!((worked..worked + 20_000_000).contains(&read), "{read}");
        thread.join().expect("the thread ends");
        assert_eq!(clock_of_thread(os_id), None);
    }

    #[test]
    fn other_sources_answer_without_looking() {
        assert!(Watch::current(ProcessorTime::Clock).was_switched());
        assert!(!Watch::current(ProcessorTime::None).was_switched());
        assert_eq!(ProcessorTime::choose(Some("clock")), ProcessorTime::Clock);
        assert_eq!(ProcessorTime::choose(Some("none")), ProcessorTime::None);
        // The word of such a thread differs from the mark only if each event needs a reading.
        let word = ZERO.load(Ordering::Relaxed);
        assert_ne!(word, ProcessorTime::Clock.mark());
        assert_eq!(word, ProcessorTime::None.mark());
    }
}

//! The finding of `veneer doctor` about processor times in event traces: whether the C library
//! registers restartable sequences, by which a recorder learns that a thread was switched out.

use std::ffi::{CStr, c_char};
use std::fs;
use std::mem;

/// The first release of glibc that registers restartable sequences for each thread.
const FIRST_GLIBC: (u32, u32) = (2, 35);
/// The first release of Linux after the rework of restartable sequences of 2025. Its return from a
/// system call may not look at the mark.
const FIRST_CHANGED_KERNEL: (u32, u32) = (6, 19);
/// A part of the name under which musl is mapped.
const MUSL: &str = "/ld-musl-";

/// The support of a C library for processor times that are almost free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessorTimeSupport {
    /// glibc registers restartable sequences.
    Rseq {
        /// The version of glibc.
        glibc: String,
    },
    /// This glibc does not know restartable sequences.
    OldGlibc {
        /// The version of glibc.
        glibc: String,
    },
    /// glibc could register none: the kernel refuses, or `GLIBC_TUNABLES` forbids it.
    NotRegistered {
        /// The version of glibc.
        glibc: String,
    },
    /// glibc registers restartable sequences, and the kernel is of a line that may leave the mark
    /// of a thread that sleeps. The agent tests this before it uses the mark.
    NewKernel {
        /// The release of the kernel.
        kernel: String,
    },
    /// The C library is not glibc.
    OtherLibrary,
}

/// The support of the C library of this program.
pub fn of_this_program() -> ProcessorTimeSupport {
    let Some(glibc) = glibc_version() else {
        return ProcessorTimeSupport::OtherLibrary;
    };
    match rseq_size() {
        Some(1..) => {
            let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
            let kernel = kernel.trim();
            match is_before(kernel, FIRST_CHANGED_KERNEL) {
                true => ProcessorTimeSupport::Rseq { glibc },
                false => ProcessorTimeSupport::NewKernel {
                    kernel: kernel.into(),
                },
            }
        }
        Some(0) => ProcessorTimeSupport::NotRegistered { glibc },
        None if is_before(&glibc, FIRST_GLIBC) => ProcessorTimeSupport::OldGlibc { glibc },
        None => ProcessorTimeSupport::NotRegistered { glibc },
    }
}

/// Whether a process uses musl. `None` if its memory map cannot be read.
pub fn uses_musl(pid: u32) -> Option<bool> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    Some(maps.lines().any(|line| line.contains(MUSL)))
}

/// Whether a version is older than another one. Text after the first two numbers does not count.
fn is_before(version: &str, other: (u32, u32)) -> bool {
    let mut numbers = version
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next()) < other
}

fn symbol(name: &CStr) -> Option<*mut libc::c_void> {
    // SAFETY: the name is NUL-terminated.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!symbol.is_null()).then_some(symbol)
}

/// The version of glibc; `None` if this program uses another C library.
fn glibc_version() -> Option<String> {
    type Version = unsafe extern "C" fn() -> *const c_char;
    let symbol = symbol(c"gnu_get_libc_version")?;
    // SAFETY: glibc declares the function with this type, and returns text that is never freed.
    let text = unsafe { CStr::from_ptr(mem::transmute::<*mut libc::c_void, Version>(symbol)()) };
    Some(text.to_string_lossy().into_owned())
}

/// The size of the area that glibc has registered; 0 if it could not.
fn rseq_size() -> Option<u32> {
    let symbol = symbol(c"__rseq_size")?;
    // SAFETY: glibc declares the symbol as a constant unsigned int.
    Some(unsafe { symbol.cast::<u32>().read() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_first_two_numbers() {
        for (version, other, expected) in [
            ("2.31", FIRST_GLIBC, true),
            ("2.34.9", FIRST_GLIBC, true),
            ("2.35", FIRST_GLIBC, false),
            ("3.0", FIRST_GLIBC, false),
            ("6.18.44-x", FIRST_CHANGED_KERNEL, true),
            ("6.19-rc1", FIRST_CHANGED_KERNEL, false),
            ("7.0.1", FIRST_CHANGED_KERNEL, false),
        ] {
            assert_eq!(is_before(version, other), expected, "{version}");
        }
    }

    #[test]
    fn the_library_of_this_program_is_the_one_that_its_memory_map_names() {
        let musl = uses_musl(std::process::id());
        let is_other = of_this_program() == ProcessorTimeSupport::OtherLibrary;
        assert_eq!(musl, Some(is_other));
    }
}

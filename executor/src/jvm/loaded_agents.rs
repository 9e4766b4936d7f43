//! Whether another agent's library is loaded. Such a library exports `Agent_OnLoad` or
//! `Agent_OnAttach`; for agents in Java it is the JDK's `libinstrument.so`.

use parking_lot::Mutex;
use std::ffi::{CStr, CString, c_int, c_void};

/// The functions that the JVM calls in the library of an agent.
const ENTRY_POINTS: [&CStr; 2] = [c"Agent_OnLoad", c"Agent_OnAttach"];

/// The result of the last look.
#[derive(Clone, Copy, Default)]
struct LastLook {
    /// The number of libraries that the process had loaded since its start.
    loads: u64,
    found: bool,
}

static LAST_LOOK: Mutex<LastLook> = Mutex::new(LastLook {
    loads: 0,
    found: false,
});

/// Whether the process has loaded the library of another agent. Once true, it stays true, because an
/// agent in Java has no library of its own that could be unloaded.
pub fn another_agent_is_loaded() -> bool {
    let mut last = LAST_LOOK.lock();
    let loads = loaded_so_far();
    if !last.found && last.loads != loads {
        *last = LastLook {
            loads,
            found: other_libraries().iter().any(|path| is_agent(path)),
        };
    }
    last.found
}

/// The number of libraries that the process has loaded since its start.
fn loaded_so_far() -> u64 {
    unsafe extern "C" fn first(info: *mut libc::dl_phdr_info, _: usize, to: *mut c_void) -> c_int {
        // SAFETY: the loader describes an object, and `to` is the address of the number below.
        unsafe { *to.cast::<u64>() = (*info).dlpi_adds };
        1
    }
    let mut loads = 0_u64;
    // SAFETY: the function is called while this call lasts, with `loads` as its last argument.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut loads).cast()) };
    loads
}

/// The paths of all loaded libraries but this one. The main program has no path in this list.
fn other_libraries() -> Vec<CString> {
    unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _: usize, to: *mut c_void) -> c_int {
        // SAFETY: the loader describes an object, and `to` is the address of the list below.
        let (info, paths) = unsafe { (&*info, &mut *to.cast::<Vec<CString>>()) };
        if info.dlpi_name.is_null() || info.dlpi_phdr.is_null() {
            return 0;
        }
        // SAFETY: the loader has `dlpi_phnum` program headers at this address.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let is_own = contains_this_code(info.dlpi_addr, headers);
        // SAFETY: the loader's names end with 0.
        let path = unsafe { CStr::from_ptr(info.dlpi_name) };
        if !is_own && !path.is_empty() {
            paths.push(path.to_owned());
        }
        0
    }
    let mut paths = Vec::new();
    // SAFETY: the function is called while this call lasts, with `paths` as its last argument.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut paths).cast()) };
    paths
}

/// Whether the object that is loaded at `base`, with these program headers, contains this function,
/// and thus is this library.
pub fn contains_this_code(base: u64, headers: &[libc::Elf64_Phdr]) -> bool {
    let own_address = contains_this_code as fn(u64, &[libc::Elf64_Phdr]) -> bool as usize as u64;
    headers.iter().any(|header| {
        let start = base.wrapping_add(header.p_vaddr);
        header.p_type == libc::PT_LOAD && own_address.wrapping_sub(start) < header.p_memsz
    })
}

/// Whether a loaded library exports an entry point of agents. False if it is not loaded any more.
fn is_agent(path: &CStr) -> bool {
    // SAFETY: `RTLD_NOLOAD` only counts one more user of a library that is loaded.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if library.is_null() {
        return false;
    }
    let is_agent = ENTRY_POINTS.iter().any(|name| {
        // SAFETY: the handle is valid, and the name ends with 0.
        !unsafe { libc::dlsym(library, name.as_ptr()) }.is_null()
    });
    // SAFETY: the handle is valid and is not used again. The library keeps its other users.
    unsafe { libc::dlclose(library) };
    is_agent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_test_are_no_agents() {
        assert!(!another_agent_is_loaded());
        assert!(loaded_so_far() > 0);
        let paths = other_libraries();
        let libc = paths
            .iter()
            .find(|path| path.to_string_lossy().contains("libc.so"));
        assert!(libc.is_some_and(|path| !is_agent(path)), "{paths:?}");
        assert!(!is_agent(c"/no/such/library.so"));
    }
}

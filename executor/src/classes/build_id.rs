//! The build id of this library, which the linker has written into it (`NT_GNU_BUILD_ID`). It is a
//! hash of the library's content, so it changes with every change of the code.

use crate::jvm::loaded_agents::contains_this_code;
use std::ffi::{c_int, c_void};
use veneer_class_cache::BuildId;

/// The type of the note with the build id.
const NT_GNU_BUILD_ID: u32 = 3;
/// The owner of that note.
const OWNER: &[u8] = b"GNU\0";

/// The build id. `None` if the linker has written none.
pub fn build_id() -> Option<BuildId> {
    let mut found: Option<BuildId> = None;
    // SAFETY: the function is called for each loaded object while this call lasts, with `found` as
    // its last argument.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    found
}

/// Looks at one loaded object. Returns 1, which ends the iteration, if it contains this function.
///
/// # Safety
/// `info` must describe a loaded object, and `found` must be the address of an `Option<BuildId>`.
unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut c_void,
) -> c_int {
    // SAFETY: given by the caller.
    let (info, found) = unsafe { (&*info, &mut *found.cast::<Option<BuildId>>()) };
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the loader has `dlpi_phnum` program headers at this address.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr;
    if !contains_this_code(base, headers) {
        return 0;
    }
    for header in headers
        .iter()
        .filter(|header| header.p_type == libc::PT_NOTE)
    {
        let start = base.wrapping_add(header.p_vaddr) as usize;
        // SAFETY: the loader has mapped the notes of the object, and never unmaps this library.
        let notes = unsafe {
            std::slice::from_raw_parts(
                std::ptr::with_exposed_provenance::<u8>(start),
                header.p_memsz as usize,
            )
        };
        *found = found.or_else(|| id_in_notes(notes));
    }
    1
}

/// The build id in a sequence of notes: length of the owner, length of the content, type, owner,
/// content. Owner and content are padded to 4 bytes.
fn id_in_notes(mut notes: &[u8]) -> Option<BuildId> {
    loop {
        let (head, rest) = notes.split_at_checked(12)?;
        let number = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let (owner_len, content_len) = (number(0)? as usize, number(4)? as usize);
        let owner = rest.get(..owner_len)?;
        let content_at = owner_len.next_multiple_of(4);
        let content = rest.get(content_at..content_at.checked_add(content_len)?)?;
        if number(8)? == NT_GNU_BUILD_ID && owner == OWNER && !content.is_empty() {
            return Some(BuildId::new(content));
        }
        notes = rest.get(content_at + content_len.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(kind: u32, owner: &[u8], content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for number in [owner.len() as u32, content.len() as u32, kind] {
            out.extend(number.to_ne_bytes());
        }
        for part in [owner, content] {
            out.extend(part);
            out.resize(out.len().next_multiple_of(4), 0);
        }
        out
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let mut notes = note(1, OWNER, &[1, 2, 3, 4, 5]);
        notes.extend(note(NT_GNU_BUILD_ID, b"Go\0", &[7; 20]));
        notes.extend(note(NT_GNU_BUILD_ID, OWNER, &[9; 20]));
        assert_eq!(id_in_notes(&notes), Some(BuildId::new(&[9; 20])));
        assert_eq!(id_in_notes(&notes[..notes.len() - 1]), None);
        assert_eq!(id_in_notes(&[]), None);
    }

    #[test]
    fn damaged_lengths_are_no_build_id() {
        let mut notes = note(NT_GNU_BUILD_ID, OWNER, &[9; 20]);
        notes[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(id_in_notes(&notes), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no loaded objects")]
    fn the_build_id_of_this_program_is_the_same_every_time() {
        assert_eq!(build_id(), build_id());
    }
}

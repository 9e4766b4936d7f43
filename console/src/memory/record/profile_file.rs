//! The file of a recorded profile, and the line that tells of it.

use std::path::Path;

use anyhow::Result;
use veneer_memory::profile::MemoryProfile;

use crate::output::print_error;
use crate::quantity::quantity;
use crate::replaced_file::replace_file;

/// Writes the file, as a whole or not at all.
pub fn write_profile(profile: &MemoryProfile, place: &Path) -> Result<()> {
    replace_file(place, |out| {
        profile.write(out)?;
        Ok(())
    })
}

/// Tells on standard error how much is in the file.
pub fn summarise(place: &Path, profile: &MemoryProfile) {
    let total = profile.total();
    let objects = profile.allocations.iter().map(|row| row.objects).sum();
    print_error(&format_args!(
        "{}: {} by {}, {}",
        place.display(),
        quantity(total.references.accesses(), "access"),
        quantity(profile.sites.len() as u64, "instruction"),
        quantity(objects, "allocated object"),
    ));
}

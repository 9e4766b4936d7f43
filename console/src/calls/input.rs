//! Files of call graphs as input.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use veneer_calls::CallProfile;
use veneer_calls::file::{self, Ending};

use crate::output::print_error;

/// The fact that names the files of a profile whose end was missing.
const INCOMPLETE: &str = "incomplete";

/// Reads files and adds them.
pub fn read_all(paths: &[PathBuf]) -> Result<CallProfile> {
    let mut profile: Option<CallProfile> = None;
    for path in paths {
        let next = read(path)?;
        match &mut profile {
            None => profile = Some(next),
            Some(sum) => sum.merge(&next),
        }
    }
    Ok(profile.unwrap_or_default())
}

/// Reads a file. Prints a line on standard error if a part of it is missing.
pub fn read(path: &Path) -> Result<CallProfile> {
    let place = path.display();
    let input = File::open(path).with_context(|| place.to_string())?;
    let result = file::read(BufReader::new(input)).with_context(|| place.to_string())?;
    let mut profile = result.profile;
    match result.ending {
        Ending::Complete => {}
        Ending::Cut { at } => {
            print_error(&format_args!(
                "{place} ends after {at} bytes without its end record: the recording was killed, or the file was cut; what is there is shown"
            ));
            profile.add_info(INCOMPLETE, &place.to_string());
        }
        Ending::Damaged { at, damage } => {
            print_error(&format_args!(
                "{place} is damaged from byte {at} on: {damage}; what is before is shown"
            ));
            profile.add_info(INCOMPLETE, &place.to_string());
        }
    }
    if result.unknown_chunks > 0 {
        print_error(&format_args!(
            "{place} was written by a newer veneer; {} parts of it are of an unknown kind and are not shown",
            result.unknown_chunks
        ));
    }
    Ok(profile)
}

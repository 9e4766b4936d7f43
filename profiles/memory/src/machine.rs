//! The caches of this machine, as Linux describes them.
//!
//! Linux has a folder for each cache of a processor, `/sys/devices/system/cpu/cpu0/cache/index*`
//! (`Documentation/ABI/testing/sysfs-devices-system-cpu`). The folder states level, type, size,
//! associativity and line length. It does not state the write policy on most machines. The result
//! writes back and allocates then, as x86-64 and AArch64 processors do for ordinary memory. Linux
//! does not describe TLBs.

use std::path::{Path, PathBuf};
use std::{fs, io};

use thiserror::Error;

use crate::description::{
    CacheDescription, DescriptionError, Geometry, Level, MAX_LEVELS, Rules, WritePolicy,
};

/// The folder of the caches of the first processor.
pub const CACHE_FOLDER: &str = "/sys/devices/system/cpu/cpu0/cache";
/// The most `index*` folders that are read.
const MAX_INDICES: usize = 32;

/// Why the caches of the machine are unknown.
#[derive(Debug, Error)]
pub enum MachineError {
    /// A file that describes a cache cannot be read.
    #[error("{path}: {cause}")]
    Unreadable {
        /// The path of the file that cannot be read.
        path: PathBuf,
        /// The error of the operating system, or the error that the file is not UTF-8 text.
        cause: io::Error,
    },
    /// A file that must contain a number or a size contains another text.
    #[error("{path}: `{text}` is no number")]
    NotANumber {
        /// The path of the file that contains the text.
        path: PathBuf,
        /// The content of the file without surrounding white space.
        text: String,
    },
    /// The folder describes no data cache and no unified cache of level 1. The value is the folder.
    #[error("{0} describes no first-level data cache; name the caches with --cache")]
    NoDataCache(PathBuf),
    /// The files describe caches that [`CacheDescription::validate`] refuses, for example with a
    /// line of 0 bytes.
    #[error("the caches of this machine: {0}")]
    Description(#[from] DescriptionError),
}

impl MachineError {
    /// Returns the stable name of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            MachineError::Unreadable { .. } => "MachineUnreadable",
            MachineError::NotANumber { .. } => "MachineNotANumber",
            MachineError::NoDataCache(_) => "MachineNoDataCache",
            MachineError::Description(error) => error.code(),
        }
    }
}

/// Reads the caches from a folder with the layout of [`CACHE_FOLDER`].
pub fn read_caches(folder: &Path) -> Result<CacheDescription, MachineError> {
    let mut levels: [Option<Level>; MAX_LEVELS] = [None; MAX_LEVELS];
    let mut instructions = None;
    for index in 0..MAX_INDICES {
        let cache = folder.join(format!("index{index}"));
        if !cache.is_dir() {
            break;
        }
        let number = read_number(&cache.join("level"))? as usize;
        let level = read_level(&cache)?;
        match read_text(&cache.join("type"))?.as_str() {
            "Instruction" if number == 1 => instructions = Some(level),
            "Data" | "Unified" => {
                if let Some(slot) = number.checked_sub(1).and_then(|n| levels.get_mut(n)) {
                    *slot = Some(level);
                }
            }
            _ => {}
        }
    }
    let levels: Vec<Level> = levels.into_iter().map_while(|level| level).collect();
    if levels.is_empty() {
        return Err(MachineError::NoDataCache(folder.to_path_buf()));
    }
    let description = CacheDescription {
        levels,
        instructions,
        tlbs: Vec::new(),
        rules: Rules::Lines,
    };
    description.validate()?;
    Ok(description)
}

fn read_level(cache: &Path) -> Result<Level, MachineError> {
    let line_bytes = read_number(&cache.join("coherency_line_size"))?;
    let sets = read_number(&cache.join("number_of_sets"))?;
    let ways = match read_number(&cache.join("ways_of_associativity"))? {
        // The kernel writes 0 for a fully associative cache.
        0 => {
            let lines = read_size(&cache.join("size"))? / line_bytes.max(1);
            lines / sets.max(1)
        }
        ways => ways,
    };
    let policy = fs::read_to_string(cache.join("write_policy")).unwrap_or_default();
    Ok(Level {
        geometry: Geometry {
            sets,
            ways: u32::try_from(ways).unwrap_or(u32::MAX),
            line_bytes,
        },
        write: match policy.trim() {
            "WriteThrough" => WritePolicy::Through,
            _ => WritePolicy::Back,
        },
        write_allocate: true,
    })
}

fn read_text(path: &Path) -> Result<String, MachineError> {
    let text = fs::read_to_string(path).map_err(|cause| MachineError::Unreadable {
        path: path.to_path_buf(),
        cause,
    })?;
    Ok(text.trim().to_owned())
}

fn read_number(path: &Path) -> Result<u64, MachineError> {
    let text = read_text(path)?;
    text.parse().map_err(|_| MachineError::NotANumber {
        path: path.to_path_buf(),
        text,
    })
}

/// Reads a number of bytes, which the kernel writes as `48K`.
fn read_size(path: &Path) -> Result<u64, MachineError> {
    let text = read_text(path)?;
    let kibibytes = text.strip_suffix('K').and_then(|n| n.parse::<u64>().ok());
    kibibytes
        .and_then(|n| n.checked_mul(1024))
        .ok_or_else(|| MachineError::NotANumber {
            path: path.to_path_buf(),
            text,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes `index*` folders. A row is level, type, size, ways, line and sets.
    fn folder(rows: &[[&str; 6]]) -> io::Result<tempfile::TempDir> {
        let folder = tempfile::tempdir()?;
        let names = [
            "level",
            "type",
            "size",
            "ways_of_associativity",
            "coherency_line_size",
            "number_of_sets",
        ];
        for (index, row) in rows.iter().enumerate() {
            let cache = folder.path().join(format!("index{index}"));
            fs::create_dir(&cache)?;
            for (name, value) in names.iter().zip(row) {
                fs::write(cache.join(name), format!("{value}\n"))?;
            }
        }
        Ok(folder)
    }

    #[test]
    fn the_levels_are_read_from_their_folders() -> Result<(), Box<dyn std::error::Error>> {
        let folder = folder(&[
            ["1", "Data", "48K", "12", "64", "64"],
            ["1", "Instruction", "32K", "8", "64", "64"],
            ["2", "Unified", "2048K", "16", "64", "2048"],
            ["3", "Unified", "266240K", "20", "64", "212992"],
        ])?;
        assert_eq!(
            read_caches(folder.path())?.to_string(),
            "L1:48K/12/64,L2:2M/16/64,L3:260M/20/64,L1I:32K/8/64"
        );
        Ok(())
    }

    #[test]
    fn a_fully_associative_cache_has_its_ways_from_its_size()
    -> Result<(), Box<dyn std::error::Error>> {
        let folder = folder(&[["1", "Data", "4K", "0", "64", "1"]])?;
        assert_eq!(read_caches(folder.path())?.to_string(), "L1:4K/64/64");
        Ok(())
    }

    #[test]
    fn folders_without_caches_and_nonsense_are_errors() -> Result<(), Box<dyn std::error::Error>> {
        let empty = folder(&[])?;
        let error = |f: &tempfile::TempDir| read_caches(f.path()).map_err(|e| e.code());
        assert_eq!(error(&empty), Err("MachineNoDataCache"));
        let damaged = folder(&[["1", "Data", "48K", "twelve", "64", "64"]])?;
        assert_eq!(error(&damaged), Err("MachineNotANumber"));
        let absurd = folder(&[["1", "Data", "48K", "12", "0", "64"]])?;
        assert_eq!(error(&absurd), Err("CacheLineSize"));
        let partial = folder(&[["1", "Data", "48K", "12", "64", "64"]])?;
        fs::remove_file(partial.path().join("index0/type"))?;
        assert_eq!(error(&partial), Err("MachineUnreadable"));
        Ok(())
    }
}

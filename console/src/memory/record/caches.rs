//! The caches that a recording simulates.

use std::path::Path;

use anyhow::Result;
use veneer_memory::{CACHE_FOLDER, read_caches};

use super::plan::{CURVE, OBJECTS, SAMPLE, SHARING};
use crate::cli::CacheArgument;

/// The measurements of a recording of accesses besides the misses of instructions.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordedMore {
    /// The lines that threads share.
    pub sharing: bool,
    /// Only accesses in windows.
    pub sample: bool,
    /// The allocation sites of the accessed objects.
    pub objects: bool,
    /// The misses of caches of all sizes.
    pub curve: bool,
}

/// The lines of `memory(…)`: the descriptions of caches; those of this machine if none is given. Then
/// the lines that ask for more.
pub fn cache_texts(caches: &[CacheArgument], asked: RecordedMore) -> Result<Vec<String>> {
    let machine = [CacheArgument::Machine];
    let caches = match caches.is_empty() {
        true => &machine[..],
        false => caches,
    };
    let text = |cache: &CacheArgument| match cache {
        CacheArgument::Machine => {
            let mut description = read_caches(Path::new(CACHE_FOLDER))?;
            // A recording of a JVM has no instruction fetches.
            description.instructions = None;
            Ok(Some(description.to_string()))
        }
        CacheArgument::Described(description) => Ok(Some(description.to_string())),
        CacheArgument::Absent => Ok(None),
    };
    let lines = [
        (asked.sharing, SHARING),
        (asked.sample, SAMPLE),
        (asked.objects, OBJECTS),
        (asked.curve, CURVE),
    ];
    let lines = lines.into_iter().filter(|(is_wanted, _)| *is_wanted);
    let lines = lines.map(|(_, line)| Ok(line.to_owned()));
    let texts = caches.iter().filter_map(|cache| text(cache).transpose());
    texts.chain(lines).collect()
}

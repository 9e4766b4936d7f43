//! The caches that a recording simulates.

use std::path::Path;

use anyhow::Result;
use veneer_memory::{CACHE_FOLDER, read_caches};

use super::plan::SHARING;
use crate::cli::CacheArgument;

/// The lines of `memory(…)`: the descriptions of caches; those of this machine if none is given.
pub fn cache_texts(caches: &[CacheArgument], has_sharing: bool) -> Result<Vec<String>> {
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
    let sharing = has_sharing.then(|| Ok(SHARING.to_owned()));
    let texts = caches.iter().filter_map(|cache| text(cache).transpose());
    texts.chain(sharing).collect()
}

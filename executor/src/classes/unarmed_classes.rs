//! Names of loaded classes that are not armed.
//!
//! With them a plan that names a class which is not loaded costs no walk over all loaded classes; see `retransform.rs`.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard};
use veneer_fragmenter::anchor;

/// The set is made anew where it has grown to twice its size and so much more: programs may make classes and drop them for ever.
const SLACK: usize = 1 << 14;

#[derive(Default)]
struct Names {
    /// Of internal names. 64 bits with a secret key: that two names share one does not happen.
    hashes: HashSet<u64>,
    /// Whether the classes that were there before the agent are among them.
    complete: bool,
    /// How many there may be before the set is made anew.
    limit: usize,
}

/// Names of loaded classes that are not armed. See the module documentation.
#[derive(Default)]
pub struct Unarmed {
    hasher: RandomState,
    names: Mutex<Names>,
}

impl Unarmed {
    fn names(&self) -> MutexGuard<'_, Names> {
        self.names.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A class of this internal name is there, or about to be, and is not armed.
    pub fn add(&self, name: &str) {
        if anchor::is_anchor(name) {
            return;
        }
        let hash = self.hasher.hash_one(name);
        let mut names = self.names();
        names.hashes.insert(hash);
        if names.complete && names.hashes.len() > names.limit {
            *names = Names::default();
        }
    }

    /// Whether one of this name may be there.
    pub fn may_have(&self, name: &str) -> bool {
        let names = self.names();
        !names.complete || names.hashes.contains(&self.hasher.hash_one(name))
    }

    pub fn remove(&self, name: &str) {
        let hash = self.hasher.hash_one(name);
        self.names().hashes.remove(&hash);
    }

    pub fn is_complete(&self) -> bool {
        self.names().complete
    }

    /// A walk has added all that were there.
    pub fn completed(&self) {
        let mut names = self.names();
        names.complete = true;
        names.limit = 2 * names.hashes.len() + SLACK;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_known_before_the_first_walk_nor_after_too_many_classes() {
        let unarmed = Unarmed::default();
        unarmed.add("a/A");
        assert!(unarmed.may_have("a/A") && unarmed.may_have("a/B"));
        unarmed.completed();
        assert!(unarmed.may_have("a/A") && !unarmed.may_have("a/B"));
        unarmed.remove("a/A");
        assert!(!unarmed.may_have("a/A"));
        for n in 0..=2 * SLACK {
            unarmed.add(&format!("a/G{n}"));
        }
        // It was dropped on the way, and waits for the next walk.
        assert!(unarmed.may_have("a/A") && !unarmed.is_complete());
    }
}

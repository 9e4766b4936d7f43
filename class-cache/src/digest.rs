//! Hashes: of class files, of what decides the armed form, and of builds.

use std::fmt;
use twox_hash::{XxHash3_64, XxHash3_128};

/// The hash of a class file or of another part of the cache. It recognises damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Digest(pub u128);

impl Digest {
    /// The hash of these bytes.
    pub fn new(bytes: &[u8]) -> Digest {
        Digest(XxHash3_128::oneshot(bytes))
    }
}

/// The checksum of a part of a segment.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The key under which an armed class is stored: the hash of its class file and of the settings that
/// decide the armed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassKey(pub u128);

impl ClassKey {
    /// The key of a class file. `settings` is a hash of the settings; see [`ClassKey::settings`].
    pub fn new(settings: u64, class_file: &[u8]) -> ClassKey {
        ClassKey(XxHash3_128::oneshot_with_seed(settings, class_file))
    }

    /// The hash of the settings that decide the armed form of every class, in a text form.
    pub fn settings(text: &str) -> u64 {
        XxHash3_64::oneshot(text.as_bytes())
    }
}

/// The identity of a build of Veneer. Two builds that arm differently have different identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildId(pub u128);

impl BuildId {
    /// The identity of the build whose linker has written these bytes as its build id.
    pub fn new(linker_id: &[u8]) -> BuildId {
        BuildId(XxHash3_128::oneshot(linker_id))
    }
}

impl fmt::Display for BuildId {
    /// The first half, as file names have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", (self.0 >> 64) as u64)
    }
}

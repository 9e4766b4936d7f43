//! The original class files of armed classes, and the class cache that keeps them with the armed
//! forms from one run to the next.
//!
//! The agent keeps no class file on its heap, because the memory belongs to the application's process.
//! An original class file is in the first of these places that takes it:
//!
//! 1. a segment of the class cache;
//! 2. a file without a name, which disappears with the process, if there is no cache;
//! 3. the heap, if no file can be written.

use crate::classes::build_id::build_id;
use crate::data::append_file::with_file_size_signal_blocked;
use parking_lot::Mutex;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use veneer_class_cache::{
    CacheSettings, ClassCache, ClassKey, DEFAULT_MAX_BYTES, Digest, SegmentFile, StoredFile,
};
use veneer_protocol::AgentConfig;

/// The name of the file for class files outside the cache, as long as it has a name.
const SPILL_FILE: &str = "class_files";

/// The file for class files outside the cache.
#[derive(Default)]
enum Spill {
    /// No class file has needed it yet.
    #[default]
    Unopened,
    Open(Arc<SegmentFile>),
    /// The file cannot be created or written.
    Unusable,
}

/// See the module documentation.
pub struct ClassFiles {
    cache_folder: Option<PathBuf>,
    /// The JVM's own data directory.
    data_directory: PathBuf,
    /// The hash of the settings that decide how classes are armed.
    settings: u64,
    /// Opened when the first class is armed. `None` if it cannot be used.
    cache: OnceLock<Option<ClassCache>>,
    spill: Mutex<Spill>,
}

/// Runs a write with the signal for files that are too large blocked.
fn guarded_write(write: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
    with_file_size_signal_blocked(write)
}

impl ClassFiles {
    /// Prepares the places that the configuration names. Opens no file.
    pub fn new(config: &AgentConfig) -> ClassFiles {
        ClassFiles {
            // A checked agent arms each class anew, because it checks the arming.
            cache_folder: config.cache.clone().filter(|_| !config.check),
            data_directory: config.data_dir.clone(),
            settings: settings_hash(config),
            cache: OnceLock::new(),
            spill: Mutex::default(),
        }
    }

    /// The class cache. `None` if there is none or its folder cannot be used.
    pub fn cache(&self) -> Option<&ClassCache> {
        let folder = self.cache_folder.as_ref()?;
        let open = || {
            let settings = CacheSettings {
                folder: folder.clone(),
                build: build_id()?,
                max_bytes: DEFAULT_MAX_BYTES,
                write: guarded_write,
            };
            // `veneer doctor` tells the user why the folder is not used. The program needs no
            // message for it: it runs as without a cache.
            ClassCache::open(settings).ok()
        };
        self.cache.get_or_init(open).as_ref()
    }

    /// The key of a class file in the cache.
    pub fn key(&self, class_file: &[u8]) -> ClassKey {
        ClassKey::new(self.settings, class_file)
    }

    /// Keeps a class file outside the cache.
    pub fn keep(&self, class_file: &[u8]) -> StoredFile {
        let mut spill = self.spill.lock();
        if let Spill::Unopened = *spill {
            *spill = match create_spill_file(&self.data_directory) {
                Ok(file) => Spill::Open(Arc::new(file)),
                Err(_) => Spill::Unusable,
            };
        }
        let Spill::Open(file) = &*spill else {
            return StoredFile::on_heap(class_file);
        };
        let Some(offset) = file.append(&[class_file]) else {
            *spill = Spill::Unusable;
            return StoredFile::on_heap(class_file);
        };
        let length = class_file.len() as u32;
        StoredFile::in_file(file.clone(), offset, length, Digest::new(class_file))
    }

    /// Publishes newly armed classes if it is time. Called once a second.
    pub fn publish_if_due(&self) {
        if let Some(Some(cache)) = self.cache.get() {
            cache.publish_if_due();
        }
        if let Spill::Open(file) = &*self.spill.lock() {
            // After an error the bytes stay in memory, and the next class file goes to the heap.
            let _ = file.flush();
        }
    }

    /// Publishes newly armed classes. Called when the JVM ends or the agent leaves.
    pub fn publish(&self) {
        if let Some(Some(cache)) = self.cache.get() {
            cache.publish();
        }
    }
}

/// The settings that decide how classes are armed, beside the selection of methods and the build.
/// Arming asks the JVM nothing, so no feature of the JVM is among them.
fn settings_hash(config: &AgentConfig) -> u64 {
    ClassKey::settings(&format!(
        "{} {:?} {}",
        config.policy,
        config.calls,
        config.arms_without_loops()
    ))
}

/// Creates a file and removes its name.
fn create_spill_file(directory: &Path) -> io::Result<SegmentFile> {
    let path = directory.join(SPILL_FILE);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(SegmentFile::new(file, 0, guarded_write))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::scratch::ScratchDirectory;

    fn config(data: &Path, cache: Option<PathBuf>) -> AgentConfig {
        AgentConfig {
            cache,
            ..AgentConfig::new(data)
        }
    }

    #[test]
    fn class_files_outside_the_cache_are_in_a_file_without_a_name() {
        let directory = ScratchDirectory::new();
        let files = ClassFiles::new(&config(directory.path(), None));
        assert!(files.cache().is_none());
        let kept: Vec<_> = (0..200u8).map(|n| files.keep(&[n; 3000])).collect();
        for (n, file) in (0..).zip(&kept) {
            assert_eq!(file.heap_bytes(), 0);
            assert_eq!(file.read().as_deref(), Ok(&[n; 3000][..]));
        }
        let mut names = std::fs::read_dir(directory.path()).expect("a folder");
        assert!(names.next().is_none());
        files.publish_if_due();
        assert_eq!(kept[199].read().as_deref(), Ok(&[199; 3000][..]));
    }

    #[test]
    fn class_files_are_on_the_heap_if_no_file_can_be_made() {
        let directory = ScratchDirectory::new();
        let files = ClassFiles::new(&config(&directory.join("missing"), None));
        let kept = files.keep(b"a class file");
        assert_eq!(kept.heap_bytes(), 12);
        assert_eq!(kept.read().as_deref(), Ok(&b"a class file"[..]));
    }

    #[test]
    fn settings_that_decide_how_classes_are_armed_are_part_of_the_key() {
        let directory = ScratchDirectory::new();
        let mut settings = vec![config(directory.path(), None); 5];
        settings[1].policy = veneer_protocol::Policy::Block;
        settings[2].calls = vec!["a.B::m".into()];
        settings[3].arm_all = true;
        settings[4].arm = vec!["a.B".into()];
        let keys: Vec<_> = settings
            .iter()
            .map(|c| ClassFiles::new(c).key(b"x"))
            .collect();
        assert!(keys[0] != keys[1] && keys[0] != keys[2] && keys[1] != keys[2]);
        // Both arm classes without loops, and the filter decides which.
        assert!(keys[3] != keys[0] && keys[3] == keys[4]);
        assert_ne!(keys[0], ClassFiles::new(&settings[0]).key(b"y"));
        assert_eq!(keys[0], ClassFiles::new(&settings[0]).key(b"x"));
    }

    #[test]
    fn a_checked_agent_and_an_unusable_folder_have_no_cache() {
        let directory = ScratchDirectory::new();
        let mut with_cache = config(directory.path(), Some(directory.join("cache")));
        with_cache.check = true;
        assert!(ClassFiles::new(&with_cache).cache().is_none());
        assert!(
            !directory.join("cache").exists(),
            "nothing is made before it is used"
        );
        with_cache.check = false;
        std::fs::write(directory.join("cache"), "no folder").expect("a file");
        assert!(ClassFiles::new(&with_cache).cache().is_none());
    }
}

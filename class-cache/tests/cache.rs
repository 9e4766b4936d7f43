//! The cache on real folders: several processes, damaged files, limits.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use veneer_class_cache::{
    BuildId, CacheFolder, CacheSettings, CachedClass, CachedMethod, CachedRefusal, ClassCache,
    ClassKey, Digest, FolderFault, IdTemplate, LostClassFile, StoredFile, unguarded_write,
};

const BUILD: BuildId = BuildId(7 << 64 | 1);
const MAX_BYTES: u64 = 1 << 20;

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn settings(folder: &Path, build: BuildId, max_bytes: u64) -> CacheSettings {
    CacheSettings {
        folder: folder.into(),
        build,
        max_bytes,
        write: unguarded_write,
    }
}

fn open(folder: &Path) -> ClassCache {
    ClassCache::open(settings(folder, BUILD, MAX_BYTES)).expect("a usable folder")
}

/// An anchor with the cell of method 1, whose id is 41. It has a number of two entries, and a text
/// that is as long as that number.
fn anchor() -> Vec<u8> {
    let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 6];
    file.extend([5, 0, 0, 0, 0, 0, 0, 0, 9]);
    for text in ["a/B$Ve", "c41", "version"] {
        file.push(1);
        file.extend((text.len() as u16).to_be_bytes());
        file.extend(text.as_bytes());
    }
    file.extend([0; 10]);
    file
}

fn class_for(original: &[u8]) -> CachedClass<'static> {
    let named = |text: &str| {
        (text == "c41").then_some(veneer_class_cache::NamedMethod {
            method: 1,
            is_cell: true,
        })
    };
    CachedClass {
        class_file_len: original.len() as u32,
        method_count: 3,
        original: Digest::new(original),
        original_len: original.len() as u32,
        armed_code: 0x0123_4567_89AB_CDEF,
        anchor_name: "a/B$Veneer".into(),
        methods: vec![CachedMethod {
            index: 1,
            is_wanted: true,
            is_forced: false,
            is_armed: true,
            name: "run".into(),
            descriptor: "()V".into(),
        }],
        refusals: vec![CachedRefusal {
            method: "go()V@3".into(),
            code: "MonitorHeld".into(),
            detail: "a monitor is held here".into(),
        }],
        anchor: IdTemplate::of_anchor(&anchor(), &named).expect("a template"),
        armed: IdTemplate::of_anchor(&anchor(), &named).expect("a template"),
    }
}

/// The class file number `n`: 2,000 bytes that differ for each number.
fn original(n: u32) -> Vec<u8> {
    let byte = |i: u32| (i.wrapping_mul(n + 3) >> 3) as u8;
    n.to_le_bytes()
        .into_iter()
        .chain((0..2000).map(byte))
        .collect()
}

fn key(n: u32) -> ClassKey {
    ClassKey::new(1, &original(n))
}

fn store(cache: &ClassCache, n: u32) -> Option<StoredFile> {
    let bytes = original(n);
    cache.store(key(n), &class_for(&bytes), &bytes)
}

/// The class with a key: what was stored, and its original class file.
fn find(cache: &ClassCache, n: u32) -> Option<StoredFile> {
    cache.find(key(n)).into_iter().find_map(|candidate| {
        let hot = candidate.read()?;
        let class = CachedClass::decode(&hot)?;
        assert_eq!(
            class,
            class_for(&original(n)),
            "a found class is the stored one"
        );
        Some(candidate.accept(&class))
    })
}

fn complete_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, ".classes")
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> = paths
        .filter(|p| p.to_string_lossy().ends_with(end))
        .collect();
    paths.sort();
    paths
}

/// A folder with one segment, which has the classes 0 to `count`.
fn filled(count: u32) -> TempDir {
    let folder = scratch();
    let cache = open(folder.path());
    for n in 0..count {
        store(&cache, n).expect("room");
    }
    assert!(cache.publish());
    folder
}

#[test]
fn a_stored_class_is_found_by_the_next_process() {
    let folder = scratch();
    let writer = open(folder.path());
    let mine = store(&writer, 5).expect("room");
    assert_eq!(mine.read().as_deref(), Ok(&original(5)[..]));
    assert!(
        find(&open(folder.path()), 5).is_none(),
        "it is not published yet"
    );
    assert!(writer.publish());
    let reader = open(folder.path());
    let found = find(&reader, 5).expect("the class");
    assert_eq!(found.read().as_deref(), Ok(&original(5)[..]));
    assert!(found.is_same(&mine) && found.is_copy_of(&original(5)));
    assert_eq!(found.heap_bytes(), 0);
    assert!(find(&reader, 6).is_none());
    // The writer's own class file is read from the published file.
    assert_eq!(mine.read().as_deref(), Ok(&original(5)[..]));
    assert!(find(&writer, 5).is_some());
}

#[test]
fn one_class_file_may_be_armed_under_several_selections() {
    let folder = scratch();
    let cache = open(folder.path());
    let bytes = original(1);
    let mut other = class_for(&bytes);
    other.methods[0].is_wanted = false;
    cache.store(key(1), &class_for(&bytes), &bytes);
    cache.store(key(1), &other, &bytes);
    cache.publish();
    let found = open(folder.path()).find(key(1));
    let hot: Vec<_> = found
        .iter()
        .map(|c| c.read().expect("a hot section"))
        .collect();
    let wanted = hot
        .iter()
        .map(|hot| CachedClass::decode(hot).expect("a class"));
    let mut wanted: Vec<bool> = wanted.map(|class| class.methods[0].is_wanted).collect();
    wanted.sort_unstable();
    assert_eq!(wanted, [false, true]);
}

#[test]
fn ids_are_filled_in() {
    let class = class_for(b"x");
    let filled = class.anchor.fill(40).expect("an anchor");
    assert_eq!(filled, anchor());
    let other = class.anchor.fill(123_456).expect("an anchor");
    let text = String::from_utf8_lossy(&other);
    assert!(text.contains("c123457") && text.contains("version"));
    assert_eq!(other.len(), anchor().len() + 4);
    assert_eq!(class.anchor.fill(u32::MAX), None);
}

#[test]
fn builds_do_not_see_each_other() {
    let folder = filled(3);
    // The same first half, which is in the file name, and another second half.
    for build in [BuildId(8 << 64), BuildId(7 << 64 | 2)] {
        let other = ClassCache::open(settings(folder.path(), build, MAX_BYTES)).expect("a folder");
        assert!(other.is_empty() && find(&other, 1).is_none());
        store(&other, 1).expect("room");
        assert!(other.publish());
        assert_eq!(other.len(), 1);
    }
    assert_eq!(open(folder.path()).len(), 3);
}

#[test]
fn two_writers_on_one_empty_folder_do_not_disturb_each_other() {
    let folder = scratch();
    let (one, two) = (open(folder.path()), open(folder.path()));
    std::thread::scope(|scope| {
        for (cache, classes) in [(&one, 0..150), (&two, 100..250)] {
            scope.spawn(move || {
                for n in classes {
                    let kept = store(cache, n).expect("room");
                    assert_eq!(kept.read().as_deref(), Ok(&original(n)[..]));
                }
                cache.publish();
            });
        }
    });
    let reader = open(folder.path());
    for n in 0..250 {
        let found = find(&reader, n).expect("the class");
        assert_eq!(found.read().as_deref(), Ok(&original(n)[..]));
    }
    assert!(files(folder.path(), ".part").is_empty());
}

#[test]
fn the_same_classes_are_published_once() {
    let folder = scratch();
    let (one, two) = (open(folder.path()), open(folder.path()));
    let kept = [&one, &two].map(|cache| store(cache, 1).expect("room"));
    assert!(one.publish());
    assert!(!two.publish(), "the other process has stored the class");
    assert_eq!(complete_files(folder.path()).len(), 1);
    assert!(files(folder.path(), ".part").is_empty());
    // The second process still reads its own file, which has no name any more.
    for file in kept {
        assert_eq!(file.read().as_deref(), Ok(&original(1)[..]));
    }
}

#[test]
fn a_killed_writer_leaves_a_file_that_is_ignored_and_later_deleted() {
    let folder = scratch();
    let killed = open(folder.path());
    for n in 0..200 {
        store(&killed, n);
    }
    // Dropping the cache closes its file, as the kernel does for a killed process.
    drop(killed);
    let part = files(folder.path(), ".part").pop().expect("a partial file");
    assert!(
        part.metadata().expect("a file").len() > 0,
        "some classes were written"
    );
    let next = open(folder.path());
    assert!(next.is_empty() && find(&next, 0).is_none());
    store(&next, 0);
    assert!(next.publish());
    assert!(
        part.exists(),
        "a young file may be that of a process that is about to lock it"
    );
    let old = SystemTime::now() - Duration::from_secs(120);
    let file = File::options().write(true).open(&part).expect("the file");
    file.set_modified(old).expect("a time");
    drop(file);
    store(&next, 1);
    assert!(next.publish());
    assert!(!part.exists());
}

#[test]
fn the_file_of_a_living_writer_is_not_deleted() {
    let folder = scratch();
    let (living, other) = (open(folder.path()), open(folder.path()));
    store(&living, 1);
    let part = files(folder.path(), ".part").pop().expect("a partial file");
    let file = File::options().write(true).open(&part).expect("the file");
    file.set_modified(SystemTime::now() - Duration::from_secs(3600))
        .expect("a time");
    store(&other, 2);
    assert!(other.publish());
    assert!(part.exists());
    assert!(living.publish());
    assert!(find(&open(folder.path()), 1).is_some());
}

#[test]
fn a_truncated_segment_is_ignored() {
    let folder = filled(2);
    let path = complete_files(folder.path()).pop().expect("a segment");
    let whole = fs::read(&path).expect("the segment");
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).expect("a file");
        assert!(open(folder.path()).is_empty(), "{length} bytes");
    }
    fs::write(&path, [&whole[..], b"more"].concat()).expect("a file");
    assert!(open(folder.path()).is_empty());
    fs::write(&path, whole).expect("a file");
    assert_eq!(open(folder.path()).len(), 2);
}

/// The owner alone can change the file. If that happens, each class is whole or is not found.
#[test]
fn a_changed_byte_is_noticed_wherever_it_is() {
    let folder = filled(2);
    let path = complete_files(folder.path()).pop().expect("a segment");
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .expect("the segment");
    let (mut found, mut lost) = (0, 0);
    for at in (0..file.metadata().expect("a length").len()).step_by(3) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("a byte");
        file.write_all_at(&[byte[0] ^ 0x10], at).expect("a byte");
        let cache = open(folder.path());
        for n in 0..2 {
            match find(&cache, n).map(|file| file.read()) {
                None => lost += 1,
                Some(Err(LostClassFile)) => lost += 1,
                Some(Ok(bytes)) => {
                    assert_eq!(*bytes, original(n));
                    found += 1;
                }
            }
        }
        file.write_all_at(&byte, at).expect("a byte");
    }
    assert!(found > 300 && lost > 300, "{found} found, {lost} lost");
}

#[test]
fn damaged_classes_are_stored_anew() {
    let folder = filled(3);
    let path = complete_files(folder.path()).pop().expect("a segment");
    let file = OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("the segment");
    // The first bytes of a class are what `find` checks. The original class file follows them.
    file.write_all_at(&[0x55; 64], 64).expect("a write");
    let cache = open(folder.path());
    let damaged: Vec<u32> = (0..3).filter(|n| find(&cache, *n).is_none()).collect();
    assert!(!damaged.is_empty() && damaged.len() < 3, "{damaged:?}");
    for n in &damaged {
        store(&cache, *n).expect("room");
    }
    assert!(cache.publish());
    let next = open(folder.path());
    assert!((0..3).all(|n| find(&next, n).is_some()));
}

#[test]
fn a_segment_that_is_truncated_or_deleted_while_it_is_open_does_no_harm() {
    let folder = filled(2);
    let path = complete_files(folder.path()).pop().expect("a segment");
    let cache = open(folder.path());
    let file = find(&cache, 1).expect("the class");
    File::options()
        .write(true)
        .open(&path)
        .and_then(|f| f.set_len(100))
        .expect("a shorter file");
    assert_eq!(file.read(), Err(LostClassFile));
    assert!(find(&cache, 1).is_none());

    let folder = filled(2);
    let cache = open(folder.path());
    fs::remove_file(complete_files(folder.path()).pop().expect("a segment")).expect("removed");
    let file = find(&cache, 1).expect("the class");
    assert_eq!(file.read().as_deref(), Ok(&original(1)[..]));
}

#[test]
fn segments_that_were_not_used_are_deleted_first() {
    let folder = scratch();
    // Each segment has about 2 × 2.2 KB, so three are within the limit and four are not.
    let small = settings(folder.path(), BUILD, 15_000);
    let long_ago = SystemTime::now() - Duration::from_secs(100 * 3600);
    for n in 0..3 {
        let cache = ClassCache::open(small.clone()).expect("a folder");
        store(&cache, 2 * n).expect("room");
        store(&cache, 2 * n + 1).expect("room");
        assert!(cache.publish());
        let time = long_ago + Duration::from_secs(u64::from(n) * 3600);
        for path in complete_files(folder.path()) {
            let file = File::options().write(true).open(&path).expect("a segment");
            if file.metadata().and_then(|m| m.modified()).expect("a time") > time {
                file.set_modified(time).expect("a time");
            }
        }
    }
    let cache = ClassCache::open(small.clone()).expect("a folder");
    assert_eq!(cache.len(), 6);
    // The oldest segment is used, so its time is renewed.
    let oldest = find(&cache, 0).expect("the class");
    store(&cache, 100).expect("room");
    store(&cache, 101).expect("room");
    assert!(cache.publish());
    assert_eq!(oldest.read().as_deref(), Ok(&original(0)[..]));
    let cache = ClassCache::open(small).expect("a folder");
    let present: Vec<u32> = [0, 1, 2, 3, 4, 5, 100, 101]
        .into_iter()
        .filter(|n| find(&cache, *n).is_some())
        .collect();
    let used = CacheFolder::open_existing(folder.path())
        .expect("a folder")
        .measure();
    assert!(used.bytes <= 15_000, "{used:?}");
    assert!(
        present.contains(&0) && present.contains(&100) && !present.contains(&2),
        "{present:?}"
    );
}

#[test]
fn one_process_fills_half_of_the_folder_at_most() {
    let folder = scratch();
    let cache = ClassCache::open(settings(folder.path(), BUILD, 20_000)).expect("a folder");
    let stored = (0..10).filter(|n| store(&cache, *n).is_some()).count();
    assert_eq!(stored, 4);
    assert_eq!(open(folder.path()).len(), 4, "what was stored is published");
}

#[test]
fn a_full_disk_loses_nothing_but_the_cache() {
    fn full(_: &mut dyn FnMut() -> std::io::Result<()>) -> std::io::Result<()> {
        Err(std::io::ErrorKind::StorageFull.into())
    }
    let folder = scratch();
    let mut full_disk = settings(folder.path(), BUILD, 100 << 20);
    full_disk.write = full;
    let cache = ClassCache::open(full_disk).expect("a folder");
    let kept: Vec<_> = (0..300).map(|n| store(&cache, n)).collect();
    let stored = kept.iter().flatten().count();
    assert!(
        stored > 100 && stored < 150,
        "the first write fails after 256 KiB: {stored}"
    );
    for (n, file) in (0..).zip(&kept) {
        if let Some(file) = file {
            assert_eq!(file.read().as_deref(), Ok(&original(n)[..]));
        }
    }
    assert!(!cache.publish());
    assert!(
        fs::read_dir(folder.path())
            .expect("a folder")
            .next()
            .is_none()
    );
}

#[test]
fn a_folder_of_another_user_or_open_to_others_is_refused() {
    let folder = scratch();
    let fault = |path: &Path| ClassCache::open(settings(path, BUILD, MAX_BYTES)).err();
    let mode = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode));
    for open_to_others in [0o720, 0o702, 0o1777] {
        mode(open_to_others).expect("a mode");
        assert!(matches!(
            fault(folder.path()),
            Some(FolderFault::WritableByOthers { mode, .. }) if mode == open_to_others
        ));
    }
    mode(0o755).expect("a mode");
    assert!(fault(folder.path()).is_none());
    let link = folder.path().join("link");
    symlink(folder.path(), &link).expect("a link");
    assert!(matches!(fault(&link), Some(FolderFault::NoFolder { .. })));
    let file = folder.path().join("file");
    fs::write(&file, "").expect("a file");
    let refused = fault(&file);
    assert!(
        matches!(
            refused,
            Some(FolderFault::NoFolder { .. } | FolderFault::Unusable { .. })
        ),
        "{refused:?}"
    );
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(folder.path(), Some(65534), None).expect("another owner");
        let refused = fault(folder.path());
        assert!(matches!(
            refused,
            Some(FolderFault::OtherOwner { owner: 65534, .. })
        ));
    }
}

#[test]
fn a_segment_that_others_may_write_or_that_is_a_link_is_ignored() {
    let folder = filled(1);
    let path = complete_files(folder.path()).pop().expect("a segment");
    let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode));
    assert_eq!(
        path.metadata().expect("a file").permissions().mode() & 0o777,
        0o600
    );
    mode(0o620).expect("a mode");
    assert!(open(folder.path()).is_empty());
    mode(0o600).expect("a mode");
    assert_eq!(open(folder.path()).len(), 1);
    let elsewhere = scratch();
    let target = elsewhere.path().join("target");
    fs::rename(&path, &target).expect("moved");
    symlink(&target, &path).expect("a link");
    assert!(open(folder.path()).is_empty());
}

#[test]
fn random_bytes_are_no_class() {
    proptest::proptest!(|(bytes: Vec<u8>)| {
        assert!(CachedClass::decode(&bytes).is_none());
        let anything = |_: &str| Some(veneer_class_cache::NamedMethod { method: 0, is_cell: true });
        let _ = IdTemplate::of_anchor(&bytes, &anything);
        let _ = IdTemplate::of_armed_class(&bytes, &bytes, 1, &anything);
    });
}

#[test]
fn random_pools_are_no_template() {
    let anything = |_: &str| {
        Some(veneer_class_cache::NamedMethod {
            method: 0,
            is_cell: true,
        })
    };
    proptest::proptest!(|(rest: Vec<u8>, count in 0u16..20)| {
        let mut file = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
        file.extend(count.to_be_bytes());
        file.extend(rest);
        if let Some(template) = IdTemplate::of_anchor(&file, &anything) {
            let _ = template.fill(3);
        }
        let _ = IdTemplate::of_armed_class(&file, &file[..10], 0, &anything);
    });
}

//! A class from the cache is compared with the same class, freshly armed under the ids of the hit.

use super::*;
use crate::data::scratch::ScratchDirectory;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use veneer_class_cache::{BuildId, CacheSettings, unguarded_write};
use veneer_fragmenter::inference::upgrade_class_file;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::{arming, arming::arm_class_file, check::armed_class};
use veneer_instruments::MethodPattern;

const POINTS: &[u8] = include_bytes!("../fixtures/Points.classfile");

fn cache(folder: &Path) -> ClassCache {
    let settings = CacheSettings {
        folder: folder.into(),
        build: BuildId(1),
        max_bytes: 1 << 30,
        write: unguarded_write,
    };
    ClassCache::open(settings).expect("a folder")
}

fn filter(arm: &[&str]) -> ArmingFilter {
    let parse = |text: &&str| MethodPattern::parse(text).expect("a pattern");
    ArmingFilter {
        arm: arm.iter().map(parse).collect(),
        skip: Vec::new(),
        only_plans: AtomicBool::new(false),
    }
}

/// One run of a program: its cache, its selection, and its policy.
struct Run<'r> {
    cache: &'r ClassCache,
    filter: &'r ArmingFilter,
    plans: &'r [&'r MethodPattern],
    policy: &'r Policy,
}

impl<'r> Run<'r> {
    /// A run without plans.
    fn new(cache: &'r ClassCache, filter: &'r ArmingFilter, policy: &'r Policy) -> Run<'r> {
        Run {
            cache,
            filter,
            plans: &[],
            policy,
        }
    }

    fn candidate<'a>(&'a self, dotted: &'a str) -> ArmingCandidate<'a> {
        ArmingCandidate {
            dotted,
            is_jdk: false,
            plans: self.plans,
            facts: None,
        }
    }

    fn lookup(&self, class_file: &[u8]) -> CacheLookup<'_> {
        CacheLookup {
            cache: self.cache,
            filter: self.filter,
            key: ClassKey::new(0, class_file),
            class_file_len: class_file.len() as u32,
        }
    }

    /// Arms a modern class file.
    fn arm(&self, dotted: &str, modern: &[u8], first_id: u32) -> Result<Armed, Refusal> {
        self.arm_with(dotted, modern, first_id, false)
    }

    /// Arms a modern class file, and computes the capture points if `points` is set.
    fn arm_with(
        &self,
        dotted: &str,
        modern: &[u8],
        first_id: u32,
        points: bool,
    ) -> Result<Armed, Refusal> {
        let candidate = self.candidate(dotted);
        let select = |n: &str, d: &str| selection(self.filter, &candidate, n, d);
        let request = arming::Request {
            policy: self.policy,
            first_id: MethodId(first_id),
            generation: 0,
            wanted: &|n, d| select(n, d).0,
            forced: &|n, d| select(n, d).1,
            points,
            only_loops: false,
            earlier: None,
        };
        arm_class_file(&ClassFile::parse(modern)?, &request)
    }

    /// Arms a class file and stores it. Returns whether it could be stored; `None` if it cannot be
    /// armed.
    fn store(&self, dotted: &str, class_file: &[u8], first_id: u32) -> Option<bool> {
        let modern = upgrade_class_file(class_file).ok()?;
        let armed = self.arm(dotted, &modern, first_id).ok()?;
        let fresh = FreshArming {
            file: &ClassFile::parse(&modern).ok()?,
            original: &modern,
            armed: &armed,
            first_id: MethodId(first_id),
        };
        let stored = self
            .lookup(class_file)
            .store(&self.candidate(dotted), &fresh);
        Some(stored.is_some())
    }

    /// Proves from the bytes of the class in the cache that it is the armed class. Returns whether the
    /// class was found.
    fn prove(&self, dotted: &str, class_file: &[u8], first_id: u32) -> bool {
        let lookup = self.lookup(class_file);
        let Some(hit) = lookup.find(&self.candidate(dotted)) else {
            return false;
        };
        let cached = hit.armed(MethodId(first_id)).expect("a whole class");
        let fresh = self
            .arm_with(dotted, class_file, first_id, true)
            .expect("armed");
        let original = ClassFile::parse(class_file).expect("a class file");
        let emitted = ClassFile::parse(&cached.bytes).expect("a class file");
        let checked = armed_class(&original, &emitted, &cached.anchor, &fresh.methods);
        assert!(checked.passed(), "{first_id}: {:?}", checked.failures);
        true
    }

    /// Compares the class in the cache with a fresh arming. Returns whether the class was found.
    fn compare(&self, dotted: &str, class_file: &[u8], first_id: u32) -> bool {
        let lookup = self.lookup(class_file);
        let Some(hit) = lookup.find(&self.candidate(dotted)) else {
            return false;
        };
        let modern = upgrade_class_file(class_file).expect("it was stored");
        let fresh = self.arm(dotted, &modern, first_id).expect("it was armed");
        let cached = hit.armed(MethodId(first_id)).expect("a whole class");
        assert!(cached.bytes == fresh.bytes, "{dotted}: the armed class");
        assert!(
            cached.anchor_bytes == fresh.anchor_bytes,
            "{dotted}: the anchor"
        );
        assert_eq!(cached.anchor, fresh.anchor);
        let file = ClassFile::parse(&modern).expect("a class file");
        assert_eq!(hit.method_count, file.methods.len(), "{dotted}");
        let table = |armed: &Armed| -> Vec<_> {
            let row = |m: &ArmedMethod| {
                let texts = (m.name.clone(), m.descriptor.clone(), m.anchor.clone());
                (m.index, m.id, texts, m.points.len())
            };
            armed.methods.iter().map(row).collect()
        };
        assert_eq!(table(&cached), table(&fresh), "{dotted}");
        let refusals = fresh
            .refusals
            .iter()
            .map(|(method, reason)| CachedArmingRefusal {
                method: method.clone(),
                code: reason.name().into(),
                detail: reason.to_string(),
            });
        assert_eq!(hit.refusals, refusals.collect::<Vec<_>>(), "{dotted}");
        if !fresh.methods.is_empty() {
            assert_eq!(hit.original.read().as_deref(), Ok(&*modern), "{dotted}");
        }
        true
    }
}

#[test]
fn a_hit_has_the_ids_of_its_run() {
    let folder = ScratchDirectory::new();
    let (everything, policy) = (filter(&[]), Policy::Block);
    let first = cache(folder.path());
    assert_eq!(
        Run::new(&first, &everything, &policy).store("shop.Points", POINTS, 9),
        Some(true)
    );
    // Ids with fewer and with more digits, and ids at which the number of digits changes.
    for first_id in [0, 9, 10, 95, 99_998, (1 << 24) - 20] {
        first.publish();
        let next = cache(folder.path());
        assert!(Run::new(&next, &everything, &policy).compare("shop.Points", POINTS, first_id));
    }
    let mut other = POINTS.to_vec();
    *other.last_mut().expect("a byte") ^= 1;
    let next = cache(folder.path());
    assert!(!Run::new(&next, &everything, &policy).compare("shop.Points", &other, 0));
}

#[test]
fn an_old_class_file_is_stored_in_its_modern_form() {
    let folder = ScratchDirectory::new();
    let (everything, policy) = (filter(&[]), Policy::Loop);
    let mut old = POINTS.to_vec();
    old[7] = 50;
    let first = cache(folder.path());
    assert_eq!(
        Run::new(&first, &everything, &policy).store("shop.Points", &old, 3),
        Some(true)
    );
    first.publish();
    let next = cache(folder.path());
    assert!(Run::new(&next, &everything, &policy).compare("shop.Points", &old, 70));
    assert!(!Run::new(&next, &everything, &policy).compare("shop.Points", POINTS, 70));
}

#[test]
fn a_hit_was_armed_under_the_same_selection() {
    let folder = ScratchDirectory::new();
    let policy = Policy::Loop;
    let plan = MethodPattern::parse("shop.Points::loop").expect("a pattern");
    let plan = [&plan];
    let (everything, one_method) = (filter(&[]), filter(&["shop.Points::loop"]));
    let runs: [(&ArmingFilter, &[&MethodPattern]); 3] =
        [(&everything, &[]), (&one_method, &[]), (&everything, &plan)];
    for (filter, plans) in runs {
        let cache = cache(folder.path());
        let run = Run {
            cache: &cache,
            filter,
            plans,
            policy: &policy,
        };
        assert!(
            !run.compare("shop.Points", POINTS, 0),
            "it is not stored yet"
        );
        assert_eq!(run.store("shop.Points", POINTS, 0), Some(true));
        cache.publish();
    }
    let cache = cache(folder.path());
    for (filter, plans) in runs {
        let run = Run {
            cache: &cache,
            filter,
            plans,
            policy: &policy,
        };
        assert!(run.compare("shop.Points", POINTS, 12));
    }
}

/// If a name of the class equals the name of a cell, a fresh arming may use one constant for both. The
/// class from the cache has two, so its bytes differ. Both are right.
#[test]
fn a_class_whose_names_look_like_ids_is_armed_right() {
    let mut renamed = POINTS.to_vec();
    let name = b"\x00\x04loop";
    let found = renamed
        .windows(name.len())
        .position(|window| window == name);
    let at = found.expect("the method `loop`") + 2;
    renamed[at..at + 4].copy_from_slice(b"c123");
    let (everything, policy) = (filter(&[]), Policy::Block);
    let mut found = 0;
    for first_id in [100, 118, 120, 123] {
        let folder = ScratchDirectory::new();
        let first = cache(folder.path());
        let stored =
            Run::new(&first, &everything, &policy).store("shop.Points", &renamed, first_id);
        assert!(stored.is_some(), "it can be armed");
        first.publish();
        let next = cache(folder.path());
        for other_id in [0, 119, 123, 4000] {
            let run = Run::new(&next, &everything, &policy);
            let is_found = run.prove("shop.Points", &renamed, other_id);
            assert_eq!(is_found, stored == Some(true));
            found += usize::from(is_found);
        }
    }
    assert!(found > 0);
}

/// The class files of some packages of the first JDK below `/usr/lib/jvm` that has `jimage`.
fn jdk_classes(folder: &Path) -> Vec<PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten();
    let mut homes = homes.map(|entry| entry.path());
    let home = homes
        .find(|home| home.join("bin/jimage").exists())
        .expect("a JDK with jimage");
    let packages = "regex:/java.base/java/util/.*,regex:/jdk.compiler/com/sun/tools/javac/.*";
    let status = Command::new(home.join("bin/jimage"))
        .args(["extract", "--include", packages, "--dir"])
        .args([folder, &home.join("lib/modules")])
        .status();
    assert!(status.expect("jimage").success());
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|e| e == "class") => found.push(path),
                false => {}
            }
        }
    }
    found.sort();
    found
}

#[test]
#[cfg_attr(miri, ignore = "Miri starts no process")]
fn every_hit_equals_a_fresh_arming() {
    let folder = ScratchDirectory::new();
    let classes = jdk_classes(&folder.join("jdk"));
    let (everything, policies) = (filter(&[]), [Policy::Loop, Policy::Block]);
    // A debug build arms slowly, so it takes one class of seven.
    let step = if cfg!(debug_assertions) { 7 } else { 1 };
    for (n, policy) in policies.iter().enumerate() {
        let place = folder.join(&format!("cache{n}"));
        let first = cache(&place);
        let (mut stored, mut declined, mut found) = (0, Vec::new(), 0);
        let mut first_id = 0;
        for path in classes.iter().step_by(step) {
            let bytes = std::fs::read(path).expect("a class file");
            match Run::new(&first, &everything, policy).store("jdk.Class", &bytes, first_id) {
                Some(true) => stored += 1,
                Some(false) => declined.push(path),
                None => {}
            }
            first_id += 37;
        }
        first.publish();
        let next = cache(&place);
        for path in classes.iter().step_by(step) {
            let bytes = std::fs::read(path).expect("a class file");
            first_id = first_id.wrapping_mul(7919) % (1 << 20);
            found += usize::from(Run::new(&next, &everything, policy).compare(
                "jdk.Class",
                &bytes,
                first_id,
            ));
        }
        println!("{policy:?}: {stored} classes stored, {found} found, declined: {declined:?}");
        assert!(
            stored > 100 && found == stored,
            "{stored} stored, {found} found"
        );
        assert!(declined.len() * 100 < stored, "{declined:?}");
    }
}

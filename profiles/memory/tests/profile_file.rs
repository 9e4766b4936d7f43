//! Memory profiles as files: written and read again, damaged, cut, and from the future.

use proptest::prelude::*;
use veneer_memory::profile::{
    AccessRow, AllocationRow, CacheCounts, Dimension, LevelCount, MAGIC, MemoryProfile,
    ProfileFile, SharingRow, Site, ThreadRow,
};
use veneer_memory::{
    CurvePoint, Lifetimes, MissCurve, Moment, ObjectLife, References, curve_sizes,
};

fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z.$]{0,12}", "\\PC{0,6}"]
}

fn lives() -> impl Strategy<Value = Lifetimes> {
    let moment = any::<u64>().prop_map(|n| Moment {
        bytes: n,
        accesses: n / 3,
        nanoseconds: n / 7,
    });
    let options = (
        proptest::option::of(moment.clone()),
        proptest::option::of(moment.clone()),
    );
    let life = (any::<u32>(), moment, options, 0u64..70);
    let life = life.prop_map(|(bytes, birth, (last_use, death), survived)| ObjectLife {
        bytes: bytes.into(),
        birth,
        last_use,
        death,
        survived,
    });
    proptest::collection::vec(life, 0..20).prop_map(|all| {
        let mut lives = Lifetimes::default();
        all.iter().for_each(|life| lives.add(life));
        lives
    })
}

fn counts() -> impl Strategy<Value = CacheCounts> {
    let level = any::<(u64, u64, u64)>().prop_map(|(lookups, misses, margin)| LevelCount {
        lookups,
        misses,
        margin,
    });
    let levels = |most| proptest::collection::vec(level.clone(), 0..=most);
    (levels(4), levels(1), levels(2)).prop_map(|(levels, instructions, tlbs)| CacheCounts {
        levels,
        instructions,
        tlbs,
    })
}

fn access(sites: u32, types: u32, caches: usize) -> impl Strategy<Value = AccessRow> {
    (
        0..sites,
        proptest::option::of(0..types),
        proptest::option::of(0..sites),
        any::<[u64; 5]>(),
        proptest::collection::vec(counts(), caches),
    )
        .prop_map(|(site, type_id, allocated_at, n, caches)| AccessRow {
            site,
            type_id,
            allocated_at,
            references: References {
                reads: n[0],
                writes: n[1],
                fetches: n[2],
                bytes_read: n[3],
                bytes_written: n[4],
            },
            caches,
        })
}

/// The largest number of heap objects that the format holds is `u64::MAX - 1`.
fn optional() -> impl Strategy<Value = Option<u64>> {
    proptest::option::of(0..u64::MAX)
}

fn profiles() -> impl Strategy<Value = MemoryProfile> {
    (1u32..6, 1u32..4, 0usize..3).prop_flat_map(|(sites, types, caches)| {
        let site = (
            texts(),
            texts(),
            proptest::option::of(any::<u32>()),
            texts(),
        );
        let site = site.prop_map(|(class, method, line, field)| Site {
            class: class.into(),
            method: method.into(),
            line,
            field: field.into(),
        });
        let allocation = (
            (0..sites, 0..types, any::<u64>(), any::<u64>()),
            [optional(), optional(), optional(), optional()],
            proptest::option::of(lives()),
        );
        let allocation = allocation.prop_map(|(row, heap, lives)| AllocationRow {
            site: row.0,
            type_id: row.1,
            objects: row.2,
            bytes: row.3,
            heap_objects: heap[0],
            heap_bytes: heap[1],
            heap_objects_margin: heap[2],
            heap_bytes_margin: heap[3],
            lifetimes: lives.map(Box::new),
        });
        let sharing = (0..sites, 0..sites, any::<u64>(), any::<u64>());
        let sharing = sharing.prop_map(|(writer, other, true_misses, false_misses)| SharingRow {
            writer,
            other,
            true_misses,
            false_misses,
        });
        let thread = (texts(), any::<u64>(), any::<u64>());
        let thread = thread.prop_map(|(name, objects, bytes)| ThreadRow {
            name,
            objects,
            bytes,
        });
        let points = proptest::collection::vec((any::<u64>(), any::<u64>()), 0..20);
        let curve = (0..20u32, any::<u64>(), points).prop_map(|(shift, references, points)| {
            let sized = curve_sizes().zip(points);
            MissCurve {
                line_bytes: 1 << shift,
                references,
                points: sized
                    .map(|(lines, (misses, margin))| CurvePoint {
                        lines,
                        misses,
                        margin,
                    })
                    .collect(),
            }
        });
        (
            (texts(), proptest::collection::vec(texts(), caches)),
            proptest::collection::vec(site, sites as usize),
            proptest::collection::vec(texts().prop_map(|name| name.into()), types as usize),
            proptest::collection::vec(access(sites, types, caches), 0..8),
            proptest::collection::vec(allocation, 0..4),
            proptest::collection::vec(sharing, 0..4),
            (
                proptest::collection::vec(curve, 0..3),
                proptest::collection::vec(thread, 0..3),
                proptest::collection::vec(texts(), 0..3),
            ),
        )
            .prop_map(
                |(
                    (program, caches),
                    sites,
                    types,
                    accesses,
                    allocations,
                    sharing,
                    (curves, threads, notes),
                )| {
                    MemoryProfile {
                        program,
                        caches,
                        sites,
                        types,
                        accesses,
                        allocations,
                        sharing,
                        curves,
                        threads,
                        notes,
                    }
                },
            )
    })
}

fn bytes_of(profile: &MemoryProfile) -> Vec<u8> {
    let mut bytes = Vec::new();
    profile
        .write(&mut bytes)
        .expect("a vector accepts all bytes");
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_profile_is_read_as_it_was_written(profile in profiles()) {
        let file = ProfileFile::from_bytes(&bytes_of(&profile)).expect("what was written can be read");
        prop_assert!(!file.is_truncated && file.skipped.is_empty());
        prop_assert_eq!(file.profile, profile);
    }

    #[test]
    fn a_cut_file_yields_the_rows_before_the_cut(profile in profiles(), part in 0.0f64..1.0) {
        let bytes = bytes_of(&profile);
        let end = (bytes.len() as f64 * part) as usize;
        match ProfileFile::from_bytes(&bytes[..end]) {
            Ok(file) => {
                prop_assert!(file.is_truncated);
                let rows = &file.profile.accesses;
                prop_assert!(rows.is_empty() || *rows == profile.accesses);
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "ProfileNotAProfile");
                prop_assert!(end < MAGIC.len() + 2);
            }
        }
    }

    #[test]
    fn a_changed_byte_is_never_taken_for_data(profile in profiles(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let mut bytes = bytes_of(&profile);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        match ProfileFile::from_bytes(&bytes) {
            // The length of a section can point behind the end, as in a file that was cut.
            Ok(file) if file.is_truncated => {
                let rows = &file.profile.accesses;
                prop_assert!(rows.is_empty() || *rows == profile.accesses);
            }
            // Only the minor version may change without consequence.
            Ok(file) => prop_assert!(at == MAGIC.len() + 1 && file.profile == profile),
            Err(error) => prop_assert!(error.code().starts_with("Profile")),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = ProfileFile::from_bytes(&bytes);
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend(&bytes);
        let _ = ProfileFile::from_bytes(&file);
    }
}

/// The bytes of a section.
fn section(tag: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let mut section = tag.to_vec();
    section.extend((payload.len() as u32).to_le_bytes());
    section.extend(payload);
    let checksum = crc32fast::hash(&section).to_le_bytes();
    section.extend(checksum);
    section
}

/// Inserts a section with a tag after the header.
fn with_section(tag: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let bytes = bytes_of(&MemoryProfile::default());
    let (header, rest) = bytes.split_at(MAGIC.len() + 2);
    [header, &section(tag, payload), rest].concat()
}

#[test]
fn a_section_that_is_not_in_its_place_is_refused() {
    let profile = MemoryProfile {
        sites: vec![Site::default()],
        accesses: vec![AccessRow::default()],
        ..MemoryProfile::default()
    };
    let bytes = bytes_of(&profile);
    let end = bytes.len() - section(*b"END ", &[1, 0, 0, 0, 0]).len();
    let (before, end) = bytes.split_at(end);
    // Before version 1.2, the last section had no number of curves.
    let older = [before, &section(*b"END ", &[1, 0, 0])].concat();
    let older = ProfileFile::from_bytes(&older).expect("a file of version 1.1");
    assert!(!older.is_truncated && older.profile == profile);
    // A program without a name and one cache. The row above has the counts of no cache.
    let head = section(*b"HEAD", &[0, 1, 0]);
    let error = ProfileFile::from_bytes(&[before, &head, end].concat());
    assert_eq!(error.map_err(|e| e.code()).err(), Some("ProfileDamaged"));
    let error = ProfileFile::from_bytes(&with_section(*b"ACCS", &[0]));
    assert_eq!(error.map_err(|e| e.code()).err(), Some("ProfileDamaged"));
    let error = ProfileFile::from_bytes(&with_section(*b"HEAD", &[0, 0]));
    assert_eq!(error.map_err(|e| e.code()).err(), Some("ProfileDamaged"));
}

#[test]
fn sections_of_the_future_are_skipped_or_refused_by_name() {
    let file = ProfileFile::from_bytes(&with_section(*b"newx", b"anything"));
    let file = file.expect("a lower-case section is not essential");
    assert_eq!(file.skipped, ["newx"]);
    assert!(!file.is_truncated);
    let error = ProfileFile::from_bytes(&with_section(*b"NEWX", b"anything"));
    assert_eq!(
        error.map_err(|e| e.code()).err(),
        Some("ProfileUnknownSection")
    );
    let mut bytes = bytes_of(&MemoryProfile::default());
    bytes[MAGIC.len()] = 2;
    let error = ProfileFile::from_bytes(&bytes);
    assert_eq!(error.map_err(|e| e.code()).err(), Some("ProfileVersion"));
}

#[test]
fn a_count_of_rows_that_cannot_be_there_reserves_no_memory() {
    // 2^62 names in a section of 10 bytes.
    let payload = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, 0];
    let error = ProfileFile::from_bytes(&with_section(*b"NAME", &payload));
    assert_eq!(error.map_err(|e| e.code()).err(), Some("ProfileDamaged"));
}

#[test]
fn views_sum_the_rows_of_one_property() {
    let site = |method: &str, line, field: &str| Site {
        class: "a.B".into(),
        method: method.into(),
        line: Some(line),
        field: field.into(),
    };
    let row = |site, type_id, allocated_at, reads, misses| AccessRow {
        site,
        type_id,
        allocated_at,
        references: References {
            reads,
            ..References::default()
        },
        caches: vec![CacheCounts {
            levels: vec![LevelCount {
                lookups: reads,
                misses,
                margin: 1,
            }],
            ..CacheCounts::default()
        }],
    };
    let profile = MemoryProfile {
        caches: vec!["L1:32K/8/64".into()],
        sites: vec![
            site("m()V", 3, "a.B.x"),
            site("m()V", 4, ""),
            site("n()V", 9, "a.B.x"),
        ],
        types: vec!["a.B".into(), "int[]".into()],
        accesses: vec![
            row(0, Some(0), Some(2), 10, 1),
            row(1, Some(1), None, 20, 5),
            row(2, Some(0), Some(2), 40, 2),
        ],
        ..MemoryProfile::default()
    };
    let view = |by| -> Vec<(String, u64, u64, u64)> {
        let rows = profile.view(by).into_iter();
        rows.map(|r| {
            let level = r.caches[0].levels[0];
            (r.name, r.references.reads, level.misses, level.margin)
        })
        .collect()
    };
    let row = |name: &str, reads, misses, margin| (name.to_string(), reads, misses, margin);
    assert_eq!(
        view(Dimension::Method),
        [row("a.B::m()V", 30, 6, 2), row("a.B::n()V", 40, 2, 1)]
    );
    assert_eq!(
        view(Dimension::Type),
        [row("int[]", 20, 5, 1), row("a.B", 50, 3, 2)]
    );
    assert_eq!(
        view(Dimension::Field),
        [row("(none)", 20, 5, 1), row("a.B.x", 50, 3, 2)]
    );
    assert_eq!(
        view(Dimension::Object),
        [
            row("(allocated before or elsewhere)", 20, 5, 1),
            row("a.B::n()V:9 a.B.x", 50, 3, 2)
        ]
    );
    assert_eq!(view(Dimension::Line)[0], row("a.B::m()V:4", 20, 5, 1));
    assert_eq!(view(Dimension::Site)[1], row("a.B::n()V:9 a.B.x", 40, 2, 1));
    let lines: Vec<u32> = profile
        .lines_of("a.B")
        .iter()
        .map(|(line, _)| *line)
        .collect();
    assert_eq!(lines, [3, 4, 9]);
    assert_eq!(profile.total().references.reads, 70);
}

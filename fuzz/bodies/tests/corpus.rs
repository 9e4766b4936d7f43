//! Replays every kept input of every target, on the stable compiler.

use std::fs;
use std::path::Path;

use veneer_fuzz_bodies::{
    caches, calls, maps, patterns, pipeline, plans, profiles, protocol, reader, traces,
};

/// Runs a target over its corpus. A failure names the input.
fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../corpus")
        .join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut count = 0;
    for entry in entries {
        let path = entry.unwrap().path();
        let data = fs::read(&path).unwrap();
        let outcome = std::panic::catch_unwind(|| run(&data));
        assert!(outcome.is_ok(), "{target}: {}", path.display());
        count += 1;
    }
    assert!(count >= 5, "{}: only {count} inputs", folder.display());
}

#[test]
fn the_reader() {
    replay("reader", reader::run);
}

#[test]
fn the_pipeline() {
    replay("pipeline", pipeline::run);
}

#[test]
fn stack_maps_that_are_damaged() {
    replay("maps", maps::run);
}

#[test]
fn plans_of_any_text() {
    replay("plans", plans::run);
}

#[test]
fn the_protocol() {
    replay("protocol", protocol::run);
}

#[test]
fn patterns_of_any_text() {
    replay("patterns", patterns::run);
}

#[test]
fn files_of_call_profiles() {
    replay("calls", calls::run);
}

#[test]
fn caches_of_any_description() {
    replay("caches", caches::run);
}

#[test]
fn memory_profiles_of_any_bytes() {
    replay("profiles", profiles::run);
}

#[test]
fn traces_of_any_bytes() {
    replay("traces", traces::run);
}

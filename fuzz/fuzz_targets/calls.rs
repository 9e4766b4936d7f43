//! The fuzz target of `veneer_fuzz_bodies::calls`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veneer_fuzz_bodies::calls::run(data));

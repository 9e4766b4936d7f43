//! The fuzz target of `veneer_fuzz_bodies::profiles`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| veneer_fuzz_bodies::profiles::run(data));

//! The fuzz target of `veneer_fuzz_bodies::pipeline`. A mutator that knows class files changes the inputs.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use veneer_fuzz_bodies::mutation;

fuzz_target!(|data: &[u8]| veneer_fuzz_bodies::pipeline::run(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutation::pipeline(data, size, max_size, seed, fuzzer_mutate)
});

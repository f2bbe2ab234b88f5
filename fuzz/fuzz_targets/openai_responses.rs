#![no_main]

mod wire;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| wire::check(models::Wire::OpenaiResponses, input));

//! However a stream is cut into reads, it has the same frames, and none is over the limit.
#![no_main]

use libfuzzer_sys::fuzz_target;
use models::{SseDecoder, SseError};

const LIMIT: usize = 1 << 12;

fn decode<'a>(reads: impl IntoIterator<Item = &'a [u8]>) -> (Vec<(String, String)>, bool) {
    let mut frames = Vec::new();
    let mut decoder = SseDecoder::new(LIMIT);
    let run = || -> Result<(), SseError<()>> {
        for read in reads {
            decoder.push(read, |frame| {
                frames.push((frame.event.into_owned(), frame.data.into_owned()));
                Ok(())
            })?;
        }
        decoder.finish(|frame| {
            frames.push((frame.event.into_owned(), frame.data.into_owned()));
            Ok(())
        })
    };
    let whole = run().is_ok();
    (frames, whole)
}

fuzz_target!(|input: &[u8]| {
    // The first byte says how long the reads are.
    let Some((size, document)) = input.split_first() else { return };
    let whole = decode([document]);
    assert_eq!(whole, decode(document.chunks(usize::from(*size).max(1))));
    assert_eq!(whole, decode(document.chunks(1)));
    // A byte that is not UTF-8 is replaced by three.
    assert!(whole.0.iter().all(|(_, data)| data.len() <= LIMIT * 3));
});

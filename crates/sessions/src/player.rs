//! Playing a session back, event by event, in constant memory.

use std::collections::HashSet;
use std::time::Duration;

use protocol::{Event, Timestamp};

use crate::error::StoreError;
use crate::reader::{Reader, Record, Records};
use crate::text::text_of;

/// A position in a session that moves forward and can be set.
pub struct Player {
    reader: Reader,
    records: Records,
    filter: Filter,
    peeked: Option<Event>,
    position: u64,
    damaged: u64,
}

/// Which events are played. Whatever is not set lets all pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Names of event types, such as `user_prompt`.
    pub types: Option<HashSet<String>>,
    /// Not before this moment …
    pub from: Option<Timestamp>,
    /// … and not after this one.
    pub until: Option<Timestamp>,
    /// Only events that say this, in any case.
    pub text: Option<String>,
}

impl Filter {
    /// Only these types.
    pub fn types<'a>(types: impl IntoIterator<Item = &'a str>) -> Self {
        Self { types: Some(types.into_iter().map(str::to_owned).collect()), ..Self::default() }
    }

    pub fn fits(&self, event: &Event) -> bool {
        self.types.as_ref().is_none_or(|types| types.contains(event.body.name()))
            && self.from.is_none_or(|from| event.ts >= from)
            && self.until.is_none_or(|until| event.ts <= until)
            && self
                .text
                .as_ref()
                .is_none_or(|text| text_of(&event.body).to_lowercase().contains(&text.to_lowercase()))
    }
}

impl Player {
    pub fn open(mut reader: Reader) -> Result<Self, StoreError> {
        let records = reader.iter(0)?;
        Ok(Self { reader, records, filter: Filter::default(), peeked: None, position: 0, damaged: 0 })
    }

    /// From here on, only these.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.peeked = self.peeked.filter(|event| filter.fits(event));
        self.filter = filter;
        self
    }

    /// The next event that fits, or none at the end of the log as it is now.
    #[expect(clippy::should_implement_trait, reason = "it can fail, and the end may move")]
    pub fn next(&mut self) -> Result<Option<Event>, StoreError> {
        let event = match self.peeked.take() {
            Some(event) => Some(event),
            None => self.read()?,
        };
        if let Some(event) = &event {
            self.position = event.seq;
        }
        Ok(event)
    }

    /// The event that [`Player::next`] would return.
    pub fn peek(&mut self) -> Result<Option<&Event>, StoreError> {
        if self.peeked.is_none() {
            self.peeked = self.read()?;
        }
        Ok(self.peeked.as_ref())
    }

    fn read(&mut self) -> Result<Option<Event>, StoreError> {
        while let Some(record) = self.records.next().transpose()? {
            match record {
                Record::Event(event) if self.filter.fits(&event) => return Ok(Some(event)),
                Record::Event(_) => {}
                Record::Damaged(_) => self.damaged += 1,
            }
        }
        Ok(None)
    }

    /// The number of the event played last; 0 at the beginning.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to just after the event `seq`: the next one played has a higher number. 0 is the beginning.
    pub fn seek(&mut self, seq: u64) -> Result<(), StoreError> {
        self.records = self.reader.iter(seq)?;
        self.peeked = None;
        self.position = seq;
        Ok(())
    }

    pub fn reset(&mut self) -> Result<(), StoreError> {
        self.seek(0)
    }

    /// How many damaged records were passed over so far.
    pub fn damaged(&self) -> u64 {
        self.damaged
    }

    pub fn reader(&self) -> &Reader {
        &self.reader
    }

    /// The events with the pauses between them, `speed` times as fast as they happened and none longer than
    /// `idle_cap`. Waiting is left to the caller.
    pub fn timed(self, speed: f64, idle_cap: Duration) -> Timed {
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Timed { player: self, speed, idle_cap, last: None }
    }
}

/// See [`Player::timed`].
pub struct Timed {
    player: Player,
    speed: f64,
    idle_cap: Duration,
    last: Option<Timestamp>,
}

impl Iterator for Timed {
    type Item = Result<(Duration, Event), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = match self.player.next() {
            Ok(event) => event?,
            Err(error) => return Some(Err(error)),
        };
        // A clock that was set back gives no pause at all.
        let pause = self.last.map_or(0, |last| event.ts.millis_since(last));
        self.last = Some(event.ts);
        let delay = Duration::try_from_secs_f64(pause as f64 / 1000.0 / self.speed).unwrap_or(self.idle_cap);
        Some(Ok((delay.min(self.idle_cap), event)))
    }
}

//! All starters of this process: the first one, and those in places further in.

use super::order::Order;
use super::running::{NotStarted, Running};
use super::{Refusal, Walls};

/// So often the first one is started again where it was lost.
const MOST_FIRST: u32 = 5;
/// So many are kept in places, and so many of them in the same outer one; the longest unused goes.
const MOST: usize = 64;
const MOST_SIDE_BY_SIDE: usize = 4;

#[derive(Debug)]
pub(super) struct Family {
    first: Option<Running>,
    started: u32,
    /// The one that was used last is the last.
    inside: Vec<Inside>,
}

/// A starter in a place.
#[derive(Debug)]
struct Inside {
    /// The place, behind those that it is in.
    path: Vec<Vec<u8>>,
    running: Running,
}

impl Family {
    pub(super) const fn new() -> Self {
        Self { first: None, started: 0, inside: Vec::new() }
    }

    pub(super) fn start(&mut self, order: &Order<'_>, walls: Option<&Walls>) -> Result<i32, Refusal> {
        let Some(walls) = walls else { return self.start_in(order, &[], None) };
        if walls.places.is_empty() {
            return self.start_in(order, &[], Some(&walls.told));
        }
        match self.start_in(order, &walls.places, Some(&walls.told)) {
            // It can still have all of its walls for itself.
            Err(Refusal::NoStarter) => self.start_in(order, &[], Some(&walls.whole())),
            done => done,
        }
    }

    pub(super) fn dismiss(&mut self) {
        self.inside.clear();
        self.first = None;
    }

    fn start_in(
        &mut self,
        order: &Order<'_>,
        path: &[Vec<u8>],
        walls: Option<&[u8]>,
    ) -> Result<i32, Refusal> {
        let message = order.encode(walls);
        self.with(path, |starter| starter.ask(&message, &order.files()))
    }

    /// Asks something of the starter in a place. One that does not hear of it is replaced once.
    fn with<T>(
        &mut self,
        path: &[Vec<u8>],
        ask: impl Fn(&Running) -> Result<T, NotStarted>,
    ) -> Result<T, Refusal> {
        for _ in 0..2 {
            match ask(self.starter(path)?) {
                Ok(answer) => return Ok(answer),
                Err(NotStarted::Unheard) => self.forget(path),
                Err(NotStarted::Refused(refusal)) => {
                    // Nobody knows what it did.
                    if matches!(refusal, Refusal::Failed(_)) {
                        self.forget(path);
                    }
                    return Err(refusal);
                }
            }
        }
        Err(Refusal::NoStarter)
    }

    /// The starter in a place, made if need be.
    fn starter(&mut self, path: &[Vec<u8>]) -> Result<&Running, Refusal> {
        let Some((place, outer)) = path.split_last() else { return self.first() };
        let known = self.inside.iter().position(|inside| inside.path == path);
        let inside = match known {
            Some(at) => self.inside.remove(at),
            None => {
                let running = self.with(outer, |starter| starter.further(place))?;
                self.make_room(outer);
                Inside { path: path.to_vec(), running }
            }
        };
        self.inside.push(inside);
        self.inside.last().map(|inside| &inside.running).ok_or(Refusal::NoStarter)
    }

    fn first(&mut self) -> Result<&Running, Refusal> {
        if self.first.is_none() {
            if self.started >= MOST_FIRST {
                return Err(Refusal::NoStarter);
            }
            self.started += 1;
            self.first = Some(Running::first().map_err(|_| Refusal::NoStarter)?);
        }
        self.first.as_ref().ok_or(Refusal::NoStarter)
    }

    /// For one more beside those in the same outer place.
    fn make_room(&mut self, outer: &[Vec<u8>]) {
        let beside = |inside: &&Inside| inside.path.split_last().is_some_and(|(_, path)| path == outer);
        let crowded = !outer.is_empty() && self.inside.iter().filter(beside).count() >= MOST_SIDE_BY_SIDE;
        let oldest = match crowded {
            true => self.inside.iter().find(beside),
            false => self.inside.first().filter(|_| self.inside.len() >= MOST),
        };
        if let Some(path) = oldest.map(|inside| inside.path.clone()) {
            self.forget(&path);
        }
    }

    /// Lets the starter in a place go, and those further in.
    fn forget(&mut self, path: &[Vec<u8>]) {
        if path.is_empty() {
            self.first = None;
        } else {
            self.inside.retain(|inside| !inside.path.starts_with(path));
        }
    }
}

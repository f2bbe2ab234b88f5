//! Agents that work for another agent, a row each.

use protocol::{AgentId, Stop, Timestamp, TurnId, Usage};

use super::Page;
use crate::format::{duration, money, tokens};
use crate::text::{Ink, Line, Style, fit, plain_line, width};

/// Columns for the name of an agent.
const MAX_NAME: usize = 16;

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    closed: bool,
}

#[derive(Debug)]
struct Lane {
    turn: TurnId,
    agent: Option<AgentId>,
    asked: String,
    doing: String,
    saying: bool,
    calls: usize,
    began: Option<Timestamp>,
    ended: Option<(Stop, Option<u64>, Usage)>,
}

impl Lanes {
    pub(super) fn has(&self, turn: &TurnId) -> bool {
        self.lanes.iter().any(|lane| lane.turn == *turn)
    }

    pub(super) fn is_final(&self) -> bool {
        self.closed || (!self.lanes.is_empty() && self.lanes.iter().all(|lane| lane.ended.is_some()))
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    fn lane(&mut self, turn: &TurnId) -> &mut Lane {
        let at = self.lanes.iter().position(|lane| lane.turn == *turn).unwrap_or_else(|| {
            self.lanes.push(Lane {
                turn: turn.clone(),
                agent: None,
                asked: String::new(),
                doing: String::new(),
                saying: false,
                calls: 0,
                began: None,
                ended: None,
            });
            self.lanes.len() - 1
        });
        &mut self.lanes[at]
    }

    pub(super) fn asked(&mut self, turn: &TurnId, what: &str) {
        self.lane(turn).asked = fit(&plain_line(what), 200);
    }

    pub(super) fn started(&mut self, turn: &TurnId, agent: &AgentId, now: Timestamp) {
        let lane = self.lane(turn);
        (lane.agent, lane.began) = (Some(agent.clone()), Some(now));
    }

    pub(super) fn doing(&mut self, turn: &TurnId, what: &str) {
        let lane = self.lane(turn);
        lane.calls += 1;
        (lane.doing, lane.saying) = (fit(&plain_line(what), 200), false);
    }

    pub(super) fn said(&mut self, turn: &TurnId, text: &str) {
        let lane = self.lane(turn);
        if !lane.saying {
            lane.doing.clear();
        }
        lane.saying = true;
        if lane.doing.len() < 400 {
            lane.doing.push_str(&plain_line(text));
            lane.doing.push(' ');
        }
    }

    pub(super) fn ended(&mut self, turn: &TurnId, stop: Stop, usage: Option<&Usage>, now: Timestamp) {
        let lane = self.lane(turn);
        let took = lane.began.map(|began| now.millis_since(began));
        lane.ended = Some((stop, took, usage.copied().unwrap_or_default()));
    }

    pub(super) fn rows(&self, page: &Page<'_>) -> Vec<Line> {
        // Names stand in a column, so that what each does can be read down.
        let names = self.lanes.iter().map(|lane| width(lane.name())).max().unwrap_or(0).min(MAX_NAME);
        let row = |(number, lane): (usize, &Lane)| lane.row(number, names, page, self.closed);
        self.lanes.iter().enumerate().map(row).collect()
    }
}

impl Lane {
    fn name(&self) -> &str {
        self.agent.as_ref().map_or("agent", |agent| agent.as_str())
    }

    fn row(&self, number: usize, names: usize, page: &Page<'_>, closed: bool) -> Line {
        let columns = page.measure();
        let depth = self.turn.as_str().matches('.').count();
        let mut line = Line::of(format!("  {}│ ", "  ".repeat(depth.saturating_sub(1))), Ink::Line);
        let name = fit(&plain_line(self.name()), names);
        let pad = " ".repeat(names - width(&name));
        line.push(name, Style::new(Ink::Agent(number as u8)).bold());
        line.push(format!("{pad}  "), Ink::Text);
        let (sign, ink) = match self.ended {
            Some((Stop::Done | Stop::Denied, ..)) => ("✓ ", Ink::Good),
            Some(_) => ("✗ ", Ink::Danger),
            None if closed => ("⏸ ", Ink::Faint),
            None => ("● ", Ink::Accent),
        };
        line.push(sign, ink);
        let mut right = Line::new();
        let mut part = |text: String| {
            let dot = if right.is_empty() { "" } else { " · " };
            right.push(format!("{dot}{text}"), Ink::Faint);
        };
        if self.calls > 0 {
            part(format!("{} call{}", self.calls, if self.calls == 1 { "" } else { "s" }));
        }
        match (&self.ended, self.began) {
            (Some((_, took, usage)), _) => {
                if usage.total() > 0 {
                    part(format!("{} tokens", tokens(usage.total())));
                }
                if let Some(cost) = usage.cost_usd {
                    part(money(cost));
                }
                if let Some(took) = took {
                    part(duration(*took));
                }
            }
            (None, Some(began)) => part(format!("{} s", page.now.millis_since(began) / 1000)),
            _ => {}
        }
        let what = if self.ended.is_some() || self.doing.is_empty() { &self.asked } else { &self.doing };
        let room = columns.saturating_sub(line.width() + right.width() + 2);
        line.push(fit(what, room), Ink::Soft);
        line.aligned(right, columns)
    }
}

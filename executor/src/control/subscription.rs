//! What a subscriber gets: figures that changed since it was told last, and values that were logged since.
//!
//! A feed remembers what its client was told, a figure for each point and a position for each log. It is made for one client and
//! used by the thread that writes to it, so a slow client is a feed that is seldom asked; nobody waits for it.

use crate::agent::Agent;
use crate::plans::readings;
use crate::plans::report;
use crate::weaving::planned_probe::Step;
use std::collections::HashMap;
use veneer_instruments::{InstrumentId, Value};
use veneer_protocol as p;
use veneer_protocol::{EVENTS_AT_ONCE, Event, POINTS_AT_ONCE, Readings, Subscription, Update};

/// Names a point among those of its instrument.
#[derive(PartialEq, Eq, Hash)]
struct PointKey {
    class: String,
    method: String,
    fragment: Option<u32>,
    to: Option<u32>,
    what: Option<String>,
}

#[derive(Default)]
struct Told {
    attached: Option<bool>,
    points: HashMap<PointKey, Readings>,
    /// The row with which to begin: those before it were looked at when the room was used up.
    next: usize,
}

/// See the module documentation.
pub struct Feed {
    wanted: Subscription,
    told: HashMap<InstrumentId, Told>,
    /// Events of each log point that were seen.
    seen: HashMap<u32, u64>,
    /// Events that found no room in a ring, as far as was told.
    dropped: u64,
    /// The instrument with which to begin, for the same reason.
    first: usize,
}

impl Feed {
    /// For a subscription of which nothing was told yet.
    pub fn new(wanted: Subscription) -> Feed {
        Feed {
            wanted,
            told: HashMap::new(),
            seen: HashMap::new(),
            dropped: 0,
            first: 0,
        }
    }

    fn wants(&self, id: InstrumentId) -> bool {
        let only = &self.wanted.instruments;
        only.is_empty() || only.iter().any(|name| *name == id.to_string())
    }

    /// What is new. `number`: which of the updates that were due this is.
    pub fn next(&mut self, agent: &Agent, number: u64) -> Update {
        let mut update = Update {
            number,
            millis: agent.began.elapsed().as_millis() as u64,
            ..Update::default()
        };
        let mut all = agent.table.lock().ids();
        all.retain(|id| self.wants(*id));
        let mut room = self.wanted.points.clamp(1, POINTS_AT_ONCE);
        let first = self.first.checked_rem(all.len()).unwrap_or(0);
        self.first = 0;
        for n in (first..all.len()).chain(0..first) {
            let (changed, left) = self.figures(agent, all[n], &mut room);
            update.instruments.extend(changed);
            if left > 0 && update.points_left == 0 {
                self.first = n;
            }
            update.points_left += left;
        }
        if self.wanted.events {
            self.events(agent, &mut update);
        }
        update
    }

    /// The points of an instrument that have changed, as many as there is room for (`None` where nothing has), and how many are left.
    fn figures(
        &mut self,
        agent: &Agent,
        id: InstrumentId,
        room: &mut usize,
    ) -> (Option<p::Instrument>, u64) {
        let told = self.told.entry(id).or_default();
        if told.attached == Some(false) {
            // Its figures stand still.
            return (None, 0);
        }
        // Asked before the figures are read: those of one that is detached meanwhile are told once more.
        let Some(mut instrument) = report::instrument(agent, id) else {
            return (None, 0);
        };
        let rows = readings::rows(agent, id);
        let first = told.next.min(rows.len());
        told.next = 0;
        let mut left = 0;
        let (before, behind) = rows.split_at(first);
        for (n, row) in behind.iter().chain(before).enumerate() {
            let point = report::point(row.clone());
            let key = PointKey {
                class: point.class.clone(),
                method: point.method.clone(),
                fragment: point.fragment,
                to: point.to,
                what: point.what.clone(),
            };
            if told.points.get(&key) == Some(&point.readings) {
                continue;
            }
            if *room == 0 {
                if left == 0 {
                    told.next = (first + n) % rows.len();
                }
                left += 1;
                continue;
            }
            *room -= 1;
            told.points.insert(key, point.readings);
            instrument.points.push(point);
        }
        let news = told.attached != Some(instrument.attached);
        // One that is detached is done with when all is told of it.
        if left == 0 {
            told.attached = Some(instrument.attached);
        }
        let changed = news || !instrument.points.is_empty();
        (changed.then_some(instrument), left)
    }

    fn events(&mut self, agent: &Agent, update: &mut Update) {
        agent.rings.drain();
        let mut events = Vec::new();
        let mut lost = 0;
        for id in agent.table.lock().ids() {
            if !self.wants(id) {
                continue;
            }
            let standing = readings::installed_points(agent, id);
            for s in standing.iter().filter(|s| s.step == Step::Log) {
                let seen = self.seen.entry(s.slot).or_default();
                let (new, count) = agent.rings.since(s.slot, *seen);
                lost += count.saturating_sub(*seen).saturating_sub(new.len() as u64);
                *seen = count;
                events.extend(new.into_iter().map(|e| {
                    Event {
                        instrument: id.to_string(),
                        class: s.class.to_string(),
                        method: s.method.to_string(),
                        line: s.line,
                        time_ns: e.time_ns.saturating_sub(agent.nano_began),
                        thread: e.thread,
                        values: s
                            .values
                            .iter()
                            .cloned()
                            .zip(e.values.into_iter().map(json))
                            .collect(),
                    }
                }));
            }
        }
        events.sort_by_key(|e: &Event| e.time_ns);
        let skip = events.len().saturating_sub(EVENTS_AT_ONCE);
        let dropped = agent.rings.dropped();
        update.events_lost = lost + skip as u64 + dropped.saturating_sub(self.dropped);
        self.dropped = dropped;
        update.events = events.split_off(skip);
    }
}

fn json(value: Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Int(n) => n.into(),
        // What JSON has no number for is a text: NaN, Infinity.
        Value::Float(x) => {
            serde_json::Number::from_f64(x).map_or_else(|| x.to_string().into(), Into::into)
        }
        Value::Text(text) => text.into(),
        #[allow(unreachable_patterns)]
        other => format!("{other:?}").into(),
    }
}

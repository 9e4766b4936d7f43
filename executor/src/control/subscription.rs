//! The contents of the updates for one subscribed client: readings that have changed and values
//! that were logged since the previous update.
//!
//! The update thread of the client owns the feed and asks it for each update. If the client reads
//! slowly, the feed is asked less often, and no other thread waits.

use super::point_deltas::{CurrentInstrument, PointDeltas};
use crate::agent::Agent;
use crate::plans::readings;
use crate::plans::report;
use std::collections::HashMap;
use veneer_instruments::{EventValue, InstrumentId};
use veneer_names::LogPoint;
use veneer_protocol::{
    LogEvent, MAX_EVENTS_PER_UPDATE, MAX_POINTS_PER_UPDATE, Subscription, Update,
};

/// The state of one subscription. See the module documentation.
pub struct SubscriptionFeed {
    subscription: Subscription,
    points: PointDeltas,
    events: EventPositions,
}

/// The positions up to which a client has received logged events.
#[derive(Default)]
struct EventPositions {
    /// The number of events of each log point.
    seen: HashMap<LogPoint, u64>,
    /// The number of events that found no room in a ring buffer.
    dropped: u64,
}

impl EventPositions {
    fn seen(&self, point: LogPoint) -> u64 {
        self.seen.get(&point).copied().unwrap_or(0)
    }

    /// Records that a log point has had `count` events, of which the client receives `received`
    /// new ones. Returns how many new events are no longer available.
    fn advance(&mut self, point: LogPoint, count: u64, received: usize) -> u64 {
        let seen = self.seen.insert(point, count).unwrap_or(0);
        count.saturating_sub(seen).saturating_sub(received as u64)
    }

    /// Records the total number of dropped events. Returns how many the client does not know.
    fn advance_dropped(&mut self, dropped: u64) -> u64 {
        let before = std::mem::replace(&mut self.dropped, dropped);
        dropped.saturating_sub(before)
    }
}

impl SubscriptionFeed {
    /// Makes the feed of a client that has received no update yet.
    pub fn new(subscription: Subscription) -> SubscriptionFeed {
        SubscriptionFeed {
            subscription,
            points: PointDeltas::default(),
            events: EventPositions::default(),
        }
    }

    /// Returns the ids of the subscribed instruments.
    fn subscribed(&self, agent: &Agent) -> Vec<InstrumentId> {
        let mut ids = agent.table.lock().ids();
        ids.retain(|id| is_subscribed(&self.subscription, *id));
        ids
    }

    /// Returns the next update. `number` is its position in the sequence of due updates.
    pub fn next(&mut self, agent: &Agent, number: u64) -> Update {
        let ids = self.subscribed(agent);
        let limit = self.subscription.points.clamp(1, MAX_POINTS_PER_UPDATE);
        let changes = self.points.next(&ids, limit, |id| read(agent, id));
        let mut update = Update {
            number,
            millis: agent.began.elapsed().as_millis() as u64,
            instruments: changes.instruments,
            points_left: changes.points_left,
            ..Update::default()
        };
        if self.subscription.events {
            self.add_events(agent, &mut update);
        }
        update
    }

    /// Adds the events that were logged since the previous update.
    fn add_events(&mut self, agent: &Agent, update: &mut Update) {
        agent.rings.drain();
        let mut events = Vec::new();
        let mut lost = 0;
        for id in self.subscribed(agent) {
            let points = readings::installed_points(agent, id);
            for point in &points {
                let Some(log) = point.slot.log_point() else {
                    continue;
                };
                let (new, count) = agent.rings.events_since(log, self.events.seen(log));
                lost += self.events.advance(log, count, new.len());
                events.extend(new.into_iter().map(|event| {
                    let values = event.values.into_iter().map(json);
                    LogEvent {
                        instrument: id.to_string(),
                        class: point.class.to_string(),
                        method: point.method.to_string(),
                        line: point.line,
                        time_ns: event.time_ns.saturating_sub(agent.nano_began),
                        thread: event.thread,
                        values: point.values.iter().cloned().zip(values).collect(),
                    }
                }));
            }
        }
        let skipped = keep_newest(&mut events, MAX_EVENTS_PER_UPDATE);
        let dropped = self.events.advance_dropped(agent.rings.dropped());
        update.events_lost = lost + skipped + dropped;
        update.events = events;
    }
}

/// Returns whether the client wants updates of an instrument.
fn is_subscribed(subscription: &Subscription, id: InstrumentId) -> bool {
    let only = &subscription.instruments;
    only.is_empty() || only.iter().any(|name| *name == id.to_string())
}

/// Reads the present state of an instrument.
fn read(agent: &Agent, id: InstrumentId) -> Option<CurrentInstrument> {
    // The attachment state is read before the readings. If the instrument is detached in between,
    // the next update contains its final readings.
    let instrument = report::instrument(agent, id)?;
    let rows = readings::rows(agent, id);
    Some(CurrentInstrument {
        instrument,
        points: rows,
    })
}

/// Sorts events by time and removes the oldest ones beyond `limit`. Returns the number of removed
/// events.
fn keep_newest(events: &mut Vec<LogEvent>, limit: usize) -> u64 {
    events.sort_by_key(|event| event.time_ns);
    let excess = events.len().saturating_sub(limit);
    events.drain(..excess);
    excess as u64
}

/// Returns a logged value as JSON. A floating-point number that JSON cannot represent (not a
/// number, infinity) becomes a text.
fn json(value: EventValue) -> serde_json::Value {
    match value {
        EventValue::Null => serde_json::Value::Null,
        EventValue::Int(n) => n.into(),
        EventValue::Float(x) => {
            serde_json::Number::from_f64(x).map_or_else(|| x.to_string().into(), Into::into)
        }
        EventValue::Text(text) => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn event(time_ns: u64) -> LogEvent {
        LogEvent {
            instrument: "i1".into(),
            class: "a.A".into(),
            method: "run()V".into(),
            line: None,
            time_ns,
            thread: 1,
            values: BTreeMap::new(),
        }
    }

    #[test]
    fn an_empty_list_of_instruments_selects_all() {
        let mut subscription = Subscription {
            every: 500,
            instruments: Vec::new(),
            events: true,
            points: MAX_POINTS_PER_UPDATE,
        };
        assert!(is_subscribed(&subscription, InstrumentId(12)));
        subscription.instruments = vec!["i1".into()];
        assert!(is_subscribed(&subscription, InstrumentId(1)));
        assert!(!is_subscribed(&subscription, InstrumentId(12)));
    }

    #[test]
    fn events_that_are_no_longer_available_are_counted_once() {
        let mut positions = EventPositions::default();
        assert_eq!(positions.advance(LogPoint(7), 10, 4), 6);
        assert_eq!(positions.seen(LogPoint(7)), 10);
        assert_eq!(positions.advance(LogPoint(7), 10, 0), 0);
        assert_eq!(positions.advance(LogPoint(7), 13, 3), 0);
        // The positions of other points are independent.
        assert_eq!(positions.seen(LogPoint(8)), 0);
        assert_eq!(positions.advance_dropped(5), 5);
        assert_eq!(positions.advance_dropped(6), 1);
    }

    #[test]
    fn the_oldest_events_are_removed() {
        let mut events = vec![event(30), event(10), event(20)];
        assert_eq!(keep_newest(&mut events, 2), 1);
        let times: Vec<_> = events.iter().map(|e| e.time_ns).collect();
        assert_eq!(times, [20, 30]);
        assert_eq!(keep_newest(&mut events, 2), 0);
    }

    #[test]
    fn numbers_that_json_cannot_represent_become_texts() {
        assert_eq!(json(EventValue::Float(1.5)), serde_json::json!(1.5));
        assert_eq!(json(EventValue::Float(f64::NAN)), serde_json::json!("NaN"));
        assert_eq!(
            json(EventValue::Float(f64::NEG_INFINITY)),
            serde_json::json!("-inf")
        );
        assert_eq!(json(EventValue::Int(-1)), serde_json::json!(-1));
        assert_eq!(json(EventValue::Null), serde_json::Value::Null);
    }
}

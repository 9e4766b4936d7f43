//! The difference between the readings of instruments and the readings that a client knows.
//!
//! [`PointDeltas`] remembers the readings that were sent to one client. Each call of
//! [`PointDeltas::next`] returns the points that have changed since, up to a limit. If the limit
//! cuts off points, the next call begins with the first point that was cut off, so that every point
//! is sent after a bounded number of calls.

use std::collections::HashMap;
use veneer_instruments::{InstrumentId, Measurement, PointRow};
use veneer_names::FragmentId;
use veneer_protocol::Instrument;

/// Identifies a point among the points of its instrument.
#[derive(PartialEq, Eq, Hash)]
struct PointKey {
    class: String,
    method: String,
    fragment: Option<FragmentId>,
    to: Option<FragmentId>,
    what: Option<String>,
}

impl PointKey {
    fn new(point: &PointRow) -> PointKey {
        PointKey {
            class: point.class.clone(),
            method: point.method.clone(),
            fragment: point.fragment,
            to: point.to,
            what: point.what.clone(),
        }
    }
}

/// The state of one instrument as the client knows it.
#[derive(Default)]
struct SentInstrument {
    /// Whether the client knows the instrument as attached; `None` if it does not know it. The
    /// value becomes `Some(false)` only after all final readings were sent.
    attached: Option<bool>,
    readings: HashMap<PointKey, Measurement>,
    /// The index of the point to begin with, because the limit cut off this point.
    first_point: usize,
}

/// The present state of one instrument.
pub struct CurrentInstrument {
    /// The instrument without points.
    pub instrument: Instrument,
    /// All its points with their present readings.
    pub points: Vec<PointRow>,
}

/// The changes since the previous call.
#[derive(Debug, Default, PartialEq)]
pub struct PointChanges {
    /// Instruments that are new, that were detached, or that have changed points. Each contains
    /// its changed points only.
    pub instruments: Vec<Instrument>,
    /// The number of changed points that the limit has cut off.
    pub points_left: u64,
}

/// The readings that were sent to one client. See the module documentation.
#[derive(Default)]
pub struct PointDeltas {
    sent: HashMap<InstrumentId, SentInstrument>,
    /// The index of the instrument to begin with, because the limit cut off points of it.
    first_instrument: usize,
}

impl PointDeltas {
    /// Returns the changes of these instruments, with `limit` points at most. `read` returns the
    /// present state of an instrument; it is not called for a detached instrument whose final
    /// readings were sent.
    pub fn next(
        &mut self,
        ids: &[InstrumentId],
        limit: usize,
        mut read: impl FnMut(InstrumentId) -> Option<CurrentInstrument>,
    ) -> PointChanges {
        let mut changes = PointChanges::default();
        let mut room = limit;
        let first = self.first_instrument.checked_rem(ids.len()).unwrap_or(0);
        self.first_instrument = 0;
        for n in (first..ids.len()).chain(0..first) {
            let sent = self.sent.entry(ids[n]).or_default();
            if sent.attached == Some(false) {
                continue;
            }
            let Some(current) = read(ids[n]) else {
                continue;
            };
            let (changed, left) = sent.update(current, &mut room);
            changes.instruments.extend(changed);
            if left > 0 && changes.points_left == 0 {
                self.first_instrument = n;
            }
            changes.points_left += left;
        }
        changes
    }
}

impl SentInstrument {
    /// Returns the instrument with its changed points if anything has changed, and the number of
    /// changed points that found no room. Reduces `room` by the number of returned points.
    fn update(
        &mut self,
        current: CurrentInstrument,
        room: &mut usize,
    ) -> (Option<Instrument>, u64) {
        let CurrentInstrument {
            mut instrument,
            mut points,
        } = current;
        let count = points.len();
        let first = self.first_point.min(count);
        self.first_point = 0;
        points.rotate_left(first);
        let mut left = 0;
        for (n, point) in points.into_iter().enumerate() {
            let key = PointKey::new(&point);
            if self.readings.get(&key) == Some(&point.data) {
                continue;
            }
            if *room == 0 {
                if left == 0 {
                    self.first_point = (first + n) % count;
                }
                left += 1;
                continue;
            }
            *room -= 1;
            self.readings.insert(key, point.data);
            instrument.points.push(point);
        }
        let is_news = self.attached != Some(instrument.attached);
        if left == 0 {
            self.attached = Some(instrument.attached);
        }
        let is_changed = is_news || !instrument.points.is_empty();
        (is_changed.then_some(instrument), left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::InstrumentKind;

    fn instrument(id: u32, attached: bool) -> Instrument {
        Instrument {
            id: format!("i{id}"),
            name: String::new(),
            kind: InstrumentKind::Counter,
            plan: String::new(),
            attached,
            points: Vec::new(),
        }
    }

    fn point(n: usize, hits: u64) -> PointRow {
        PointRow {
            class: "a.A".into(),
            method: "run()V".into(),
            fragment: Some(FragmentId(n as u32)),
            to: None,
            what: None,
            line: None,
            data: Measurement::Count { hits },
        }
    }

    fn current(id: InstrumentId, attached: bool, hits: &[u64]) -> CurrentInstrument {
        let points = hits.iter().enumerate();
        CurrentInstrument {
            instrument: instrument(id.0, attached),
            points: points.map(|(n, hits)| point(n, *hits)).collect(),
        }
    }

    /// The instruments of the changes with the numbers of their points.
    fn summary(changes: &PointChanges) -> Vec<(String, Vec<u32>)> {
        let summary = |i: &Instrument| {
            let points = i.points.iter().filter_map(|p| Some(p.fragment?.0));
            (i.id.clone(), points.collect())
        };
        changes.instruments.iter().map(summary).collect()
    }

    const I1: InstrumentId = InstrumentId(1);
    const I2: InstrumentId = InstrumentId(2);

    #[test]
    fn only_changed_points_are_returned() {
        let mut deltas = PointDeltas::default();
        let first = deltas.next(&[I1], 10, |id| Some(current(id, true, &[5, 0])));
        assert_eq!(summary(&first), [("i1".into(), vec![0, 1])]);
        let second = deltas.next(&[I1], 10, |id| Some(current(id, true, &[5, 1])));
        assert_eq!(summary(&second), [("i1".into(), vec![1])]);
        let third = deltas.next(&[I1], 10, |id| Some(current(id, true, &[5, 1])));
        assert_eq!(third, PointChanges::default());
    }

    #[test]
    fn a_new_instrument_without_points_is_returned_once() {
        let mut deltas = PointDeltas::default();
        let first = deltas.next(&[I1], 10, |id| Some(current(id, true, &[])));
        assert_eq!(summary(&first), [("i1".into(), vec![])]);
        let second = deltas.next(&[I1], 10, |id| Some(current(id, true, &[])));
        assert_eq!(second, PointChanges::default());
    }

    #[test]
    fn the_next_call_begins_with_the_points_that_were_cut_off() {
        let mut deltas = PointDeltas::default();
        // All points change all the time; every call has room for two of five.
        let mut seen = Vec::new();
        for hits in 1..=5 {
            let changes = deltas.next(&[I1], 2, |id| Some(current(id, true, &[hits; 5])));
            assert_eq!(changes.points_left, 3);
            seen.extend(summary(&changes).remove(0).1);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_next_call_begins_with_the_instrument_that_was_cut_off() {
        let mut deltas = PointDeltas::default();
        let first = deltas.next(&[I1, I2], 1, |id| Some(current(id, true, &[1])));
        assert_eq!(summary(&first)[0], ("i1".into(), vec![0]));
        assert_eq!(first.points_left, 1);
        // The first instrument has changed again, but the second one has waited.
        let second = deltas.next(&[I1, I2], 1, |id| Some(current(id, true, &[2])));
        let with_points: Vec<_> = summary(&second)
            .into_iter()
            .filter(|(_, points)| !points.is_empty())
            .collect();
        assert_eq!(with_points, [("i2".into(), vec![0])]);
    }

    #[test]
    fn a_detached_instrument_is_read_until_all_its_final_readings_were_sent() {
        let mut deltas = PointDeltas::default();
        let mut reads = 0;
        let mut next = |limit| {
            deltas.next(&[I1], limit, |id| {
                reads += 1;
                Some(current(id, false, &[1, 2]))
            })
        };
        assert_eq!(next(1).points_left, 1);
        assert_eq!(next(1).points_left, 0);
        assert_eq!(next(1), PointChanges::default());
        assert_eq!(reads, 2);
    }

    #[test]
    fn the_start_is_valid_after_instruments_and_points_have_disappeared() {
        let mut deltas = PointDeltas::default();
        deltas.next(&[I1, I2], 3, |id| Some(current(id, true, &[1, 1])));
        assert_eq!(deltas.next(&[], 3, |_| None), PointChanges::default());
        let changes = deltas.next(&[I2], 3, |id| Some(current(id, true, &[])));
        assert_eq!(changes.points_left, 0);
    }
}

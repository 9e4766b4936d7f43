//! Values that belong to objects: what `per_object(0)` gives.
//!
//! ```text
//!   VeneerProbe.set(table, object, value)
//!        │
//!        ▼ GetTag: has it a number?  ─no─▶ SetTag: the next one, never given out twice
//!   number ─▶ its place in the table, among the few that follow its lower bits: number, value
//!                ▲
//!   ObjectFree ──┘ the collector has found nobody who holds the object: its places in all tables are free again
//! ```
//!
//! The JVM keeps tags by the object itself, not by a hash of it, and holds no object because of its tag: so a value is never that of another object, and
//! goes with its own. Reading and changing a value takes no lock of the agent; giving an object its number does, once for each object. The event
//! comes in a thread of the JVM, maybe while all others stand still: it must wait for nobody, and changes single words only.

use crate::jni::jobject;
use crate::tool::Tool;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// Tables at most, of all plans so far.
const TABLES: usize = 32;
/// Places that can be those of a number.
const NEAR: usize = 32;
/// A place whose object is gone. Unlike 0, there may be others behind it.
const GONE: i64 = -1;

#[derive(Default)]
struct Place {
    number: AtomicI64,
    value: AtomicI64,
}

/// One table.
struct Values {
    places: Box<[Place]>,
    /// What found no place.
    lost: AtomicU64,
    /// Held to take a place.
    taking: Mutex<()>,
}

impl Values {
    fn new(objects: u32) -> Values {
        let places = (2 * objects as usize).next_power_of_two().max(2 * NEAR);
        Values {
            places: (0..places).map(|_| Place::default()).collect(),
            lost: AtomicU64::new(0),
            taking: Mutex::default(),
        }
    }

    fn near(&self, number: i64) -> impl Iterator<Item = &Place> {
        let mask = self.places.len() - 1;
        (0..NEAR).filter_map(move |n| self.places.get((number as usize).wrapping_add(n) & mask))
    }

    fn find(&self, number: i64) -> Option<&Place> {
        for place in self.near(number) {
            match place.number.load(Ordering::Acquire) {
                0 => return None,
                known if known == number => return Some(place),
                _ => {}
            }
        }
        None
    }

    fn set(&self, number: i64, value: i64) {
        if let Some(place) = self.find(number) {
            place.value.store(value, Ordering::Relaxed);
            return;
        }
        let _taking = self.taking.lock().unwrap_or_else(|e| e.into_inner());
        // Another thread may have been here meanwhile.
        let place = self.find(number).or_else(|| {
            let mut near = self.near(number);
            near.find(|p| matches!(p.number.load(Ordering::Acquire), 0 | GONE))
        });
        match place {
            Some(place) => {
                place.value.store(value, Ordering::Relaxed);
                place.number.store(number, Ordering::Release);
            }
            None => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    fn get(&self, number: i64) -> i64 {
        let place = self.find(number);
        place.map_or(0, |place| place.value.load(Ordering::Relaxed))
    }

    fn free(&self, number: i64) {
        if let Some(place) = self.find(number) {
            place.number.store(GONE, Ordering::Release);
        }
    }

    fn len(&self) -> usize {
        let used = |place: &&Place| place.number.load(Ordering::Relaxed) > 0;
        self.places.iter().filter(used).count()
    }
}

/// All tables, by number from 0.
#[derive(Default)]
pub struct ObjectTables {
    tables: [OnceLock<Values>; TABLES],
    /// How many numbers were given out. Held to give one out.
    numbers: Mutex<i64>,
}

impl ObjectTables {
    /// A new table for so many objects, and its number. `None` where there are too many tables.
    ///
    /// # Errors
    /// What the JVM says where it does not tag objects.
    pub fn make(&self, tool: Tool, objects: u32) -> Result<Option<usize>, String> {
        let free = self.tables.iter().position(|table| table.get().is_none());
        let Some(free) = free else {
            return Ok(None);
        };
        tool.tag_objects()?;
        let made = self.tables[free].set(Values::new(objects));
        Ok(made.is_ok().then_some(free))
    }

    fn table(&self, table: i64) -> Option<&Values> {
        let at = usize::try_from(table).ok()?;
        self.tables.get(at)?.get()
    }

    /// Gives an object a value in a table.
    pub fn set(&self, tool: Tool, table: i64, object: jobject, value: i64) {
        let Some(values) = self.table(table) else {
            return;
        };
        let mut number = tool.tag(object);
        if number == 0 {
            let mut numbers = self.numbers.lock().unwrap_or_else(|e| e.into_inner());
            number = tool.tag(object);
            if number == 0 {
                *numbers += 1;
                number = *numbers;
                if !tool.set_tag(object, number) {
                    return;
                }
            }
        }
        values.set(number, value);
    }

    /// The value of an object; 0 where it has none.
    pub fn get(&self, tool: Tool, table: i64, object: jobject) -> i64 {
        let values = self.table(table);
        values.map_or(0, |values| match tool.tag(object) {
            0 => 0,
            number => values.get(number),
        })
    }

    /// The object of this number is gone.
    pub fn free(&self, number: i64) {
        let made = self.tables.iter().map_while(OnceLock::get);
        made.for_each(|values| values.free(number));
    }

    /// Of how many objects a table has values, and how many found no place.
    pub fn size(&self, table: i64) -> (usize, u64) {
        let values = self.table(table);
        values.map_or((0, 0), |v| (v.len(), v.lost.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_goes_with_its_object() {
        let values = Values::new(10);
        for number in 1..=10 {
            values.set(number, 7 * number);
        }
        values.set(3, 5);
        assert_eq!((values.get(3), values.get(10), values.get(11)), (5, 70, 0));
        values.free(3);
        assert_eq!((values.get(3), values.get(4), values.len()), (0, 28, 9));
        // One that comes round to the same place takes it.
        let again = 3 + values.places.len() as i64;
        values.set(again, 1);
        assert_eq!((values.get(again), values.get(3), values.len()), (1, 0, 10));
    }

    #[test]
    fn what_finds_no_place_is_counted() {
        let values = Values::new(1);
        let step = values.places.len() as i64;
        for n in 0..NEAR as i64 + 3 {
            values.set(1 + n * step, 1);
        }
        let lost = values.lost.load(Ordering::Relaxed);
        assert_eq!((values.len(), lost), (NEAR, 3));
    }
}

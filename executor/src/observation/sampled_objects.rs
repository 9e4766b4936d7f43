//! The objects whose allocation was reported and whose death is to be reported, by their JVMTI tags.

use parking_lot::Mutex;
use std::collections::HashMap;

/// The most objects whose deaths are awaited at a time, about 100 MB. Deaths of further ones are not
/// reported.
const MAX_AWAITED: usize = 1_000_000;

/// An object whose allocation was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampledObject {
    /// The class, in Java form.
    pub class: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The time of the allocation, by `System.nanoTime()`.
    pub allocated_ns: u64,
}

/// The objects whose deaths are awaited.
#[derive(Default)]
pub struct SampledObjects {
    awaited: Mutex<Awaited>,
}

#[derive(Default)]
struct Awaited {
    last_tag: i64,
    objects: HashMap<i64, SampledObject>,
}

impl SampledObjects {
    /// Awaits the death of an object. Returns the tag for it, or `None` if there is no room.
    pub fn add(&self, object: SampledObject) -> Option<i64> {
        let mut awaited = self.awaited.lock();
        if awaited.objects.len() >= MAX_AWAITED {
            return None;
        }
        // Tags of one JVM are never reused, so an object of an earlier recording is unknown.
        awaited.last_tag += 1;
        let tag = awaited.last_tag;
        awaited.objects.insert(tag, object);
        Some(tag)
    }

    /// The object with a tag has died. Returns `None` if its death is not awaited any more.
    pub fn take(&self, tag: i64) -> Option<SampledObject> {
        self.awaited.lock().objects.remove(&tag)
    }

    /// Awaits no more deaths.
    pub fn clear(&self) {
        self.awaited.lock().objects = HashMap::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_dies_once_and_none_after_the_end() {
        let objects = SampledObjects::default();
        let object = |bytes| SampledObject {
            class: "a.B".into(),
            bytes,
            allocated_ns: 7,
        };
        let first = objects.add(object(1)).expect("a tag");
        let second = objects.add(object(2)).expect("a tag");
        assert_eq!(objects.take(second), Some(object(2)));
        assert_eq!(objects.take(second), None);
        objects.clear();
        assert_eq!(objects.take(first), None);
        assert!(!(first..=second).contains(&objects.add(object(3)).expect("a tag")));
    }
}

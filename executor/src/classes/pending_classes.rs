//! Classes whose fields code at points reads, and that are not loaded yet.
//!
//! Where a field lies is known once its class is loaded, and no class is loaded for a probe. Until then a variable of that type can only
//! be null. So a method whose code needs such a class waits for it: when the class is prepared, which is before there is an object of
//! it, the code is put in, in the thread that loads it.
//!
//! ```text
//!   Desk.serve(Order)  ── code reads order.total ──▶  Order is not loaded: wait
//!   ClassPrepare Order ──▶ take ──▶ Desk is woven again ──▶ the first Order is made
//! ```

use crate::classes::registry::Class;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

type Waiting = HashMap<String, Vec<Weak<Class>>>;

/// See the module documentation.
#[derive(Default)]
pub struct Awaited {
    /// By the internal name of what they wait for.
    waiting: Mutex<Waiting>,
    /// Whether any does: asked for every class that is prepared.
    any: AtomicBool,
}

impl Awaited {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A class is to be woven again when the class of this internal name is there. Whether it did not wait for that already.
    pub fn wait(&self, name: &str, class: &Arc<Class>) -> bool {
        let mut waiting = self.lock();
        let all = waiting.entry(name.to_string()).or_default();
        let is_same = |one: &Weak<Class>| std::ptr::eq(one.as_ptr(), Arc::as_ptr(class));
        let is_new = !all.iter().any(is_same);
        if is_new {
            all.push(Arc::downgrade(class));
        }
        // SeqCst, as the question in `take`: a class that is prepared at this moment is seen by one side or the other, since whoever waits
        // looks for it again afterwards.
        self.any.store(true, Ordering::SeqCst);
        is_new
    }

    /// Those that wait for the class of this internal name; they do not wait any more.
    pub fn take(&self, name: &str) -> Vec<Arc<Class>> {
        if !self.any.load(Ordering::SeqCst) {
            return Vec::new();
        }
        let mut waiting = self.lock();
        let found = waiting.remove(name).unwrap_or_default();
        self.any.store(!waiting.is_empty(), Ordering::SeqCst);
        found.iter().filter_map(Weak::upgrade).collect()
    }
}

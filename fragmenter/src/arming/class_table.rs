//! A hash table of the `Class` entries of one constant pool, by name. The table holds indices alone,
//! and its memory is reused for many classes.

use crate::classfile::ConstantPool;
use ahash::RandomState;

/// The number of slots beyond the entries of the pool, for the classes that arming adds. The size of
/// the table is the next power of two.
const MIN_SLOTS: usize = 64;

/// The table. The number 0 marks an empty slot.
#[derive(Default)]
pub(super) struct ClassTable {
    slots: Vec<u16>,
    used: usize,
    hasher: RandomState,
}

impl ClassTable {
    /// Forgets all classes.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.used = 0;
    }

    /// The `Class` entry with this name, or the slot for it.
    pub fn find(&mut self, name: &[u8], pool: &ConstantPool) -> Result<u16, usize> {
        if self.slots.is_empty() || self.used * 2 >= self.slots.len() {
            self.fill(pool);
        }
        self.slot(name, pool)
    }

    /// Puts a class into a slot that [`ClassTable::find`] has returned for it.
    pub fn insert(&mut self, slot: usize, class: u16) {
        if let Some(free) = self.slots.get_mut(slot) {
            *free = class;
            self.used += 1;
        }
    }

    /// Inserts all classes of the pool. Of equal ones, the first is inserted. Each name is an entry
    /// of the pool too, so at most half of the entries are classes with different names.
    fn fill(&mut self, pool: &ConstantPool) {
        let count = usize::from(pool.count());
        self.clear();
        self.slots
            .resize((count + MIN_SLOTS).next_power_of_two(), 0);
        for (index, name) in pool.classes() {
            if let Err(slot) = self.slot(name, pool) {
                self.insert(slot, index);
            }
        }
    }

    /// The class with this name, or the free slot for it. At least half of the slots are free.
    fn slot(&self, name: &[u8], pool: &ConstantPool) -> Result<u16, usize> {
        let mask = self.slots.len() - 1;
        let mut slot = self.hasher.hash_one(name) as usize & mask;
        loop {
            match self.slots.get(slot).copied().unwrap_or(0) {
                0 => return Err(slot),
                index if pool.class_name_bytes(index) == Ok(name) => return Ok(index),
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_found_and_inserted() {
        let mut pool = ConstantPool::new();
        let known: Vec<u16> = (0..200)
            .map(|n| pool.add_class(&format!("a/C{n}")).unwrap())
            .collect();
        let mut table = ClassTable::default();
        for (n, index) in known.iter().enumerate() {
            let name = format!("a/C{n}");
            assert_eq!(table.find(name.as_bytes(), &pool), Ok(*index));
        }
        // The table grows while classes are added.
        for n in 200..2_000 {
            let name = format!("a/C{n}");
            let slot = table.find(name.as_bytes(), &pool).unwrap_err();
            let text = pool.append_utf8(name.as_bytes()).unwrap();
            let index = pool.append_class(text).unwrap();
            table.insert(slot, index);
            assert_eq!(table.find(name.as_bytes(), &pool), Ok(index));
        }
        assert_eq!(table.find(b"a/C7", &pool), Ok(known[7]));
        table.clear();
        assert_eq!(table.find(b"a/C7", &pool), Ok(known[7]));
        assert!(table.find(b"a/D", &pool).is_err());
    }
}

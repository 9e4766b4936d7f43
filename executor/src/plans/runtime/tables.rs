//! The tallies (aggregation maps) of plans.

use super::RuntimeHandle;
use crate::data::aggregations::{MAX_ENTRIES, TableLabel};
use crate::jvm::jni::WeakGlobal;
use veneer_instruments::{AttachError, Tally, TallyEntry, TallyKind};

/// The most bytes of tables of former plans that are kept for the report.
const MAX_LEFT_BEHIND_BYTES: u64 = 16 << 20;

impl RuntimeHandle {
    /// Creates a table and returns its number.
    pub(super) fn create_table(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError> {
        let agent = self.agent;
        let too_large = || AttachError::TallyTooLarge { entries };
        if !(1..=MAX_ENTRIES).contains(&entries) {
            return Err(too_large());
        }
        if kind == TallyKind::PerObject {
            return self.create_object_table(entries);
        }
        let table = self.create_mapped_table(kind, entries)?;
        if let Some(slots) = agent.tallies.identity_string_slots(table) {
            let row = match agent.tallies.take_free_string_row(slots) {
                Some(row) => agent.library.clear_texts(self.env(), row).map(|()| row),
                None => agent.library.texts(self.env(), slots),
            };
            // Without a row, the table compares strings by their characters.
            agent.tallies.set_string_row(table, row.unwrap_or(0));
        }
        if kind == TallyKind::Objects {
            let (address, slots) = (agent.tallies.address(table), agent.tallies.slots(table));
            // SAFETY: `address` is the address of the table that has just been created, and tables
            // of this kind stay.
            let kept = unsafe { agent.library.keep(self.env(), address, slots) };
            kept.map_err(|_| too_large())?;
        }
        Ok(table)
    }

    /// Creates a table in the file of tables. If there is too little room, or if former plans have
    /// left much behind, their room is given back first.
    fn create_mapped_table(&self, kind: TallyKind, entries: u32) -> Result<u32, AttachError> {
        let (agent, env) = (self.agent, self.env());
        let attached = || agent.table.lock().tables_of_attached_code();
        let reclaim = || {
            let is_collected = |class: &WeakGlobal| env.is_cleared(class);
            agent.tallies.reclaim(&attached(), &is_collected)
        };
        let is_much_left = || agent.tallies.left_behind_bytes(&attached()) > MAX_LEFT_BEHIND_BYTES;
        if is_much_left() {
            reclaim();
        }
        if is_much_left() {
            agent.tallies.abandon(&attached());
        }
        let create = || agent.tallies.create_table(&agent.shards, kind, entries);
        let created = create().or_else(|| {
            let former = reclaim() + agent.tallies.abandon(&attached());
            if former > 0 { create() } else { None }
        });
        created.ok_or_else(|| {
            let counts = agent.tallies.table_counts(&attached());
            AttachError::TablesFull {
                entries,
                in_use: counts.in_use,
                left_behind: counts.left_behind,
            }
        })
    }

    /// Creates a table of values that belong to objects. `VeneerObjects` stores the values.
    fn create_object_table(&self, entries: u32) -> Result<u32, AttachError> {
        let agent = self.agent;
        let created = agent.library.objects(self.env(), entries);
        let created = created.map_err(|error| AttachError::Vm {
            action: "making a table of values of objects".into(),
            detail: error.to_string(),
        })?;
        let number = created.ok_or(AttachError::TallyTooLarge { entries })?;
        Ok(agent.tallies.add_object_table(number))
    }

    /// Sets the owner and the name of a table.
    pub(super) fn label_table(&self, table: u32, plan: &str, name: Option<&str>) {
        let label = TableLabel {
            plan: plan.into(),
            name: name.map(Into::into),
            is_call_tree: false,
        };
        self.agent.tallies.label(table, label);
    }

    /// Records that the entries of a table are the nodes of a call tree.
    pub(super) fn mark_call_tree(&self, table: u32, plan: &str) {
        let label = TableLabel {
            plan: plan.into(),
            name: None,
            is_call_tree: true,
        };
        self.agent.tallies.label(table, label);
    }

    /// Returns the content of a table. For values that belong to objects, the one entry counts the
    /// objects with a value, and the rest those for which there was no room.
    pub(super) fn read_table(&self, table: u32) -> Tally {
        let agent = self.agent;
        let Some(number) = agent.tallies.object_table_number(table) else {
            return agent.tallies.read(&agent.shards, table, agent.nano_began);
        };
        let counts = agent.library.with_value(self.env(), number);
        let (with_value, without_room) = counts.unwrap_or_default();
        let entry = |count| TallyEntry {
            count,
            ..TallyEntry::default()
        };
        Tally {
            entries: vec![entry(with_value)],
            rest: entry(without_room),
            given: None,
        }
    }
}

//! The selection of the instruments and tables of a report that are exported.

use std::collections::HashSet;

use veneer_protocol::{Instrument, Report, Table};

/// A selection of instruments and tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ExportScope {
    /// Instruments and tables that are attached now.
    #[default]
    Attached,
    /// All instruments and tables, including detached ones.
    All,
    /// Instruments and tables that a plan has attached since a given time. Detached ones are
    /// included, so that the plan's counters do not vanish when the plan detaches them.
    Plan {
        /// The plan's name in the report.
        name: String,
        /// Ids (`i7`, `t7`) that existed at the given time, and are not exported.
        before: HashSet<String>,
    },
}

impl ExportScope {
    /// The attachments of a plan that will run later. `before` is a report of the JVM from before
    /// the plan runs.
    pub fn for_plan(name: &str, before: &Report) -> ExportScope {
        let instruments = before.instruments.iter().map(|i| i.id.clone());
        let tables = before.tables.iter().map(|t| t.id.clone());
        ExportScope::Plan {
            name: name.into(),
            before: instruments.chain(tables).collect(),
        }
    }

    /// Whether this instrument is exported.
    pub fn contains_instrument(&self, instrument: &Instrument) -> bool {
        self.wants(&instrument.id, &instrument.plan, instrument.attached)
    }

    /// Whether this table is exported.
    pub fn contains_table(&self, table: &Table) -> bool {
        self.wants(&table.id, &table.plan, table.attached)
    }

    fn wants(&self, id: &str, of: &str, attached: bool) -> bool {
        match self {
            ExportScope::Attached => attached,
            ExportScope::All => true,
            ExportScope::Plan { name, before } => name == of && !before.contains(id),
        }
    }

    /// Removes unselected instruments and tables from a report. The report's totals remain the
    /// totals of the whole run.
    pub fn filter_report(&self, report: &mut Report) {
        report
            .instruments
            .retain(|instrument| self.contains_instrument(instrument));
        report.tables.retain(|table| self.contains_table(table));
    }
}

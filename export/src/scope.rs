//! Which of a report's instruments and tables are exported.

use std::collections::HashSet;

use veneer_protocol::{Instrument, Report, Table};

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// What is attached now.
    #[default]
    Attached,
    /// Also what was detached.
    All,
    /// What a plan has attached since, also where it has detached it again: its counters should not vanish for that.
    Plan {
        /// The plan's name, as the agent has it.
        name: String,
        /// Ids (`i7`, `t7`) that were there before.
        before: HashSet<String>,
    },
}

impl Scope {
    /// Of a plan that is about to be attached to the JVM of this report.
    pub fn of_plan(name: &str, before: &Report) -> Scope {
        let instruments = before.instruments.iter().map(|i| i.id.clone());
        let tables = before.tables.iter().map(|t| t.id.clone());
        Scope::Plan {
            name: name.into(),
            before: instruments.chain(tables).collect(),
        }
    }

    /// Is this instrument exported?
    pub fn has(&self, instrument: &Instrument) -> bool {
        self.wants(&instrument.id, &instrument.plan, instrument.attached)
    }

    /// Is this table exported?
    pub fn has_table(&self, table: &Table) -> bool {
        self.wants(&table.id, &table.plan, table.attached)
    }

    fn wants(&self, id: &str, of: &str, attached: bool) -> bool {
        match self {
            Scope::Attached => attached,
            Scope::All => true,
            Scope::Plan { name, before } => name == of && !before.contains(id),
        }
    }

    /// Takes out of a report what is not wanted; its totals stay those of the whole run.
    pub fn narrow(&self, report: &mut Report) {
        report.instruments.retain(|instrument| self.has(instrument));
        report.tables.retain(|table| self.has_table(table));
    }
}

//! A table of ratios to the plain program: a row for each workload and variant, and the geometric mean of
//! each variant.

use super::groups::{Series, first_line};
use super::record::{Record, geometric_mean, shown};
use super::workload::{Workload, session};
use crate::bench::statistics::median;
use crate::trust::part::{Scope, Table, TrustError};

/// The table. See the module documentation.
pub struct RatioTable {
    /// The measured quantity in the figures of the record.
    what: &'static str,
    table: Table,
    /// The medians of each variant, one for each workload.
    medians: Vec<(String, Vec<f64>)>,
}

impl RatioTable {
    /// A table without rows. `column` is the heading of the column of remarks.
    pub fn new(what: &'static str, column: &str) -> Self {
        Self {
            what,
            table: Table::new(
                "Ratio to the plain program",
                &["workload", "how", "ratio", column, ""],
            ),
            medians: Vec::new(),
        }
    }

    /// Calls `measure` for each workload of the session. It adds the rows of the workload; its error is a
    /// failure of the record.
    pub fn add_all(
        &mut self,
        record: &mut Record,
        scope: &Scope,
        measure: impl Fn(&'static Workload, &mut Record, &mut Self) -> Result<(), TrustError>,
    ) {
        for workload in session(scope.quick) {
            if let Err(error) = measure(workload, record, self) {
                let line = first_line(&error.to_string());
                let failure = format!("{}: {line}", workload.name);
                record.part.failures.push(failure);
            }
        }
    }

    /// Adds the rows of a workload; the first series is the plain one. A variant of Veneer that failed is a
    /// failure of the record. `remark` returns the remark of a variant.
    pub fn add(
        &mut self,
        record: &mut Record,
        workload: &str,
        series: &[Series],
        remark: impl Fn(&str) -> String,
    ) {
        for one in series.iter().skip(1) {
            let ratios = one.ratios().to_vec();
            record.figure(self.what, workload, &one.name, "×", &ratios);
            if let Some(middle) = median(&ratios) {
                match self.medians.iter_mut().find(|(name, _)| *name == one.name) {
                    Some((_, all)) => all.push(middle),
                    None => self.medians.push((one.name.clone(), vec![middle])),
                }
            }
            if let (Some(error), false) = (&one.error, one.peer) {
                let failure = format!("{workload}, {}: {error}", one.name);
                record.part.failures.push(failure);
            }
            self.table.rows.push(vec![
                workload.to_string(),
                one.name.clone(),
                shown(&ratios, 3),
                remark(&one.name),
                one.error.clone().unwrap_or_default(),
            ]);
        }
    }

    /// The geometric mean of a variant over the workloads.
    pub fn mean(&self, variant: &str) -> Option<f64> {
        let medians = self.medians.iter().find(|(name, _)| name == variant);
        geometric_mean(&medians?.1)
    }

    /// The geometric mean of a variant, as a ratio to that of another one. Both must have all workloads.
    pub fn relative_mean(&self, variant: &str, other: &str) -> Option<f64> {
        let count = |name: &str| {
            let medians = self.medians.iter().find(|(one, _)| one == name);
            medians.map(|(_, all)| all.len())
        };
        (count(variant)? == count(other)?).then_some(())?;
        Some(self.mean(variant)? / self.mean(other)?)
    }

    /// The table, with the geometric means as its last rows.
    pub fn finish(mut self) -> Table {
        for (name, medians) in &self.medians {
            let Some(mean) = geometric_mean(medians) else {
                continue;
            };
            self.table.rows.push(vec![
                "geometric mean".into(),
                name.clone(),
                format!("{mean:.3}"),
                String::new(),
                String::new(),
            ]);
        }
        self.table
    }
}

//! Comma-separated values (RFC 4180): a row for each method, edge, allocation and context.
//!
//! ```text
//!   kind,id,parent,caller,bci,line,callee,how,count,residue,wall_ns,self_ns,cpu_ns,allocations
//!   method,0,,,,,a.B::m(int),,7,1,,,,
//!   edge,,,a.A::f(),3,12,a.B::m(int),static,6,,,,,
//!   allocation,,,a.B::m(int),9,14,int[],,7,,,,,
//!   context,4,2,,3,,a.B::m(int),static,6,,5000,4000,4900,7
//!   unseen,,,,,,java.lang.Object,intrinsic,,,,,,
//! ```

use std::io::Write;

use super::error::OutputError;
use super::json::origin_name;
use crate::context::Parent;
use crate::labels::Labels;
use crate::selection::Selection;

/// The names of the columns, in order.
pub const COLUMNS: [&str; 14] = [
    "kind",
    "id",
    "parent",
    "caller",
    "bci",
    "line",
    "callee",
    "how",
    "count",
    "residue",
    "wall_ns",
    "self_ns",
    "cpu_ns",
    "allocations",
];

/// The values of the columns that a row has.
#[derive(Default)]
struct Row {
    kind: &'static str,
    id: Option<u32>,
    parent: Option<u32>,
    caller: String,
    bci: Option<u16>,
    line: Option<u16>,
    callee: String,
    how: String,
    count: Option<u64>,
    residue: Option<i128>,
    wall_ns: Option<u64>,
    self_ns: Option<u64>,
    cpu_ns: Option<u64>,
    allocations: Option<u64>,
}

impl Row {
    fn columns(self) -> [String; COLUMNS.len()] {
        [
            self.kind.into(),
            text(self.id),
            text(self.parent),
            self.caller,
            text(self.bci),
            text(self.line),
            self.callee,
            self.how,
            text(self.count),
            text(self.residue),
            text(self.wall_ns),
            text(self.self_ns),
            text(self.cpu_ns),
            text(self.allocations),
        ]
    }
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Writes the selected part of a profile. The first line has the names of the columns.
pub fn write(selection: &Selection, to: impl Write) -> Result<(), OutputError> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(to);
    writer.write_record(COLUMNS)?;
    let profile = selection.profile;
    let labels = Labels::new(profile);
    let incoming = profile.incoming();
    for id in selection.methods() {
        let incoming = incoming[id.index()];
        let row = Row {
            kind: "method",
            id: Some(id.0),
            callee: labels.label(id),
            count: Some(profile.method(id).entries.unwrap_or(incoming)),
            residue: Some(profile.residue(id, incoming)),
            ..Row::default()
        };
        writer.write_record(row.columns())?;
    }
    for edge in selection.edges() {
        let row = Row {
            kind: "edge",
            caller: labels.label(edge.caller),
            bci: edge.site.bci,
            line: edge.site.line,
            callee: labels.label(edge.callee),
            how: edge.kind.name().into(),
            count: Some(edge.count),
            ..Row::default()
        };
        writer.write_record(row.columns())?;
    }
    for one in selection.allocations() {
        let row = Row {
            kind: "allocation",
            caller: labels.label(one.method),
            bci: one.site.bci,
            line: one.site.line,
            callee: one.type_name.clone(),
            count: Some(one.count),
            ..Row::default()
        };
        writer.write_record(row.columns())?;
    }
    for (selected, context) in selection.context_nodes() {
        let row = Row {
            kind: "context",
            id: Some(selected.id.0),
            parent: match selected.parent {
                Parent::Context(parent) => Some(parent.0),
                Parent::Root(_) => None,
            },
            bci: context.bci,
            callee: labels.label(context.method),
            how: origin_name(context.origin).into(),
            count: Some(context.cost.calls),
            wall_ns: Some(context.cost.wall_ns),
            self_ns: Some(context.cost.self_ns),
            cpu_ns: Some(context.cost.cpu_ns),
            allocations: Some(context.cost.allocations),
            ..Row::default()
        };
        writer.write_record(row.columns())?;
    }
    for unseen in profile.unseen() {
        let row = Row {
            kind: "unseen",
            callee: unseen.class.clone(),
            how: unseen.reason.clone(),
            ..Row::default()
        };
        writer.write_record(row.columns())?;
    }
    writer.flush()?;
    Ok(())
}

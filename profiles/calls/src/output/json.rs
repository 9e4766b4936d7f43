//! JSON, schema 1. `docs/calls.schema.json` is the JSON Schema.
//!
//! ```text
//!   methods[]      { id, class, method, descriptor, native, entries, residue, loader, code_bytes }
//!   edges[]        { caller, callee, bci, line, kind, count }
//!   allocations[]  { method, bci, line, type, count }
//!   contexts[]     { id, parent, thread, method, bci, origin, calls, wall_ns, self_ns, cpu_ns, … }
//!   unseen[]       { class, reason }
//! ```
//!
//! A field with an unknown value is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::error::OutputError;
use crate::context::{Origin, Parent};
use crate::method::MethodForm;
use crate::selection::Selection;

/// The version of the form.
pub const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'s, 'p> {
    schema: u32,
    info: &'s BTreeMap<String, BTreeSet<String>>,
    loaders: Vec<LoaderElement<'s>>,
    methods: Stream<Methods<'s, 'p>>,
    edges: Stream<Edges<'s, 'p>>,
    allocations: Stream<Allocations<'s, 'p>>,
    threads: Vec<ThreadElement<'s>>,
    contexts: Stream<Contexts<'s, 'p>>,
    unseen: Vec<UnseenElement<'s>>,
}

#[derive(Serialize)]
struct LoaderElement<'s> {
    id: u32,
    name: &'s str,
    number: u32,
}

#[derive(Serialize)]
struct MethodElement<'s> {
    id: u32,
    loader: u32,
    class: &'s str,
    method: &'s str,
    descriptor: &'s str,
    native: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    overflow: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code_bytes: Option<u32>,
    entries: u64,
    residue: i128,
}

#[derive(Serialize)]
struct EdgeElement {
    caller: u32,
    callee: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bci: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u16>,
    kind: &'static str,
    count: u64,
}

#[derive(Serialize)]
struct AllocationElement<'s> {
    method: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bci: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u16>,
    r#type: &'s str,
    count: u64,
}

#[derive(Serialize)]
struct ThreadElement<'s> {
    id: u32,
    name: &'s str,
    number: u64,
    r#virtual: bool,
}

#[derive(Serialize)]
struct ContextElement {
    id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<u32>,
    method: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    bci: Option<u16>,
    origin: &'static str,
    calls: u64,
    wall_ns: u64,
    self_ns: u64,
    cpu_ns: u64,
    self_cpu_ns: u64,
    allocations: u64,
}

#[derive(Serialize)]
struct UnseenElement<'s> {
    class: &'s str,
    reason: &'s str,
}

/// The word for an origin: a kind of call, or `early`.
pub(crate) fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::Early => "early",
        Origin::Call(kind) => kind.name(),
    }
}

/// A JSON array whose elements are made while they are written, so that a million edges are not kept
/// twice.
struct Stream<T>(T);

trait Elements {
    fn write<S: SerializeSeq>(&self, to: &mut S) -> Result<(), S::Error>;
}

impl<T: Elements> Serialize for Stream<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut array = serializer.serialize_seq(None)?;
        self.0.write(&mut array)?;
        array.end()
    }
}

struct Methods<'s, 'p>(&'s Selection<'p>);
struct Edges<'s, 'p>(&'s Selection<'p>);
struct Allocations<'s, 'p>(&'s Selection<'p>);
struct Contexts<'s, 'p>(&'s Selection<'p>);

impl Elements for Methods<'_, '_> {
    fn write<S: SerializeSeq>(&self, to: &mut S) -> Result<(), S::Error> {
        let profile = self.0.profile;
        let incoming = profile.incoming();
        for id in self.0.methods() {
            let method = profile.method(id);
            let incoming = incoming[id.index()];
            to.serialize_element(&MethodElement {
                id: id.0,
                loader: method.loader.0,
                class: &method.name.class,
                method: &method.name.method,
                descriptor: &method.name.descriptor,
                native: method.form == MethodForm::Native,
                overflow: method.form == MethodForm::Overflow,
                code_bytes: method.code_bytes,
                entries: method.entries.unwrap_or(incoming),
                residue: profile.residue(id, incoming),
            })?;
        }
        Ok(())
    }
}

impl Elements for Edges<'_, '_> {
    fn write<S: SerializeSeq>(&self, to: &mut S) -> Result<(), S::Error> {
        for edge in self.0.edges() {
            to.serialize_element(&EdgeElement {
                caller: edge.caller.0,
                callee: edge.callee.0,
                bci: edge.site.bci,
                line: edge.site.line,
                kind: edge.kind.name(),
                count: edge.count,
            })?;
        }
        Ok(())
    }
}

impl Elements for Allocations<'_, '_> {
    fn write<S: SerializeSeq>(&self, to: &mut S) -> Result<(), S::Error> {
        for one in self.0.allocations() {
            to.serialize_element(&AllocationElement {
                method: one.method.0,
                bci: one.site.bci,
                line: one.site.line,
                r#type: &one.type_name,
                count: one.count,
            })?;
        }
        Ok(())
    }
}

impl Elements for Contexts<'_, '_> {
    fn write<S: SerializeSeq>(&self, to: &mut S) -> Result<(), S::Error> {
        for (selected, context) in self.0.context_nodes() {
            let (parent, thread) = match selected.parent {
                Parent::Root(thread) => (None, thread.map(|thread| thread.0)),
                Parent::Context(parent) => (Some(parent.0), None),
            };
            to.serialize_element(&ContextElement {
                id: selected.id.0,
                parent,
                thread,
                method: context.method.0,
                bci: context.bci,
                origin: origin_name(context.origin),
                calls: context.cost.calls,
                wall_ns: context.cost.wall_ns,
                self_ns: context.cost.self_ns,
                cpu_ns: context.cost.cpu_ns,
                self_cpu_ns: context.cost.self_cpu_ns,
                allocations: context.cost.allocations,
            })?;
        }
        Ok(())
    }
}

/// Writes the selected part of a profile as one JSON object and a line break.
pub fn write(selection: &Selection, mut to: impl Write) -> Result<(), OutputError> {
    let profile = selection.profile;
    let loaders = (0..).zip(profile.loaders());
    let threads = (0..).zip(profile.threads());
    let unseen = profile.unseen().iter();
    let document = Document {
        schema: SCHEMA,
        info: profile.info(),
        loaders: loaders
            .map(|(id, loader)| LoaderElement {
                id,
                name: &loader.name,
                number: loader.number,
            })
            .collect(),
        methods: Stream(Methods(selection)),
        edges: Stream(Edges(selection)),
        allocations: Stream(Allocations(selection)),
        threads: threads
            .map(|(id, thread)| ThreadElement {
                id,
                name: &thread.name,
                number: thread.number,
                r#virtual: thread.is_virtual,
            })
            .collect(),
        contexts: Stream(Contexts(selection)),
        unseen: unseen
            .map(|one| UnseenElement {
                class: &one.class,
                reason: &one.reason,
            })
            .collect(),
    };
    serde_json::to_writer(&mut to, &document)?;
    writeln!(to)?;
    Ok(())
}

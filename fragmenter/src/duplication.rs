//! Paths whose fragments are copied, so that they have no side entries
//! ([`Edit::Duplicate`](crate::patch::Edit::Duplicate)).
//!
//! At a merge, the JIT compiler knows only what holds on all ways there. Behind it, types, nullness and
//! constants of the frequent way are lost. The fragments of a path are copied from its first merge on:
//!
//! ```text
//!   the method                          duplicate f1 f3 f4
//!   f1 ──▶ f3 ──▶ f4 ──▶ f6             f1 ──▶ f3' ─▶ f4' ─▶ f6
//!          ▲ ╰──▶ f5                           ╰──▶ f5
//!   f2 ────╯                            f2 ──▶ f3 ──▶ f4 ──▶ f6
//!                                              ╰──▶ f5
//! ```
//!
//! Such a path is a superblock (Hwu and others 1993). A path may begin at the header of a loop and not pass
//! one: a copy of a header would be a second entry of the loop, and C2 optimises such loops badly.

use crate::flowgraph::{FragmentId, FragmentNode};
use crate::method::Method;
use crate::node_copies::NodeCopies;
use crate::refusal::Refusal;
use std::collections::BTreeMap;

/// A path as text: its fragments in order.
pub(crate) fn path_text(path: &[FragmentId]) -> String {
    let names: Vec<String> = path.iter().map(ToString::to_string).collect();
    names.join(" ")
}

/// Copies the fragments of a path from its first merge on.
///
/// # Errors
/// The graph does not have the path, no fragment behind the first one is a merge, or a fragment cannot be copied.
pub(crate) fn copy_path(copies: &mut NodeCopies, path: &[FragmentId]) -> Result<(), Refusal> {
    let before = copies.nodes.len();
    let Some((first, rest)) = path.split_first() else {
        return Err(Refusal::NoSideEntry(String::new()));
    };
    let mut at = *first;
    for fragment in rest.iter().copied() {
        let out = &copies.nodes[at.index()].out;
        let edge = out.iter().find(|o| copies.origin(o.1) == fragment);
        let Some((_, next)) = edge.copied() else {
            return Err(Refusal::UnknownEdge(copies.origin(at).0, fragment.0));
        };
        if copies.loops.headers().any(|h| h == fragment.node()) {
            return Err(Refusal::PathEntersLoop(fragment.0));
        }
        if copies.is_copy(next) || !has_side_entry(copies, at, next) {
            at = next;
            continue;
        }
        let copy = copies.add(next)?;
        copies.lead(at, next, copy);
        at = copy;
    }
    match copies.nodes.len() > before {
        true => Ok(()),
        false => Err(Refusal::NoSideEntry(path_text(path))),
    }
}

/// Whether control comes to a node from others than `from`.
fn has_side_entry(copies: &NodeCopies, from: FragmentId, node: FragmentId) -> bool {
    let all = copies.nodes.iter().enumerate();
    let mut others = all.filter(|(n, _)| *n != from.index());
    others.any(|(_, other)| other.out.iter().any(|o| o.1 == node))
}

/// The path that was passed most often: from the header of the innermost loop with the fragment that was
/// executed most often, or from the first fragment, always to the successor that was executed most often. It
/// ends before the next loop header.
pub fn frequent_path(method: &Method, passes: &BTreeMap<FragmentId, u64>) -> Vec<FragmentId> {
    let count = |f: FragmentId| passes.get(&f).copied().unwrap_or(0);
    let is_header = |f: FragmentId| method.loops.headers().any(|h| h == f.node());
    let most = |all: Vec<FragmentId>| all.into_iter().rev().max_by_key(|f| count(*f));
    let fragments = method.flow.fragments().map(|f| f.id);
    let Some(hottest) = most(fragments.collect()).filter(|f| count(*f) > 0) else {
        return Vec::new();
    };
    let around = method.loops.innermost(hottest.node());
    let header = around.and_then(|l| method.loops.get(l));
    let first = header.map_or(FragmentId(0), |l| FragmentId(l.header.index() as u32));
    let mut path = vec![first];
    let mut at = first;
    while let Some(next) = most(method.flow.successors(at)) {
        if count(next) == 0 || is_header(next) || path.contains(&next) {
            break;
        }
        path.push(next);
        at = next;
    }
    path
}

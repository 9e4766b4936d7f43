//! The listing of an edited graph: the method's own fragments, with the edges that control takes after the edits, and
//! with the effects of the edits at the fragments that they concern.
//!
//! A version emits this graph. The listing is made before any code is emitted, so it also shows edits that are only
//! tried.

use super::method::from_method;
use super::method_listing::{EdgeListing, FragmentListing, MethodListing};
use super::variables;
use crate::flowgraph::{EdgeKind, FragmentId};
use crate::method::Method;
use crate::patch::{self, Edit, Patched};
use crate::patched_node::PatchedNode;
use crate::points::Point;
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::regions;

/// Lists the graph of a method with these edits, by basic blocks. `points` are the capture points of the armed body, and
/// `kept` the fragments at which earlier versions have an edit point.
///
/// # Errors
/// The edits are refused.
pub fn edited(
    method: &Method,
    edits: &[Edit],
    points: &[Point],
    kept: &[FragmentId],
) -> Result<MethodListing, Refusal> {
    let patched = patch::apply_keeping(method, edits, points, kept)?;
    let mut listing = from_method(method, &Policy::Block);
    if edits.is_empty() {
        return Ok(listing);
    }
    let own = listing.fragments.clone();
    for (fragment, region) in listing
        .fragments
        .iter_mut()
        .zip(regions::regions(method, &Policy::Block))
    {
        let id = region.head;
        let live = patched.live_in.get(id.index());
        if let Some(live) = live {
            fragment.live_in = variables::at_head(method, &region, live);
        }
        change(fragment, id, &own, &patched);
        let concerns = |edit: &&Edit| edited_fragment(method, edit, points) == Some(id);
        let effects = edits.iter().filter(concerns).map(Edit::to_string);
        fragment.edits.extend(effects);
        if let Some(parts) = &patched.parts {
            let part = format!("in part {} of {}", parts.part(id) + 1, parts.count());
            fragment.edits.push(part);
        }
    }
    for (index, node) in patched.nodes.iter().enumerate().skip(own.len()) {
        let id = FragmentId(index as u32);
        if let Some(origin) = own.get(node.origin.index()) {
            let copy = added(origin, (id, node), &own, &patched);
            listing.fragments.push(copy);
        }
    }
    listing.body = Some("edited".into());
    Ok(listing)
}

/// The listing of a node that an edit has added: a copy, or a choice between copies.
fn added(
    origin: &FragmentListing,
    (id, node): (FragmentId, &PatchedNode),
    own: &[FragmentListing],
    patched: &Patched,
) -> FragmentListing {
    let mut copy = FragmentListing {
        id: id.to_string(),
        ..origin.clone()
    };
    if node.choice.is_none() {
        change(&mut copy, id, own, patched);
        copy.edits.push(format!("copy of {}", node.origin));
        return copy;
    }
    let kinds = [EdgeKind::Branch, EdgeKind::Fall];
    let edge = |(kind, (_, to)): (EdgeKind, &(FragmentId, FragmentId))| EdgeListing {
        to: to.to_string(),
        kind: kind.to_string(),
    };
    copy.edges = kinds.into_iter().zip(&node.out).map(edge).collect();
    copy.handlers.clear();
    (copy.point, copy.points) = (None, Vec::new());
    (copy.uses, copy.def) = (Vec::new(), Vec::new());
    let choice = format!("chooses between {} and its copy", node.origin);
    copy.edits.push(choice);
    copy
}

/// Gives a fragment the code and the edges of its node.
fn change(
    fragment: &mut FragmentListing,
    id: FragmentId,
    own: &[FragmentListing],
    patched: &Patched,
) {
    let Some(node) = patched.nodes.get(id.index()) else {
        return;
    };
    let Some(code) = own.get(node.code.index()) else {
        return;
    };
    let target = |edge: &EdgeListing| {
        let to = node
            .out
            .iter()
            .find(|(from, _)| from.to_string() == edge.to);
        EdgeListing {
            to: to.map_or_else(|| edge.to.clone(), |(_, to)| to.to_string()),
            kind: edge.kind.clone(),
        }
    };
    fragment.edges = code.edges.iter().map(target).collect();
    if node.code != id {
        fragment.uses = code.uses.clone();
        fragment.def = code.def.clone();
    }
}

/// The fragment whose listing shows an edit.
fn edited_fragment(method: &Method, edit: &Edit, points: &[Point]) -> Option<FragmentId> {
    match edit {
        Edit::Redirect { from, .. } => Some(*from),
        Edit::Skip { fragment } | Edit::Replace { fragment, .. } => Some(*fragment),
        Edit::Receiver { pc, .. } => Some(method.flow.fragment_containing(*pc)),
        Edit::Constant { .. } => points.first().map(|p| p.fragment),
        // Their copies say what they are of.
        Edit::Duplicate { .. } => None,
        Edit::Unswitch { fragment } => Some(*fragment),
        Edit::Split { .. } | Edit::Passes { .. } => None,
    }
}

//! Lists a method: collects its fragments, their variables and their capture points.

use super::method_listing::{
    BlockListing, EdgeListing, FragmentListing, HandlerListing, MethodListing, PointListing,
};
use super::variables;
use crate::arming;
use crate::classfile::{ClassFile, Code};
use crate::code_hash::CodeHash;
use crate::flowgraph::{EdgeKind, FragmentNode};
use crate::method::Method;
use crate::points::{self, PointKind};
use crate::policy::Policy;
use crate::regions::{self, Region};
use veneer_names::java_form;

/// Lists a method of a class file. A method that cannot be analysed is listed without fragments and
/// with the reason.
pub fn from_class_file(file: &ClassFile, index: usize, policy: &Policy) -> MethodListing {
    let name = |i: Option<u16>| i.and_then(|i| file.pool.text(i).ok()).unwrap_or_default();
    let member = file.methods.get(index);
    let mut listing = MethodListing {
        class: java_form(&file.name().unwrap_or_default()),
        method: format!(
            "{}{}",
            name(member.map(|m| m.name)),
            name(member.map(|m| m.descriptor))
        ),
        body: None,
        policy: format!("{policy:?}"),
        code_bytes: 0,
        armed_bytes: None,
        loops: 0,
        hash: None,
        refusal: None,
        fragments: Vec::new(),
    };
    let code = member.and_then(|m| m.attributes.iter().find(|a| a.is(&file.pool, "Code")));
    if let Some(code) = code.and_then(|a| Code::parse(&a.info).ok()) {
        listing.code_bytes = code.code.len();
    }
    match Method::analyse(file, index, &|i, p| policy.cuts(i, p)) {
        Ok(method) => fill(&mut listing, &method, policy),
        Err(refusal) => listing.refusal = Some((&refusal).into()),
    }
    listing
}

/// Lists a method that has been analysed.
pub(super) fn from_method(method: &Method, policy: &Policy) -> MethodListing {
    let mut listing = MethodListing {
        class: java_form(&method.class),
        method: format!("{}{}", method.name, method.descriptor),
        body: None,
        policy: format!("{policy:?}"),
        code_bytes: method.code.code.len(),
        armed_bytes: None,
        loops: 0,
        hash: None,
        refusal: None,
        fragments: Vec::new(),
    };
    fill(&mut listing, method, policy);
    listing
}

fn fill(listing: &mut MethodListing, method: &Method, policy: &Policy) {
    listing.loops = method.loops.loops.len();
    listing.hash = Some(CodeHash::from_method(method).to_string());
    let (points, skipped) = points::choose(method, policy).unwrap_or_default();
    match arming::layout(method, policy, false) {
        Ok(armed) => listing.armed_bytes = Some(armed.size),
        Err(refusal) => listing.refusal = Some((&refusal).into()),
    }
    for region in regions::regions(method, policy) {
        let mut fragment = fragment(method, &region);
        for p in points
            .iter()
            .filter(|p| region.blocks.contains(&p.fragment))
        {
            let kind = match p.kind {
                PointKind::Entry => "entry",
                PointKind::Fragment => "fragment",
                PointKind::Exit => "exit",
            };
            if p.kind != PointKind::Exit && p.pc == fragment.start {
                fragment.point = Some(p.id.to_string());
            }
            fragment.points.push(PointListing {
                id: p.id.to_string(),
                kind: kind.to_owned(),
                pc: p.pc,
            });
        }
        if fragment.point.is_none() {
            fragment.no_point = skipped
                .iter()
                .find(|s| s.pc == fragment.start)
                .map(|s| (&s.reason).into());
        }
        listing.fragments.push(fragment);
    }
}

fn fragment(method: &Method, region: &Region) -> FragmentListing {
    let blocks: Vec<_> = region
        .blocks
        .iter()
        .filter_map(|b| method.flow.get(*b))
        .collect();
    let mut lines: Vec<u16> = blocks
        .iter()
        .flat_map(|b| b.instructions.clone())
        .filter_map(|i| method.line(method.instructions.get(i)?.0))
        .collect();
    lines.sort_unstable();
    lines.dedup();
    let catch = |row: u16| {
        let class = method
            .code
            .exceptions
            .get(row as usize)
            .map_or(0, |e| e.catch_type);
        method
            .file
            .pool
            .class_name(class)
            .ok()
            .filter(|_| class != 0)
            .map(|name| java_form(&name))
    };
    let mut handlers: Vec<HandlerListing> = Vec::new();
    for (to, row) in &region.handlers {
        let handler = HandlerListing {
            to: to.to_string(),
            catch: catch(*row),
        };
        if !handlers.contains(&handler) {
            handlers.push(handler);
        }
    }
    let header = |h: petgraph::graph::NodeIndex| h == region.head.node();
    let start = method.flow.get(region.head).map_or(0, |b| b.start);
    FragmentListing {
        id: region.id.to_string(),
        start,
        end: blocks.iter().map(|b| b.end).max().unwrap_or(0),
        line: method.line(start),
        lines,
        blocks: blocks
            .iter()
            .map(|b| BlockListing {
                start: b.start,
                end: b.end,
            })
            .collect(),
        loop_header: method.loops.headers().any(header),
        uses: variables::at_head(method, region, &region.uses),
        def: variables::defined(method, region),
        live_in: variables::at_head(method, region, &region.live_in),
        live_out: variables::live_out(method, region),
        edges: region
            .edges
            .iter()
            .map(|(to, kind): &(_, EdgeKind)| EdgeListing {
                to: to.to_string(),
                kind: kind.to_string(),
            })
            .collect(),
        handlers,
        point: None,
        points: Vec::new(),
        no_point: None,
        edits: Vec::new(),
    }
}

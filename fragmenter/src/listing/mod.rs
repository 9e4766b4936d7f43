//! Listings of a method's fragments (basic blocks or larger single-entry regions), as text, as a
//! Graphviz graph, and as JSON.
//!
//! ```text
//!   Method ─┬─ regions ──┐
//!           ├─ points ───┼─▶ MethodListing ─┬─▶ text     aligned, at most 100 columns
//!           └─ layout ───┘                  ├─▶ dot      Graphviz
//!                                           └─▶ serde    field names are part of the public interface
//! ```
//!
//! A listing holds only texts and numbers, so it can outlive the class file.

mod dot;
mod flow_graph;
mod summary;
mod text;
mod variables;

pub use flow_graph::{GraphListing, PlaceListing, graph};
pub use summary::{ClassListing, heading};
pub use text::WIDTH;

use crate::arming;
use crate::classfile::{ClassFile, Code};
use crate::flowgraph::EdgeKind;
use crate::method::Method;
use crate::points::{self, PointKind};
use crate::policy::Policy;
use crate::refusal::Refusal;
use crate::regions::{self, Region};
use serde::Serialize;

/// A method and its fragments under a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodListing {
    /// Class name with dots.
    pub class: String,
    /// Name and descriptor: `m(I)I`.
    pub method: String,
    /// The policy's name.
    pub policy: String,
    /// Length of the method's original code in bytes.
    pub code_bytes: usize,
    /// Length of the armed (instrumented) code in bytes; `None` if the method is refused.
    pub armed_bytes: Option<usize>,
    /// Number of natural loops.
    pub loops: usize,
    /// The reason why the method is not armed. Fragments are still listed if the method could be
    /// analysed.
    pub refusal: Option<RefusalListing>,
    /// In pc order of their heads.
    pub fragments: Vec<FragmentListing>,
}

/// A refusal with its public code.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusalListing {
    /// The name of the variant: `MethodTooLarge`.
    pub reason: String,
    /// The explanation for users.
    pub detail: String,
}

impl From<&Refusal> for RefusalListing {
    fn from(refusal: &Refusal) -> Self {
        RefusalListing {
            reason: refusal.name(),
            detail: refusal.to_string(),
        }
    }
}

/// A fragment: a region of basic blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FragmentListing {
    /// The id: `f3` is the fragment with number 3.
    pub id: String,
    /// pc of the first instruction.
    pub start: u16,
    /// pc after the last instruction. Blocks of other fragments may be located between `start` and
    /// `end`.
    pub end: u32,
    /// Source line of the first instruction.
    pub line: Option<u16>,
    /// All source lines in ascending order.
    pub lines: Vec<u16>,
    pub blocks: Vec<BlockListing>,
    /// True if the fragment starts with a loop header.
    pub loop_header: bool,
    /// Variables that are read before they are written.
    #[serde(rename = "use")]
    pub uses: Vec<VariableListing>,
    pub def: Vec<VariableListing>,
    /// Variables live at the start.
    pub live_in: Vec<VariableListing>,
    /// Variables live at the normal exits.
    pub live_out: Vec<VariableListing>,
    /// Edges without those to exception handlers.
    pub edges: Vec<EdgeListing>,
    /// Edges to exception handlers.
    pub handlers: Vec<HandlerListing>,
    /// The capture point at the start, for example `c1`, where a running activation can leave. In
    /// the fragment where activations begin, this may be the entry point.
    pub point: Option<String>,
    /// All capture points in the fragment, in order.
    pub points: Vec<PointListing>,
    /// The reason why the start has no capture point, although the policy asks for one.
    pub no_point: Option<RefusalListing>,
}

/// A basic block: a range of pcs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct BlockListing {
    pub start: u16,
    pub end: u32,
}

/// A local variable or a slot of the operand stack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariableListing {
    /// The source name; `local3` if it is unknown, or `s0` for the lowest value of the operand
    /// stack.
    pub name: String,
    /// The Java type: `int`, `java.lang.String`, `long[]`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The slot of a local variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u16>,
}

/// A capture point: a point where a running activation can leave its code (OSR exit).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointListing {
    /// The id: `c1` is the point with number 1.
    pub id: String,
    /// `entry` (after `super(…)` in a constructor), `fragment` (at the start) or `exit` (before a
    /// return).
    pub kind: String,
    /// pc of the instruction after the point.
    pub pc: u16,
}

/// An edge to a fragment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EdgeListing {
    pub to: String,
    /// `fall`, `branch`, `case 3` or `default`.
    pub kind: String,
}

/// An edge to an exception handler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HandlerListing {
    /// The fragment that handles the exception.
    pub to: String,
    /// The caught class with dots; `None` for any exception (`finally`, `synchronized`).
    pub catch: Option<String>,
}

/// Lists a method of a class file. A method that cannot be analysed is listed without fragments and
/// with the reason.
pub fn of(file: &ClassFile, index: usize, policy: &Policy) -> MethodListing {
    let name = |i: Option<u16>| i.and_then(|i| file.pool.text(i).ok()).unwrap_or_default();
    let member = file.methods.get(index);
    let mut listing = MethodListing {
        class: file.name().unwrap_or_default().replace('/', "."),
        method: format!(
            "{}{}",
            name(member.map(|m| m.name)),
            name(member.map(|m| m.descriptor))
        ),
        policy: format!("{policy:?}"),
        code_bytes: 0,
        armed_bytes: None,
        loops: 0,
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

fn fill(listing: &mut MethodListing, method: &Method, policy: &Policy) {
    listing.loops = method.loops.loops.len();
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
            .map(|name| name.replace('/', "."))
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
    }
}

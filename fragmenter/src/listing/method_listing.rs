//! The listing of a method: texts and numbers.

use crate::refusal::Refusal;
use serde::Serialize;

/// A method and its fragments under a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodListing {
    /// Class name with dots.
    pub class: String,
    /// Name and descriptor: `m(I)I`.
    pub method: String,
    /// The kind of the code, for instance `armed body`; `None` for the code of the compiler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The policy's name.
    pub policy: String,
    /// Length of the method's original code in bytes.
    pub code_bytes: usize,
    /// Length of the armed (instrumented) code in bytes; `None` if the method is refused.
    pub armed_bytes: Option<usize>,
    /// Number of natural loops.
    pub loops: usize,
    /// The hash of the code; `None` if the method cannot be analysed. Methods with the same hash
    /// have the same fragments.
    pub hash: Option<String>,
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
            reason: refusal.name().to_string(),
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
    /// The basic blocks of the fragment, in code order.
    pub blocks: Vec<BlockListing>,
    /// True if the fragment starts with a loop header.
    pub loop_header: bool,
    /// Variables that are read before they are written.
    #[serde(rename = "use")]
    pub uses: Vec<VariableListing>,
    /// The variables that the fragment writes.
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
    /// The effects of edits on the fragment, in a listing of an edited graph.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
}

/// A basic block: a range of pcs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BlockListing {
    /// pc of the first instruction.
    pub start: u16,
    /// pc directly after the last instruction.
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
    /// The name of the fragment to which the edge leads.
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

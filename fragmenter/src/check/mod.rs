//! The checker: a translation validator for emitted bodies. It shows that an emitted body behaves
//! like the original method, apart from the requested edits and Veneer's own instructions.
//!
//! The checker reads the *bytes* of both class files and explores the product of the two programs
//! (`product/`). The method follows the checker of regalloc2 and translation validation (Pnueli,
//! Siegel, Singerman 1998; Necula 2000). The checker shares the class-file reader and the
//! instruction decoder with the emitter, and nothing else.
//!
//! # Why a pass is a proof
//!
//! A *node* is a pair of program positions, one of each side, with the facts known there. The facts
//! say which locals hold the same value on both sides. The operand stacks of both sides are always
//! equal, word for word. The claim of a node is: *from here on, for all values and for all results
//! of calls, both sides produce the same observable effects in the same order.*
//!
//! The *observable effects* are: calls, loads and stores of fields and arrays, allocations, monitor
//! operations, casts, divisions, resolution of a constant, throwing, and returning. Branches,
//! switches and stores to the method's locals are not effects, but both sides must execute them in
//! step. All other instructions are *silent*: they change only the operand stack. The claim is
//! shown for all nodes at once by bisimulation (coinduction):
//!
//! 1. Every activation begins at a node of the product. An armed body and the original begin with
//!    the same parameters. `enter` begins at the position of point 0, with the values that point 0
//!    carries. `resume` begins at each point, with the values that this point carries.
//! 2. From a node, both sides are executed symbolically over terms (`value.rs`) until control flow
//!    merges again. An unknown value of the outside world is one symbol for both sides. Each
//!    observable effect of the emitted side must be the next effect of the original, with equal
//!    operands (`product/effect.rs`). A branch must test the same condition on the same terms; the
//!    checker follows both outcomes. At every effect, an exception must reach the same handlers in
//!    the same order.
//! 3. A run ends at a node. The facts of the run are *met* (intersected) with the facts of the
//!    node, so that the facts of a node finally hold on every path to it. Facts are only removed,
//!    so the exploration terminates.
//! 4. Every cycle of the product contains a step that both sides execute together, unless the
//!    original loops silently too. So neither side can run for ever while the other side makes no
//!    progress.
//!
//! Veneer's own instructions are called *runtime operations*. An instruction is a runtime operation
//! if and only if it names exactly a member that Veneer provides for this purpose (`constants/`).
//! The following rules bind runtime operations:
//!
//! * They may read values of the method, but they write none of its locals.
//! * No handler of the application catches their exceptions.
//! * They write memory only at an offset from the thread's counters that belongs to a probe of the
//!   plan, or at the address of a cell that belongs to such a probe.
//!
//! **Transfers.** Each capture point has a *frame contract* (`frame_contract.rs`): its position,
//! and the location of each carried value. An activation that leaves at a point, from an armed body
//! or a version, must bring exactly these values. The values must be those of the original's state
//! at the point, and the activation must hold no monitor (`osr_exit.rs`). A body that an activation
//! enters at a point is checked from the frame contract alone. So any chain of transfers between
//! checked bodies is equivalent to the original, by induction on the length of the chain.
//!
//! The frame contracts that the checker reads out of an armed body are compared with the points
//! that the emitter declared (`points.rs`). A version that was made for other points is refused
//! (`guard.rs`). Under edits, "the original" is the method with the edits applied to the edges of
//! its flow graph (`reference.rs`).
//!
//! **Copies.** A version may have a fragment several times: for paths that are duplicated, and for loops
//! that are unswitched. Nodes are pairs of positions, so several positions of the emitted side may have the
//! same position of the original, and each copy is compared on its own. Copies therefore need no rule. Only
//! the test that chooses between copies of a loop has one (`product/loop_choice.rs`).
//!
//! **Null-pointer messages.** HotSpot analyses the code of a method when the message of a
//! `NullPointerException` is read, and crashes for some valid code
//! ([`crate::hotspot::null_message`]). This analysis must be sound for emitted code if it is sound for
//! the original.
//!
//! # What the checker does not show
//!
//! * The Java classes of the runtime (`VeneerRuntime`, `VeneerCell`, `VeneerFrame`) are assumed to
//!   be correct.
//! * Emitted code is assumed to verify. Types, stack maps and `max_stack` are left to the JVM's
//!   verifier.
//! * Time, stack depth and memory are not compared. Neither are `StackOverflowError`,
//!   `OutOfMemoryError` and asynchronous exceptions between effects.
//! * The moment of class loading is not compared. A stub's call site and the casts in `resume` name
//!   classes that the agent resolves earlier.
//! * Casts of values out of a frame are assumed to succeed, because they cast to the type that the
//!   verifier knew when the value was stored in the frame.
//! * Access is not checked: whether a nestmate may reach a member (`IllegalAccessError`), the
//!   caller that caller-sensitive methods see, stack traces, line tables, variable names and
//!   annotations.
//! * A dynamic constant and a call site are linked once in the original and once for all versions.
//! * The checker does not know which of its probes' counters an advice must use, which values it
//!   logs, and whether it is placed where the plan wants it.
//! * Whether an edit is allowed is decided by `patch.rs`. The meaning of an edit is implemented a
//!   second time in `reference.rs`.

mod checked;
mod class;
mod constants;
mod exit_state;
mod expected;
mod failure;
mod frame_contract;
pub mod guard;
mod liveness;
mod member_names;
mod osr_exit;
mod part_choice;
mod points;
mod probe;
mod product;
mod program;
mod reference;
mod symbolic_state;
mod value;

pub use checked::Checked;
pub use expected::Expected;
pub use failure::{Failure, Location};

use crate::arming::ArmedMethod;
use crate::classfile::ClassFile;

/// Compares an armed class with the original.
///
/// `original` is the class file as `inference::upgrade_class_file` returns it, if the file is old.
/// `anchor` is the internal name of the class that holds the cells. `methods` lists the armed methods
/// with their points.
pub fn armed_class(
    original: &ClassFile,
    armed: &ClassFile,
    anchor: &str,
    methods: &[ArmedMethod],
) -> Checked {
    class::armed(original, armed, anchor, methods)
}

/// Compares a version class with its host.
///
/// `expected` has one element per emitted method, in the order of
/// [`crate::version::VersionClass::methods`], without the refused methods.
pub fn version_class(
    host: &ClassFile,
    version: &ClassFile,
    anchor: &str,
    expected: &[Expected],
) -> Checked {
    class::version(host, version, anchor, expected)
}

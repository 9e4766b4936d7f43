//! Refusals: named reasons why Veneer left a method or class unchanged. A refusal is never an error
//! of the application.

use thiserror::Error;

/// A named refusal. Tables and reports group by [`Refusal::name`]; `Display` is the sentence for
/// the user.
#[derive(Clone, Debug, PartialEq, Error, strum::IntoStaticStr, strum::VariantNames)]
pub enum Refusal {
    /// The method is native or abstract.
    #[error("the method has no code (native or abstract)")]
    NoCode,
    /// HotSpot looks for the method on the stack, so another frame must not stand there. The value is
    /// the reason.
    #[error("the JVM knows the method by its own frame on the stack: {0}")]
    KnownByFrame(&'static str),
    /// The JDK marks the method as one that the JIT compilers may replace.
    #[error(
        "the JIT compilers replace calls of the method by code of their own, so nothing in its body would be seen"
    )]
    Intrinsic,
    /// The version of the class file, and the reason why it cannot be raised.
    #[error("class file version {0} cannot be raised to 51 (Java 7), which has invokedynamic: {1}")]
    OldClassFile(u16, String),
    /// A subroutine (`jsr`, `ret`) cannot be inlined. The value is the reason.
    #[error("a subroutine of an old class file cannot be taken apart: {0}")]
    Subroutine(String),
    /// The method, the classes that meet, and the class as which the objects are used.
    #[error(
        "in {0} objects of different classes meet ({1}) and are used as {2}; without loading classes none can be chosen for the stack map that Java 7 wants"
    )]
    Unmergeable(String, String, String),
    /// The class file is malformed.
    #[error("the class file cannot be read: {0}")]
    BrokenClass(String),
    /// The code of the method is malformed.
    #[error("the method's code cannot be read: {0}")]
    BrokenCode(String),
    /// The type inference failed.
    #[error("the types cannot be followed: {0}")]
    TypesUnknown(String),
    /// The size of the method in bytes, before and after arming.
    #[error(
        "arming would take the method from {0} to {1} bytes, over HotSpot's inlining limit of 325 for hot methods; name it in a plan to arm it all the same"
    )]
    InlineLimit(usize, usize),
    /// The size of the method in bytes, before and after.
    #[error(
        "the method would have {1} bytes instead of {0}; HotSpot does not compile methods over 8,000"
    )]
    CompileLimit(usize, usize),
    /// The type checker found an error in the emitted class.
    #[error("the type checker could not show that the JVM accepts the changed class: {0}")]
    Unverifiable(String),
    /// The method would exceed 65,535 bytes (JVMS §4.7.3).
    #[error("{0}")]
    MethodTooLarge(String),
    /// A version has one entry after `super(…)`, so it needs one such call.
    #[error("the constructor calls super(…) or this(…) in more than one place")]
    SplitConstructor,
    /// An activation with a monitor cannot leave its frame, which owns the monitor.
    #[error("a monitor is held here that was entered in this activation")]
    MonitorHeld,
    /// The analysis cannot tell which monitors are held at which instruction.
    #[error("monitors are not structured in this method")]
    UnstructuredMonitors,
    /// No other method can take such an object (JVMS §4.10.1.9).
    #[error("an object without a finished constructor is live here")]
    UninitializedObject,
    /// No other method can take `this` before it is initialised.
    #[error("the place lies before the call of super(…) or this(…)")]
    BeforeSuper,
    /// The live values at a capture point are the arguments of one call (JVMS §4.3.3).
    #[error("more live values than one call can carry (255 words)")]
    TooManyLiveValues,
    /// The version is another class, and the JVM permits such stores to the own class only.
    #[error("the method stores into the static final field {0}, which only its own class may do")]
    StaticFinal(String),
    /// The version is another class, and the JVM permits such handles to the own class only.
    #[error(
        "the method loads a handle for a method of a superclass, which only its own class may do"
    )]
    SuperHandle,
    /// A constant pool has at most 65,535 entries (JVMS §4.1).
    #[error("the class's constant pool has no room left")]
    PoolFull,
    /// The JVM rejected the anchor. The value is its exception.
    #[error("the class that holds the cells could not be defined: {0}")]
    AnchorFailed(String),
    /// The class hook of another agent runs after the agent's own one, even after that has been
    /// moved to the end.
    #[error(
        "another agent changes the code of the class after Veneer, so a version would lack its changes"
    )]
    ChangedByLaterAgent,
    /// The JVM rejected the version class. The value is its exception.
    #[error("the JVM refused the new version: {0}")]
    VersionRejected(String),
    /// The number of the fragment, and the number of fragments of the method.
    #[error("there is no fragment f{0} in the method (it has {1})")]
    UnknownFragment(u32, usize),
    /// The source and the target of the edge.
    #[error("there is no edge f{0} -> f{1}")]
    UnknownEdge(u32, u32),
    /// Only a fragment with one successor can be skipped.
    #[error("f{0} does not have exactly one successor, so there is no place to go on")]
    NoSingleSuccessor(u32),
    /// A handler begins with an exception on the operand stack, which no other fragment provides.
    #[error("f{0} is an exception handler; it cannot be edited")]
    HandlerEdited(u32),
    /// The two fragments, and the number of successors of each.
    #[error("f{0} and f{1} end in different ways ({2} and {3} successors)")]
    ShapeMismatch(u32, u32, usize, usize),
    /// The variable, and the fragment that reads it.
    #[error("at f{1} the variable {0} is live but has no value on the new way there")]
    LiveInUnavailable(String, u32),
    /// A value has another type on the new path than the fragment needs.
    #[error("at f{target} {what} would be {found}, but {wanted} is needed")]
    TypeMismatch {
        /// The fragment that reads the value.
        target: u32,
        /// The local variable or stack slot.
        what: String,
        /// The type on the new path.
        found: String,
        /// The type that the fragment needs.
        wanted: String,
    },
    /// The fragment, the code of the refusal of a capture point there, and its reason.
    #[error(
        "the edit makes a loop at f{0} that cannot have a capture point, so no activation could leave it when the edit is taken back: {2} ({1})"
    )]
    LoopWithoutPoint(u32, String, String),
    /// The first pc of the code that must stay together, its size in bytes, and the size of a part.
    #[error(
        "the method cannot be split: {1} bytes from pc {0} on have no place inside where an activation could move, and a part has at most {2} bytes"
    )]
    PartTooLarge(u16, usize, usize),
    /// A description of the place.
    #[error("the method has no virtual call {0}")]
    NoVirtualCall(String),
    /// The class, and the reason.
    #[error("calls cannot be tested for receivers of the class {0}: {1}")]
    ReceiverRefused(String, String),
    /// The parameter, or its local variable.
    #[error("the method has no {0} whose type is int, boolean, byte, short or char")]
    NoParameter(String),
    /// The local variable of the parameter.
    #[error(
        "the method assigns the parameter in local {0}, so no guard at its entry holds for all of it"
    )]
    ParameterAssigned(u16),
    /// The path. Each fragment behind its first one has one predecessor, or control comes along the path only.
    #[error(
        "the path {0} has no side entry behind its first fragment, so there is nothing to duplicate"
    )]
    NoSideEntry(String),
    /// A copy of a loop's header would be a second entry of the loop.
    #[error("f{0} is the header of a loop; a duplicated path may begin there, but not pass it")]
    PathEntersLoop(u32),
    /// The fragment with the branch, and the reason.
    #[error("the branch at the end of f{0} cannot choose a copy of its loop: {1}")]
    NotInvariant(u32, String),
    /// The header of the loop, and the handler. Each handler exists once, so an exception in a copy would come
    /// into the middle of the other one.
    #[error("the loop at f{0} catches exceptions inside, at f{1}, so it cannot be copied")]
    LoopWithHandler(u32, u32),
    /// The numbers of the two fragments.
    #[error("f{0} and f{1} hold different monitors")]
    MonitorMismatch(u32, u32),
    /// The numbers of the two fragments.
    #[error("f{0} and f{1} have different exception handlers")]
    HandlerMismatch(u32, u32),
    /// The body of the method has no capture points. The value is the reason.
    #[error("the method is not armed: {0}")]
    NotArmed(String),
    /// The largest number of counters.
    #[error("no room for more counters ({0} at most)")]
    CountersExhausted(usize),
    /// The checker found a difference (`--check`). The value is its failure.
    #[error("the emitted code was not shown to do what the original does; please report it: {0}")]
    CheckFailed(String),
    /// An invariant of Veneer is broken.
    #[error("a mistake in Veneer itself, please report it: {0}")]
    Internal(String),
}

impl Refusal {
    /// The public code: the name of the variant. Reports, `--json` and the page docs/refusals.md
    /// use the code, so a variant keeps its name.
    pub fn name(&self) -> &'static str {
        self.into()
    }
}

impl From<crate::classfile::ClassFileError> for Refusal {
    fn from(e: crate::classfile::ClassFileError) -> Self {
        match e {
            crate::classfile::ClassFileError::PoolFull => Refusal::PoolFull,
            other => Refusal::BrokenClass(other.to_string()),
        }
    }
}

impl From<crate::bytecode::DecodeError> for Refusal {
    fn from(e: crate::bytecode::DecodeError) -> Self {
        Refusal::BrokenCode(e.to_string())
    }
}

impl From<crate::types::TypeError> for Refusal {
    fn from(e: crate::types::TypeError) -> Self {
        Refusal::TypesUnknown(e.to_string())
    }
}

impl From<crate::bytecode::AssembleError> for Refusal {
    fn from(e: crate::bytecode::AssembleError) -> Self {
        match e {
            crate::bytecode::AssembleError::TooLarge(_) => Refusal::MethodTooLarge(e.to_string()),
            other => Refusal::Internal(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantNames;

    /// The codes that reports have used since the first version. A code may be added, and no code
    /// may change or go.
    const CODES: [&str; 48] = [
        "NoCode",
        "KnownByFrame",
        "Intrinsic",
        "OldClassFile",
        "Subroutine",
        "Unmergeable",
        "BrokenClass",
        "BrokenCode",
        "TypesUnknown",
        "InlineLimit",
        "CompileLimit",
        "Unverifiable",
        "MethodTooLarge",
        "SplitConstructor",
        "MonitorHeld",
        "UnstructuredMonitors",
        "UninitializedObject",
        "BeforeSuper",
        "TooManyLiveValues",
        "StaticFinal",
        "SuperHandle",
        "PoolFull",
        "AnchorFailed",
        "ChangedByLaterAgent",
        "VersionRejected",
        "UnknownFragment",
        "UnknownEdge",
        "NoSingleSuccessor",
        "HandlerEdited",
        "ShapeMismatch",
        "LiveInUnavailable",
        "TypeMismatch",
        "LoopWithoutPoint",
        "PartTooLarge",
        "NoVirtualCall",
        "ReceiverRefused",
        "NoParameter",
        "ParameterAssigned",
        "NoSideEntry",
        "PathEntersLoop",
        "NotInvariant",
        "LoopWithHandler",
        "MonitorMismatch",
        "HandlerMismatch",
        "NotArmed",
        "CountersExhausted",
        "CheckFailed",
        "Internal",
    ];

    #[test]
    fn the_codes_are_those_of_the_reports() {
        assert_eq!(Refusal::VARIANTS, CODES);
        assert_eq!(Refusal::MonitorMismatch(1, 2).name(), "MonitorMismatch");
    }

    #[test]
    fn every_code_is_explained_in_the_documents() {
        let page = include_str!("../../docs/refusals.md");
        let missing: Vec<_> = CODES.iter().filter(|c| !page.contains(**c)).collect();
        assert!(missing.is_empty(), "docs/refusals.md lacks {missing:?}");
    }
}

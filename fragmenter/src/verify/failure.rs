//! The reason why a class file does not verify.

use std::fmt;

/// The rule of JVMS §4.9 and §4.10.1 that a method breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The class file, the `Code` attribute or the instructions are malformed, or a split verifier
    /// never accepts them (`jsr`, `ret`).
    Format,
    /// An exception range or a local variable table does not begin and end on instructions.
    Ranges,
    /// The `StackMapTable` is malformed.
    StackMap,
    /// Control reaches a pc that has no frame, or the end of the code.
    MissingFrame,
    /// The types at an instruction are not assignable to the frame of the next one.
    FallThrough,
    /// The types at a branch are not assignable to the frame of its target.
    Branch,
    /// The types in an exception range are not assignable to the frame of the handler.
    Handler,
    /// The operand stack has too few values, or more than `max_stack`.
    StackDepth,
    /// An operand has the wrong type.
    Operand,
    /// A local variable has the wrong type, or lies beyond `max_locals`.
    Local,
    /// A constant-pool operand is of the wrong kind.
    Constant,
    /// A constructor is called on the wrong object, or left before `super(…)` or `this(…)`.
    Initialisation,
    /// A protected member of a superclass is accessed on an object that is not of the current
    /// class.
    Protected,
    /// The return instruction does not fit the method's descriptor.
    Return,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::Format => "the code is malformed",
            Rule::Ranges => "a range does not lie on instructions",
            Rule::StackMap => "the stack map is malformed",
            Rule::MissingFrame => "a stack-map frame is missing",
            Rule::FallThrough => "the frame does not fit the instruction before it",
            Rule::Branch => "the frame of the target does not fit the branch",
            Rule::Handler => "the frame of the handler does not fit its range",
            Rule::StackDepth => "the operand stack has the wrong depth",
            Rule::Operand => "an operand has the wrong type",
            Rule::Local => "a local variable has the wrong type",
            Rule::Constant => "a constant is of the wrong kind",
            Rule::Initialisation => "an object is not initialised as it must be",
            Rule::Protected => "a protected member is accessed on a foreign object",
            Rule::Return => "the return does not fit the descriptor",
        })
    }
}

/// The first broken rule of a class file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{method} at {pc}: {rule}: {detail}")]
pub struct VerifyFailure {
    /// Name and descriptor of the method.
    pub method: String,
    /// pc of the instruction; 0 if the method as a whole breaks the rule.
    pub pc: u16,
    /// The violated rule of the specification.
    pub rule: Rule,
    /// The types or numbers in question.
    pub detail: String,
}

/// A broken rule, before the method and the pc are known.
#[derive(Debug)]
pub(super) struct Fault {
    pub rule: Rule,
    pub detail: String,
}

impl Rule {
    /// Returns an error for this rule.
    pub(super) fn fail<T>(self, detail: impl Into<String>) -> Result<T, Fault> {
        Err(self.fault(detail))
    }

    pub(super) fn fault(self, detail: impl Into<String>) -> Fault {
        Fault {
            rule: self,
            detail: detail.into(),
        }
    }
}

impl From<crate::classfile::ClassFileError> for Fault {
    fn from(error: crate::classfile::ClassFileError) -> Fault {
        Rule::Constant.fault(error.to_string())
    }
}

//! Why the meaning of an instruction's constant cannot be determined.

use crate::Refusal;
use crate::classfile::ClassFileError;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Error)]
pub(in crate::check) enum ConstantError {
    #[error(transparent)]
    ClassFile(#[from] ClassFileError),
    /// The attribute `BootstrapMethods` cannot be read.
    #[error(transparent)]
    Bootstrap(#[from] Refusal),
    /// The instruction names no constant.
    #[error("opcode {0}")]
    Opcode(u8),
    #[error("no such bootstrap method")]
    NoBootstrapMethod,
    /// A constant of another kind, in its debug form.
    #[error("{0} where a class is needed")]
    NoClass(String),
    /// A constant of another kind, in its debug form.
    #[error("{0} is no constant to load")]
    NotLoadable(String),
    #[error("constants that refer to each other in a circle")]
    Circle,
    /// A relinked call site marks an argument as a special handle that is no such handle.
    #[error("a special handle that is none")]
    NoSpecialHandle,
}

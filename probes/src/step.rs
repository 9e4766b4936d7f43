//! The steps of a compiled probe. Each step becomes one to a few bytecode instructions.

use veneer_names::{FieldDescriptor, FieldKind, OBJECT_DESCRIPTOR, Primitive};

/// A jump target in the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// The JVM's computational type of a value, in local variables and on the operand stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComputationalType {
    /// A value of 32 bits: `int` or a smaller type.
    Int,
    /// An integer of 64 bits, which takes two words.
    Long,
    /// A floating-point number of 32 bits.
    Float,
    /// A floating-point number of 64 bits, which takes two words.
    Double,
    /// A reference to an object or an array.
    Reference,
}

impl ComputationalType {
    /// Returns the computational type for a descriptor; `None` if the text is not a type
    /// descriptor.
    pub fn from_descriptor(descriptor: &str) -> Option<Self> {
        Some(match FieldDescriptor::parse(descriptor).ok()?.kind() {
            FieldKind::Primitive(Primitive::Long) => Self::Long,
            FieldKind::Primitive(Primitive::Float) => Self::Float,
            FieldKind::Primitive(Primitive::Double) => Self::Double,
            FieldKind::Primitive(_) => Self::Int,
            FieldKind::Class(_) | FieldKind::Array(_) => Self::Reference,
        })
    }

    /// The number of stack words or local-variable slots: 2 for `long` and `double`, otherwise 1.
    pub fn words(self) -> u16 {
        1 + u16::from(matches!(self, Self::Long | Self::Double))
    }

    /// The descriptor of a parameter of this type. References are passed as `Object`.
    pub fn descriptor(self) -> &'static str {
        match self {
            Self::Int => "I",
            Self::Long => "J",
            Self::Float => "F",
            Self::Double => "D",
            Self::Reference => OBJECT_DESCRIPTOR,
        }
    }
}

/// A method of the application that a probe calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callee {
    /// The class named in the call instruction, as an internal name.
    pub owner: String,
    /// Whether the owner is an interface.
    pub is_interface: bool,
    /// The simple name of the method.
    pub name: String,
    /// The descriptor of the method.
    pub descriptor: String,
}

/// A runtime class whose static methods probes call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelperClass {
    /// `VeneerProbe`: reads values of the application.
    Probe,
    /// `VeneerTables`: writes to tables.
    Tables,
    /// `VeneerThreads`: per-thread stacks.
    Threads,
}

/// One step of a probe. Local variables are the slots of the probe's own method.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeStep {
    /// Pushes a boolean or another small `int`.
    Int(i32),
    /// Pushes a `long`.
    Long(i64),
    /// Pushes a `double`.
    Double(f64),
    /// Pushes a string constant.
    Text(String),
    /// Pushes `null`.
    Null,
    /// Pushes a local variable.
    Load(ComputationalType, u16),
    /// Pops a value into a local variable.
    Store(ComputationalType, u16),
    /// An instruction without operands in the code, by its opcode (JVMS 6.5).
    Plain(u8),
    /// Calls a static method of a runtime class.
    Helper {
        /// The class that declares the method.
        of: HelperClass,
        /// The simple name of the method.
        name: &'static str,
        /// The descriptor of the method.
        descriptor: String,
    },
    /// Treats the object on the stack as an instance of this class (internal name, or the
    /// descriptor of an array). The object always is one.
    Cast(String),
    /// Calls a method of the application on a non-null object on the stack.
    Invoke(Callee),
    /// Pushes the table with this number.
    /// [`ProbeMethod::with_table_addresses`](crate::ProbeMethod::with_table_addresses) replaces the
    /// step by the table's address.
    Table(u32),
    /// Pushes the offset, in the thread's counters, of the word after the counter of the point.
    /// [`ProbeMethod::with_own_word`](crate::ProbeMethod::with_own_word) replaces the step by the offset.
    OwnWord,
    /// Pops an `int` and jumps to the label if the value is 0.
    IfZero(Label),
    /// Jumps to the label.
    Goto(Label),
    /// Defines the position of a label. The operand stack is empty there.
    BindLabel(Label),
    /// Returns from the probe.
    Return,
}

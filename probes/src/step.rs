//! The steps of a compiled probe: one to a few bytecodes each.

/// A place in the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// How a value is kept in local variables and on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Kind {
    Int,
    Long,
    Float,
    Double,
    Reference,
}

impl Kind {
    /// How a value of a Java type is kept. `None` of what is no type.
    pub fn of(descriptor: &str) -> Option<Self> {
        Some(match descriptor.as_bytes().first()? {
            b'Z' | b'B' | b'S' | b'C' | b'I' => Self::Int,
            b'J' => Self::Long,
            b'F' => Self::Float,
            b'D' => Self::Double,
            b'L' | b'[' => Self::Reference,
            _ => return None,
        })
    }

    /// Words of the stack and of local variables.
    pub fn words(self) -> u16 {
        1 + u16::from(matches!(self, Self::Long | Self::Double))
    }

    /// The descriptor under which it is handed on; references are `Object`s.
    pub fn descriptor(self) -> &'static str {
        match self {
            Self::Int => "I",
            Self::Long => "J",
            Self::Float => "F",
            Self::Double => "D",
            Self::Reference => "Ljava/lang/Object;",
        }
    }
}

/// A method of the application's objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Callee {
    /// The class by which it is called, internal name.
    pub owner: String,
    /// Whether that is an interface.
    pub is_interface: bool,
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
}

/// A class of the runtime that probes call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// What reads the application's values.
    Probe,
    /// What is given to tables.
    Tables,
    /// What threads keep for themselves.
    Threads,
}

/// One step. Local variables are those of the probe's own method, by word.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A boolean or another small number.
    Int(i32),
    /// An integer.
    Long(i64),
    /// A floating-point number.
    Double(f64),
    /// A string constant.
    Text(String),
    /// Null.
    Null,
    /// Puts a local variable on the stack.
    Load(Kind, u16),
    /// Takes one off.
    Store(Kind, u16),
    /// An operation without operands in the code, by its opcode (JVMS 6.5).
    Plain(u8),
    /// A static method of the runtime.
    Helper {
        /// Of which class.
        of: Owner,
        /// Its name.
        name: &'static str,
        /// Its descriptor.
        descriptor: String,
    },
    /// Takes the object on the stack for one of this class (internal name, or the descriptor of an array), which it is.
    Cast(String),
    /// A method of the application, of an object on the stack that is not null.
    Invoke(Callee),
    /// The number of a table.
    Table(u32),
    /// Takes an int off the stack, and goes on there if it is 0.
    IfZero(Label),
    /// Goes on there.
    Goto(Label),
    /// A place; the stack is empty.
    Here(Label),
    /// The end.
    Return,
}

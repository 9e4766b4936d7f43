//! Calls and allocations with their sites.

use std::fmt;

use crate::method::MethodId;

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallKind {
    /// `invokestatic`
    Static,
    /// `invokespecial`: constructors, private methods, `super.m()`
    Special,
    /// `invokevirtual`
    Virtual,
    /// `invokeinterface`
    Interface,
    /// `invokedynamic`: the call of the method that the call site is linked to
    Dynamic,
    /// The first use of a class, which runs its static initialiser.
    Initialiser,
    /// `Method.invoke`, `Constructor.newInstance` and serialisation.
    Reflection,
    /// A call through a `MethodHandle`.
    Handle,
    /// A call from native code through JNI.
    Native,
    /// A task that was passed to another thread. The time of the task is not part of the time of
    /// the method that submitted it.
    Handover,
    /// A kind that this version does not know.
    Other,
}

impl CallKind {
    /// All kinds, by their number in the file. [`CallKind::Other`] stands for all further numbers.
    pub const ALL: [CallKind; 11] = [
        CallKind::Static,
        CallKind::Special,
        CallKind::Virtual,
        CallKind::Interface,
        CallKind::Dynamic,
        CallKind::Initialiser,
        CallKind::Reflection,
        CallKind::Handle,
        CallKind::Native,
        CallKind::Handover,
        CallKind::Other,
    ];

    /// The word for the kind in all formats.
    pub fn name(self) -> &'static str {
        match self {
            CallKind::Static => "static",
            CallKind::Special => "special",
            CallKind::Virtual => "virtual",
            CallKind::Interface => "interface",
            CallKind::Dynamic => "dynamic",
            CallKind::Initialiser => "initialiser",
            CallKind::Reflection => "reflection",
            CallKind::Handle => "handle",
            CallKind::Native => "native",
            CallKind::Handover => "handover",
            CallKind::Other => "other",
        }
    }

    pub(crate) fn code(self) -> u64 {
        Self::ALL
            .iter()
            .position(|kind| *kind == self)
            .unwrap_or(Self::ALL.len()) as u64
    }

    pub(crate) fn from_code(code: u64) -> CallKind {
        let kind = usize::try_from(code)
            .ok()
            .and_then(|code| Self::ALL.get(code));
        kind.copied().unwrap_or(CallKind::Other)
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The place of a call or an allocation in a method. A part is `None` if it is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The bytecode index of the instruction in the original method.
    pub bci: Option<u16>,
    /// The line in the source file.
    pub line: Option<u16>,
}

impl Site {
    /// A site with both parts.
    pub fn at(bci: u16, line: u16) -> Site {
        Site {
            bci: Some(bci),
            line: Some(line),
        }
    }
}

/// An edge of the call graph: the calls from one site to one method.
///
/// Two edges are the same if caller, bytecode index, callee and kind are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEdge {
    /// The method that contains the site.
    pub caller: MethodId,
    /// The place of the call in the caller.
    pub site: Site,
    /// The method that was entered.
    pub callee: MethodId,
    /// The instruction, or the other way in which the method was called.
    pub kind: CallKind,
    /// The number of calls.
    pub count: u64,
}

/// An allocation site and the type that it allocates.
///
/// Two allocations are the same if method, bytecode index and type are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// The method that contains the site.
    pub method: MethodId,
    /// The place of the instruction in the method.
    pub site: Site,
    /// The type as in Java sources: `a.B`, `int[]`.
    pub type_name: String,
    /// The number of objects.
    pub count: u64,
}

/// A class whose calls were not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnseenClass {
    /// The class with dots.
    pub class: String,
    /// The reason, for people.
    pub reason: String,
}

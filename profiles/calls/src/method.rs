//! Methods and the class loaders of their classes.
//!
//! Two methods are the same if their loader, class, name and descriptor are the same. A loader is
//! identified by its name and a number, because a JVM can have many loaders of one name.

use std::fmt;

/// The index of a loader in its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoaderId(pub u32);

/// The index of a method in its profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId(pub u32);

impl MethodId {
    /// The index as a position in [`crate::CallProfile::methods`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LoaderId {
    /// The index as a position in [`crate::CallProfile::loaders`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A class loader.
///
/// If a class is unloaded and loaded again, another loader has loaded it, because the JVM unloads
/// classes only with their loader (JLS 12.7). So a class that returns has another number here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loader {
    /// `bootstrap`, `platform`, `app`, or the class of the loader.
    pub name: String,
    /// Distinguishes loaders of one name. The first loader of a name has number 1.
    pub number: u32,
}

impl fmt::Display for Loader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            0 | 1 => f.write_str(&self.name),
            number => write!(f, "{}#{number}", self.name),
        }
    }
}

/// The implementation of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MethodForm {
    /// The method has bytecode.
    #[default]
    Bytecode,
    /// The method is native. Its calls are counted where it is called.
    Native,
    /// No method, but the sum of calls or contexts that a bounded table could not distinguish. The
    /// name says which calls or contexts these are.
    Overflow,
}

impl MethodForm {
    /// The number in the file.
    pub(crate) fn code(self) -> u8 {
        match self {
            MethodForm::Bytecode => 0,
            MethodForm::Native => 1,
            MethodForm::Overflow => 2,
        }
    }

    /// The form of a number in the file; `None` if the number has no meaning.
    pub(crate) fn from_code(code: u64) -> Option<MethodForm> {
        [
            MethodForm::Bytecode,
            MethodForm::Native,
            MethodForm::Overflow,
        ]
        .into_iter()
        .find(|form| u64::from(form.code()) == code)
    }
}

/// The identity of a method within a profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodName {
    /// The class with dots: `a.b.Outer$Inner`. Empty for [`MethodForm::Overflow`].
    pub class: String,
    /// The name: `m`, `<init>`, `<clinit>`.
    pub method: String,
    /// The descriptor (JVMS 4.3.3): `(I)V`. Empty for [`MethodForm::Overflow`].
    pub descriptor: String,
}

impl MethodName {
    /// A name from its three parts.
    pub fn new(class: &str, method: &str, descriptor: &str) -> MethodName {
        MethodName {
            class: class.into(),
            method: method.into(),
            descriptor: descriptor.into(),
        }
    }

    /// The package with dots; empty for the unnamed package.
    pub fn package(&self) -> &str {
        self.class
            .rsplit_once('.')
            .map_or("", |(package, _)| package)
    }
}

impl fmt::Display for MethodName {
    /// Writes `a.B::m(int)`, with types as in Java sources.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.class.is_empty() {
            return write!(f, "[{}]", self.method);
        }
        let method = format!("{}{}", self.method, self.descriptor);
        let method = veneer_names::java_signature(&method);
        write!(f, "{}::{method}", self.class)
    }
}

/// A method and the number of its entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// The loader of the class.
    pub loader: LoaderId,
    /// Class, name and descriptor.
    pub name: MethodName,
    /// The way in which the method is implemented.
    pub form: MethodForm,
    /// The size of the bytecode in bytes, if it is known.
    pub code_bytes: Option<u32>,
    /// The number of entries, if it was counted in the method itself. It includes the entries from
    /// callers that were not recorded.
    pub entries: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_in_sources() {
        let name = MethodName::new("a.Größe$Ä", "m", "(I[Ljava/lang/String;)V");
        assert_eq!(name.to_string(), "a.Größe$Ä::m(int, java.lang.String[])");
        assert_eq!(name.package(), "a");
        assert_eq!(MethodName::new("Main", "main", "()V").package(), "");
        let overflow = MethodName::new("", "beyond 64 receivers", "");
        assert_eq!(overflow.to_string(), "[beyond 64 receivers]");
    }

    #[test]
    fn loaders_of_one_name_differ_by_their_number() {
        let loader = |number| Loader {
            name: "app".into(),
            number,
        };
        assert_eq!(loader(1).to_string(), "app");
        assert_eq!(loader(2).to_string(), "app#2");
    }
}

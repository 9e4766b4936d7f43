//! Class names in internal form (`java/lang/String`) and in Java form (`java.lang.String`).

use crate::name_error::NameError;
use crate::raw;
use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The name of a class or interface in internal form: `java/util/Map$Entry` (JVMS §4.2.1). Arrays
/// have no such name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassName(Arc<str>);

impl ClassName {
    /// Checks a name in internal form.
    ///
    /// # Errors
    /// If the text is not a class name of JVMS §4.2.1.
    pub fn parse(internal: &str) -> Result<ClassName, NameError> {
        match raw::class_name_end(internal.as_bytes(), 0)? {
            end if end == internal.len() => Ok(ClassName(internal.into())),
            at => Err(NameError::Forbidden { character: ';', at }),
        }
    }

    /// The internal form: `java/util/Map$Entry`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The Java form: `java.util.Map$Entry`.
    pub fn java_form(&self) -> JavaClassName {
        JavaClassName(java_form(&self.0).into())
    }
}

impl Borrow<str> for ClassName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a class or interface in Java form, as `Class.getName` returns it:
/// `java.util.Map$Entry`. A hidden class has a `/` before its suffix: `a.b.C/0x0123`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JavaClassName(Arc<str>);

impl JavaClassName {
    /// The Java form: `java.util.Map$Entry`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared with this name.
    pub fn shared(&self) -> Arc<str> {
        self.0.clone()
    }
}

impl fmt::Display for JavaClassName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The Java form of a class name in internal form. The function checks nothing, so that messages can
/// show the names of malformed class files.
pub fn java_form(internal: &str) -> String {
    internal.replace('/', ".")
}

/// The internal form of a class name in Java form. The function checks nothing: a plan may name
/// classes that cannot exist.
pub fn internal_form(java: &str) -> String {
    java.replace('.', "/")
}

/// The part of an internal name after the last `/`: `Map$Entry` of `java/util/Map$Entry`.
pub fn simple_name(internal: &str) -> &str {
    internal.rsplit_once('/').map_or(internal, |(_, last)| last)
}

/// The field descriptor of a type that a `Class` constant names (JVMS §4.4.1): an array is its own
/// descriptor, and any other name is an internal class name.
pub fn type_descriptor(name: &str) -> String {
    if name.starts_with('[') {
        name.to_owned()
    } else {
        format!("L{name};")
    }
}

/// The name by which a `Class` constant names a reference type (JVMS §4.4.1): the internal name of a
/// class, or the descriptor of an array. A descriptor of another type is unchanged.
pub fn constant_name(descriptor: &str) -> &str {
    class_in_type_descriptor(descriptor).unwrap_or(descriptor)
}

/// The constant name of an array's components; `None` for arrays of primitive values, and for names
/// of classes.
pub fn component_name(array: &str) -> Option<&str> {
    let component = array.strip_prefix('[')?;
    raw::is_reference(component.as_bytes()).then(|| constant_name(component))
}

/// The descriptor of the arrays whose components have this constant name.
pub fn array_of(component: &str) -> String {
    format!("[{}", type_descriptor(component))
}

/// The text between `L` and `;` of a type descriptor or of a class signature from JVMTI. `None` for
/// arrays and primitive types. The signature of a hidden class has a `.` in this text.
pub fn class_in_type_descriptor(descriptor: &str) -> Option<&str> {
    descriptor.strip_prefix('L')?.strip_suffix(';')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_name_has_three_forms() {
        let name = ClassName::parse("java/util/Map$Entry").unwrap();
        assert_eq!(name.as_str(), "java/util/Map$Entry");
        assert_eq!(name.to_string(), "java/util/Map$Entry");
        assert_eq!(name.java_form().as_str(), "java.util.Map$Entry");
        assert_eq!(type_descriptor(name.as_str()), "Ljava/util/Map$Entry;");
        assert_eq!(simple_name(name.as_str()), "Map$Entry");
        assert_eq!(simple_name("Main"), "Main");
    }

    #[test]
    fn names_that_the_specification_forbids_are_refused() {
        assert_eq!(ClassName::parse(""), Err(NameError::Empty));
        for (text, at) in [("/A", 0), ("a//B", 2), ("a/", 2)] {
            assert_eq!(ClassName::parse(text), Err(NameError::EmptyPart { at }));
        }
        for (text, character, at) in [("a.B", '.', 1), ("[I", '[', 0), ("a/B;", ';', 3)] {
            let forbidden = NameError::Forbidden { character, at };
            assert_eq!(ClassName::parse(text), Err(forbidden));
        }
        // The specification allows almost every other character.
        for odd in ["a)b", "a(b", "<x>", "ä/ö", "a b", "a/B+0x1"] {
            assert!(ClassName::parse(odd).is_ok(), "{odd}");
        }
    }

    #[test]
    fn a_constant_names_classes_and_arrays() {
        assert_eq!(type_descriptor("a/B"), "La/B;");
        assert_eq!(type_descriptor("[[La/B;"), "[[La/B;");
        assert_eq!(
            (array_of("a/B"), array_of("[I")),
            ("[La/B;".into(), "[[I".into())
        );
        assert_eq!(class_in_type_descriptor("La/B;"), Some("a/B"));
        assert_eq!(class_in_type_descriptor("[La/B;"), None);
        assert_eq!(class_in_type_descriptor("J"), None);
        assert_eq!(
            (constant_name("La/B;"), constant_name("[La/B;")),
            ("a/B", "[La/B;")
        );
        assert_eq!(
            (component_name("[[La/B;"), component_name("[La/B;")),
            (Some("[La/B;"), Some("a/B"))
        );
        assert_eq!((component_name("[J"), component_name("a/B")), (None, None));
    }
}

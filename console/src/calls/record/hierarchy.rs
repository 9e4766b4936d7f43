//! Finds the method that a call runs, from the supertypes of the recorded classes.
//!
//! The rules are those of the JVM (JVMS §5.4.6): a method of the receiver's class or of its nearest
//! superclass, or else the one method of its superinterfaces that is more specific than all others.
//! The agent knows the supertypes of a class as a set. The superclasses in it are ordered by
//! inclusion: a class has more supertypes than each of its superclasses.

use std::collections::HashMap;

use veneer_protocol::data::{ClassFacts, MethodFacts};

/// The number of characters of a class name that tables of the agent store.
const TABLE_TEXT_CHARS: usize = 64;

const OBJECT: &str = "java.lang.Object";

/// The methods of `java.lang.Object` that no class overrides.
const FINAL_METHODS_OF_OBJECT: [&str; 6] = [
    "getClass()Ljava/lang/Class;",
    "notify()V",
    "notifyAll()V",
    "wait()V",
    "wait(J)V",
    "wait(JI)V",
];

const ENUM: &str = "java.lang.Enum";

/// The methods of `java.lang.Enum` that no class overrides.
const FINAL_METHODS_OF_ENUM: [&str; 6] = [
    "name()Ljava/lang/String;",
    "ordinal()I",
    "equals(Ljava/lang/Object;)Z",
    "hashCode()I",
    "compareTo(Ljava/lang/Enum;)I",
    "getDeclaringClass()Ljava/lang/Class;",
];

/// Whether a virtual call can select the method in a class below its own.
fn is_selectable(method: &MethodFacts) -> bool {
    !method.flags.contains("private") && !method.flags.contains("static")
}

/// The recorded classes with their methods.
#[derive(Clone, Debug, Default)]
pub struct Hierarchy {
    classes: HashMap<String, ClassFacts>,
}

impl Hierarchy {
    /// Adds a class. Facts of another class of the same name (in another loader) are replaced.
    pub fn add(&mut self, facts: ClassFacts) {
        self.classes.insert(facts.name.clone(), facts);
    }

    /// Adds supertypes of a known class.
    pub fn add_supertypes(&mut self, class: &str, supertypes: impl Iterator<Item = String>) {
        if let Some(facts) = self.classes.get_mut(class) {
            facts.supertypes.extend(supertypes);
        }
    }

    /// Whether the class is known.
    pub fn contains(&self, class: &str) -> bool {
        self.classes.contains_key(class)
    }

    /// The size of a method's bytecode in bytes, if it is known.
    pub fn code_bytes(&self, class: &str, method: &str) -> Option<u32> {
        let facts = self.declared(class, method)?;
        (!facts.native).then_some(facts.size)
    }

    /// Whether the method is known to be native.
    pub fn is_native(&self, class: &str, method: &str) -> bool {
        self.declared(class, method)
            .is_some_and(|facts| facts.native)
    }

    /// The class with dots whose method a call of `method` on an object of the class `receiver`
    /// runs. `named` is the class that the instruction names. `None` if no recorded method is
    /// selected, or if several methods of interfaces are.
    pub fn selected(&self, receiver: &str, named: &str, method: &str) -> Option<&str> {
        // A private method is called although the instruction is `invokevirtual` (JDK 11 and later).
        if let Some((class, _)) = self.classes.get_key_value(named)
            && self
                .declared(named, method)
                .is_some_and(|facts| facts.flags.contains("private"))
        {
            return Some(class);
        }
        self.nearest(receiver, |class| {
            self.declared(class, method).is_some_and(is_selectable)
        })
    }

    /// The class with dots that was not recorded and from which the recorded class `receiver`
    /// inherits `method`, if no recorded class declares the method. `None` if it can be one of
    /// several classes.
    pub fn unrecorded_owner(&self, receiver: &str, method: &str) -> Option<&str> {
        let facts = self.classes.get(receiver)?;
        let all = facts.supertypes.iter().map(String::as_str);
        let mut unrecorded = all.filter(|name| !self.classes.contains_key(*name));
        if FINAL_METHODS_OF_OBJECT.contains(&method) {
            return unrecorded.find(|name| *name == OBJECT);
        }
        if FINAL_METHODS_OF_ENUM.contains(&method)
            && let Some(name) = facts.supertypes.get(ENUM)
        {
            return Some(name);
        }
        match (unrecorded.next(), unrecorded.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }

    /// The class with dots whose method `invokestatic` and `invokespecial` call if they name
    /// `class` (JVMS §5.4.3.3). `None` if no recorded method is found.
    pub fn resolved(&self, class: &str, method: &str) -> Option<&str> {
        self.nearest(class, |class| self.declared(class, method).is_some())
    }

    /// The whole class name of a text in a table. A table stores the beginning of long names. If no
    /// known name has this beginning, or if several have, the text is returned with `…`.
    pub fn whole_name(&self, text: &str) -> String {
        if text.chars().count() < TABLE_TEXT_CHARS || self.classes.contains_key(text) {
            return text.into();
        }
        let mut all = self.classes.keys().filter(|name| name.starts_with(text));
        match (all.next(), all.next()) {
            (Some(only), None) => only.clone(),
            _ => format!("{text}…"),
        }
    }

    fn declared(&self, class: &str, method: &str) -> Option<&MethodFacts> {
        let facts = self.classes.get(class)?;
        facts.methods.iter().find(|facts| facts.method == method)
    }

    /// The class itself, its nearest superclass or its most specific superinterface that holds.
    fn nearest(&self, class: &str, holds: impl Fn(&str) -> bool) -> Option<&str> {
        let facts = self.classes.get(class)?;
        let above = facts.supertypes.iter();
        let above = above.filter_map(|name| self.classes.get(name));
        let candidates: Vec<&ClassFacts> = std::iter::once(facts)
            .chain(above)
            .filter(|facts| holds(&facts.name))
            .collect();
        let is_interface = |facts: &&&ClassFacts| facts.flags.contains("interface");
        let superclasses = candidates.iter().filter(|facts| !is_interface(facts));
        let superclass = superclasses.max_by_key(|facts| facts.supertypes.len());
        if let Some(found) = superclass {
            return Some(&found.name);
        }
        let is_below = |one: &ClassFacts, other: &ClassFacts| one.supertypes.contains(&other.name);
        let mut specific = candidates
            .iter()
            .filter(|facts| !candidates.iter().any(|other| is_below(other, facts)));
        match (specific.next(), specific.next()) {
            (Some(only), None) => Some(&only.name),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, flags: &str, supertypes: &[&str], methods: &[(&str, &str)]) -> ClassFacts {
        let words = |text: &str| text.split_whitespace().map(String::from).collect();
        ClassFacts {
            name: name.into(),
            supertypes: supertypes.iter().map(|name| (*name).into()).collect(),
            flags: words(flags),
            methods: methods
                .iter()
                .map(|(method, flags)| MethodFacts {
                    method: (*method).into(),
                    size: 1,
                    flags: words(flags),
                    native: flags.contains("native"),
                })
                .collect(),
        }
    }

    /// `Leaf extends Middle extends Base`, `Leaf implements Sub extends Super`.
    fn hierarchy() -> Hierarchy {
        let mut all = Hierarchy::default();
        let object = "java.lang.Object";
        for facts in [
            class(
                "Base",
                "",
                &[object],
                &[
                    ("m()V", ""),
                    ("n()V", ""),
                    ("p()V", "private"),
                    ("s()V", "static"),
                ],
            ),
            class(
                "Middle",
                "abstract",
                &[object, "Base"],
                &[("m()V", ""), ("p()V", "")],
            ),
            class(
                "Leaf",
                "",
                &[object, "Base", "Middle", "Sub", "Super"],
                &[("own()V", "")],
            ),
            class(
                "Super",
                "interface",
                &[object],
                &[("d()V", ""), ("n()V", ""), ("e()V", "")],
            ),
            class("Sub", "interface", &[object, "Super"], &[("d()V", "")]),
            class("Other", "interface", &[object], &[("e()V", "")]),
            class("Both", "", &[object, "Other", "Super"], &[]),
        ] {
            all.add(facts);
        }
        all
    }

    #[test]
    fn a_method_that_no_recorded_class_declares_is_of_the_only_unrecorded_one() {
        let mut all = hierarchy();
        let supertypes = ["java.lang.Object", "java.util.TimerTask"];
        all.add(class("Task", "", &supertypes, &[]));
        let constant = ["java.lang.Comparable", "java.lang.Enum", "java.lang.Object"];
        all.add(class("Level", "enum", &constant, &[]));
        let object = Some("java.lang.Object");
        for (receiver, method, expected) in [
            ("Leaf", "getClass()Ljava/lang/Class;", object),
            ("Leaf", "hashCode()I", object),
            ("Task", "getClass()Ljava/lang/Class;", object),
            ("Task", "hashCode()I", None),
            ("Level", "ordinal()I", Some("java.lang.Enum")),
            ("Level", "toString()Ljava/lang/String;", None),
            ("Unknown", "hashCode()I", None),
        ] {
            let found = all.unrecorded_owner(receiver, method);
            assert_eq!(found, expected, "{method} on {receiver}");
        }
    }

    #[test]
    fn the_nearest_class_wins_over_interfaces() {
        let all = hierarchy();
        for (receiver, named, method, expected) in [
            ("Leaf", "Leaf", "own()V", Some("Leaf")),
            ("Leaf", "Base", "m()V", Some("Middle")),
            ("Base", "Base", "m()V", Some("Base")),
            // The class method has priority over the default method of the interface.
            ("Leaf", "Super", "n()V", Some("Base")),
            ("Leaf", "Super", "d()V", Some("Sub")),
            // A private method is not overridden and does not override.
            ("Leaf", "Base", "p()V", Some("Base")),
            ("Leaf", "Middle", "p()V", Some("Middle")),
            ("Leaf", "Leaf", "s()V", None),
            ("Both", "Super", "e()V", None),
            ("Leaf", "Leaf", "missing()V", None),
            ("Unknown", "Base", "m()V", None),
        ] {
            let found = all.selected(receiver, named, method);
            assert_eq!(found, expected, "{named}.{method} on {receiver}");
        }
    }

    #[test]
    fn native_methods_are_selected_and_have_no_size() {
        let mut all = hierarchy();
        let supertypes = ["java.lang.Object", "Base"];
        let methods = [("m()V", "native"), ("own()V", "")];
        all.add(class("Low", "", &supertypes, &methods));
        assert_eq!(all.selected("Low", "Base", "m()V"), Some("Low"));
        assert!(all.is_native("Low", "m()V") && !all.is_native("Low", "own()V"));
        assert_eq!(all.code_bytes("Low", "m()V"), None);
        assert_eq!(all.code_bytes("Low", "own()V"), Some(1));
    }

    #[test]
    fn static_and_special_calls_find_inherited_methods() {
        let all = hierarchy();
        assert_eq!(all.resolved("Leaf", "s()V"), Some("Base"));
        assert_eq!(all.resolved("Middle", "m()V"), Some("Middle"));
        assert_eq!(all.resolved("Leaf", "missing()V"), None);
    }

    #[test]
    fn a_cut_name_is_completed_if_it_is_unique() {
        let mut all = hierarchy();
        let long = format!("p.{}", "x".repeat(70));
        let cut: String = long.chars().take(TABLE_TEXT_CHARS).collect();
        assert_eq!(all.whole_name(&cut), format!("{cut}…"));
        all.add(class(&long, "", &[], &[]));
        assert_eq!(all.whole_name(&cut), long);
        all.add(class(&format!("{long}y"), "", &[], &[]));
        assert_eq!(all.whole_name(&cut), format!("{cut}…"));
        assert_eq!(all.whole_name("Leaf"), "Leaf");
    }
}

//! The type whose objects are followed, and the plan that follows them.

use std::process;
use std::str::FromStr;

use thiserror::Error;
use veneer_client::plan_text::literal;
use veneer_instruments::{MethodPattern, PatternError};

/// The most points of each instrument.
const MAX_POINTS: u32 = 5_000_000;
/// The pattern of the methods whose uses are observed by default.
const EVERY_METHOD: &str = "*..*";
/// Primitive types of Java.
const PRIMITIVES: [&str; 8] = [
    "boolean", "byte", "char", "short", "int", "long", "float", "double",
];

/// Why objects of a type cannot be followed.
#[derive(Debug, Error)]
pub enum TypeError {
    #[error(
        "arrays are not followed, because they have no constructor; name the class that has the array"
    )]
    Array,
    #[error("a primitive type has no objects")]
    Primitive,
    #[error("write a class such as shop.Order, shop.Order+ (with subclasses) or 'shop..*'")]
    Method,
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

/// A class, or a pattern of classes, whose objects are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FollowedType {
    text: String,
}

impl FromStr for FollowedType {
    type Err = TypeError;

    fn from_str(text: &str) -> Result<FollowedType, TypeError> {
        if text.contains('[') {
            return Err(TypeError::Array);
        }
        if PRIMITIVES.contains(&text) {
            return Err(TypeError::Primitive);
        }
        let base = text.strip_suffix('+').unwrap_or(text);
        if base.is_empty() || base.contains('+') || text.contains(['(', ':', ' ', '@', '!']) {
            return Err(TypeError::Method);
        }
        MethodPattern::parse(text)?;
        Ok(FollowedType { text: text.into() })
    }
}

impl FollowedType {
    /// The pattern, as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the instruments of this process.
    pub fn instrument_name() -> String {
        format!("lifetimes for {}", process::id())
    }

    /// The plan that follows the objects. `within` are patterns of the methods whose uses and allocations
    /// are observed. The plan has the handles of its instruments in `handles`, and their recording in
    /// `recording`.
    ///
    /// A field is selected by the class that the code names, which may be a superclass or, for
    /// `shop.Order+`, a subclass. The plan looks for these among the loaded classes, and later again.
    pub fn plan(&self, within: &[String]) -> String {
        let base = self.text.strip_suffix('+').unwrap_or(&self.text);
        let patterns: Vec<String> = match within {
            [] => vec![literal(EVERY_METHOD)],
            given => given.iter().map(|pattern| literal(pattern)).collect(),
        };
        format!(
            r#"let name = {name};
let m = methods([{within}]).limit({MAX_POINTS});
let handles = [];
let watched = [];
let made = [];
let watch = |class| {{
    if watched.contains(class) {{ return; }}
    watched.push(class);
    handles.push(m.reads(class + ".*").before(code(|p| object_used(p.object)).named(name)));
    handles.push(m.writes(class + ".*").before(code(|p| object_used(p.object)).named(name)));
    // An interface can have static methods only.
    try {{
        handles.push(methods(class + "::*(..)").entry().before(code(|p| object_used(p.self)).named(name)));
    }} catch (e) {{}}
}};
let note_made = |class| {{
    if made.contains(class) {{ return; }}
    made.push(class);
    handles.push(m.calls(class + "::<init>(..)").after(code(|p| object_born(p.result)).named(name)));
}};
let is_foreign = |class| ["java.", "javax.", "jdk.", "sun.", "com.sun."].some(|start| class.starts_with(start));
let found = [];
let add_relatives = |c| {{
    found.push(c.name);
    if {has_subtypes} {{ watch.call(c.name); note_made.call(c.name); }}
    for above in c.supertypes {{ if !is_foreign.call(above) {{ watch.call(above); }} }}
}};
let find_relatives = || for one in methods({constructors}).list() {{
    if found.contains(one.class) {{ continue; }}
    for c in classes(one.class + "::<init>(..)") {{ add_relatives.call(c); }}
}};
watch.call({base});
// This arms the classes that are loaded, so that their methods are listed.
for c in classes({constructors}) {{ add_relatives.call(c); }}
note_made.call({base});
handles.push(methods({constructors}).exits().before(code(|p| object_constructed(p.self)).named(name)));
let recording = handles[0].recording().directory;
every({RELATIVES_INTERVAL}, || if {has_several} || found.is_empty() {{ find_relatives.call(); }});
"#,
            name = literal(&Self::instrument_name()),
            within = patterns.join(", "),
            base = literal(base),
            has_several = self.text.contains(['+', '*']) || self.text.contains(".."),
            has_subtypes = self.text.ends_with('+'),
            constructors = literal(&format!("{}::<init>(..)", self.text)),
        )
    }
}

/// The interval in seconds at which the plan looks for superclasses and subclasses.
const RELATIVES_INTERVAL: &str = "0.1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_a_class_or_a_pattern_of_classes() {
        for text in ["shop.Order", "shop.Order+", "shop..*", "Order$Line"] {
            assert_eq!(text.parse::<FollowedType>().unwrap().text(), text);
        }
        let refused = |text: &str| text.parse::<FollowedType>().unwrap_err();
        assert!(matches!(refused("int[]"), TypeError::Array));
        assert!(matches!(refused("shop.Order[]"), TypeError::Array));
        assert!(matches!(refused("int"), TypeError::Primitive));
        for text in ["", "+", "a.B+x", "a.B::m(..)", "static a.B", "!a.B"] {
            assert!(matches!(refused(text), TypeError::Method), "{text}");
        }
    }

    #[test]
    fn the_plan_is_a_program() {
        let followed: FollowedType = "shop.Order+".parse().unwrap();
        for within in [vec![], vec!["shop..*".to_owned()]] {
            let plan = veneer_protocol::PlanSource {
                name: "lifetimes".into(),
                source: followed.plan(&within),
                settings: Default::default(),
                modules: Default::default(),
            };
            crate::plans::check_plan(&plan).unwrap();
        }
    }
}

//! The selection of classes and methods by patterns, and the class metadata that it needs.
//!
//! Most patterns name classes and methods. A pattern with `+`, annotations or flags also needs
//! metadata of the class, its *facts*. No class is loaded to find the facts:
//!
//! * Annotations and flags are read from the class file.
//! * Supertypes are those that the JVM reports, if the class is loaded. At the first load, only the
//!   class file is there. It names the direct supertypes; their supertypes may be unknown.
//!
//! If the supertypes are incomplete, a pattern with `+` may have no answer yet. The class is then
//! armed in case the pattern selects it. Once the class is prepared, the JVM knows all
//! supertypes, so each pattern has its answer before any code of the class has run.
//!
//! For a class that was loaded before the agent, the JVM reconstructs the class file. It then lacks
//! annotations that are not visible to reflection.
//!
//! As long as no pattern asks for more than names, no facts are collected.

use crate::classes::lazy_class_file::LazyClassFile;
use crate::classes::registry::Class;
use crate::jvm::jni::{Env, jclass};
use crate::jvm::jvmti::Tool;
use std::sync::Arc;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::outline::Outline;
use veneer_instruments::{ClassMatch, ClassMetadata, MethodMetadata, MethodPattern};

/// `Object`, and interfaces without supertypes that many classes implement. A class with no other
/// direct supertypes has no unknown ones.
const WITHOUT_SUPERTYPES: [&str; 5] = [
    "java.lang.Object",
    "java.io.Serializable",
    "java.lang.Cloneable",
    "java.lang.Comparable",
    "java.lang.Runnable",
];

/// The facts in a class file. `supertypes` are all supertypes, if they are known. Otherwise the
/// facts contain the direct supertypes. Returns `None` for a malformed class file, which arming
/// refuses with the reason.
pub(super) fn facts_in_file(
    file: &ClassFile,
    supertypes: Option<Vec<String>>,
) -> Option<ClassMetadata> {
    let outline = Outline::from_class_file(file).ok()?;
    let has_none = |name: &String| WITHOUT_SUPERTYPES.contains(&name.as_str());
    let complete = supertypes.is_some() || outline.above.iter().all(has_none);
    let methods = outline.methods.into_iter().map(|m| MethodMetadata {
        name: m.name,
        descriptor: m.descriptor,
        flags: m.access,
        annotations: m.annotations,
        size: m.size,
    });
    Some(ClassMetadata {
        name: outline.name,
        flags: outline.access,
        annotations: outline.annotations,
        supertypes: supertypes.unwrap_or(outline.above),
        complete,
        methods: methods.collect(),
    })
}

/// Whether any pattern that may select the class asks for more than names.
fn needs_facts<'p>(dotted: &str, patterns: impl IntoIterator<Item = &'p MethodPattern>) -> bool {
    let mut patterns = patterns.into_iter();
    patterns.any(|p| p.needs_metadata() && p.matches_class(dotted))
}

/// A class in the class hook.
#[derive(Clone, Copy)]
pub struct HookedClass<'a, 'c> {
    /// The loaded class that is retransformed or redefined; null at the first load.
    pub class: jclass,
    /// The class file, as earlier agents have transformed it.
    pub file: &'a LazyClassFile<'c>,
    /// The dotted name.
    pub dotted: &'a str,
}

/// The facts of a class in the class hook, if one of the patterns needs them.
pub fn metadata_at_hook<'p>(
    tool: Tool,
    env: Env,
    hooked: HookedClass,
    patterns: impl IntoIterator<Item = &'p MethodPattern>,
) -> Option<ClassMetadata> {
    if !needs_facts(hooked.dotted, patterns) {
        return None;
    }
    let supertypes = match hooked.class.is_null() {
        true => None,
        false => tool.supertypes(env, hooked.class),
    };
    facts_in_file(hooked.file.parsed().ok()?, supertypes)
}

/// The facts of an armed class that is prepared. They are kept until the class passes the hook
/// again.
pub fn class_metadata(tool: Tool, env: Env, class: &Class) -> Option<Arc<ClassMetadata>> {
    let original = {
        let state = class.state();
        if let Some(known) = &state.facts {
            return Some(known.clone());
        }
        state.original.clone()
    };
    let local = class.local(env)?;
    let supertypes = tool.supertypes(env, local);
    // SAFETY: `Class::local` has made the local reference, which is not used again.
    unsafe { env.delete(local) };
    let bytes = original.read().ok()?;
    let file = ClassFile::parse(&bytes).ok()?;
    let facts = Arc::new(facts_in_file(&file, Some(supertypes?))?);
    let mut state = class.state();
    if state.original.is_same(&original) {
        state.facts = Some(facts.clone());
    }
    Some(facts)
}

/// The facts of an armed class that is prepared, if one of the patterns needs them.
pub fn metadata_if_needed<'p>(
    tool: Tool,
    env: Env,
    class: &Class,
    patterns: impl IntoIterator<Item = &'p MethodPattern>,
) -> Option<Arc<ClassMetadata>> {
    match needs_facts(class.dotted.as_str(), patterns) {
        true => class_metadata(tool, env, class),
        false => None,
    }
}

/// The patterns that select methods of one armed class.
pub struct MethodSelection<'p> {
    /// The dotted name of the class.
    dotted: String,
    patterns: Vec<&'p MethodPattern>,
    facts: Option<Arc<ClassMetadata>>,
}

impl<'p> MethodSelection<'p> {
    /// The patterns that may select methods of the class. If the class is not prepared, its facts
    /// are unknown, and patterns that need them select nothing.
    pub fn new(tool: Tool, env: Env, class: &Class, patterns: &'p [MethodPattern]) -> Self {
        let facts = metadata_if_needed(tool, env, class, patterns);
        MethodSelection::with_facts(class.dotted.as_str(), facts, patterns)
    }

    fn with_facts(
        dotted: &str,
        facts: Option<Arc<ClassMetadata>>,
        patterns: &'p [MethodPattern],
    ) -> Self {
        let known = facts.as_deref();
        let selects = |p: &&MethodPattern| {
            p.matches_class(dotted)
                && (!p.needs_metadata()
                    || known.is_some_and(|f| p.match_class_metadata(f) == ClassMatch::Yes))
        };
        MethodSelection {
            dotted: dotted.to_string(),
            patterns: patterns.iter().filter(selects).collect(),
            facts,
        }
    }

    /// Whether no pattern selects methods of the class.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a pattern selects the method.
    pub fn selects(&self, name: &str, descriptor: &str) -> bool {
        let (class, facts) = (self.dotted.as_str(), self.facts.as_deref());
        let mut patterns = self.patterns.iter();
        patterns.any(|p| p.selects(class, facts, name, descriptor))
    }
}

/// Whether a pattern selects methods of a class in the class hook, or may do so once all supertypes
/// are known.
pub fn may_select(pattern: &MethodPattern, dotted: &str, facts: Option<&ClassMetadata>) -> bool {
    if !pattern.needs_metadata() {
        return pattern.matches_class(dotted);
    }
    facts.is_some_and(|facts| {
        may_select_class(pattern, facts)
            && facts
                .methods
                .iter()
                .any(|m| pattern.matches_method_metadata(m))
    })
}

/// Whether a pattern selects a method of a class in the class hook, or may do so once all
/// supertypes are known.
pub fn may_select_method(
    pattern: &MethodPattern,
    dotted: &str,
    facts: Option<&ClassMetadata>,
    (name, descriptor): (&str, &str),
) -> bool {
    if !pattern.needs_metadata() {
        return pattern.matches(dotted, name, descriptor);
    }
    facts.is_some_and(|facts| {
        let method = facts.method(name, descriptor);
        may_select_class(pattern, facts)
            && method.is_some_and(|m| pattern.matches_method_metadata(m))
    })
}

fn may_select_class(pattern: &MethodPattern, facts: &ClassMetadata) -> bool {
    match pattern.match_class_metadata(facts) {
        ClassMatch::No => false,
        ClassMatch::Yes => true,
        // A class of the JDK has only supertypes of the JDK.
        ClassMatch::Maybe => !is_jdk(&facts.name) || may_name_jdk(pattern),
    }
}

/// Packages that no application has.
const JDK_PACKAGES: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Packages of the JDK in which applications may have classes too.
const SHARED_PACKAGES: [&str; 5] = ["org.w3c.", "org.xml.", "org.ietf.", "org.jcp.", "netscape."];

/// Whether only the JDK can have a class of this dotted name.
fn is_jdk(dotted: &str) -> bool {
    JDK_PACKAGES.iter().any(|p| dotted.starts_with(p))
}

/// Whether the class part of a pattern can name a class of the JDK.
fn may_name_jdk(pattern: &MethodPattern) -> bool {
    let class = pattern.class_text();
    // The gap `..` is an empty segment here.
    let has_wildcard = |segment: &str| segment.is_empty() || segment.contains('*');
    class.split('.').take(2).any(has_wildcard)
        || is_jdk(&class)
        || SHARED_PACKAGES.iter().any(|p| class.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> MethodPattern {
        MethodPattern::parse(text).expect("a pattern")
    }

    fn facts(name: &str, supertypes: &[&str], complete: bool) -> ClassMetadata {
        ClassMetadata {
            name: name.into(),
            flags: 1,
            annotations: vec!["shop.Service".into()],
            supertypes: supertypes.iter().map(|s| (*s).to_string()).collect(),
            complete,
            methods: vec![MethodMetadata {
                name: "run".into(),
                descriptor: "()V".into(),
                flags: 1,
                ..MethodMetadata::default()
            }],
        }
    }

    const RUN: (&str, &str) = ("run", "()V");

    #[test]
    fn facts_are_needed_only_for_matching_patterns_that_ask_for_more_than_names() {
        let plain = [pattern("shop.Desk::run")];
        assert!(!needs_facts("shop.Desk", &plain));
        let subtypes = [pattern("shop.Base+::run")];
        assert!(
            needs_facts("shop.Desk", &subtypes),
            "any class may be a subtype"
        );
        let annotated = [pattern("@shop.Service shop.Desk::run")];
        assert!(needs_facts("shop.Desk", &annotated));
        assert!(!needs_facts("shop.Clerk", &annotated));
    }

    #[test]
    fn a_plain_pattern_selects_by_name_without_facts() {
        assert!(may_select(&pattern("shop.*::run"), "shop.Desk", None));
        assert!(!may_select(&pattern("shop.*::run"), "bank.Desk", None));
        assert!(may_select_method(
            &pattern("shop.*::run"),
            "shop.Desk",
            None,
            RUN
        ));
        let close = ("close", "()V");
        assert!(!may_select_method(
            &pattern("shop.*::run"),
            "shop.Desk",
            None,
            close
        ));
    }

    #[test]
    fn a_pattern_that_needs_facts_selects_nothing_without_them() {
        assert!(!may_select(&pattern("shop.Base+::run"), "shop.Desk", None));
        assert!(!may_select_method(
            &pattern("shop.Base+::run"),
            "shop.Desk",
            None,
            RUN
        ));
    }

    #[test]
    fn unknown_supertypes_arm_a_class_of_the_application_on_suspicion() {
        let base = pattern("shop.Base+::run");
        let unknown = facts("shop.Desk", &["shop.Middle"], false);
        assert!(may_select(&base, "shop.Desk", Some(&unknown)));
        let known = facts("shop.Desk", &["shop.Middle"], true);
        assert!(!may_select(&base, "shop.Desk", Some(&known)));
        let subtype = facts("shop.Desk", &["shop.Middle", "shop.Base"], true);
        assert!(may_select(&base, "shop.Desk", Some(&subtype)));
    }

    #[test]
    fn a_class_of_the_jdk_is_no_subtype_of_an_application_class() {
        let unknown = facts("java.util.ArrayList", &["java.util.AbstractList"], false);
        let selects = |text| may_select(&pattern(text), "java.util.ArrayList", Some(&unknown));
        assert!(!selects("shop.Base+::run"));
        assert!(selects("java.util.List+::run"));
        assert!(selects("org.w3c.dom.Node+::run"));
        assert!(selects("*..Base+::run"));
    }

    #[test]
    fn a_method_without_the_wanted_name_is_not_selected_even_on_suspicion() {
        let unknown = facts("shop.Desk", &["shop.Middle"], false);
        let base = pattern("shop.Base+::run");
        assert!(may_select_method(&base, "shop.Desk", Some(&unknown), RUN));
        let close = ("close", "()V");
        assert!(!may_select_method(
            &base,
            "shop.Desk",
            Some(&unknown),
            close
        ));
        let other = pattern("shop.Base+::close");
        assert!(!may_select(&other, "shop.Desk", Some(&unknown)));
    }

    #[test]
    fn after_preparation_a_suspicion_is_no_selection() {
        let patterns = [pattern("shop.Base+::run"), pattern("shop.Desk::close")];
        let selection = |facts| MethodSelection::with_facts("shop.Desk", facts, &patterns);
        let unknown = selection(Some(Arc::new(facts("shop.Desk", &["shop.Middle"], false))));
        assert!(!unknown.selects("run", "()V") && unknown.selects("close", "()V"));
        let subtype = selection(Some(Arc::new(facts("shop.Desk", &["shop.Base"], true))));
        assert!(subtype.selects("run", "()V"));
        let unprepared = selection(None);
        assert!(!unprepared.is_empty() && !unprepared.selects("run", "()V"));
    }

    #[test]
    fn the_selection_is_empty_if_no_pattern_matches_the_class() {
        let patterns = [pattern("bank.Desk::run")];
        assert!(MethodSelection::with_facts("shop.Desk", None, &patterns).is_empty());
    }

    #[test]
    fn direct_supertypes_are_complete_if_they_have_no_supertypes() {
        const POINTS: &[u8] = include_bytes!("fixtures/Points.classfile");
        let file = ClassFile::parse(POINTS).expect("the fixture is a class file");
        let found = facts_in_file(&file, None).expect("the fixture has facts");
        assert_eq!(found.name, "shop.Points");
        assert_eq!(found.supertypes, ["java.lang.Object"]);
        assert!(found.complete);
        assert!(found.method("loop", "(I)I").is_some());
        let told = facts_in_file(&file, Some(vec!["a.B".into()]));
        assert_eq!(told.map(|f| f.supertypes), Some(vec!["a.B".to_string()]));
    }
}

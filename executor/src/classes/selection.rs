//! What is known of a class beyond its name, for patterns with `+`, annotations or flags. No class is loaded to find it out.
//!
//! ```text
//!   class file ─▶ annotations, flags, what is directly above
//!      at the class hook    what is above that may not be loaded yet: a `+` may have no answer, and the class is armed on suspicion
//!      once it is prepared  the JVM knows all that is above: each `+` has its answer before anything of the class has run
//! ```
//!
//! Of a class that was there before the agent, the JVM makes up the class file from what it has kept: annotations that reflection does not
//! see are not among it.
//!
//! As long as no pattern asks for more than names, nothing here is called.

use crate::classes::registry::Class;
use crate::jvm::jni::{Env, jclass};
use crate::jvm::jvmti::Tool;
use std::sync::Arc;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::outline::Outline;
use veneer_instruments::{ClassFacts, MethodFacts, MethodPattern, Verdict};

/// Interfaces above which there is nothing, and that many classes have; and `Object`.
const LONE: [&str; 5] = [
    "java.lang.Object",
    "java.io.Serializable",
    "java.lang.Cloneable",
    "java.lang.Comparable",
    "java.lang.Runnable",
];

/// Facts out of a class file. `supertypes` are all that are above it; without them it says what is directly above.
fn of_file(bytes: &[u8], supertypes: Option<Vec<String>>) -> Option<ClassFacts> {
    let file = ClassFile::parse(bytes).ok()?;
    // What is damaged so far is refused where it is armed.
    let outline = Outline::of(&file).ok()?;
    let lone = |name: &String| LONE.contains(&name.as_str());
    let complete = supertypes.is_some() || outline.above.iter().all(lone);
    let methods = outline.methods.into_iter().map(|m| MethodFacts {
        name: m.name,
        descriptor: m.descriptor,
        flags: m.access,
        annotations: m.annotations,
        size: m.size,
    });
    Some(ClassFacts {
        name: outline.name,
        flags: outline.access,
        annotations: outline.annotations,
        supertypes: supertypes.unwrap_or(outline.above),
        complete,
        methods: methods.collect(),
    })
}

/// Those of a class on its way through the hook, where one of the patterns asks for more than its name.
pub fn coming<'p>(
    tool: Tool,
    env: Env,
    (class, bytes): (jclass, &[u8]),
    dotted: &str,
    patterns: impl Iterator<Item = &'p MethodPattern>,
) -> Option<ClassFacts> {
    let mut patterns = patterns.filter(|p| p.asks_more());
    if !patterns.any(|p| p.matches_class(dotted)) {
        return None;
    }
    let above = match class.is_null() {
        true => None,
        false => tool.supertypes(env, class),
    };
    of_file(bytes, above)
}

/// Those of an armed class that is prepared; kept until it comes through the hook again.
pub fn of(tool: Tool, env: Env, class: &Class) -> Option<Arc<ClassFacts>> {
    let original = {
        let state = class.state();
        if let Some(known) = &state.facts {
            return Some(known.clone());
        }
        state.original.clone()
    };
    let local = class.local(env)?;
    let above = tool.supertypes(env, local);
    env.delete(local);
    let facts = Arc::new(of_file(&original, Some(above?))?);
    let mut state = class.state();
    if Arc::ptr_eq(&state.original, &original) {
        state.facts = Some(facts.clone());
    }
    Some(facts)
}

/// The same, where one of the patterns asks for more than the name of the class.
pub fn asked<'p>(
    tool: Tool,
    env: Env,
    class: &Class,
    patterns: impl IntoIterator<Item = &'p MethodPattern>,
) -> Option<Arc<ClassFacts>> {
    let mut patterns = patterns.into_iter().filter(|p| p.asks_more());
    let asks = patterns.any(|p| p.matches_class(&class.dotted));
    asks.then(|| of(tool, env, class)).flatten()
}

/// Patterns that select methods of an armed class.
pub struct Chosen<'p> {
    dotted: String,
    here: Vec<&'p MethodPattern>,
    facts: Option<Arc<ClassFacts>>,
}

impl<'p> Chosen<'p> {
    /// Those of the patterns that can. Of a class that is not prepared yet, those that ask for more than its name cannot.
    pub fn of(tool: Tool, env: Env, class: &Class, patterns: &'p [MethodPattern]) -> Self {
        let facts = asked(tool, env, class, patterns);
        let known = facts.as_deref();
        let hit = |p: &&MethodPattern| {
            p.matches_class(&class.dotted)
                && (!p.asks_more() || known.is_some_and(|f| p.of_class(f) == Verdict::Yes))
        };
        Chosen {
            dotted: class.dotted.clone(),
            here: patterns.iter().filter(hit).collect(),
            facts,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.here.is_empty()
    }

    /// Whether they select a method.
    pub fn selects(&self, name: &str, descriptor: &str) -> bool {
        let (class, facts) = (self.dotted.as_str(), self.facts.as_deref());
        let mut here = self.here.iter();
        here.any(|p| p.selects(class, facts, name, descriptor))
    }
}

/// Whether a pattern selects methods of a class on its way through the hook, or may turn out to.
pub fn may_select(pattern: &MethodPattern, dotted: &str, facts: Option<&ClassFacts>) -> bool {
    if !pattern.asks_more() {
        return pattern.matches_class(dotted);
    }
    facts.is_some_and(|facts| {
        may_be_of(pattern, facts) && facts.methods.iter().any(|m| pattern.of_method(m))
    })
}

/// The same of one of its methods.
pub fn may_select_method(
    pattern: &MethodPattern,
    dotted: &str,
    facts: Option<&ClassFacts>,
    (name, descriptor): (&str, &str),
) -> bool {
    if !pattern.asks_more() {
        return pattern.matches(dotted, name, descriptor);
    }
    facts.is_some_and(|facts| {
        let method = facts.method(name, descriptor);
        may_be_of(pattern, facts) && method.is_some_and(|m| pattern.of_method(m))
    })
}

fn may_be_of(pattern: &MethodPattern, facts: &ClassFacts) -> bool {
    match pattern.of_class(facts) {
        Verdict::No => false,
        Verdict::Yes => true,
        // Nothing of the JDK is below a class that is not of the JDK.
        Verdict::Maybe => !is_of_jdk(&facts.name) || may_name_jdk(pattern),
    }
}

/// Packages that no application has.
const JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];
/// Where else the JDK has classes.
const SHARED: [&str; 5] = ["org.w3c.", "org.xml.", "org.ietf.", "org.jcp.", "netscape."];

fn is_of_jdk(dotted: &str) -> bool {
    JDK.iter().any(|package| dotted.starts_with(package))
}

/// Whether the class part of a pattern can name a class of the JDK.
fn may_name_jdk(pattern: &MethodPattern) -> bool {
    let class = pattern.class_text();
    // A gap is an empty segment here.
    let open = |segment: &str| segment.is_empty() || segment.contains('*');
    class.split('.').take(2).any(open)
        || is_of_jdk(&class)
        || SHARED.iter().any(|package| class.starts_with(package))
}

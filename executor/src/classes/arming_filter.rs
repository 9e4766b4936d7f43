//! The decision which classes and methods are armed.
//!
//! Without `--arm`, everything outside the JDK is armed. A class of the JDK is armed only if an
//! `--arm` pattern or a plan names it. The classes that a check of a cell executes are never
//! armed; see [`on_cell_path`].
//!
//! The class hook asks the filter for every class that is loaded, on the thread that loads it. The
//! filter reads names and class metadata only, so it needs no lock.

use crate::classes::selection::{may_select, may_select_method};
use crate::jvm::jni::{Env, Global, jobject};
use std::sync::atomic::{AtomicBool, Ordering};
pub use veneer_fragmenter::cell_path::on_cell_path;
use veneer_instruments::{CLASS_INITIALISER, ClassMetadata, MethodPattern};

/// How strongly a method is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArmingDecision {
    No,
    /// The method is armed unless its armed body would exceed HotSpot's inlining limit.
    Yes,
    /// A plan names the method, so it is armed even above the inlining limit.
    ByName,
}

/// The class loaders of the JDK, besides the boot loader.
pub struct JdkLoaders {
    /// `ClassLoader.getPlatformClassLoader()`.
    pub platform: Option<Global>,
    /// `ClassLoader.getSystemClassLoader()`. It also defines the application's classes.
    pub system: Option<Global>,
}

impl JdkLoaders {
    /// Whether a class belongs to the JDK. `name` is its internal name.
    pub fn is_jdk_class(&self, env: Env, name: &str, loader: jobject) -> bool {
        let is = |known: &Option<Global>| {
            let known = known.as_ref();
            known.is_some_and(|known| env.same(known.raw(), loader))
        };
        loader.is_null() || is(&self.platform) || (is(&self.system) && is_jdk_tool(name))
    }
}

/// The packages of JDK modules that the system class loader defines (`jdk.compiler`, `jdk.jshell`
/// …).
const TOOL_PACKAGES: [&str; 6] = [
    "com/sun/tools/",
    "com/sun/source/",
    "com/sun/jarsigner/",
    "jdk/",
    "sun/",
    "javax/annotation/processing/",
];

fn is_jdk_tool(name: &str) -> bool {
    TOOL_PACKAGES.iter().any(|p| name.starts_with(p))
}

/// A class about which the filter decides.
#[derive(Clone, Copy)]
pub struct ArmingCandidate<'a> {
    /// The name with dots.
    pub dotted: &'a str,
    pub is_jdk: bool,
    /// The patterns of attached instruments and edits.
    pub plans: &'a [&'a MethodPattern],
    /// The metadata of the class, if a pattern asks for more than its name.
    pub facts: Option<&'a ClassMetadata>,
}

/// The options that decide what is armed. See the module documentation.
pub struct ArmingFilter {
    /// `--arm`.
    pub arm: Vec<MethodPattern>,
    /// `--skip`.
    pub skip: Vec<MethodPattern>,
    /// Whether only methods that plans name are armed. This is so if the agent was attached to a
    /// running JVM.
    pub only_plans: AtomicBool,
}

impl ArmingFilter {
    /// Whether any method of the class can be wanted.
    pub fn wants_class(&self, class: &ArmingCandidate) -> bool {
        let selects = |p: &MethodPattern| may_select(p, class.dotted, class.facts);
        if class.plans.iter().copied().any(selects) {
            return true;
        }
        if self.only_plans.load(Ordering::Relaxed) {
            return false;
        }
        if self.arm.is_empty() {
            !class.is_jdk
        } else {
            self.arm.iter().any(selects)
        }
    }

    /// How strongly a method of the class is wanted. Without `--arm`, static initialisers are not
    /// wanted unless a plan names them, because every class would pay for code that runs once.
    pub fn wants_method(
        &self,
        class: &ArmingCandidate,
        name: &str,
        descriptor: &str,
    ) -> ArmingDecision {
        let method = (name, descriptor);
        let selects = |p: &MethodPattern| may_select_method(p, class.dotted, class.facts, method);
        let any_selects = |list: &[MethodPattern]| list.iter().any(selects);
        let is_initialiser = name == CLASS_INITIALISER;
        if any_selects(&self.skip) || is_initialiser && self.skips_whole_class(class) {
            return ArmingDecision::No;
        }
        if class.plans.iter().copied().any(selects) {
            return ArmingDecision::ByName;
        }
        if self.only_plans.load(Ordering::Relaxed) {
            return ArmingDecision::No;
        }
        let is_wanted = match self.arm.is_empty() {
            true => !class.is_jdk && !is_initialiser,
            false => any_selects(&self.arm),
        };
        if is_wanted {
            ArmingDecision::Yes
        } else {
            ArmingDecision::No
        }
    }

    /// Whether `--skip` names all methods of the class. Unlike other patterns, such a pattern
    /// includes the static initialiser.
    fn skips_whole_class(&self, class: &ArmingCandidate) -> bool {
        self.skip.iter().any(|p| {
            p.method_text().is_none_or(|name| name == "*")
                && may_select(p, class.dotted, class.facts)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<MethodPattern> {
        let parse = |text: &&str| MethodPattern::parse(text).expect("a pattern");
        texts.iter().map(parse).collect()
    }

    fn filter(arm: &[&str], skip: &[&str], only_plans: bool) -> ArmingFilter {
        ArmingFilter {
            arm: patterns(arm),
            skip: patterns(skip),
            only_plans: AtomicBool::new(only_plans),
        }
    }

    fn candidate<'a>(
        dotted: &'a str,
        is_jdk: bool,
        plans: &'a [&'a MethodPattern],
    ) -> ArmingCandidate<'a> {
        ArmingCandidate {
            dotted,
            is_jdk,
            plans,
            facts: None,
        }
    }

    fn wanted(filter: &ArmingFilter, class: &ArmingCandidate, name: &str) -> ArmingDecision {
        filter.wants_method(class, name, "()V")
    }

    #[test]
    fn without_options_everything_outside_the_jdk_is_armed() {
        let filter = filter(&[], &[], false);
        let (own, jdk) = (
            candidate("shop.Desk", false, &[]),
            candidate("java.util.List", true, &[]),
        );
        assert!(filter.wants_class(&own) && !filter.wants_class(&jdk));
        assert_eq!(wanted(&filter, &own, "serve"), ArmingDecision::Yes);
        assert_eq!(wanted(&filter, &jdk, "size"), ArmingDecision::No);
        assert_eq!(wanted(&filter, &own, CLASS_INITIALISER), ArmingDecision::No);
    }

    #[test]
    fn arm_patterns_replace_the_default_and_include_the_jdk() {
        let filter = filter(&["java.util.*::size"], &[], false);
        let (own, jdk) = (
            candidate("shop.Desk", false, &[]),
            candidate("java.util.List", true, &[]),
        );
        assert!(!filter.wants_class(&own) && filter.wants_class(&jdk));
        assert_eq!(wanted(&filter, &jdk, "size"), ArmingDecision::Yes);
        assert_eq!(wanted(&filter, &jdk, "get"), ArmingDecision::No);
    }

    #[test]
    fn a_method_that_a_plan_names_is_wanted_by_name_even_in_the_jdk() {
        let plans = patterns(&["java.util.List::size"]);
        let plans = Vec::from_iter(&plans);
        let jdk = candidate("java.util.List", true, &plans);
        let filter = filter(&[], &[], false);
        assert!(filter.wants_class(&jdk));
        assert_eq!(wanted(&filter, &jdk, "size"), ArmingDecision::ByName);
        assert_eq!(wanted(&filter, &jdk, "get"), ArmingDecision::No);
    }

    #[test]
    fn skip_has_priority_over_plans_and_arm_patterns() {
        let plans = patterns(&["shop.Desk::serve"]);
        let plans = Vec::from_iter(&plans);
        let own = candidate("shop.Desk", false, &plans);
        let filter = filter(&["shop.Desk::*"], &["shop.Desk::serve"], false);
        assert_eq!(wanted(&filter, &own, "serve"), ArmingDecision::No);
        assert_eq!(wanted(&filter, &own, "close"), ArmingDecision::Yes);
    }

    #[test]
    fn a_late_agent_arms_only_what_plans_name() {
        let plans = patterns(&["shop.Desk::serve"]);
        let plans = Vec::from_iter(&plans);
        let filter = filter(&["shop.*::*"], &[], true);
        let own = candidate("shop.Desk", false, &plans);
        assert!(filter.wants_class(&own));
        assert_eq!(wanted(&filter, &own, "serve"), ArmingDecision::ByName);
        assert_eq!(wanted(&filter, &own, "close"), ArmingDecision::No);
        assert!(!filter.wants_class(&candidate("shop.Other", false, &plans)));
    }

    #[test]
    fn skipping_all_methods_of_a_class_skips_its_static_initialiser() {
        let plans = patterns(&["shop.Desk::<clinit>"]);
        let plans = Vec::from_iter(&plans);
        let own = candidate("shop.Desk", false, &plans);
        let named = filter(&[], &["shop.Desk::serve"], false);
        assert_eq!(
            wanted(&named, &own, CLASS_INITIALISER),
            ArmingDecision::ByName
        );
        let whole = filter(&[], &["shop.Desk::*"], false);
        assert_eq!(wanted(&whole, &own, CLASS_INITIALISER), ArmingDecision::No);
    }

    #[test]
    fn tools_of_the_jdk_are_recognised_by_their_package() {
        assert!(is_jdk_tool("com/sun/tools/javac/Main") && is_jdk_tool("jdk/jshell/JShell"));
        assert!(!is_jdk_tool("com/sun/mail/Smtp") && !is_jdk_tool("jdkless/Main"));
    }
}

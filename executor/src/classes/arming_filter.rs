//! Which classes and methods are armed.
//!
//! Without `--arm`, everything outside the JDK. A class of the JDK is armed only where an `--arm` pattern or a plan names it,
//! and those that the cell's own path leads through never are.

use crate::classes::selection::{may_select, may_select_method};
use crate::jvm::jni::{Env, Global, jobject};
use std::sync::atomic::{AtomicBool, Ordering};
pub use veneer_fragmenter::cell_path::on_cell_path;
use veneer_instruments::{ClassFacts, INITIALISER, MethodPattern};

/// How far a method is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// Not at all.
    No,
    /// As long as it costs nothing.
    Yes,
    /// By name: also over HotSpot's inlining limit.
    Named,
}

/// The loaders that belong to the JDK.
pub struct Loaders {
    /// `ClassLoader.getPlatformClassLoader()`.
    pub platform: Option<Global>,
    /// `ClassLoader.getSystemClassLoader()`.
    pub system: Option<Global>,
}

/// See the module documentation.
pub struct Filter {
    /// `--arm`.
    pub arm: Vec<MethodPattern>,
    /// `--skip`.
    pub skip: Vec<MethodPattern>,
    /// Whether nothing is armed but what plans name: the agent came into a running JVM.
    pub only_plans: AtomicBool,
}

/// Packages of JDK modules that the application's loader defines (`jdk.compiler`, `jdk.jshell` …).
const TOOLS: [&str; 6] = [
    "com/sun/tools/",
    "com/sun/source/",
    "com/sun/jarsigner/",
    "jdk/",
    "sun/",
    "javax/annotation/processing/",
];

impl Filter {
    /// Whether a class belongs to the JDK.
    pub fn of_jdk(env: Env, loaders: &Loaders, name: &str, loader: jobject) -> bool {
        let is = |l: &Option<Global>| l.as_ref().is_some_and(|l| env.same(l.raw(), loader));
        loader.is_null()
            || is(&loaders.platform)
            || (is(&loaders.system) && TOOLS.iter().any(|p| name.starts_with(p)))
    }

    /// Whether any method of the class can be wanted. `plans` are the patterns of attached instruments and edits; `facts` those of the
    /// class, where a pattern asks for more than its name.
    pub fn class(
        &self,
        dotted: &str,
        of_jdk: bool,
        plans: &[MethodPattern],
        facts: Option<&ClassFacts>,
    ) -> bool {
        let hit = |p: &MethodPattern| may_select(p, dotted, facts);
        if plans.iter().any(hit) {
            return true;
        }
        if self.only_plans.load(Ordering::Relaxed) {
            return false;
        }
        if self.arm.is_empty() {
            !of_jdk
        } else {
            self.arm.iter().any(hit)
        }
    }

    /// How far a method is wanted.
    pub fn method(
        &self,
        dotted: &str,
        of_jdk: bool,
        plans: &[MethodPattern],
        facts: Option<&ClassFacts>,
        method: (&str, &str),
    ) -> Want {
        let hit = |p: &MethodPattern| may_select_method(p, dotted, facts, method);
        let any = |list: &[MethodPattern]| list.iter().any(hit);
        let is_initialiser = method.0 == INITIALISER;
        // Unlike other patterns, those of `--skip` mean it where they mean all methods.
        let all = |p: &MethodPattern| {
            p.method_text().is_none_or(|name| name == "*") && may_select(p, dotted, facts)
        };
        if any(&self.skip) || is_initialiser && self.skip.iter().any(all) {
            Want::No
        } else if any(plans) {
            Want::Named
        } else if self.only_plans.load(Ordering::Relaxed) {
            Want::No
        } else if if self.arm.is_empty() {
            !of_jdk && !is_initialiser
        } else {
            any(&self.arm)
        } {
            Want::Yes
        } else {
            Want::No
        }
    }
}

//! Which classes and methods are armed.
//!
//! Without `--arm`, everything outside the JDK. A class of the JDK is armed only where an `--arm` pattern or a plan names it,
//! and those that the cell's own path leads through never are.

use crate::jni::{Env, Global, jobject};
use std::sync::atomic::{AtomicBool, Ordering};
pub use veneer_fragmenter::cell_path::on_cell_path;
use veneer_instruments::MethodPattern;

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

    /// Whether any method of the class can be wanted. `plans` are the patterns of attached instruments and edits.
    pub fn class(&self, dotted: &str, of_jdk: bool, plans: &[MethodPattern]) -> bool {
        if plans.iter().any(|p| p.matches_class(dotted)) {
            return true;
        }
        if self.only_plans.load(Ordering::Relaxed) {
            return false;
        }
        if self.arm.is_empty() {
            !of_jdk
        } else {
            self.arm.iter().any(|p| p.matches_class(dotted))
        }
    }

    /// How far a method is wanted.
    pub fn method(
        &self,
        dotted: &str,
        of_jdk: bool,
        plans: &[MethodPattern],
        name: &str,
        descriptor: &str,
    ) -> Want {
        let any = |list: &[MethodPattern]| list.iter().any(|p| p.matches(dotted, name, descriptor));
        if any(&self.skip) {
            Want::No
        } else if any(plans) {
            Want::Named
        } else if self.only_plans.load(Ordering::Relaxed) {
            Want::No
        } else if if self.arm.is_empty() {
            !of_jdk
        } else {
            any(&self.arm)
        } {
            Want::Yes
        } else {
            Want::No
        }
    }
}

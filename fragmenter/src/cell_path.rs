//! The classes that the path of a cell itself leads through: they are never armed, whoever asks.

/// Packages, with all below them, that the path of a cell leads through, in the JVM or in the agent's runtime.
const PACKAGES: [&str; 7] = [
    "java/lang/",
    "jdk/internal/",
    "sun/invoke/",
    "sun/misc/",
    "java/util/concurrent/",
    "java/util/function/",
    "java/security/",
];

/// A package of which only the classes directly in it are. (Linking a call site uses `Objects`, `HashMap`, `ArrayList` and
/// more: were they patched, linking their own stubs would never end.)
const PACKAGE: &str = "java/util/";

/// Whether a class (internal name) must never be armed, whoever asks.
pub fn on_cell_path(name: &str) -> bool {
    let in_package = name
        .strip_prefix(PACKAGE)
        .is_some_and(|rest| !rest.contains('/'));
    in_package || PACKAGES.iter().any(|p| name.starts_with(p))
}

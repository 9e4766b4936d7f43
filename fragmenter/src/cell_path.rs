//! Classes that are never instrumented, because the check of a cell executes or links their code.
//! A check inside such a class could invoke itself without end.

/// Packages, with all their subpackages, whose classes a cell's check or Veneer's runtime classes
/// use.
const PACKAGES: [&str; 7] = [
    "java/lang/",
    "jdk/internal/",
    "sun/invoke/",
    "sun/misc/",
    "java/util/concurrent/",
    "java/util/function/",
    "java/security/",
];

/// A package of which only the classes directly in it are excluded, not its subpackages. Linking a
/// call site uses `Objects`, `HashMap`, `ArrayList` and other classes of this package. If these
/// classes were instrumented, linking their own stubs would never end.
const PACKAGE: &str = "java/util/";

/// Whether a class (internal name) must never be armed, even if the user names it.
pub fn on_cell_path(name: &str) -> bool {
    let in_package = name
        .strip_prefix(PACKAGE)
        .is_some_and(|rest| !rest.contains('/'));
    in_package || PACKAGES.iter().any(|p| name.starts_with(p))
}

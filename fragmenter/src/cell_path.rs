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

/// Whether a pattern over dotted class names (`java.util.*`, `java.lang..*`) can select only classes
/// that must never be armed. `*` matches within a name and `..` any packages.
pub fn selects_only_cell_path(pattern: &str) -> bool {
    let wildcard = pattern.find('*').unwrap_or(pattern.len());
    let gap = pattern.find("..").unwrap_or(pattern.len());
    let fixed = pattern.get(..wildcard.min(gap)).unwrap_or_default();
    let name = fixed.replace('.', "/");
    // A gap stands for at least the dot before the next name.
    let head = if gap <= wildcard && gap < pattern.len() {
        format!("{name}/")
    } else {
        name
    };
    if PACKAGES.iter().any(|p| head.starts_with(p)) {
        return true;
    }
    let rest = pattern.replace('.', "/");
    let rest = rest.strip_prefix(PACKAGE);
    gap == pattern.len() && rest.is_some_and(|rest| !rest.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_selects_only_such_classes_if_its_fixed_part_says_so() {
        for pattern in [
            "java.util.ArrayList",
            "java.util.*",
            "java.util.Array*",
            "java.util.concurrent.locks.ReentrantLock",
            "java.lang.String",
            "java.lang..*",
            "java.util.concurrent..*",
        ] {
            assert!(selects_only_cell_path(pattern), "{pattern}");
        }
        for pattern in [
            "java.util..*",
            "java.util.zip.Inflater",
            "java.util.zip.*",
            "java..*",
            "java.la*",
            "*..ArrayList",
            "java.util*",
            "com.shop..*",
            "",
        ] {
            assert!(!selects_only_cell_path(pattern), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_without_wildcards_agrees_with_the_class() {
        for class in [
            "java.util.List",
            "java.util.jar.JarFile",
            "java.langx.A",
            "sun.misc.Unsafe",
        ] {
            let internal = class.replace('.', "/");
            assert_eq!(
                selects_only_cell_path(class),
                on_cell_path(&internal),
                "{class}"
            );
        }
    }
}

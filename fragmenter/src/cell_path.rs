//! Classes that are never instrumented, because the check of a cell, or code at a point, executes
//! their methods. A check inside such a class could invoke itself without end.
//!
//! Linking a call site also executes methods of the JDK, in a thread of the application, but only
//! once for each site. A version of such a method may run meanwhile: it links its own sites, and
//! those are other sites. So classes that only linking executes may be instrumented.
//!
//! The lists are the classes that Veneer's runtime classes can reach by calls outside of static
//! initialisers. `tests/tests/jdk_classes.rs` instruments all other classes of these packages in a
//! running JVM.

/// Packages, with all their subpackages, of which no class is instrumented, except [`OPEN`].
const PACKAGES: [&str; 5] = [
    "java/lang/",
    "jdk/internal/",
    "sun/invoke/",
    "sun/misc/",
    "java/util/function/",
];

/// Packages in [`PACKAGES`], with all their subpackages, whose classes may be instrumented.
const OPEN: [&str; 12] = [
    "java/lang/constant/",
    "java/lang/management/",
    "jdk/internal/agent/",
    "jdk/internal/editor/",
    "jdk/internal/icu/",
    "jdk/internal/jmod/",
    "jdk/internal/joptsimple/",
    "jdk/internal/jshell/",
    "jdk/internal/net/",
    "jdk/internal/org/jline/",
    "jdk/internal/org/xml/",
    "jdk/internal/platform/",
];

/// Single classes outside [`PACKAGES`] that are not instrumented, with their nested classes.
/// `java/util/concurrent/atomic` is a package.
const CLASSES: [&str; 41] = [
    "java/security/AccessControlContext",
    "java/security/AccessControlException",
    "java/security/AccessController",
    "java/security/BasicPermission",
    "java/security/CodeSource",
    "java/security/DomainCombiner",
    "java/security/Permission",
    "java/security/PermissionCollection",
    "java/security/Permissions",
    "java/security/Policy",
    "java/security/PrivilegedAction",
    "java/security/PrivilegedExceptionAction",
    "java/security/ProtectionDomain",
    "java/util/AbstractCollection",
    "java/util/AbstractList",
    "java/util/AbstractMap",
    "java/util/AbstractSet",
    "java/util/ArrayDeque",
    "java/util/Arrays",
    "java/util/Collection",
    "java/util/Collections",
    "java/util/EnumSet",
    "java/util/ImmutableCollections",
    "java/util/Iterator",
    "java/util/JumboEnumSet",
    "java/util/List",
    "java/util/Map",
    "java/util/Objects",
    "java/util/Optional",
    "java/util/Properties",
    "java/util/RegularEnumSet",
    "java/util/Set",
    "java/util/Spliterator",
    "java/util/Spliterators",
    "java/util/UUID",
    "java/util/concurrent/ConcurrentHashMap",
    "java/util/concurrent/ConcurrentMap",
    "java/util/concurrent/ConcurrentSkipListMap",
    "java/util/concurrent/CopyOnWriteArrayList",
    "java/util/concurrent/LinkedBlockingQueue",
    "java/util/concurrent/atomic",
];

/// Exceptions of `java.lang` that the JVM makes itself while it has no memory or no stack left, or
/// whose message it finds from the code that threw.
const ERRORS: [&str; 7] = [
    "java/lang/InternalError",
    "java/lang/LinkageError",
    "java/lang/NullPointerException",
    "java/lang/OutOfMemoryError",
    "java/lang/StackOverflowError",
    "java/lang/ThreadDeath",
    "java/lang/VirtualMachineError",
];

/// Whether a class (internal name) must never be armed, even if the user names it.
pub fn on_cell_path(name: &str) -> bool {
    if OPEN.iter().any(|p| name.starts_with(p)) || is_open_exception(name) {
        return false;
    }
    PACKAGES.iter().any(|p| name.starts_with(p)) || CLASSES.iter().any(|c| is_within(name, c))
}

/// Whether a class is this class, nested in it, or in the package of this name.
fn is_within(name: &str, class: &str) -> bool {
    let rest = name.strip_prefix(class);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['$', '/']))
}

/// Whether a class is an exception of `java.lang` that may be instrumented.
fn is_open_exception(name: &str) -> bool {
    let simple = name.strip_prefix("java/lang/");
    let is_exception = |simple: &str| {
        !simple.contains('/') && (simple.ends_with("Exception") || simple.ends_with("Error"))
    };
    simple.is_some_and(is_exception) && !ERRORS.contains(&name)
}

/// Whether a pattern over dotted class names (`java.lang.String`, `jdk.internal.misc..*`) can select
/// only classes that must never be armed. `*` matches within a name and `..` any packages.
pub fn selects_only_cell_path(pattern: &str) -> bool {
    let wildcard = pattern.find('*').unwrap_or(pattern.len());
    let gap = pattern.find("..").unwrap_or(pattern.len());
    let fixed = pattern.get(..wildcard.min(gap)).unwrap_or_default();
    let name = fixed.replace('.', "/");
    if fixed.len() == pattern.len() {
        return on_cell_path(&name);
    }
    // A gap stands for at least the dot before the next name.
    let head = if gap <= wildcard {
        format!("{name}/")
    } else {
        name
    };
    let is_open = |p: &&str| p.starts_with(head.as_str()) || head.starts_with(*p);
    let has_exceptions = head
        .strip_prefix("java/lang/")
        .is_some_and(|rest| !rest.contains('/'));
    PACKAGES.iter().any(|p| head.starts_with(p)) && !OPEN.iter().any(is_open) && !has_exceptions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_closed_with_its_nested_classes() {
        for class in [
            "java/lang/String",
            "java/lang/Throwable",
            "java/lang/NullPointerException",
            "java/lang/invoke/MethodHandle",
            "java/util/Arrays",
            "java/util/Arrays$ArrayList",
            "java/util/concurrent/ConcurrentHashMap$Node",
            "java/util/concurrent/atomic/AtomicLong",
            "jdk/internal/misc/Unsafe",
        ] {
            assert!(on_cell_path(class), "{class}");
        }
        for class in [
            "java/lang/NumberFormatException",
            "java/util/ArrayList",
            "java/util/ArraysParallelSortHelpers",
            "java/util/HashMap$Node",
            "java/util/concurrent/locks/ReentrantLock",
            "java/util/concurrent/ThreadPoolExecutor",
            "java/security/MessageDigest",
            "jdk/internal/net/http/HttpClientImpl",
            "com/shop/String",
        ] {
            assert!(!on_cell_path(class), "{class}");
        }
    }

    #[test]
    fn a_pattern_selects_only_such_classes_if_its_fixed_part_says_so() {
        for pattern in [
            "java.lang.String",
            "java.lang.invoke.*",
            "java.lang.reflect..*",
            "java.util.function..*",
            "java.util.Objects",
            "jdk.internal.misc..*",
            "sun.misc.*",
        ] {
            assert!(selects_only_cell_path(pattern), "{pattern}");
        }
        for pattern in [
            "java.lang.*",
            "java.lang..*",
            "java.lang.String*",
            "java.util.*",
            "java.util.Array*",
            "java.util.ArrayList",
            "java.util..*",
            "java..*",
            "jdk.internal..*",
            "jdk.internal.net.*",
            "*..ArrayList",
            "com.shop..*",
            "",
        ] {
            assert!(!selects_only_cell_path(pattern), "{pattern}");
        }
    }
}

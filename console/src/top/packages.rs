//! Builds patterns for everything outside the JDK from the classes that a JVM has loaded.
//!
//! The pattern language has no exclusion. So each package of the application gets a pattern, made
//! from the first two parts of its name: `com.shop.desk.Order` becomes `com.shop..*`, which also
//! matches packages that are loaded later. If the JDK also has classes below `com.shop`, the
//! pattern is `com.shop.desk.*` instead.

use std::collections::BTreeSet;

use veneer_client::classes::LoadedClasses;

/// Packages from which the JVM may load JDK classes later.
const JDK_PACKAGES: [&str; 10] = [
    "java", "javax", "jdk", "sun", "com.sun", "org.w3c", "org.xml", "org.ietf", "org.jcp",
    "netscape",
];

/// The package of a class.
fn package(class: &str) -> &str {
    class.rsplit_once('.').map_or("", |(package, _)| package)
}

/// The first two parts of a package name.
fn stem(package: &str) -> &str {
    match package.match_indices('.').nth(1) {
        Some((end, _)) => &package[..end],
        None => package,
    }
}

fn is_below(package: &str, root: &str) -> bool {
    package
        .strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Returns the patterns in alphabetical order.
pub fn patterns(loaded: &LoadedClasses) -> Vec<String> {
    let jdk: BTreeSet<&str> = loaded.jdk.iter().map(|class| package(class)).collect();
    let shared = |stem: &str| {
        JDK_PACKAGES
            .iter()
            .any(|root| is_below(stem, root) || is_below(root, stem))
            || jdk.iter().any(|package| is_below(package, stem))
    };
    let pattern = |class: &String| {
        let package = package(class);
        let stem = stem(package);
        match (package.is_empty(), shared(stem)) {
            (true, _) => "*".to_owned(),
            (_, true) => format!("{package}.*"),
            (_, false) => format!("{stem}..*"),
        }
    };
    let all: BTreeSet<String> = loaded.application.iter().map(pattern).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_the_application_and_not_the_jdk() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let loaded = LoadedClasses {
            jdk: names(&["java.lang.Object", "com.sun.jndi.X", "org.w3c.dom.Node"]),
            application: names(&[
                "com.shop.desk.Order",
                "com.shop.Main",
                "javax.servlet.http.Cookie",
                "org.w3c.dom.svg.Shape",
                "route.Edge$Kind",
                "Main",
                "com.Bare",
                "org.h2.Driver",
            ]),
        };
        assert_eq!(
            patterns(&loaded),
            [
                "*",
                "com.*",
                "com.shop..*",
                "javax.servlet.http.*",
                "org.h2..*",
                "org.w3c.dom.svg.*",
                "route..*"
            ]
        );
        assert!(patterns(&LoadedClasses::default()).is_empty());
    }
}

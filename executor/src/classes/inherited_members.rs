//! The protected members that a class inherits from superclasses in other packages.
//!
//! A version is a hidden class in the package of its nest host. A protected member of another
//! package is accessible to the host through inheritance, but not to the version, so the emitter
//! must know these members. The threads that emit versions call this file; the result is cached in
//! the state of the class, because a superclass chain never changes.

use crate::classes::registry::Class;
use crate::jvm::jni::{Env, jobject};
use crate::jvm::jvmti::Tool;
use std::sync::Arc;
use veneer_fragmenter::version::ProtectedMembers;

/// Returns the package of an internal class name; empty for the unnamed package.
fn package(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(package, _)| package)
}

/// Returns the names and descriptors of the protected members that `class` inherits from classes
/// in other run-time packages. `host` is the class object of `class`.
pub fn inherited_protected_members(
    tool: Tool,
    env: Env,
    class: &Class,
    host: jobject,
) -> Arc<ProtectedMembers> {
    if let Some(known) = class.state().protected.clone() {
        return known;
    }
    let own_package = package(class.name.as_str());
    let own_loader = tool.loader(host);
    let mut members = ProtectedMembers::new();
    let mut superclass = env.superclass(host);
    while !superclass.is_null() {
        let loader = tool.loader(superclass);
        let same_package = tool
            .class_name(superclass)
            .is_some_and(|name| package(&name) == own_package)
            && env.same(own_loader, loader);
        // SAFETY: `Tool::loader` has made the local reference, which is not used again.
        unsafe { env.delete(loader) };
        if !same_package {
            members.extend(tool.protected_members(superclass));
        }
        let next = env.superclass(superclass);
        // SAFETY: `superclass` has made the local reference, which is not used again.
        unsafe { env.delete(superclass) };
        superclass = next;
    }
    // SAFETY: `Tool::loader` has made the local reference, which is not used again.
    unsafe { env.delete(own_loader) };
    let members = Arc::new(members);
    class.state().protected = Some(members.clone());
    members
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn the_package_ends_at_the_last_separator() {
        assert_eq!(package("java/util/Map$Entry"), "java/util");
        assert_eq!(package("Main"), "");
    }
}

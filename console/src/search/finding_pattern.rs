//! The patterns with which plans select the methods of findings.

use veneer_search::outcome::{Axis, Finding};
use veneer_search::place::MethodName;

/// The pattern of a finding's method. `None` if plans cannot name it.
pub fn pattern_of(finding: &Finding) -> Option<String> {
    let step = |kind: &str| {
        let mut steps = finding.path.iter().filter(|step| step.axis == Axis::Where);
        steps
            .find(|step| step.kind == kind)
            .map(|step| step.name.clone())
    };
    method_pattern(&MethodName {
        class: step("class")?,
        method: step("method")?,
        ..MethodName::default()
    })
}

/// The pattern of a method. `None` if plans cannot name it: hidden classes have no name of their own.
pub fn method_pattern(name: &MethodName) -> Option<String> {
    let is_nameable = !name.class.contains('/') && !name.method.contains('<');
    is_nameable.then(|| format!("{}::{}(..)", name.class, name.method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_classes_and_constructors_have_no_pattern() {
        let name = |class: &str, method: &str| {
            method_pattern(&MethodName {
                class: class.into(),
                method: method.into(),
                ..MethodName::default()
            })
        };
        assert_eq!(name("a.B", "m").as_deref(), Some("a.B::m(..)"));
        assert_eq!(name("a.B$$Lambda/0x12", "m"), None);
        assert_eq!(name("a.B", "<init>"), None);
    }
}

//! The patterns by which attached instruments and patches select methods, with the members that the code
//! of the methods must name.

use veneer_fragmenter::outline::NamedMember;
use veneer_instruments::{InstructionKind, MethodPattern, PointSelector};
use veneer_names::internal_form;

/// A pattern of an attached instrument or patch.
#[derive(Clone)]
pub struct PlanPattern {
    /// The methods that it selects.
    pub methods: MethodPattern,
    /// The called method, if an instrument acts at calls of this method only; the class of the fields,
    /// if it acts at accesses of these only.
    pub called: Option<MethodPattern>,
}

impl PlanPattern {
    /// A pattern that needs no call.
    pub fn of_methods(methods: MethodPattern) -> PlanPattern {
        PlanPattern {
            methods,
            called: None,
        }
    }

    /// The method that a class must name to be selected. `None` if the pattern selects classes that
    /// call nothing too, or names its only class in full.
    fn needs_call(&self) -> Option<&MethodPattern> {
        let called = self.called.as_ref();
        called.filter(|_| single_class(&self.methods).is_none())
    }
}

/// The internal name of the only class that a pattern can select. `None` if the pattern has
/// wildcards.
pub fn single_class(pattern: &MethodPattern) -> Option<String> {
    let text = pattern.class_text();
    let has_wildcards = text.contains('*') || text.contains("..") || pattern.has_subtypes();
    (!has_wildcards).then(|| internal_form(&text))
}

/// Returns the called method, if the points of an instrument are the calls that match a pattern. If they
/// are accesses to the fields of a class, written `a.B.*`, returns the class.
pub fn called_method(place: &PointSelector) -> Option<MethodPattern> {
    let PointSelector::Instructions(kind) = place else {
        return None;
    };
    match kind {
        InstructionKind::Calls(called) => called.clone(),
        InstructionKind::Reads(Some(field)) | InstructionKind::Writes(Some(field)) => {
            let class = field.strip_suffix(".*")?;
            MethodPattern::parse(class).ok()
        }
        _ => None,
    }
}

/// Whether a class can call a method, or access a field of the method's class. `members` are those in its
/// constant pool, or `None` if they are not known.
pub fn may_call(called: &MethodPattern, members: Option<&[NamedMember]>) -> bool {
    let is_named = |member: &NamedMember| {
        let is_field = !member.descriptor.starts_with('(');
        let may_be_class = called.has_subtypes() || called.matches_class(&member.class);
        may_be_class && (is_field || called.matches_method(&member.name, &member.descriptor))
    };
    members.is_none_or(|members| members.iter().any(is_named))
}

/// The patterns that can concern a class. `members` as in [`may_call`]; they are only asked for if
/// a pattern needs a call and may select the class with this dotted name.
pub fn concerning<'p>(
    all: &'p [PlanPattern],
    dotted: &str,
    members: impl FnOnce() -> Option<Vec<NamedMember>>,
) -> Vec<&'p MethodPattern> {
    let in_doubt = |p: &PlanPattern| p.needs_call().is_some() && p.methods.matches_class(dotted);
    let members = match all.iter().any(in_doubt) {
        true => members(),
        false => None,
    };
    let concerns = |p: &&PlanPattern| {
        p.needs_call()
            .is_none_or(|called| may_call(called, members.as_deref()))
    };
    all.iter().filter(concerns).map(|p| &p.methods).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_names_a_single_class_only_without_wildcards() {
        let class = |text| {
            MethodPattern::parse(text)
                .ok()
                .and_then(|p| single_class(&p))
        };
        assert_eq!(
            class("a.b.Outer$Inner::*(..)"),
            Some("a/b/Outer$Inner".into())
        );
        assert_eq!(class("Main::run(int)"), Some("Main".into()));
        assert_eq!(class("a.B*::run"), None);
        assert_eq!(class("a..B::run"), None);
        assert_eq!(class("*..*"), None);
        assert_eq!(class("a.I+::run"), None);
        assert_eq!(class("@a.Test static a.B::run"), Some("a/B".into()));
    }

    #[test]
    fn a_class_without_the_called_method_concerns_only_other_patterns() {
        let parse = |text| MethodPattern::parse(text).expect("a pattern");
        let calling = |methods| PlanPattern {
            methods: parse(methods),
            called: Some(parse("*..*::sleep(long)")),
        };
        let all = [
            calling("*..*"),
            calling("shop.Desk"),
            PlanPattern::of_methods(parse("shop.*::serve")),
        ];
        let texts = |members: Option<&[(&str, &str)]>| {
            let member = |(name, descriptor): &(&str, &str)| NamedMember {
                class: "java.lang.Thread".into(),
                name: (*name).into(),
                descriptor: (*descriptor).into(),
            };
            let members = members.map(|all| all.iter().map(member).collect());
            let found = concerning(&all, "shop.Desk", || members).into_iter();
            Vec::from_iter(found.map(ToString::to_string))
        };
        assert_eq!(texts(Some(&[("sleep", "(J)V")])).len(), 3);
        assert_eq!(texts(None).len(), 3, "the members are not known");
        let others = ["shop.Desk", "shop.*::serve"];
        assert_eq!(texts(Some(&[("sleep", "(I)V"), ("wake", "(J)V")])), others);
        // Fields of the class need the class alone.
        let fields = InstructionKind::Reads(Some("java.lang.Thread.*".into()));
        let class = called_method(&PointSelector::Instructions(fields)).expect("a class");
        let member = |class: &str, descriptor: &str| NamedMember {
            class: class.into(),
            name: "tid".into(),
            descriptor: descriptor.into(),
        };
        assert!(may_call(&class, Some(&[member("java.lang.Thread", "J")])));
        assert!(!may_call(&class, Some(&[member("shop.Thread", "J")])));
        // Nobody asks for the members if no pattern needs them.
        let found = concerning(&all[1..], "shop.Desk", || unreachable!());
        assert_eq!(found.len(), 2);
    }
}

//! Warnings about patterns that match no method.

use crate::agent::Agent;
use crate::jvm::jni::Env;
use crate::plans::instrument_registry::{Instrument, InstrumentTable};
use veneer_instruments::{InstrumentSpec, MeantMethod, MethodPattern, nearest};
use veneer_names::java_form;

/// The most class names that a warning suggests.
const MAX_SUGGESTIONS: usize = 3;

/// The loaded classes that a warning can suggest.
struct Candidates {
    /// The names of all loaded classes.
    names: Vec<String>,
    /// The classes that the pattern can mean, with the names of their methods.
    meant: Vec<(String, Vec<String>)>,
}

fn candidates(agent: &Agent, env: Env, meant: Option<&MeantMethod>) -> Candidates {
    let mut found = Candidates {
        names: Vec::new(),
        meant: Vec::new(),
    };
    for class in agent.tool.loaded(env) {
        let name = agent.tool.class_name(class);
        if let Some(name) = name.filter(|n| !veneer_fragmenter::anchor::is_anchor(n)) {
            let name = java_form(&name);
            let is_meant = meant.is_some_and(|meant| meant.may_be_in(&name));
            if is_meant && found.meant.len() < MAX_SUGGESTIONS && agent.tool.is_prepared(class) {
                let methods = agent.tool.method_names(class);
                found.meant.push((name.clone(), methods));
            }
            found.names.push(name);
        }
        // SAFETY: `loaded` has made the local reference, which is not used again.
        unsafe { env.delete(class) };
    }
    found
}

/// Returns the names of loaded classes that are similar to a pattern.
pub fn similar_classes(agent: &Agent, env: Env, pattern: &MethodPattern) -> Vec<String> {
    let names = candidates(agent, env, None).names;
    nearest(pattern, names.iter().map(String::as_str), MAX_SUGGESTIONS)
}

/// Whether a pattern may select methods of a loaded class.
pub fn selects_loaded_class(agent: &Agent, env: Env, pattern: &MethodPattern) -> bool {
    let names = candidates(agent, env, None).names;
    names.iter().any(|name| pattern.matches_class(name))
}

/// Returns the end of a warning that suggests a pattern, methods or classes; empty if there are none.
pub fn suggestion(agent: &Agent, env: Env, pattern: &MethodPattern) -> String {
    let meant = MeantMethod::from_pattern(pattern);
    let Candidates {
        names,
        meant: classes,
    } = candidates(agent, env, meant.as_ref());
    // An abstract method, for example, is there, and cannot be selected.
    let is_other = |hint: &String| !hint.contains(&format!("`{pattern}`"));
    let hint = meant.and_then(|meant| meant.hint(&classes));
    if let Some(hint) = hint.filter(is_other) {
        return format!("; {hint}");
    }
    if let Some(package) = package_of_that_name(pattern, &names) {
        return format!("; did you mean `{package}`?");
    }
    let names = nearest(pattern, names.iter().map(String::as_str), MAX_SUGGESTIONS);
    if names.is_empty() {
        String::new()
    } else {
        format!("; near it: {}", names.join(", "))
    }
}

/// The pattern for all classes below a package, if a pattern is only the name of a package of these
/// classes.
fn package_of_that_name(pattern: &MethodPattern, classes: &[String]) -> Option<String> {
    let package = pattern.to_string();
    let is_below = |class: &String| {
        let rest = class.strip_prefix(&package);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    let is_package = classes.iter().any(is_below);
    is_package.then(|| format!("{package}..*"))
}

/// An instrument without points although methods matched, with the first error.
#[derive(Debug, PartialEq)]
struct NotInstalled {
    plan: String,
    error: String,
}

/// The attached instruments that have no point and an error to report.
fn not_installed(table: &InstrumentTable) -> Vec<NotInstalled> {
    let nowhere = |i: &&Instrument| i.attached && i.points.is_empty();
    let all = table.instruments.iter().filter(nowhere);
    all.filter_map(|i| {
        Some(NotInstalled {
            plan: i.spec.plan.clone(),
            error: i.deferred_error.clone()?,
        })
    })
    .collect()
}

/// The attached instruments whose patterns have matched no method. Instruments for single methods
/// are not among them: a plan has chosen these methods among armed ones.
fn unmatched(table: &InstrumentTable) -> Vec<InstrumentSpec> {
    let is_unmatched = |i: &&Instrument| i.attached && i.tried.is_empty() && i.spec.only.is_none();
    let all = table.instruments.iter().filter(is_unmatched);
    all.map(|i| i.spec.clone()).collect()
}

/// Warns about instruments that were attached until the end of the run and have matched nothing.
/// Called by the thread that ends the JVM.
///
/// There is no warning if several processes run with the same plans: most of them have nothing to
/// do with the classes that the plans name.
pub fn warn_of_unmatched_patterns(agent: &Agent, env: Env) {
    if agent.config.children {
        return;
    }
    let (not_installed, unmatched) = {
        let table = agent.table.lock();
        (not_installed(&table), unmatched(&table))
    };
    for one in not_installed {
        agent.report_problem(
            &one.plan,
            &format!("it stood nowhere in the whole run: {}", one.error),
        );
    }
    for spec in unmatched {
        for pattern in &spec.patterns {
            agent.report_problem(
                &spec.plan,
                &format!(
                    "{}: `{pattern}` matched no method in the whole run{}",
                    spec.plan,
                    suggestion(agent, env, pattern)
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::instrument_registry::tests::{instrument, point};
    use std::collections::BTreeMap;
    use veneer_instruments::InstrumentKind;

    #[test]
    fn only_attached_instruments_without_a_match_are_reported() {
        let mut table = InstrumentTable::default();
        for plan in ["idle", "detached", "chosen", "matched"] {
            let mut one = instrument(InstrumentKind::Counter);
            one.spec.plan = plan.into();
            one.attached = plan != "detached";
            one.spec.only = (plan == "chosen").then(BTreeMap::new);
            if plan == "matched" {
                one.tried.insert(veneer_names::MethodId(7));
            }
            table.add(one);
        }
        let plans: Vec<_> = unmatched(&table)
            .into_iter()
            .map(|spec| spec.plan)
            .collect();
        assert_eq!(plans, ["idle"]);
    }

    #[test]
    fn the_name_of_a_package_is_read_as_its_classes() {
        let classes = ["shop.Desk", "shop.model.Item", "shopping.Cart"].map(String::from);
        let meant = |text| {
            let pattern = MethodPattern::parse(text).expect("a pattern");
            package_of_that_name(&pattern, &classes)
        };
        assert_eq!(meant("shop").as_deref(), Some("shop..*"));
        assert_eq!(meant("shop.model").as_deref(), Some("shop.model..*"));
        for none in ["sho", "shop.Desk", "shop::serve"] {
            assert_eq!(meant(none), None, "{none}");
        }
    }

    #[test]
    fn an_error_is_reported_unless_another_point_was_installed() {
        let mut table = InstrumentTable::default();
        for (plan, installed) in [("nowhere", false), ("somewhere", true)] {
            let mut one = instrument(InstrumentKind::Counter);
            one.spec.plan = plan.into();
            one.deferred_error = Some("no such variable".into());
            if installed {
                one.points.push(point(1, 1, 1));
            }
            table.add(one);
        }
        table.add(instrument(InstrumentKind::Counter));
        let found = not_installed(&table);
        let expected = NotInstalled {
            plan: "nowhere".into(),
            error: "no such variable".into(),
        };
        assert_eq!(found, [expected]);
    }
}

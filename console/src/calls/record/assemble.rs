//! Makes a call profile from the counts of the agent.
//!
//! ```text
//!   entries      count of each entry                ─▶ methods with entries
//!   sites        count of each call                 ─┬▶ edges of static and special calls
//!   first        table (site_id, class)              ├▶ edges of virtual calls: all calls of the site but …
//!   receivers    table (site_id, class) → count     ─┴▶ … those on other classes, one edge per method
//!   allocations  count of each `new`                ─▶ allocation sites
//!   refusals                                        ─▶ classes whose calls are missing
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;
use veneer_calls::{
    CallKind, CallProfile, Loader, LoaderId, Method, MethodForm, MethodId, MethodName, Site,
    UnseenClass,
};
use veneer_instruments::{Measurement, MethodPattern, PointRow, RefusalRow};
use veneer_names::{MethodRef, site_id};
use veneer_protocol::TableEntry;

use super::hierarchy::Hierarchy;
use super::site::{AllocationSite, CallSite};

/// The name of the loader of all methods. The rows of the agent do not name loaders, so classes of
/// one name in several loaders are one class in the profile.
pub const ANY_LOADER: &str = "any";
/// The callee of virtual calls whose receivers did not fit into the table.
const UNKNOWN_RECEIVERS: &str = "receivers that did not fit into the table";
/// The callee of virtual calls in a JVM that was killed. Only the JVM had the table of receivers.
const LOST_RECEIVERS: &str = "receivers that were lost when the JVM was killed";

/// The counts of a recording, as the agent reported them.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// The entries of each method.
    pub entries: Vec<PointRow>,
    /// The executions of each call.
    pub sites: Vec<PointRow>,
    /// The executions of each allocation.
    pub allocations: Vec<PointRow>,
    /// Counts by `site_id()` and the class of the receiver, without calls on the class that the site
    /// met first. The class is null for calls on null, which enter no method.
    pub receivers: Vec<TableEntry>,
    /// The class that each site met first.
    pub first_receivers: Vec<TableEntry>,
    /// Whether no call on another class is missing in `receivers`.
    pub are_receivers_whole: bool,
    /// Whether the JVM was killed, and the table of receivers with it.
    pub lost_receivers: bool,
    /// The calls in threads without a tree of contexts, if contexts were recorded.
    pub contexts: Vec<PointRow>,
    /// All classes and methods that the agent left unchanged.
    pub refusals: Vec<RefusalRow>,
}

impl Readings {
    /// Adds the count of an entry, of a call or of an allocation.
    pub fn add_point(&mut self, row: PointRow) {
        let rows = match row.what.as_deref() {
            None => &mut self.entries,
            Some(what) if AllocationSite::parse(what).is_some() => &mut self.allocations,
            Some(_) => &mut self.sites,
        };
        rows.push(row);
    }
}

/// The receivers of a call site.
#[derive(Default)]
struct Receivers {
    on_null: u64,
    /// The calls on classes other than the first one.
    classes: BTreeMap<String, u64>,
    /// The class that the site met first. Several, if classes of one name in several loaders have the
    /// site.
    first: BTreeSet<String>,
}

impl Receivers {
    /// Divides `count` calls: the calls on each class, and the calls on an unknown one.
    fn divide(&self, count: u64, are_whole: bool) -> (BTreeMap<&str, u64>, u64) {
        let others = self.classes.iter().map(|(class, n)| (class.as_str(), *n));
        let mut classes: BTreeMap<&str, u64> = others.collect();
        let known = classes.values();
        let known = known.fold(self.on_null, |sum, n| sum.saturating_add(*n));
        let rest = count.saturating_sub(known);
        match (self.first.first(), self.first.len()) {
            (Some(only), 1) if are_whole && rest > 0 => {
                *classes.entry(only).or_default() += rest;
                (classes, 0)
            }
            _ => (classes, rest),
        }
    }
}

/// Makes the profile. `patterns` are those of the recorded methods.
pub fn profile(
    readings: &Readings,
    hierarchy: &Hierarchy,
    patterns: &[MethodPattern],
) -> CallProfile {
    let mut profile = CallProfile::new();
    let loader = profile.add_loader(&Loader {
        name: ANY_LOADER.into(),
        number: 1,
    });
    let mut assembly = Assembly {
        profile,
        loader,
        hierarchy,
        are_receivers_whole: readings.are_receivers_whole,
        unknown_receivers: match readings.lost_receivers {
            true => LOST_RECEIVERS,
            false => UNKNOWN_RECEIVERS,
        },
    };
    for row in &readings.entries {
        if let Some(name) = method_name(&row.class, &row.method) {
            assembly.add_method(name, Some(hits(row)));
        }
    }
    assembly.add_calls(&readings.sites, &receivers(readings));
    assembly.add_allocations(&readings.allocations);
    assembly.add_unseen(&readings.refusals, patterns);
    assembly.profile
}

/// The receivers of each call site, by the number of the site.
fn receivers(readings: &Readings) -> HashMap<i64, Receivers> {
    let mut sites: HashMap<i64, Receivers> = HashMap::new();
    for entry in &readings.first_receivers {
        if let [site, Value::String(class)] = entry.keys.as_slice()
            && let Some(site) = site.as_i64()
        {
            let receivers = sites.entry(site).or_default();
            receivers.first.insert(class.clone());
        }
    }
    for entry in &readings.receivers {
        let [site, class] = entry.keys.as_slice() else {
            continue;
        };
        let Some(site) = site.as_i64() else { continue };
        let receivers = sites.entry(site).or_default();
        let count = entry.figures.count();
        match class {
            Value::String(class) => {
                let sum = receivers.classes.entry(class.clone()).or_default();
                *sum = sum.saturating_add(count);
            }
            _ => receivers.on_null = receivers.on_null.saturating_add(count),
        }
    }
    sites
}

/// The number of times that a point was passed.
pub fn hits(row: &PointRow) -> u64 {
    match row.data {
        Measurement::Count { hits } => hits,
        Measurement::Time { .. } | Measurement::Log { .. } => 0,
    }
}

/// The name of a method of a row; `None` if the method has no valid descriptor.
pub fn method_name(class: &str, method: &str) -> Option<MethodName> {
    let method = MethodRef::parse(method).ok()?;
    Some(MethodName::new(
        class,
        method.name,
        &method.descriptor.to_string(),
    ))
}

/// The name of a lambda's class without the number and the address, which differ from run to run:
/// `shop.Desk$$Lambda`.
fn stable_class_name(class: &str) -> &str {
    const LAMBDA: &str = "$$Lambda";
    match class.find(LAMBDA) {
        Some(at) if class.contains('/') => &class[..at + LAMBDA.len()],
        _ => class,
    }
}

/// A profile while it is made.
struct Assembly<'h> {
    profile: CallProfile,
    loader: LoaderId,
    hierarchy: &'h Hierarchy,
    /// Whether all calls on classes other than the first one of a site are known.
    are_receivers_whole: bool,
    /// The name of the callee of virtual calls whose receivers are unknown.
    unknown_receivers: &'static str,
}

impl Assembly<'_> {
    fn add_method(&mut self, name: MethodName, entries: Option<u64>) -> MethodId {
        let method = format!("{}{}", name.method, name.descriptor);
        let code_bytes = self.hierarchy.code_bytes(&name.class, &method);
        self.profile.add_method(Method {
            loader: self.loader,
            form: match self.hierarchy.is_native(&name.class, &method) {
                true => MethodForm::Native,
                false => MethodForm::Bytecode,
            },
            name,
            code_bytes,
            entries,
        })
    }

    /// A node for calls whose callee is unknown.
    fn add_unknown(&mut self, what: &str) -> MethodId {
        self.profile.add_method(Method {
            loader: self.loader,
            name: MethodName::new("", what, ""),
            form: MethodForm::Overflow,
            code_bytes: None,
            entries: None,
        })
    }

    fn add_calls(&mut self, rows: &[PointRow], receivers: &HashMap<i64, Receivers>) {
        // Classes of one name in several loaders have equal sites, whose receivers are one entry.
        let mut sites: BTreeMap<(&str, &str, &str), (Option<u16>, u64)> = BTreeMap::new();
        for row in rows {
            if let Some(what) = &row.what {
                let site = sites
                    .entry((row.class.as_str(), row.method.as_str(), what.as_str()))
                    .or_default();
                site.0 = row.line;
                site.1 = site.1.saturating_add(hits(row));
            }
        }
        for ((class, method, what), (line, count)) in sites {
            let name = method_name(class, method);
            if let (Some(name), Some(call), 1..) = (name, CallSite::parse(what), count) {
                let caller = self.add_method(name, None);
                let number = site_id(class, method, call.bci);
                let site = Site {
                    bci: Some(call.bci),
                    line,
                };
                self.add_site(caller, site, &call, count, receivers.get(&number));
            }
        }
    }

    fn add_site(
        &mut self,
        caller: MethodId,
        site: Site,
        call: &CallSite,
        count: u64,
        receivers: Option<&Receivers>,
    ) {
        match call.kind {
            CallKind::Dynamic => {
                let name = MethodRef::parse(call.method).map_or(call.method, |method| method.name);
                let callee = self.add_unknown(&format!("invokedynamic {name}"));
                self.profile
                    .add_calls(caller, site, callee, call.kind, count);
            }
            CallKind::Virtual | CallKind::Interface => {
                let mut rest = count;
                if let Some(receivers) = receivers {
                    let (classes, unknown) = receivers.divide(count, self.are_receivers_whole);
                    for (class, count) in classes {
                        self.add_receiver(caller, site, call, class, count);
                    }
                    rest = unknown;
                }
                if rest > 0 {
                    let callee = self.add_unknown(self.unknown_receivers);
                    self.profile
                        .add_calls(caller, site, callee, call.kind, rest);
                }
            }
            _ => {
                let class = self.hierarchy.resolved(call.class, call.method);
                let class = class.unwrap_or(call.class).to_owned();
                self.add_edge(caller, site, call, &class, count);
            }
        }
    }

    /// Adds the calls of a virtual site on objects of one class. A method that was not recorded is
    /// named by the class of the receiver. If a recorded class inherits it from a class that was not
    /// recorded, it is named by the class in the instruction.
    fn add_receiver(
        &mut self,
        caller: MethodId,
        site: Site,
        call: &CallSite,
        receiver: &str,
        count: u64,
    ) {
        let receiver = self.hierarchy.whole_name(receiver);
        let hierarchy = self.hierarchy;
        let class = hierarchy.selected(&receiver, call.class, call.method);
        let class = match class {
            Some(class) => stable_class_name(class),
            None if hierarchy.contains(&receiver) && !hierarchy.contains(call.class) => call.class,
            None => hierarchy
                .unrecorded_owner(&receiver, call.method)
                .unwrap_or_else(|| stable_class_name(&receiver)),
        };
        self.add_edge(caller, site, call, class, count);
    }

    fn add_edge(&mut self, caller: MethodId, site: Site, call: &CallSite, class: &str, count: u64) {
        if let Some(name) = method_name(class, call.method) {
            let callee = self.add_method(name, None);
            self.profile
                .add_calls(caller, site, callee, call.kind, count);
        }
    }

    fn add_allocations(&mut self, rows: &[PointRow]) {
        for row in rows {
            let site = row.what.as_deref().and_then(AllocationSite::parse);
            let name = method_name(&row.class, &row.method);
            if let (Some(site), Some(name), 1..) = (site, name, hits(row)) {
                let method = self.add_method(name, None);
                let place = Site {
                    bci: Some(site.bci),
                    line: row.line,
                };
                self.profile
                    .add_allocations(method, place, site.type_name, hits(row));
            }
        }
    }

    fn add_unseen(&mut self, refusals: &[RefusalRow], patterns: &[MethodPattern]) {
        for row in refusals {
            if patterns.iter().any(|p| p.matches_class(&row.class)) {
                let method = match row.method.as_str() {
                    "" => String::new(),
                    method => format!("{method}: "),
                };
                self.profile.add_unseen(UnseenClass {
                    class: row.class.clone(),
                    reason: format!("{method}{}: {}", row.reason, row.detail),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::EntryMetrics;
    use veneer_protocol::data::{ClassFacts, MethodFacts};

    fn row(class: &str, method: &str, what: Option<&str>, hits: u64) -> PointRow {
        PointRow {
            class: class.into(),
            method: method.into(),
            fragment: None,
            to: None,
            what: what.map(String::from),
            line: Some(7),
            data: Measurement::Count { hits },
        }
    }

    fn receiver(site: i64, class: Value, count: u64) -> TableEntry {
        TableEntry {
            keys: vec![site.into(), class],
            figures: EntryMetrics::Count { count },
        }
    }

    fn facts(name: &str, supertypes: &[&str], methods: &[&str]) -> ClassFacts {
        ClassFacts {
            name: name.into(),
            supertypes: supertypes.iter().map(|name| (*name).into()).collect(),
            flags: Default::default(),
            methods: methods
                .iter()
                .map(|method| MethodFacts {
                    method: (*method).into(),
                    size: 9,
                    flags: Default::default(),
                    native: false,
                })
                .collect(),
        }
    }

    /// The edges as `caller → callee kind count`, sorted.
    fn edges(profile: &CallProfile) -> Vec<String> {
        let edges = profile.edges().iter().map(|edge| {
            let name = |id| profile.method(id).name.to_string();
            let (caller, callee) = (name(edge.caller), name(edge.callee));
            format!("{caller} → {callee} {} {}", edge.kind, edge.count)
        });
        let mut edges: Vec<String> = edges.collect();
        edges.sort();
        edges
    }

    #[test]
    fn virtual_calls_are_divided_by_their_receivers() {
        let mut hierarchy = Hierarchy::default();
        hierarchy.add(facts("Base", &["java.lang.Object"], &["m()V"]));
        hierarchy.add(facts("Leaf", &["Base", "java.lang.Object"], &["own()V"]));
        let site = site_id("Main", "run()V", 4);
        let what = "invokevirtual Base::m()V @4";
        let readings = Readings {
            entries: vec![
                row("Base", "m()V", None, 14),
                row("Main", "run()V", None, 1),
            ],
            // The class is in two loaders.
            sites: vec![
                row("Main", "run()V", Some(what), 15),
                row("Main", "run()V", Some(what), 5),
            ],
            receivers: vec![
                receiver(site, "Base".into(), 4),
                receiver(site, "Main$$Lambda$14/0x0000000800c03000".into(), 3),
                receiver(site, Value::Null, 4),
                receiver(site + 1, "Base".into(), 100),
            ],
            first_receivers: vec![receiver(site, "Leaf".into(), 2)],
            are_receivers_whole: true,
            ..Readings::default()
        };
        let profile = profile(&readings, &hierarchy, &[]);
        assert_eq!(
            edges(&profile),
            [
                "Main::run() → Base::m() virtual 13",
                "Main::run() → Main$$Lambda::m() virtual 3",
            ]
        );
        let loader = &profile.loaders()[0];
        let base = profile
            .find_method(loader, &MethodName::new("Base", "m", "()V"))
            .unwrap();
        assert_eq!(profile.residue(base, profile.incoming()[base.index()]), 1);
        assert_eq!(profile.method(base).code_bytes, Some(9));
    }

    #[test]
    fn the_rest_of_a_site_has_no_receiver_if_that_is_not_certain() {
        let site = site_id("Main", "run()V", 4);
        let whole = Readings {
            sites: vec![row(
                "Main",
                "run()V",
                Some("invokevirtual Base::m()V @4"),
                9,
            )],
            receivers: vec![receiver(site, "Other".into(), 2)],
            first_receivers: vec![receiver(site, "Base".into(), 1)],
            are_receivers_whole: true,
            ..Readings::default()
        };
        let calls = |readings: &Readings| edges(&profile(readings, &Hierarchy::default(), &[]));
        let other = "Main::run() → Other::m() virtual 2";
        let known = "Main::run() → Base::m() virtual 7";
        assert_eq!(calls(&whole), [known, other]);
        let unknown = "Main::run() → [receivers that did not fit into the table] virtual 7";
        let mut cut = whole.clone();
        cut.are_receivers_whole = false;
        assert_eq!(calls(&cut), [other, unknown]);
        let mut two_loaders = whole.clone();
        let more = receiver(site, "Leaf".into(), 1);
        two_loaders.first_receivers.push(more);
        assert_eq!(calls(&two_loaders), [other, unknown]);
        let mut killed = whole;
        killed.first_receivers.clear();
        killed.receivers.clear();
        killed.lost_receivers = true;
        let lost = "Main::run() → [receivers that were lost when the JVM was killed] virtual 9";
        assert_eq!(calls(&killed), [lost]);
    }

    #[test]
    fn other_calls_have_one_callee() {
        let mut hierarchy = Hierarchy::default();
        hierarchy.add(facts("Base", &["java.lang.Object"], &["s()V"]));
        hierarchy.add(facts("Leaf", &["Base", "java.lang.Object"], &["own()V"]));
        let site = |what| row("Main", "run()V", Some(what), 2);
        let readings = Readings {
            sites: vec![
                site("invokestatic Leaf::s()V @1"),
                site("invokespecial java.lang.Object::<init>()V @2"),
                site("invokedynamic run()Ljava/lang/Runnable; @3"),
                row("Main", "run()V", Some("invokestatic Leaf::s()V @9"), 0),
                site("new Leaf @4"),
            ],
            allocations: vec![site("new Leaf @4"), site("new int[] @5")],
            ..Readings::default()
        };
        let profile = profile(&readings, &hierarchy, &[]);
        assert_eq!(
            edges(&profile),
            [
                "Main::run() → Base::s() static 2",
                "Main::run() → [invokedynamic run] dynamic 2",
                "Main::run() → java.lang.Object::<init>() special 2",
            ]
        );
        let types = profile.allocations().iter();
        let types: Vec<_> = types
            .map(|one| (one.type_name.as_str(), one.count))
            .collect();
        assert_eq!(types, [("Leaf", 2), ("int[]", 2)]);
    }

    #[test]
    fn refused_classes_that_match_are_unseen() {
        let refusal = |class: &str, method: &str| RefusalRow {
            class: class.into(),
            method: method.into(),
            reason: "MethodTooLarge".into(),
            detail: "60,000 bytes".into(),
        };
        let readings = Readings {
            refusals: vec![refusal("a.B", "m()V"), refusal("c.D", "")],
            ..Readings::default()
        };
        let patterns = [MethodPattern::parse("a..*").unwrap()];
        let profile = profile(&readings, &Hierarchy::default(), &patterns);
        let unseen = profile.unseen().iter();
        let unseen: Vec<_> = unseen.map(|one| (&*one.class, &*one.reason)).collect();
        assert_eq!(unseen, [("a.B", "m()V: MethodTooLarge: 60,000 bytes")]);
    }
}

//! Bringing methods up to date after instruments or patches have changed, and renewing the profiles
//! of methods that are back in their armed bodies.

use super::RuntimeHandle;
use crate::classes::later_agents::{self, MAX_CLASSES_PER_PAUSE};
use crate::classes::plan_pattern::{PlanPattern, called_method};
use crate::classes::registry::Class;
use crate::plans::instrument_registry::{Instrument, InstrumentTable};
use crate::weaving::target_switch::SwitchBatch;
use crate::weaving::versions;
use crate::weaving::weaver::remove_unproven;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use veneer_instruments::MethodPattern;
use veneer_names::MethodId;

impl RuntimeHandle {
    /// Sets the patterns by which classes are armed when they are loaded: those of all attached
    /// instruments and active patches.
    pub(super) fn refresh_patterns(&self) {
        let patterns = active_patterns(&self.agent.table.lock());
        self.agent.set_plan_patterns(patterns);
    }

    /// Installs or removes versions so that these methods have their current instruments and
    /// patches. Refusals are recorded and returned.
    pub(super) fn update(&self, methods: &[MethodId]) -> versions::RefusedMethods {
        let recorded = self.renew(methods).into_iter().map(|(class, id, reason)| {
            self.agent.refuse_method(&class, id, &reason);
            (id, reason)
        });
        recorded.collect()
    }

    /// Installs the versions of the instruments that the plan has attached since the last time.
    pub(super) fn install_deferred(&self) {
        let methods = std::mem::take(&mut *self.agent.deferred_versions.lock());
        if methods.is_empty() {
            return;
        }
        for (class, id, reason) in self.renew(&Vec::from_iter(methods)) {
            remove_unproven(self.agent, &class, id, &reason);
        }
    }

    /// Installs or removes versions so that these methods have their current instruments and patches.
    fn renew(&self, methods: &[MethodId]) -> versions::RefusedSwitches {
        let (agent, env) = (self.agent, self.env());
        let mut by_class: BTreeMap<MethodId, (Arc<Class>, Vec<MethodId>)> = BTreeMap::new();
        for id in methods {
            if let Some(class) = agent.registry.class_of_method(*id) {
                let entry = by_class.entry(class.first_id);
                entry.or_insert_with(|| (class, Vec::new())).1.push(*id);
            }
        }
        let mut refused = Vec::new();
        let eager = methods.len() <= versions::MAX_EAGER_METHODS;
        let mut batch = SwitchBatch::default();
        for (class, ids) in by_class.into_values() {
            let bad = agent
                .methods
                .prepare(agent, env, &class, &ids, eager, &mut batch);
            refused.extend(
                bad.into_iter()
                    .map(|(id, reason)| (class.clone(), id, reason)),
            );
            if eager || batch.is_full() {
                refused.extend(agent.methods.install_versions(agent, env, &mut batch));
            }
        }
        refused.extend(agent.methods.install_versions(agent, env, &mut batch));
        refused
    }

    /// Gives methods that are back in their armed bodies a new JIT profile, if a version ran before
    /// the armed body ever did.
    ///
    /// While a version runs, each call is counted as a call of the armed body, whose own call sites
    /// are never executed. The JIT compiler would consider these sites rare from then on, and would
    /// inline no callee over 35 bytes there (`InlineFrequencyRatio`, `MaxInlineSize`).
    /// Retransformation to the same code starts a new profile. Activations that have run for long
    /// are in a version without instruments then, not in the armed body, so they are not slowed.
    pub(super) fn renew_profiles(&self, methods: &[MethodId]) {
        let (agent, env) = (self.agent, self.env());
        let mut seen = HashSet::new();
        let mut cold = Vec::new();
        for class in methods
            .iter()
            .filter_map(|id| agent.registry.class_of_method(*id))
        {
            if !seen.insert(class.first_id) {
                continue;
            }
            {
                let mut state = class.state();
                let idle = state.methods.iter().all(|m| agent.methods.is_idle(m.id));
                if !idle || !std::mem::take(&mut state.has_skewed_profile) {
                    continue;
                }
            }
            cold.extend(class.local(env));
        }
        for part in cold.chunks(MAX_CLASSES_PER_PAUSE) {
            // If the JVM refuses, the classes only keep their profiles.
            let _ = later_agents::retransform(agent, part);
        }
        for class in cold {
            // SAFETY: `Class::local` has made the local reference, which is not used again.
            unsafe { env.delete(class) };
        }
    }

    /// Gives every point a counter of its own. Called when a virtual thread has counted: the agent
    /// cannot find the frames of parked virtual threads, so derived counts would be wrong by the
    /// number of their activations.
    pub fn count_each_point(&self) {
        let changed = self.agent.methods.count_each();
        self.update(&changed);
    }
}

/// The patterns of attached instruments and active patches. Instruments for single methods have
/// none: they do not apply to classes that are loaded later.
fn active_patterns(table: &InstrumentTable) -> Vec<PlanPattern> {
    let is_lasting = |i: &&Instrument| i.attached && i.spec.only.is_none();
    let instruments = table.instruments.iter().filter(is_lasting);
    let patches = table.patches.iter().filter(|p| p.active);
    let of_instruments = instruments.flat_map(|i| {
        let called = called_method(&i.spec.place);
        let pattern = move |methods: &MethodPattern| PlanPattern {
            methods: methods.clone(),
            called: called.clone(),
        };
        i.spec.patterns.iter().map(pattern)
    });
    let of_patches = patches.flat_map(|p| &p.spec.patterns);
    let of_patches = of_patches.cloned().map(PlanPattern::of_methods);
    of_instruments.chain(of_patches).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::instrument_registry::Patch;
    use crate::plans::instrument_registry::tests::instrument;
    use veneer_instruments::{EditSpec, InstrumentKind};

    fn pattern(text: &str) -> Vec<MethodPattern> {
        vec![MethodPattern::parse(text).expect("a pattern")]
    }

    #[test]
    fn classes_are_armed_for_what_is_attached_and_lasts() {
        let mut table = InstrumentTable::default();
        for name in ["A::m", "Detached::m", "Chosen::m"] {
            let mut one = instrument(InstrumentKind::Counter);
            one.spec.patterns = pattern(name);
            one.attached = name != "Detached::m";
            one.spec.only = (name == "Chosen::m").then(Default::default);
            table.add(one);
        }
        for (name, active) in [("B::m", true), ("Undone::m", false)] {
            table.add_patch(Patch {
                spec: EditSpec {
                    plan: "a.rhai".into(),
                    patterns: pattern(name),
                    edits: Vec::new(),
                    passes: Vec::new(),
                    only: Vec::new(),
                },
                active,
                methods: Vec::new(),
                unloaded_methods: 0,
            });
        }
        let expected = [pattern("A::m"), pattern("B::m")].concat();
        let found = active_patterns(&table).into_iter();
        assert_eq!(Vec::from_iter(found.map(|p| p.methods)), expected);
    }
}

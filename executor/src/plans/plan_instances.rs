//! The plan instances and their owners, for `status` and `detach`. A *plan instance* is one loading
//! of a plan; the protocol names it `l` and its number.
//!
//! The plan thread adds instances; client threads list them. The script session knows what each
//! instance has attached, and this file knows the owner. **Invariant:** the lock of this file is
//! never held while the session is called.

use crate::plans::instrument_registry::{InstrumentRegistry, InstrumentTable, Patch};
use crate::plans::protocol_forms::{kind, method_count, patterns};
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use veneer_instruments::{PatchId, PlanInstanceId};
use veneer_protocol as p;
use veneer_scripts::{AnalysisError, Attachment, Component, PlanSession, RemainingWork};

/// The origin of a plan instance.
#[derive(Clone, Debug)]
pub struct PlanInstance {
    /// The plan's name.
    pub plan: String,
    /// The display form of the owner.
    pub owner: String,
    /// Whether the instance is unloaded when its client disconnects.
    pub held: bool,
    /// Milliseconds since the start of the agent.
    pub since: u64,
}

#[derive(Default)]
struct InstancesState {
    session: Option<Arc<PlanSession>>,
    instances: BTreeMap<PlanInstanceId, PlanInstance>,
}

impl InstancesState {
    /// Adds an instance. Instances that have nothing left are dropped, so that the list does not
    /// grow for as long as the program runs.
    fn add(&mut self, id: PlanInstanceId, instance: PlanInstance, left: &BTreeSet<PlanInstanceId>) {
        self.instances.retain(|id, _| left.contains(id));
        self.instances.insert(id, instance);
    }
}

/// All plan instances that have something attached, waiting or callable.
#[derive(Default)]
pub struct PlanInstances(Mutex<InstancesState>);

impl PlanInstances {
    fn state(&self) -> MutexGuard<'_, InstancesState> {
        self.0.lock()
    }

    /// Starts with this session, without instances.
    pub fn open(&self, session: Arc<PlanSession>) {
        *self.state() = InstancesState {
            session: Some(session),
            instances: BTreeMap::new(),
        };
    }

    /// Records a plan instance that begins now. Called by the plan thread before the plan runs.
    pub fn begin(&self, id: PlanInstanceId, instance: PlanInstance) {
        let mut left: BTreeSet<PlanInstanceId> = self.remaining_work().into_keys().collect();
        left.extend(self.deployed().iter().map(|component| component.instance));
        self.state().add(id, instance, &left);
    }

    /// The attached things and the waiting callbacks of each instance.
    fn remaining_work(&self) -> BTreeMap<PlanInstanceId, RemainingWork> {
        let session = self.state().session.clone();
        session.map_or_else(BTreeMap::new, |session| session.remaining_work())
    }

    fn deployed(&self) -> Vec<Component> {
        let session = self.state().session.clone();
        session.map_or_else(Vec::new, |session| session.components())
    }

    /// Returns the components for `status`, oldest first.
    pub fn components(&self) -> Vec<p::Component> {
        let deployed = self.deployed().into_iter();
        let known = self.state().instances.clone();
        deployed
            .filter_map(|one| {
                let instance = known.get(&one.instance)?;
                Some(component_form(one, instance))
            })
            .collect()
    }

    /// Returns the instances for `status` that have something left, oldest first.
    pub fn list(&self, registry: &InstrumentRegistry) -> Vec<p::PlanInstanceStatus> {
        let left = self.remaining_work();
        let known = self.state().instances.clone();
        let mut table = registry.lock();
        let all = left.iter();
        all.filter_map(|(id, left)| Some(instance_form(&mut table, *id, known.get(id)?, left)))
            .collect()
    }
}

/// The protocol's form of a plan instance.
fn instance_form(
    table: &mut InstrumentTable,
    id: PlanInstanceId,
    instance: &PlanInstance,
    left: &RemainingWork,
) -> p::PlanInstanceStatus {
    let (mut instruments, mut patches) = (Vec::new(), Vec::new());
    for thing in &left.attachments {
        match *thing {
            Attachment::Instrument(id) => {
                instruments.extend(table.instrument(id).map(|i| p::InstrumentStatus {
                    id: id.to_string(),
                    name: i.name(),
                    kind: kind(&i.spec.kind),
                    methods: i.method_count() as u64,
                    points: i.points.len() as u64,
                }))
            }
            Attachment::Patch(id) => patches.extend(table.patch(id).map(|p| patch_form(id, p))),
        }
    }
    p::PlanInstanceStatus {
        id: id.to_string(),
        plan: instance.plan.clone(),
        owner: instance.owner.clone(),
        held: instance.held,
        since: instance.since,
        callbacks: left.callbacks as u64,
        instruments,
        patches,
    }
}

/// The protocol's form of a component.
fn component_form(one: Component, instance: &PlanInstance) -> p::Component {
    let (mut instruments, mut patches) = (Vec::new(), Vec::new());
    for thing in &one.things {
        match thing {
            Attachment::Instrument(id) => instruments.push(id.to_string()),
            Attachment::Patch(id) => patches.push(id.to_string()),
        }
    }
    p::Component {
        id: one.instance.to_string(),
        name: one.name,
        version: one.version,
        plan: one.plan,
        owner: instance.owner.clone(),
        held: instance.held,
        since: instance.since,
        parameters: one.parameters,
        instruments,
        patches,
        callbacks: one.callbacks as u64,
        analyser: one.analyser,
        attached: one.attached,
    }
}

fn patch_form(id: PatchId, patch: &Patch) -> p::PatchStatus {
    p::PatchStatus {
        id: id.to_string(),
        patterns: patterns(patch),
        edits: patch.spec.edits.clone(),
        methods: method_count(patch),
    }
}

/// The reason why there is no analysis of a component.
#[derive(Debug, thiserror::Error)]
pub enum AnalyseError {
    /// The component has no report.
    #[error(transparent)]
    Component(#[from] AnalysisError),
    /// The report is not valid JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Calls a component's analyser. Called by the plan thread.
pub fn analyse(session: &PlanSession, name: &str) -> Result<p::Analysis, AnalyseError> {
    let analysis = session.analyse(name)?;
    Ok(p::Analysis {
        component: analysis.name,
        version: analysis.version,
        text: analysis.text,
        value: serde_json::from_str(&analysis.json)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plans::instrument_registry::tests::{instrument, point};
    use veneer_instruments::{InstrumentId, InstrumentKind};

    fn instance(plan: &str) -> PlanInstance {
        PlanInstance {
            plan: plan.into(),
            owner: "start".into(),
            held: false,
            since: 5,
        }
    }

    #[test]
    fn instances_with_nothing_left_are_forgotten_when_another_one_begins() {
        let mut state = InstancesState::default();
        let [one, two, three, other] = [1, 2, 3, 99].map(PlanInstanceId);
        state.add(one, instance("one"), &BTreeSet::new());
        state.add(two, instance("two"), &BTreeSet::from([one]));
        state.add(three, instance("three"), &BTreeSet::from([one, other]));
        let known: Vec<PlanInstanceId> = state.instances.keys().copied().collect();
        assert_eq!(known, [one, three]);
        // Without a session nothing is left of any instance.
        let all = PlanInstances::default();
        all.begin(one, instance("one"));
        all.begin(two, instance("two"));
        assert_eq!(
            all.state().instances.keys().copied().collect::<Vec<_>>(),
            [two]
        );
        assert!(all.list(&InstrumentRegistry::default()).is_empty());
    }

    #[test]
    fn an_instance_is_listed_with_what_it_has_attached() {
        let mut table = InstrumentTable::default();
        let mut one = instrument(InstrumentKind::Timer);
        one.points = vec![point(1, 10, 1), point(1, 11, 2)];
        one.methods = [10, 11].map(veneer_names::MethodId).into();
        one.unloaded_methods = 1;
        let id = table.add(one);
        let left = RemainingWork {
            attachments: vec![
                Attachment::Instrument(id),
                Attachment::Instrument(InstrumentId(9)),
                Attachment::Patch(PatchId(1)),
            ],
            callbacks: 2,
        };
        let form = instance_form(&mut table, PlanInstanceId(3), &instance("a.rhai"), &left);
        assert_eq!(
            (form.id.as_str(), form.plan.as_str(), form.callbacks),
            ("l3", "a.rhai", 2)
        );
        assert_eq!(form.instruments.len(), 1, "unknown ids are not listed");
        let attached = &form.instruments[0];
        assert_eq!((attached.methods, attached.points), (3, 2));
        assert_eq!(
            (attached.name.as_str(), attached.kind),
            ("calls", p::InstrumentKind::Timer)
        );
        assert!(form.patches.is_empty());
    }
}

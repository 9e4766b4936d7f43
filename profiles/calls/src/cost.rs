//! The costs of methods and packages, calculated from entries, edges and contexts.
//!
//! The wall time of a method is the time during which at least one activation of it was on the
//! stack of a thread. So for a recursive method only the outermost activations are added. The self
//! time of a method is added over all its contexts.

use std::collections::BTreeMap;

use crate::call::CallKind;
use crate::context::{ContextId, Parent};
use crate::measure::Measure;
use crate::method::{MethodForm, MethodId};
use crate::profile::CallProfile;

/// The costs of a method. All times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MethodCost {
    /// The entries of the method, or the calls of it if its entries were not counted.
    pub calls: u64,
    /// Wall time, callees included.
    pub wall_ns: u64,
    /// Wall time, callees excluded.
    pub self_ns: u64,
    /// Processor time, callees included.
    pub cpu_ns: u64,
    /// Processor time, callees excluded.
    pub self_cpu_ns: u64,
    /// Objects that the method itself allocated.
    pub allocations: u64,
}

impl MethodCost {
    /// The cost by a measure. Times are those without callees.
    pub fn by(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Count => self.calls,
            Measure::Time => self.self_ns,
            Measure::Cpu => self.self_cpu_ns,
            Measure::Allocations => self.allocations,
        }
    }

    /// Adds other costs.
    pub fn add(&mut self, other: &MethodCost) {
        for (sum, more) in [
            (&mut self.calls, other.calls),
            (&mut self.wall_ns, other.wall_ns),
            (&mut self.self_ns, other.self_ns),
            (&mut self.cpu_ns, other.cpu_ns),
            (&mut self.self_cpu_ns, other.self_cpu_ns),
            (&mut self.allocations, other.allocations),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

impl CallProfile {
    /// The costs of each method, by [`MethodId`].
    pub fn method_costs(&self) -> Vec<MethodCost> {
        let mut costs = vec![MethodCost::default(); self.methods().len()];
        for (context, outermost) in self.contexts().iter().zip(self.outermost_contexts()) {
            let cost = &mut costs[context.method.index()];
            let (wall_ns, cpu_ns) = match outermost {
                true => (context.cost.wall_ns, context.cost.cpu_ns),
                false => (0, 0),
            };
            cost.add(&MethodCost {
                calls: context.cost.calls,
                wall_ns,
                self_ns: context.cost.self_ns,
                cpu_ns,
                self_cpu_ns: context.cost.self_cpu_ns,
                allocations: context.cost.allocations,
            });
        }
        let incoming = self.incoming();
        let allocated = self.allocated();
        for (index, cost) in costs.iter_mut().enumerate() {
            // Counts of contexts can be missing, so the counts of the graph are preferred.
            let counted = self.methods()[index].entries;
            cost.calls = counted.unwrap_or(incoming[index].max(cost.calls));
            cost.allocations = cost.allocations.max(allocated[index]);
        }
        costs
    }

    /// The number of objects that each method allocated, by [`MethodId`].
    fn allocated(&self) -> Vec<u64> {
        let mut allocated = vec![0u64; self.methods().len()];
        for one in self.allocations() {
            let sum = &mut allocated[one.method.index()];
            *sum = sum.saturating_add(one.count);
        }
        allocated
    }

    /// For each context, whether it is the outermost one of its method. Visits the tree in depth
    /// first order, so that the time does not grow with the depth of each context.
    pub(crate) fn outermost_contexts(&self) -> Vec<bool> {
        let mut children: Vec<Vec<ContextId>> = vec![Vec::new(); self.contexts().len()];
        let mut open: Vec<Visit> = Vec::new();
        for (id, context) in self.context_ids().zip(self.contexts()) {
            match context.parent {
                Parent::Context(parent) if context.is_part_of_parent() => {
                    children[parent.index()].push(id);
                }
                _ => open.push(Visit::Enter(id)),
            }
        }
        let mut on_stack = vec![0u32; self.methods().len()];
        let mut outermost = vec![false; self.contexts().len()];
        while let Some(visit) = open.pop() {
            match visit {
                Visit::Enter(id) => {
                    let depth = &mut on_stack[self.contexts()[id.index()].method.index()];
                    outermost[id.index()] = *depth == 0;
                    *depth += 1;
                    open.push(Visit::Leave(id));
                    open.extend(children[id.index()].iter().copied().map(Visit::Enter));
                }
                Visit::Leave(id) => {
                    on_stack[self.contexts()[id.index()].method.index()] -= 1;
                }
            }
        }
        outermost
    }

    /// The costs of each package, and the methods in it that were never called. The packages are
    /// sorted by name. The time of a package is the self time of its methods.
    pub fn package_costs(&self) -> BTreeMap<String, PackageCost> {
        let mut packages: BTreeMap<String, PackageCost> = BTreeMap::new();
        for (id, cost) in self.method_ids().zip(self.method_costs()) {
            let method = self.method(id);
            if method.form == MethodForm::Overflow {
                continue;
            }
            let package = packages.entry(method.name.package().into()).or_default();
            package.methods += 1;
            package.never_called += u64::from(self.is_never_called(id));
            package.cost.add(&MethodCost {
                wall_ns: 0,
                cpu_ns: 0,
                ..cost
            });
        }
        for edge in self.edges() {
            let packages_of = |id: MethodId| self.method(id).name.package();
            let (caller, callee) = (packages_of(edge.caller), packages_of(edge.callee));
            if caller != callee
                && let Some(package) = packages.get_mut(callee)
            {
                package.calls_from_outside = package.calls_from_outside.saturating_add(edge.count);
            }
        }
        packages
    }

    /// Whether a method was observed and never entered.
    pub fn is_never_called(&self, id: MethodId) -> bool {
        let method = self.method(id);
        method.form == MethodForm::Bytecode && method.entries == Some(0)
    }

    /// The methods that were never called, and their share of the observed methods.
    pub fn never_called(&self) -> NeverCalled {
        let mut result = NeverCalled::default();
        for id in self.method_ids() {
            let method = self.method(id);
            if method.form != MethodForm::Bytecode || method.entries.is_none() {
                continue;
            }
            let bytes = u64::from(method.code_bytes.unwrap_or(0));
            result.observed_methods += 1;
            result.observed_bytes += bytes;
            if method.entries == Some(0) {
                result.methods.push(id);
                result.bytes += bytes;
            }
        }
        result
    }

    /// The allocations of each type: the number of sites and of objects, sorted by type.
    pub fn allocations_by_type(&self) -> BTreeMap<&str, (u64, u64)> {
        let mut types: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for one in self.allocations() {
            let (sites, objects) = types.entry(&one.type_name).or_default();
            *sites += 1;
            *objects = objects.saturating_add(one.count);
        }
        types
    }

    /// The number of calls of each kind.
    pub fn calls_by_kind(&self) -> BTreeMap<CallKind, u64> {
        let mut kinds = BTreeMap::new();
        for edge in self.edges() {
            let sum: &mut u64 = kinds.entry(edge.kind).or_default();
            *sum = sum.saturating_add(edge.count);
        }
        kinds
    }
}

/// A step of the visit of a tree of contexts.
enum Visit {
    Enter(ContextId),
    Leave(ContextId),
}

/// The costs of the methods of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageCost {
    /// The number of methods.
    pub methods: u64,
    /// The number of methods that were never called.
    pub never_called: u64,
    /// The calls from methods of other packages.
    pub calls_from_outside: u64,
    /// The sums over the methods. The times with callees are 0, because they would count callees of
    /// the same package twice.
    pub cost: MethodCost,
}

/// The methods that were never called since the recording began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeverCalled {
    /// The methods that were never called.
    pub methods: Vec<MethodId>,
    /// The size of their bytecode in bytes.
    pub bytes: u64,
    /// The number of methods whose entries were counted.
    pub observed_methods: u64,
    /// The size of the bytecode of these methods in bytes.
    pub observed_bytes: u64,
}

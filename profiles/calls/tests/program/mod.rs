//! Executions of programs with six methods `m0` to `m5` and up to two threads, and a naive count of
//! them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use veneer_calls::{
    CallKind, CallProfile, Context, ContextCost, Loader, Method, MethodCost, MethodForm, MethodId,
    MethodName, Origin, Parent, Site, Thread,
};
use veneer_instruments::MethodPattern;

/// The number of methods of each program.
const METHODS: u8 = 6;

/// A call: the method, the bytecode index of its site, its own time, and its callees in order.
#[derive(Clone, Debug)]
pub struct Call {
    method: u8,
    bci: u16,
    own_ns: u64,
    objects: u64,
    callees: Vec<Call>,
}

impl Call {
    fn wall_ns(&self) -> u64 {
        self.own_ns + self.callees.iter().map(Call::wall_ns).sum::<u64>()
    }
}

/// The calls at the bottom of the stack of each thread.
#[derive(Clone, Debug)]
pub struct Execution {
    threads: Vec<Vec<Call>>,
}

/// The counts of an execution, by names.
#[derive(Debug, Default)]
pub struct Naive {
    pub methods: BTreeMap<String, MethodCost>,
    pub roots: BTreeMap<String, u64>,
    pub edges: BTreeMap<(String, u16, String), u64>,
    pub paths: BTreeMap<Vec<String>, u64>,
}

/// Random executions of the program.
pub fn executions() -> impl Strategy<Value = Execution> {
    let leaf = (0..METHODS, 0u16..3, 0u64..50, 0u64..3);
    let call = |(method, bci, own_ns, objects), callees| Call {
        method,
        bci,
        own_ns,
        objects,
        callees,
    };
    let calls = leaf
        .clone()
        .prop_map(move |leaf| call(leaf, Vec::new()))
        .prop_recursive(6, 40, 4, move |inner| {
            (leaf.clone(), prop::collection::vec(inner, 0..4))
                .prop_map(move |(leaf, callees)| call(leaf, callees))
        });
    let thread = prop::collection::vec(calls, 0..4);
    prop::collection::vec(thread, 0..3).prop_map(|threads| Execution { threads })
}

/// The pattern of a method.
pub fn pattern_of(method: u8) -> MethodPattern {
    MethodPattern::parse(&format!("a.Program::m{method}(..)")).expect("a pattern")
}

impl Execution {
    /// `m0` calls `m1` twice.
    pub fn example() -> Execution {
        let leaf = Call {
            method: 1,
            bci: 3,
            own_ns: 5,
            objects: 1,
            callees: Vec::new(),
        };
        let root = Call {
            method: 0,
            bci: 0,
            own_ns: 1,
            objects: 0,
            callees: vec![leaf.clone(), leaf],
        };
        Execution {
            threads: vec![vec![root]],
        }
    }

    /// The profile that a recorder would make.
    pub fn profile(&self) -> CallProfile {
        let mut profile = CallProfile::new();
        let loader = profile.add_loader(&Loader {
            name: "app".into(),
            number: 1,
        });
        let methods: Vec<MethodId> = (0..METHODS)
            .map(|number| {
                profile.add_method(Method {
                    loader,
                    name: MethodName::new("a.Program", &format!("m{number}"), "()V"),
                    form: MethodForm::Bytecode,
                    code_bytes: Some(10),
                    entries: Some(0),
                })
            })
            .collect();
        for (number, calls) in (0..).zip(&self.threads) {
            let thread = profile.add_thread(&Thread {
                name: "worker".into(),
                number,
                is_virtual: false,
            });
            for call in calls {
                record(
                    &mut profile,
                    &methods,
                    Parent::Root(Some(thread)),
                    None,
                    call,
                );
            }
        }
        profile
    }

    /// The counts, each by a walk over all calls.
    pub fn naive(&self) -> Naive {
        let mut naive = Naive::default();
        for call in self.threads.iter().flatten() {
            *naive.roots.entry(name(call)).or_default() += 1;
            count(&mut naive, &[], call);
        }
        naive
    }
}

fn name(call: &Call) -> String {
    format!("m{}", call.method)
}

fn count(naive: &mut Naive, above: &[&Call], call: &Call) {
    let is_outermost = above.iter().all(|one| one.method != call.method);
    let wall_ns = if is_outermost { call.wall_ns() } else { 0 };
    let cost = naive.methods.entry(name(call)).or_default();
    cost.add(&MethodCost {
        calls: 1,
        wall_ns,
        self_ns: call.own_ns,
        cpu_ns: 2 * wall_ns,
        self_cpu_ns: 2 * call.own_ns,
        allocations: call.objects,
    });
    if let Some(caller) = above.last() {
        let edge = (name(caller), call.bci, name(call));
        *naive.edges.entry(edge).or_default() += 1;
    }
    let stack: Vec<&Call> = above.iter().copied().chain([call]).collect();
    let path = stack
        .iter()
        .map(|one| format!("a.Program::{}()", name(one)));
    *naive.paths.entry(path.collect()).or_default() += 1;
    for callee in &call.callees {
        count(naive, &stack, callee);
    }
}

fn record(
    profile: &mut CallProfile,
    methods: &[MethodId],
    parent: Parent,
    caller: Option<MethodId>,
    call: &Call,
) {
    let method = methods[usize::from(call.method)];
    let entered = Method {
        entries: Some(1),
        ..profile.method(method).clone()
    };
    profile.add_method(entered);
    if let Some(caller) = caller {
        let site = Site {
            bci: Some(call.bci),
            line: Some(call.bci + 10),
        };
        profile.add_calls(caller, site, method, CallKind::Virtual, 1);
    }
    let context = profile.add_context(Context {
        parent,
        method,
        bci: caller.map(|_| call.bci),
        origin: Origin::Call(CallKind::Virtual),
        cost: ContextCost {
            calls: 1,
            wall_ns: call.wall_ns(),
            self_ns: call.own_ns,
            cpu_ns: 2 * call.wall_ns(),
            self_cpu_ns: 2 * call.own_ns,
            allocations: call.objects,
        },
    });
    for callee in &call.callees {
        record(
            profile,
            methods,
            Parent::Context(context),
            Some(method),
            callee,
        );
    }
}

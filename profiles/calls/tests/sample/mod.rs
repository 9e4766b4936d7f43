//! A profile with each kind of element, and names that are hard to write.

use veneer_calls::{
    CallKind, CallProfile, Context, ContextCost, Loader, Method, MethodForm, MethodId, MethodName,
    Origin, Parent, Site, Thread, UnseenClass,
};

fn method(
    profile: &mut CallProfile,
    (loader, number): (&str, u32),
    name: MethodName,
    form: MethodForm,
    entries: Option<u64>,
) -> MethodId {
    let loader = profile.add_loader(&Loader {
        name: loader.into(),
        number,
    });
    let code_bytes = (form == MethodForm::Bytecode).then_some(100);
    profile.add_method(Method {
        loader,
        name,
        form,
        code_bytes,
        entries,
    })
}

fn cost(calls: u64, wall_us: u64, self_us: u64, allocations: u64) -> ContextCost {
    ContextCost {
        calls,
        wall_ns: 1000 * wall_us,
        self_ns: 1000 * self_us,
        cpu_ns: 900 * wall_us,
        self_cpu_ns: 900 * self_us,
        allocations,
    }
}

fn call(parent: Parent, method: MethodId, bci: u16, kind: CallKind, cost: ContextCost) -> Context {
    Context {
        parent,
        method,
        bci: Some(bci),
        origin: Origin::Call(kind),
        cost,
    }
}

/// The call graph of [`profile`], without contexts.
pub fn graph_only() -> CallProfile {
    let mut profile = CallProfile::new();
    profile.add_info("command", "java shop.Main \"x;y\"");
    let app = ("app", 1);
    let main = MethodName::new("shop.Main", "main", "([Ljava/lang/String;)V");
    let main = method(&mut profile, app, main, MethodForm::Bytecode, Some(1));
    let serve = MethodName::new("shop.Desk", "serve", "(I)V");
    let serve = method(&mut profile, app, serve, MethodForm::Bytecode, Some(1003));
    let time = MethodName::new("java.lang.System", "nanoTime", "()J");
    let time = method(
        &mut profile,
        ("bootstrap", 1),
        time,
        MethodForm::Native,
        None,
    );
    let apply = MethodName::new("shop.Größe$1", "apply", "([Ljava/lang/Object;)V");
    let bytecode = MethodForm::Bytecode;
    let first = method(
        &mut profile,
        ("shop.Loader", 1),
        apply.clone(),
        bytecode,
        Some(4),
    );
    let second = method(&mut profile, ("shop.Loader", 2), apply, bytecode, Some(5));
    let never = MethodName::new("shop.Desk", "close", "()V");
    method(&mut profile, app, never, bytecode, Some(0));
    let others = MethodName::new("", "beyond 64 receivers of a site", "");
    let others = method(&mut profile, app, others, MethodForm::Overflow, None);
    profile.add_calls(main, Site::at(5, 12), serve, CallKind::Virtual, 1000);
    profile.add_calls(serve, Site::at(9, 41), time, CallKind::Static, 2006);
    profile.add_calls(main, Site::at(20, 14), first, CallKind::Interface, 4);
    profile.add_calls(main, Site::at(20, 14), second, CallKind::Interface, 5);
    profile.add_calls(main, Site::at(20, 14), others, CallKind::Interface, 6);
    profile.add_allocations(serve, Site::at(2, 40), "int[]", 1003);
    profile.add_allocations(serve, Site::at(30, 44), "shop.\"Cart\"", 7);
    profile.add_unseen(UnseenClass {
        class: "java.lang.Object".into(),
        reason: "every object's construction passes through it".into(),
    });
    profile
}

/// A profile with two threads.
pub fn profile() -> CallProfile {
    let mut profile = graph_only();
    let ids: Vec<MethodId> = profile.method_ids().collect();
    let [main, serve, time, first, second, _, others] = ids[..] else {
        unreachable!("the graph has seven methods");
    };
    let thread = |profile: &mut CallProfile, name: &str, is_virtual| {
        profile.add_thread(&Thread {
            name: name.into(),
            number: 1,
            is_virtual,
        })
    };
    let one = thread(&mut profile, "main", false);
    let other = thread(&mut profile, "ForkJoinPool-1 \u{1f600}", true);
    let root = profile.add_context(Context {
        parent: Parent::Root(Some(one)),
        method: main,
        bci: None,
        origin: Origin::Early,
        cost: cost(1, 6_600, 500, 0),
    });
    let root = Parent::Context(root);
    let desk = call(
        root,
        serve,
        5,
        CallKind::Virtual,
        cost(1000, 6_000, 4_000, 1010),
    );
    let desk = profile.add_context(desk);
    let clock = cost(2000, 2_000, 2_000, 0);
    profile.add_context(call(
        Parent::Context(desk),
        time,
        9,
        CallKind::Static,
        clock,
    ));
    for (method, calls, us) in [(first, 4, 40), (second, 5, 50), (others, 6, 10)] {
        let part = cost(calls, us, us, 0);
        profile.add_context(call(root, method, 20, CallKind::Interface, part));
    }
    let task = profile.add_context(Context {
        parent: Parent::Root(Some(other)),
        method: serve,
        bci: None,
        origin: Origin::Call(CallKind::Handover),
        cost: cost(3, 9, 6, 0),
    });
    let clock = cost(6, 3, 3, 0);
    profile.add_context(call(
        Parent::Context(task),
        time,
        9,
        CallKind::Static,
        clock,
    ));
    profile
}

//! Closures that become probes: the resulting trees, and the messages for closures without a
//! compiled form.

mod recorder;

use veneer_scripts::PlanError;

/// Returns the text of the probe. The plan declares `limit`, `word` and the tables `t` and `h`.
fn tree(closure: &str) -> Result<String, PlanError> {
    let plan = format!(
        "let limit = 100; let share = 0.5; let word = \"GET\"; let t = tally(); let h = histogram(50); let other = [1];\n\
         methods(\"a.B\").line(42).before({closure});"
    );
    let (result, recorder) = recorder::run(&plan);
    result?;
    let calls = recorder.calls();
    let attached = calls.iter().find_map(|c| c.strip_prefix("attach "));
    let text = attached.and_then(|a| a.strip_suffix(" before line 42 of a.B"));
    let text = text.unwrap_or_else(|| panic!("nothing was attached: {calls:?}"));
    Ok(text.into())
}

#[test]
fn closures_become_trees() {
    for (closure, wanted) in [
        ("|p| t.count()", "|p| { t0.count(); }"),
        ("|p| t.count(p.name)", "|p| { t0.count(p.name); }"),
        ("|p| h.add(p.total)", "|p| { t1.add(p.total); }"),
        ("|at| t.count(at.x, at.y)", "|p| { t0.count(p.x, p.y); }"),
        (
            "|p| if p.total > limit { t.count(p.order.user.name) }",
            "|p| { if (p.total > 100) { t0.count(p.order.user.name); } }",
        ),
        (
            "|p| if p.method == word && p.ok || !p.seen { t.count() } else { h.add(1) }",
            "|p| { if (((p.method == \"GET\") && p.ok) || (!p.seen)) { t0.count(); } else { t1.add(1); } }",
        ),
        (
            "|p| { let x = p.a + 2 * p.b; x += 1; h.add(-x); }",
            "|p| { let x = (p.a + (2 * p.b)); x = (x + 1); t1.add((-x)); }",
        ),
        (
            "|p| for line in p.lines { if line > share { return; } h.add(p.key, line) }",
            "|p| { for line in p.lines { if (line > 0.5) { return; } t1.add(p.key, line); } }",
        ),
        (
            "|p| t.count(p.grid[1][p.i].name)",
            "|p| { t0.count(p.grid[1][p.i].name); }",
        ),
        (
            "|p| t.count(p.list[p.a.b[2] + 1].len)",
            "|p| { t0.count(p.list[(p.a.b[2] + 1)].len); }",
        ),
        (
            "|p| t.count(p.path.starts_with(\"/api\"), thread_name())",
            "|p| { t0.count(starts_with(p.path, \"/api\"), thread_name()); }",
        ),
        (
            "|p| if p.user == () { t.count() }",
            "|p| { if (p.user == ()) { t0.count(); } }",
        ),
        ("|p| t.count(p.c == 'x')", "|p| { t0.count((p.c == 120)); }"),
        ("|| t.count(now_ns())", "|p| { t0.count(now_ns()); }"),
    ] {
        let tree = tree(closure);
        assert_eq!(tree.as_deref(), Ok(wanted), "{closure}");
    }
}

#[test]
fn values_of_a_call_are_kept_by_expression() {
    let (result, recorder) = recorder::run(
        "let k = per_call(); let t = tally(); let m = methods(\"a.B\");
         m.before(|p| k.push(p.order.total));
         m.after(|p| { let v = k.pop(p.order.total); t.count(v, hash_of_method()); k.pop(p.n); });",
    );
    result.unwrap_or_else(|error| panic!("{error}"));
    let calls = recorder.calls();
    let attached: Vec<&str> = calls
        .iter()
        .filter_map(|c| c.strip_prefix("attach "))
        .collect();
    assert_eq!(
        attached,
        [
            "|p| { t0.keep(p.order.total); } before method of a.B",
            "|p| { let v = t0.kept(p.order.total); t2.count(v, hash_of_method()); let  dropped = t0.kept(p.n); } after method of a.B",
        ]
    );
    for (code, said) in [
        ("t.count(k)", "a per_call() takes"),
        ("k.push()", "a per_call() takes"),
        ("t.count(k.pop(p.a).b)", "a per_call() takes"),
    ] {
        let plan = format!(
            "let k = per_call(); let t = tally(); methods(\"a.B\").after(|p| {{ {code} }});"
        );
        let error = recorder::run(&plan).0.unwrap_err().to_string();
        assert!(error.contains(said), "{code}: {error}");
    }
}

#[test]
fn a_plan_has_the_stacks_of_a_per_call_until_it_ends() {
    let (recorder, session) = recorder::Recorder::session();
    let source =
        "let k = per_call(); let t = tally(); let m = methods(\"a.B\"); m.before(|p| k.push(p.a));";
    let plan = veneer_scripts::Plan::compile("plan.rhai", source).unwrap();
    session.load(plan).unwrap();
    let (_, before_tally) = recorder.dropped_tables();
    assert_eq!(before_tally, [0u32; 0]);
    drop(session);
    let (mut dropped, _) = recorder.dropped_tables();
    dropped.sort_unstable();
    assert_eq!(dropped, [0, 1, 2]);
}

#[test]
fn unsafe_calls_allows_later_method_calls() {
    let of = |head: &str, closure: &str| {
        let plan = format!("{head} let t = tally(); methods(\"a.B\").before({closure});");
        let (result, recorder) = recorder::run(&plan);
        result
            .map_err(|error| error.to_string())
            .map(|_| recorder.calls().join("; "))
    };
    let call = "|p| t.count(p.order.pay(1, p.user.name()))";
    let allowed = of("unsafe_calls(true);", call).unwrap_or_default();
    assert!(
        allowed.contains("|p| { t0.count(p.order.pay(1, p.user.name())); }"),
        "{allowed}"
    );
    for head in [
        "",
        "unsafe_calls(false);",
        "unsafe_calls(true); unsafe_calls(false);",
    ] {
        let error = of(head, call).expect_err(head);
        assert!(error.contains("unsafe_calls(true);"), "{head}: {error}");
    }
    let cast = of(
        "",
        "|p| t.count(as_a(p.order, \"a.b.C\").total, p.x.as_a(\"D\"))",
    );
    let cast = cast.unwrap_or_default();
    assert!(
        cast.contains("t0.count(as_a(p.order, \"a.b.C\").total, as_a(p.x, \"D\"))"),
        "{cast}"
    );
}

#[test]
fn invalid_probes_are_refused_with_their_positions() {
    for (closure, place, words) in [
        ("|p| p.total", "2:37", "nothing happens with this value"),
        (
            "|p| t.count(`${p.a}`)",
            "2:",
            "code at a point makes no strings",
        ),
        ("|p| t.count(p)", "2:", "`p` is the point: write p.name"),
        (
            "|p| t.count(other)",
            "2:",
            "`other` is array, which code at a point cannot use",
        ),
        (
            "|p| { limit = 3; }",
            "2:",
            "`limit` is no variable that this code declares",
        ),
        (
            "|p| { p.total = 3; }",
            "2:",
            "code at a point writes to no field",
        ),
        (
            "|p| while true { t.count() }",
            "2:",
            "a loop without end has no compiled form",
        ),
        (
            "|p| t.count(p.call(1))",
            "2:",
            "a point has variables and no methods",
        ),
        (
            "|p| t.count(p.order.total())",
            "2:",
            "the plan has to say before: unsafe_calls(true);",
        ),
        (
            "|p, q| t.count()",
            "2:",
            "a closure at a point has one parameter",
        ),
        ("|p| t.count([1])", "2:", "makes no arrays"),
        ("|p| { throw 1; }", "2:", "throws nothing"),
    ] {
        let error = tree(closure).expect_err(closure).to_string();
        assert!(
            error.starts_with(&format!("plan.rhai:{place}")),
            "{closure}: {error}"
        );
        assert!(error.contains(words), "{closure}: {error}");
    }
}

#[test]
fn probes_run_before_or_after_a_point_but_not_around_it() {
    let (result, _) = recorder::run("methods(\"a.B\").around(|p| ());");
    let error = result.expect_err("refused").to_string();
    assert!(error.contains("code runs at one point"), "{error}");
}

#[test]
fn every_kind_of_table_accepts_its_operations() {
    for (table, closure, wanted) in [
        (
            "linear(0, 1, 5)",
            "t.add(p.a, p.b)",
            Ok("add_linear(p.a, p.b)"),
        ),
        ("linear(0, 1, 5)", "t.count(p.a)", Ok("count(p.a)")),
        (
            "linear(0, 1, 5)",
            "t.put(p.a)",
            Err(".put(…) is for last(n) and sample(n)"),
        ),
        ("rate()", "t.count(p.a)", Ok("count_rate(p.a)")),
        ("rate()", "t.add(p.a)", Err("a rate() only counts")),
        ("distinct()", "t.add(p.a)", Ok("add_distinct(p.a)")),
        (
            "distinct()",
            "t.count(p.a)",
            Err("write .add(key, …, value)"),
        ),
        ("top(5)", "t.count(p.a)", Ok("count_top(p.a)")),
        ("top(5)", "t.add(p.a)", Err("a top(k) only counts")),
        ("sample(5)", "t.put(p.a)", Ok("put_sample(p.a)")),
        (
            "sample(5)",
            "t.add(p.a)",
            Err("a sample(n) keeps the values themselves"),
        ),
        ("last(5)", "t.put(p.a)", Ok("put(p.a)")),
        ("tally()", "t.add(p.a)", Err("a tally() only counts")),
    ] {
        let plan = format!("let t = {table}; methods(\"a.B\").before(|p| {closure});");
        let (result, recorder) = recorder::run(&plan);
        match (result, wanted) {
            (Ok(_), Ok(wanted)) => {
                let attached = format!("attach |p| {{ t0.{wanted}; }} before method of a.B");
                let calls = recorder.calls();
                assert!(calls.contains(&attached), "{plan}: {calls:?}");
            }
            (Err(error), Err(wanted)) => {
                assert!(error.to_string().contains(wanted), "{plan}: {error}");
            }
            (result, wanted) => panic!("{plan}: {result:?} and not {wanted:?}"),
        }
    }
}

//! Programs with known bottlenecks.

use veneer_search::cause::Cause;

use crate::program::{Program, Step, call, wait, work};

/// A program with the place and the cause that the search must report.
pub struct Seeded {
    pub name: &'static str,
    pub program: Program,
    pub method: &'static str,
    pub why: Cause,
    pub line: Option<u32>,
}

/// Returns a step of processor time in a loop.
pub fn looping(micros: f64, line: u32, header: u32) -> Step {
    Step::Work {
        nanos: micros * 1e3,
        cause: Cause::Processor,
        line,
        loop_line: Some(header),
    }
}

/// Adds `count` leaf methods with the same time, and returns calls of all of them.
fn leaves(program: &mut Program, prefix: &str, count: usize, micros: f64) -> Vec<Step> {
    (0..count)
        .map(|i| call(program.method(&format!("{prefix}{i}"), vec![work(micros, 1)])))
        .collect()
}

/// 20 % of the time is in `price`, four calls below the root; the rest is spread over 25 leaves.
pub fn processor() -> Seeded {
    let mut p = Program::default();
    let price = p.method("price", vec![work(200.0, 41), work(20.0, 43)]);
    let order = p.method("order", vec![call(price), work(5.0, 30)]);
    let serve = p.method("serve", vec![call(order), work(5.0, 20)]);
    let mut steps = leaves(&mut p, "leaf", 25, 32.0);
    steps.push(call(serve));
    p.thread("worker", "run", steps);
    Seeded {
        name: "processor",
        program: p,
        method: "price",
        why: Cause::Processor,
        line: Some(41),
    }
}

/// Three of four threads wait for a monitor for half of their time.
pub fn monitor() -> Seeded {
    let mut p = Program::default();
    let audit = p.method(
        "audit",
        vec![work(20.0, 60), wait(500.0, 61, Cause::Monitor)],
    );
    let serve = p.method("serve", vec![call(audit), work(50.0, 20)]);
    let mut steps = leaves(&mut p, "leaf", 20, 25.0);
    steps.push(call(serve));
    let run = p.method("run", steps);
    p.methods[run].forever = true;
    for _ in 0..3 {
        p.threads.push(("http-*".to_string(), run));
    }
    let batch = leaves(&mut p, "batch", 20, 50.0);
    p.thread("batch-*", "batch", batch);
    Seeded {
        name: "monitor",
        program: p,
        method: "audit",
        why: Cause::Monitor,
        line: Some(61),
    }
}

/// A sleep of 2 ms behind a virtual call.
pub fn sleep() -> Seeded {
    let mut p = Program::default();
    let retry = p.method("retry", vec![wait(2000.0, 77, Cause::Sleep)]);
    let fast = p.method("fast", vec![work(300.0, 5)]);
    let call_any = Step::OneOf {
        methods: vec![retry, fast],
    };
    let client = p.method("client", vec![call_any]);
    p.methods[client].is_static = false;
    let mut steps = leaves(&mut p, "leaf", 20, 40.0);
    steps.push(call(client));
    p.thread("main", "run", steps);
    Seeded {
        name: "sleep",
        program: p,
        method: "retry",
        why: Cause::Sleep,
        line: Some(77),
    }
}

/// One thread is in a loop without calls.
pub fn endless_loop() -> Seeded {
    let mut p = Program::default();
    let spin = p.method("spin", vec![looping(400.0, 12, 10), looping(40.0, 13, 10)]);
    p.methods[spin].forever = true;
    p.threads.push(("main".to_string(), spin));
    Seeded {
        name: "endless loop",
        program: p,
        method: "spin",
        why: Cause::Processor,
        line: Some(12),
    }
}

/// A method of 20 µs that takes 45 % of the time, called by 30 methods that take less than 3 % each
/// (Fig. 2 of Brear et al., 2003).
pub fn hidden() -> Seeded {
    let mut p = Program::default();
    let hidden = p.method("hidden", vec![work(20.0, 9)]);
    let steps = (0..30)
        .map(|i| {
            let caller = p.method(&format!("caller{i}"), vec![call(hidden), work(23.0, 2)]);
            call(caller)
        })
        .collect();
    p.thread("main", "run", steps);
    Seeded {
        name: "hidden",
        program: p,
        method: "hidden",
        why: Cause::Processor,
        line: Some(9),
    }
}

/// A recursive descent whose leaves take the time.
pub fn recursion() -> Seeded {
    let mut p = Program::default();
    let visit = p.method("visit", vec![work(30.0, 4), Step::Recurse { depth: 12 }]);
    let mut steps = leaves(&mut p, "leaf", 20, 45.0);
    steps.push(call(visit));
    p.thread("main", "run", steps);
    Seeded {
        name: "recursion",
        program: p,
        method: "visit",
        why: Cause::Processor,
        line: Some(4),
    }
}

/// 24 leaves with 4.17 % each: no leaf exceeds 5 %.
pub fn flat() -> Program {
    let mut p = Program::default();
    let steps = leaves(&mut p, "leaf", 24, 60.0);
    p.thread("main", "run", steps);
    p
}

/// A chain of `depth` methods with one expensive method at its end, and two cheap methods beside
/// each link.
pub fn chain(depth: usize) -> Program {
    let mut p = Program::default();
    let mut inner = p.method("bottleneck", vec![work(300.0, 9)]);
    for i in (0..depth).rev() {
        let mut steps = leaves(&mut p, &format!("side{i}_"), 2, 10.0);
        steps.push(call(inner));
        inner = p.method(&format!("link{i}"), steps);
    }
    p.thread("main", "run", vec![call(inner)]);
    p
}

/// All programs with one bottleneck.
pub fn seeded() -> Vec<Seeded> {
    vec![
        processor(),
        monitor(),
        sleep(),
        endless_loop(),
        hidden(),
        recursion(),
    ]
}

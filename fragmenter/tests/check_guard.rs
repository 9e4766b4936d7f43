//! Tests the guard in front of the JVM. A manipulated version is refused with `CheckFailed`; an
//! unchanged one passes.

mod check_support;
mod classfile_support;

use std::collections::HashSet;

use check_support::{armed, logged_values, policies};
use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, ArmedMethod};
use veneer_fragmenter::bytecode::opcode::{IF_ACMPNE, IFEQ};
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::check::{self, guard};
use veneer_fragmenter::classfile::{ClassFile, Code};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::points::Point;
use veneer_fragmenter::types::Type;
use veneer_fragmenter::version::{self, Bodies, VersionClass, VersionPlan};
use veneer_names::{CounterSlot, LogPoint};

/// Returns the class with the condition of one conditional branch inverted; `None` if it has no
/// such branch.
fn tampered(class: &VersionClass) -> Option<Vec<u8>> {
    let mut file = ClassFile::parse(&class.bytes).unwrap();
    let pool = file.pool.clone();
    for method in &mut file.methods {
        for attribute in method.attributes.iter_mut().filter(|a| a.is(&pool, "Code")) {
            let info = attribute.info.to_vec();
            let mut code = Code::parse(&info).unwrap();
            let mut bytes = code.code.to_vec();
            for (pc, instruction) in decode(&bytes).unwrap() {
                if let Instruction::Branch { op, .. } = instruction
                    && (IFEQ..=IF_ACMPNE).contains(&op)
                {
                    bytes[pc as usize] = ((op - IFEQ) ^ 1) + IFEQ;
                    code.code = bytes.into();
                    attribute.info = code.to_bytes().unwrap().into();
                    return Some(file.to_bytes().unwrap());
                }
            }
        }
    }
    None
}

#[test]
fn tampered_versions_are_refused_by_name() {
    let (mut seen, mut n) = (0, 0);
    let policy = &policies()[1];
    classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
        n += 1;
        if n % 97 != 0 {
            return;
        }
        let Ok(file) = ClassFile::parse(bytes) else {
            return;
        };
        let Ok(name) = file.name() else { return };
        let anchor = format!("{name}$Veneer");
        for index in 0..file.methods.len() {
            let Ok(method) = Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) else {
                continue;
            };
            let Ok(armed) = arming::layout(&method, policy, true) else {
                continue;
            };
            let known = [ArmedMethod {
                index,
                id: veneer_names::MethodId(7),
                name: method.name.clone(),
                descriptor: method.descriptor.clone(),
                anchor: "Anchor".into(),
                points: armed.points.clone(),
            }];
            let plans = [VersionPlan {
                method: &method,
                id: veneer_names::MethodId(7),
                armed: &armed,
                edits: &[],
                kept: &[],
                probes: &[],
                clean: false,
            }];
            let emitted = version::emit(&file, &anchor, &plans, Bodies::Enter, &HashSet::new());
            let Ok(mut class) = emitted else { continue };
            if class.methods.is_empty() {
                continue;
            }
            let at = format!("{} {index}", path.display());
            guard::version(&file, &anchor, &known, &plans, &class)
                .unwrap_or_else(|e| panic!("{at}: {e}"));
            let mut others = known.clone();
            others[0].points.pop();
            for wrong in [&others[..], &[]] {
                let refused = guard::version(&file, &anchor, wrong, &plans, &class);
                assert!(
                    matches!(&refused, Err(Refusal::CheckFailed(_))),
                    "{at}: other points: {refused:?}"
                );
            }
            let Some(bytes) = tampered(&class) else {
                continue;
            };
            class.bytes = bytes;
            let refused = guard::version(&file, &anchor, &known, &plans, &class);
            assert!(
                matches!(&refused, Err(Refusal::CheckFailed(_))),
                "{at}: {refused:?}"
            );
            assert_eq!(refused.unwrap_err().name(), "CheckFailed");
            seen += 1;
        }
    });
    assert!(seen > 20, "only {seen} versions with a branch");
}

/// Returns a counter and a log for each fragment, limited to `most` executions by a cell.
fn limited(method: &Method, cell: i64, most: u64) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (n, f) in method.flow.fragments().enumerate() {
        let n = n as u32 + 1;
        let mut add = |action| {
            probes.push(Probe {
                site: Site::Before(f.id),
                action: ProbeAction::Limited {
                    cell,
                    most,
                    action: Box::new(action),
                },
            });
        };
        add(ProbeAction::Count {
            slot: CounterSlot(4 * n),
        });
        let values = logged_values(method, f.id);
        if !values.iter().any(|v| v.1.is_uninitialized()) {
            let point = LogPoint(n);
            add(ProbeAction::Log { point, values });
        }
    }
    probes
}

#[test]
fn limited_actions_use_their_own_cell_and_limit() {
    const CELL: i64 = 0x7f12_3456_7008;
    let (mut seen, mut n) = (0, 0);
    let policy = &policies()[1];
    classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
        n += 1;
        if n % 97 != 0 {
            return;
        }
        let Ok(file) = ClassFile::parse(bytes) else {
            return;
        };
        let Ok(name) = file.name() else { return };
        let anchor = format!("{name}$Veneer");
        for index in 0..file.methods.len() {
            let Ok(method) = Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) else {
                continue;
            };
            let Ok(armed) = arming::layout(&method, policy, true) else {
                continue;
            };
            let known = [ArmedMethod {
                index,
                id: veneer_names::MethodId(7),
                name: method.name.clone(),
                descriptor: method.descriptor.clone(),
                anchor: "Anchor".into(),
                points: armed.points.clone(),
            }];
            let (own, cell, most) = (
                limited(&method, CELL, 5),
                limited(&method, CELL + 8, 5),
                limited(&method, CELL, 6),
            );
            let plan = |probes| VersionPlan {
                method: &method,
                id: veneer_names::MethodId(7),
                armed: &armed,
                edits: &[],
                kept: &[],
                probes,
                clean: false,
            };
            let plans = [plan(&own[..])];
            let emitted = version::emit(&file, &anchor, &plans, Bodies::Enter, &HashSet::new());
            let Ok(class) = emitted else { continue };
            let probe_set = class.bytes.windows(10).any(|w| w == b"countFirst");
            if class.methods.is_empty() || !probe_set {
                continue;
            }
            let at = format!("{} {index}", path.display());
            guard::version(&file, &anchor, &known, &plans, &class)
                .unwrap_or_else(|e| panic!("{at}: {e}"));
            for other in [&cell, &most] {
                let refused = guard::version(&file, &anchor, &known, &[plan(&other[..])], &class);
                assert!(
                    matches!(&refused, Err(Refusal::CheckFailed(why)) if why.contains("a cell or a limit")),
                    "{at}: {refused:?}"
                );
            }
            seen += 1;
        }
    });
    assert!(seen > 100, "only {seen} versions with a limit");
}

/// Falsifies the points of a method. Returns false if the falsification does not apply to them.
type Falsification = fn(&mut Vec<Point>) -> bool;

/// All falsifications, by name.
const FALSIFICATIONS: [(&str, Falsification); 5] = [
    ("the last one left out", |points| points.pop().is_some()),
    ("a variable left out", |points| {
        let mut all = points.iter_mut();
        all.any(|p| {
            matches!(p.locals.last(), Some((_, t)) if *t != Type::Null) && p.locals.pop().is_some()
        })
    }),
    ("a variable that is null", |points| {
        let mut all = points.iter_mut().flat_map(|p| &mut p.locals);
        let value = all.find(|(_, t)| matches!(t, Type::Object(_)));
        value.map(|v| v.1 = Type::Null).is_some()
    }),
    ("a variable in another slot", |points| {
        let value = points.iter_mut().find_map(|p| p.locals.last_mut());
        value.map(|v| v.0 += 1).is_some()
    }),
    ("two of them exchanged", |points| {
        let places = |p: &Point| (p.instruction, p.kind);
        let Some([a, b]) = points
            .get(1..3)
            .and_then(|s| <[Point; 2]>::try_from(s.to_vec()).ok())
        else {
            return false;
        };
        (points[1], points[2]) = (b.clone(), a.clone());
        places(&a) != places(&b)
    }),
];

#[test]
fn falsified_points_are_detected() {
    let mut seen = [0; FALSIFICATIONS.len()];
    let mut n = 0;
    classfile_support::for_each_class("quick", classfile_support::QUICK, |path, bytes| {
        n += 1;
        if n % 97 != 0 {
            return;
        }
        let policy = &policies()[n / 97 % 4];
        let Some(armed) = armed(bytes, policy) else {
            return;
        };
        let modern = veneer_fragmenter::inference::upgrade_class_file(bytes).unwrap();
        let original = ClassFile::parse(&modern).unwrap();
        let emitted = ClassFile::parse(&armed.bytes).unwrap();
        let check = |methods: &[ArmedMethod]| {
            check::armed_class(&original, &emitted, &armed.anchor, methods)
        };
        let at = path.display();
        let truth = check(&armed.methods);
        assert!(truth.passed(), "{at}: {:?}", truth.failures);
        for (k, (name, lie)) in FALSIFICATIONS.iter().enumerate() {
            for index in 0..armed.methods.len() {
                let mut methods = armed.methods.clone();
                if !lie(&mut methods[index].points) {
                    continue;
                }
                let checked = check(&methods);
                let method = format!("{}{}", methods[index].name, methods[index].descriptor);
                if !checked.passed() {
                    assert_eq!(checked.failures.len(), 1);
                    assert_eq!(checked.failures[0].0, method, "{at}");
                    seen[k] += 1;
                    break;
                }
                println!("{at} {method}: {name} passes");
            }
        }
    });
    println!("{seen:?}");
    for ((name, _), seen) in FALSIFICATIONS.iter().zip(seen) {
        assert!(seen > 5, "{name}: only {seen} were seen");
    }
}

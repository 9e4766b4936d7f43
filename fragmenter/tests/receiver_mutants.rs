//! Falsified tests of receivers: the checker refuses each mutant by the name of its failure.

mod classfile_support;
mod javac_support;

use std::collections::HashSet;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::{Probe, ProbeAction};
use veneer_fragmenter::arming;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::check::{self, Expected};
use veneer_fragmenter::classfile::{ClassFile, Code, ExceptionRange};
use veneer_fragmenter::devirtualisation::virtual_calls;
use veneer_fragmenter::guard_outcome::{GuardOutcome, outcomes};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::{CounterSlot, MethodId};

const SOURCE: &str = r#"
class Tested {
    interface Shape {
        long area(long a, String text, int b);
        long other(long a, String text, int b);
    }
    static long run(Shape shape, long a, int b) {
        try {
            return 7 + shape.area(a, null, b) + shape.other(a, "x", 1);
        } catch (IllegalStateException e) {
            return -1;
        }
    }
}
"#;

const CLASSES: [&str; 2] = ["Tested$Square", "Tested$Circle"];

/// The slot of the first counter of an outcome.
const FIRST_COUNTER: u32 = 40;

/// A version of the method `run`, with what it must contain.
struct Emitted {
    host: Vec<u8>,
    version: Vec<u8>,
    expected: Expected,
}

fn emitted() -> Result<Emitted, Refusal> {
    emitted_with(&[])
}

/// As [`emitted`], with a counter for each outcome of a test.
fn emitted_with_counters() -> Result<Emitted, Refusal> {
    let counted = |(n, outcome): (u32, &GuardOutcome)| Probe {
        site: outcome.site(),
        action: ProbeAction::Count {
            slot: CounterSlot(FIRST_COUNTER + n),
        },
    };
    // The pc of the first call does not depend on the counters.
    let edits = emitted()?.expected.edits;
    let all = outcomes(&edits);
    let probes: Vec<Probe> = (0..).zip(&all).map(counted).collect();
    assert_eq!(probes.len(), CLASSES.len() + 1);
    emitted_with(&probes)
}

fn emitted_with(probes: &[Probe]) -> Result<Emitted, Refusal> {
    let classes = javac_support::compile(&[("Tested".into(), SOURCE.into())]);
    let host = classes["Tested"].last().cloned().unwrap_or_default();
    let (version, expected) = {
        let file = ClassFile::parse(&host)?;
        let is_run = |m: &veneer_fragmenter::classfile::Member| {
            file.pool.text(m.name).is_ok_and(|name| name == "run")
        };
        let index = file.methods.iter().position(is_run).unwrap_or(0);
        let policy = Policy::Loop;
        let method = Method::analyse(&file, index, &|i, p| policy.cuts(i, p))?;
        let armed = arming::layout(&method, &policy, true)?;
        let calls = virtual_calls(&method);
        assert_eq!(calls.len(), 2);
        let test = |class: &&str| Edit::Receiver {
            pc: calls[0].pc,
            class: (*class).into(),
        };
        let edits: Vec<Edit> = CLASSES.iter().map(test).collect();
        let plan = VersionPlan {
            method: &method,
            id: MethodId(7),
            armed: &armed,
            edits: &edits,
            kept: &[],
            probes,
            clean: false,
        };
        let expected = Expected::version_contents(&plan);
        let class = version::emit(
            &file,
            "Tested$Veneer",
            &[plan],
            Bodies::Enter,
            &HashSet::new(),
        )?;
        (class.bytes, expected)
    };
    Ok(Emitted {
        host,
        version,
        expected,
    })
}

/// The name of the checker's failure for a version.
fn failure(emitted: &Emitted, version: &[u8], expected: &Expected) -> Option<&'static str> {
    let host = ClassFile::parse(&emitted.host).expect("the host");
    let version = ClassFile::parse(version).expect("the version");
    let expected = std::slice::from_ref(expected);
    let checked = check::version_class(&host, &version, "Tested$Veneer", expected);
    checked.failures.first().map(|(_, failure)| failure.name())
}

/// The version with a changed body. `change` gets the instructions and the bytes of the body.
fn changed(
    emitted: &Emitted,
    change: impl Fn(&[(u16, Instruction)], &mut Vec<u8>, &mut Code),
) -> Vec<u8> {
    let mut file = ClassFile::parse(&emitted.version).expect("the version");
    let pool = file.pool.clone();
    for method in &mut file.methods {
        for attribute in method.attributes.iter_mut().filter(|a| a.is(&pool, "Code")) {
            let info = attribute.info.to_vec();
            let mut code = Code::parse(&info).expect("code");
            let list = decode(&code.code).expect("instructions");
            let mut bytes = code.code.to_vec();
            change(&list, &mut bytes, &mut code);
            code.code = bytes.into();
            attribute.info = code.to_bytes().expect("bytes").into();
        }
    }
    file.to_bytes().expect("a class file")
}

/// The pcs of the instructions with this opcode.
fn all(list: &[(u16, Instruction)], op: u8) -> Vec<usize> {
    let found = list.iter().filter(|(_, i)| i.op() == op);
    found.map(|(pc, _)| usize::from(*pc)).collect()
}

/// The first row of the exception table that protects a pc.
fn row_at(code: &Code, pc: usize) -> usize {
    let covers = |row: &ExceptionRange| (row.start..row.end).contains(&(pc as u16));
    let found = code.exceptions.iter().position(covers);
    found.expect("a row")
}

#[test]
fn falsified_tests_of_receivers_are_refused_by_name() -> Result<(), Refusal> {
    let emitted = emitted()?;
    assert_eq!(failure(&emitted, &emitted.version, &emitted.expected), None);
    type Change = fn(&[(u16, Instruction)], &mut Vec<u8>, &mut Code);
    let mutants: [(&str, &[&str], Change); 8] = [
        ("the test is inverted", &["Operation"], |list, bytes, _| {
            bytes[all(list, INSTANCEOF)[0] + 3] = IFNE;
        }),
        (
            "another class is tested",
            &["Operation"],
            |list, bytes, _| {
                let tests = all(list, INSTANCEOF);
                bytes.copy_within(tests[1] + 1..tests[1] + 3, tests[0] + 1);
            },
        ),
        (
            "the cast is to another class",
            &["Operation"],
            |list, bytes, _| {
                let casts = all(list, CHECKCAST);
                bytes.copy_within(casts[1] + 1..casts[1] + 3, casts[0] + 1);
            },
        ),
        (
            "another method is called",
            &["Operation"],
            |list, bytes, _| {
                let calls = all(list, INVOKEINTERFACE);
                let last = *calls.last().expect("calls");
                bytes.copy_within(last + 1..last + 3, calls[0] + 1);
            },
        ),
        (
            "a branch has another argument",
            &["Operands"],
            |list, bytes, _| {
                // The last `iload` before the first call becomes `iconst_2`, and the rest of it `nop`.
                let call = all(list, INVOKEINTERFACE)[0];
                let loads = all(list, ILOAD);
                let load = *loads.iter().rfind(|pc| **pc < call).expect("a load");
                bytes[load] = ICONST_0 + 2;
                if call - load > 1 {
                    bytes[load + 1..call].fill(NOP);
                }
            },
        ),
        (
            "the branch is left out",
            &["Stack", "Operands", "Operation"],
            |list, bytes, _| {
                let call = all(list, INVOKEINTERFACE)[0];
                bytes[call..call + 5].fill(NOP);
            },
        ),
        (
            "an exception of a branch is not caught",
            &["Handlers"],
            |list, _, code| {
                let row = row_at(code, all(list, INVOKEINTERFACE)[0]);
                code.exceptions.remove(row);
            },
        ),
        (
            "an exception of a test is caught",
            &["Handlers", "NotUnderstood"],
            |list, _, code| {
                let row = row_at(code, all(list, INVOKEINTERFACE)[0]);
                code.exceptions[row].start = all(list, INSTANCEOF)[0] as u16;
            },
        ),
    ];
    for (what, names, change) in mutants {
        let mutant = changed(&emitted, change);
        assert_ne!(mutant, emitted.version, "{what}: nothing was changed");
        let found = failure(&emitted, &mutant, &emitted.expected);
        println!("{what}: {found:?}");
        assert!(
            found.is_some_and(|name| names.contains(&name)),
            "{what}: {found:?}"
        );
    }
    // The same version, with less in the plan.
    for left in 0..CLASSES.len() {
        let mut expected = emitted.expected.clone();
        expected.edits.remove(left);
        let found = failure(&emitted, &emitted.version, &expected);
        assert_eq!(found, Some("Operation"), "without test {left}");
    }
    Ok(())
}

/// Each outcome has one counter, and the checker accepts only counters of the plan.
#[test]
fn counters_of_outcomes_are_those_of_the_plan() -> Result<(), Refusal> {
    let emitted = emitted_with_counters()?;
    assert_eq!(failure(&emitted, &emitted.version, &emitted.expected), None);
    for left_out in 0..emitted.expected.counters.len() {
        let mut expected = emitted.expected.clone();
        expected.counters.remove(left_out);
        let found = failure(&emitted, &emitted.version, &expected);
        println!("without counter {left_out}: {found:?}");
        assert!(found.is_some(), "without counter {left_out}");
    }
    let plain = emitted_with(&[])?.version;
    assert!(emitted.version.len() > plain.len());
    Ok(())
}

#[test]
fn a_place_without_a_virtual_call_is_refused() -> Result<(), Refusal> {
    let emitted = emitted()?;
    let file = ClassFile::parse(&emitted.host)?;
    let policy = Policy::Loop;
    for index in 0..file.methods.len() {
        let Ok(method) = Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) else {
            continue;
        };
        let armed = arming::layout(&method, &policy, true)?;
        for pc in [0, 1, u16::MAX] {
            let test = Edit::Receiver {
                pc,
                class: CLASSES[0].into(),
            };
            let refused = patch::apply(&method, &[test], &armed.points).err();
            let name = refused.as_ref().map(Refusal::name);
            assert_eq!(name, Some("NoVirtualCall"), "{} {pc}", method.name);
        }
    }
    Ok(())
}

//! Falsified guards of constant parameters: the checker refuses each mutant by the name of its failure.

mod classfile_support;
mod javac_support;
mod mutant_support;

use mutant_support::Subject;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::classfile::Code;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::specialisation::parameter_slot;
use veneer_fragmenter::version::Bodies;

const SOURCE: &str = r#"
class Constant {
    static long run(long a, int step, int[] data) {
        long sum = a;
        for (int n = 0; n < data.length; n++) {
            sum += data[n] / step;
            if (step == 3) {
                sum ^= n;
            }
        }
        return sum;
    }
    static int assigned(int step) {
        step++;
        return step;
    }
}
"#;

const fn subject(method: &'static str) -> Subject {
    Subject {
        class: "Constant",
        source: SOURCE,
        method,
    }
}

/// The name of the checker's failure for the changed body `enter` of a version in which `step` is 8.
fn failure(
    edits: &[Edit],
    change: impl Fn(&[(u16, Instruction)], &mut Vec<u8>),
) -> Result<Option<&'static str>, Refusal> {
    subject("run").with(|method, armed| {
        let slot = parameter_slot(method, 1)?;
        assert_eq!(slot, 2);
        let made = [Edit::Constant { slot, value: 8 }];
        let change = |list: &[(u16, Instruction)], bytes: &mut Vec<u8>, _: &mut Code| {
            change(list, bytes);
        };
        mutant_support::failure((method, armed), (&made, edits), Bodies::Enter, change)
    })?
}

/// The place of the guard's branch. The `iload` and the constant before it have two bytes each.
fn guard(list: &[(u16, Instruction)]) -> usize {
    let found = list.iter().find(|(_, i)| i.op() == IF_ICMPNE);
    found.map_or(0, |(pc, _)| usize::from(*pc))
}

#[test]
fn falsified_guards_are_refused_by_name() -> Result<(), Refusal> {
    let edits = [Edit::Constant { slot: 2, value: 8 }];
    assert_eq!(failure(&edits, |_, _| {})?, None);
    type Change = fn(&[(u16, Instruction)], &mut Vec<u8>);
    let mutants: [(&str, &[&str], Change); 5] = [
        ("the guard is inverted", &["Branch"], |list, bytes| {
            bytes[guard(list)] = IF_ICMPEQ;
        }),
        ("the guard has another value", &["Branch"], |list, bytes| {
            bytes[guard(list) - 1] ^= 1;
        }),
        ("the guard is left out", &["Own"], |list, bytes| {
            let at = guard(list);
            bytes[at - 3..at + 3].fill(NOP);
        }),
        (
            "another variable is compared",
            &["Branch"],
            |list, bytes| {
                // The array and the object of the version are no ints, so the first word of `a` it is.
                bytes[guard(list) - 3] -= 1;
            },
        ),
        (
            "the body has another constant",
            &["Operands"],
            |list, bytes| {
                let push = |(_, i): &&(u16, Instruction)| matches!(i, Instruction::Push(8));
                let pushed = list.iter().filter(push).nth(1);
                bytes[pushed.map_or(0, |(pc, _)| usize::from(*pc)) + 1] ^= 1;
            },
        ),
    ];
    for (what, names, change) in mutants {
        let found = failure(&edits, change)?;
        println!("{what}: {found:?}");
        assert!(
            found.is_some_and(|name| names.contains(&name)),
            "{what}: {found:?}"
        );
    }
    // The same version, for a plan with another constant, and for one without.
    let other = [Edit::Constant { slot: 2, value: 9 }];
    for edits in [&other[..], &[]] {
        let found = failure(edits, |_, _| {})?;
        println!("{edits:?}: {found:?}");
        assert!(found.is_some());
    }
    Ok(())
}

#[test]
fn a_parameter_that_is_assigned_is_refused() -> Result<(), Refusal> {
    let refused = subject("assigned").with(|method, armed| {
        let constant = Edit::Constant { slot: 0, value: 8 };
        patch::apply(method, &[constant], &armed.points).err()
    })?;
    let name = refused.as_ref().map(Refusal::name);
    assert_eq!(name, Some("ParameterAssigned"));
    Ok(())
}

//! Falsified copies of loops, and falsified tests that choose between them: the checker refuses each mutant by the
//! name of its failure.

mod classfile_support;
mod javac_support;
mod mutant_support;

use mutant_support::{Subject, all, failure};
use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::classfile::Code;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::version::Bodies;

/// Opcodes that the emitter does not name.
const IALOAD: u8 = 46;
const IMUL: u8 = 104;
const INEG: u8 = 116;
const IAND: u8 = 126;

const SOURCE: &str = r#"
class Loop {
    static long run(int[] data, int flags, int by) {
        long sum = 0;
        for (int n = 0; n < data.length; n++) {
            if ((flags & 4) == 0) {
                sum += data[n] * by;
            } else {
                sum -= by;
            }
        }
        return sum;
    }
    static int refused(int[] data, int a, boolean b) {
        int sum = b ? 1 : 2;
        for (int n = 0; n < a; n++) {
            if (data[n] > 3) {
                sum++;
            }
            if (b) {
                sum += a;
            }
        }
        for (int n = 0; n < a; n++) {
            if (b) {
                sum *= 3;
            }
            try {
                sum += data[n];
            } catch (RuntimeException e) {
                sum--;
            }
        }
        return sum;
    }
}
"#;

const fn subject(method: &'static str) -> Subject {
    Subject {
        class: "Loop",
        source: SOURCE,
        method,
    }
}

/// Copies the loop around the first branch with this opcode.
fn unswitch(method: &Method, op: u8) -> Edit {
    let found = method.instructions.iter().find(|(_, i)| i.op() == op);
    let pc = found.map_or(0, |(pc, _)| *pc);
    Edit::Unswitch {
        fragment: method.flow.fragment_containing(pc),
    }
}

type Change = fn(&[(u16, Instruction)], &mut Vec<u8>, &mut Code);

/// The pc of the copy of the only instruction with this opcode.
fn copied(list: &[(u16, Instruction)], op: u8) -> usize {
    let found = all(list, op);
    assert_eq!(found.len(), 2, "the original and its copy: {found:?}");
    found[1]
}

/// The pc of the branch that chooses. It is the last one on the condition.
fn choice(list: &[(u16, Instruction)]) -> usize {
    let tests = all(list, IFNE);
    let marked = |pc: &&usize| {
        let before = list.iter().rev().find(|(at, _)| usize::from(*at) < **pc);
        before.is_some_and(|(_, i)| i.op() == NOP)
    };
    let found: Vec<usize> = tests.iter().filter(marked).copied().collect();
    assert_eq!(found.len(), 1, "one choice: {found:?}");
    found[0]
}

#[test]
fn falsified_loops_are_refused_by_name() -> Result<(), Refusal> {
    let mutants: [(&str, &str, Change); 7] = [
        (
            "the copy computes something else",
            "Store",
            |list, bytes, _| {
                bytes[copied(list, IMUL)] = IADD;
            },
        ),
        ("the copy reads no element", "Store", |list, bytes, _| {
            bytes[copied(list, IALOAD)] = IAND;
        }),
        (
            "the copy's last test of the condition is inverted",
            "Operation",
            |list, bytes, _| {
                let tests = all(list, IFNE);
                let at = tests.into_iter().rfind(|at| *at != choice(list));
                bytes[at.unwrap_or(0)] = IFEQ;
            },
        ),
        ("the copy counts twice", "Store", |list, bytes, _| {
            bytes[copied(list, IINC) + 2] = 2;
        }),
        ("the choice is not marked", "Branch", |list, bytes, _| {
            bytes[choice(list) - 1] = INEG;
        }),
        ("the choice leads to itself", "Stack", |list, bytes, _| {
            let at = choice(list);
            bytes[at + 1..at + 3].copy_from_slice(&0u16.to_be_bytes());
        }),
        ("the choice takes no operand", "Stack", |list, bytes, _| {
            let at = choice(list);
            bytes[at..at + 3].fill(NOP);
        }),
    ];
    subject("run").with(|method, armed| {
        let edits = [unswitch(method, IFNE)];
        let one = (method, armed);
        let mut wrong = Vec::new();
        for (what, name, change) in &mutants {
            let found = failure(one, (&edits, &edits), Bodies::Enter, change)?;
            println!("{what}: {found:?}");
            if found != Some(*name) {
                wrong.push((what, found));
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        for bodies in [Bodies::Enter, Bodies::Resume] {
            assert_eq!(failure(one, (&edits, &edits), bodies, |_, _, _| {})?, None);
        }
        // A plan without the edit permits no choice.
        let found = failure(one, (&edits, &[]), Bodies::Enter, |_, _, _| {})?;
        assert!(found.is_some());
        // Each copy is the whole loop, so the other choice is as right.
        let inverted = failure(one, (&edits, &edits), Bodies::Enter, |list, bytes, _| {
            bytes[choice(list)] = IFEQ;
        })?;
        assert_eq!(inverted, None);
        Ok(())
    })?
}

#[test]
fn loops_that_cannot_be_copied_are_refused_by_name() -> Result<(), Refusal> {
    subject("refused").with(|method, armed| {
        let refusal = |fragment: FragmentId| {
            let edit = Edit::Unswitch { fragment };
            patch::apply(method, &[edit], &armed.points).err()
        };
        let all: Vec<_> = method.flow.fragments().map(|f| refusal(f.id)).collect();
        for (n, refusal) in all.iter().enumerate() {
            println!(
                "f{n}: {}",
                refusal.as_ref().map_or(String::new(), |r| r.to_string())
            );
        }
        let reasons = [
            "it is in no loop",
            "it does not end with a branch",
            "more than variables and constants",
            "the loop assigns local",
            "catches exceptions inside",
        ];
        for reason in reasons {
            let has =
                |r: &Option<Refusal>| r.as_ref().is_some_and(|r| r.to_string().contains(reason));
            assert!(all.iter().any(has), "{reason}");
        }
        let accepted = all.iter().filter(|r| r.is_none()).count();
        assert_eq!(accepted, 1, "the branch on `b` in the first loop");
        let names = ["NotInvariant", "LoopWithHandler"];
        assert!(all.iter().flatten().all(|r| names.contains(&r.name())));
    })
}

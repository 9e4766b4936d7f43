//! Falsified copies of paths: the checker refuses each mutant by the name of its failure.

mod classfile_support;
mod javac_support;
mod mutant_support;

use std::collections::BTreeMap;

use mutant_support::{Subject, all, failure};
use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::classfile::Code;
use veneer_fragmenter::duplication::frequent_path;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::patch::{self, Edit};
use veneer_fragmenter::version::Bodies;

/// Opcodes that the emitter does not name.
const IALOAD: u8 = 46;
const IMUL: u8 = 104;
const IF_ICMPGT: u8 = 163;

const SOURCE: &str = r#"
class Path {
    static long run(int[] data, int limit) {
        long sum = 0;
        for (int n = 0; n < data.length; n++) {
            int value = data[n];
            if (value < 0) {
                value = -value;
            } else {
                value = value - 3;
            }
            try {
                sum += value * limit + data[value];
            } catch (ArrayIndexOutOfBoundsException e) {
                sum--;
            }
            if (value > limit) {
                sum -= limit;
            }
        }
        return sum;
    }
    static Object make(int n) {
        Object first = n > 3 ? "a" : "b";
        String text = first.hashCode() + "x";
        return new StringBuilder(n > 5 ? text : "c").append(n > 7 ? "d" : "e");
    }
    static int straight(int n) {
        if (n > 3) {
            return 1;
        }
        return n * 7;
    }
}
"#;

const fn subject(method: &'static str) -> Subject {
    Subject {
        class: "Path",
        source: SOURCE,
        method,
    }
}

/// The path of the loop that javac lays out last at each branch.
fn path(method: &Method) -> Edit {
    let passes = (0..method.flow.len() as u32).map(|f| (FragmentId(f), 10 + u64::from(f)));
    let handler = method.code.exceptions.first().map_or(0, |e| e.handler);
    let handler = method.flow.fragment_containing(handler);
    let passes: BTreeMap<FragmentId, u64> = passes
        .map(|(f, count)| (f, if f == handler { 0 } else { count }))
        .filter(|(f, _)| {
            method
                .loops
                .innermost(petgraph::graph::NodeIndex::new(f.index()))
                .is_some()
        })
        .collect();
    Edit::Duplicate {
        path: frequent_path(method, &passes).into(),
    }
}

type Change = fn(&[(u16, Instruction)], &mut Vec<u8>, &mut Code);

/// The pc of the last instruction with this opcode. Copies are behind all other fragments.
fn copied(list: &[(u16, Instruction)], op: u8) -> usize {
    let found = all(list, op);
    assert_eq!(found.len(), 2, "the original and its copy: {found:?}");
    found[1]
}

#[test]
fn falsified_copies_are_refused_by_name() -> Result<(), Refusal> {
    let mutants: [(&str, &str, Change); 7] = [
        (
            "the copy computes something else",
            "Store",
            |list, bytes, _| {
                bytes[copied(list, IMUL)] = IADD;
            },
        ),
        (
            "the copy's branch is inverted",
            "Store",
            |list, bytes, _| {
                bytes[copied(list, IF_ICMPLE)] = IF_ICMPGT;
            },
        ),
        (
            "the copy's branch leads to itself",
            "Branch",
            |list, bytes, _| {
                let at = copied(list, IF_ICMPLE);
                bytes[at + 1..at + 3].copy_from_slice(&0u16.to_be_bytes());
            },
        ),
        ("the copy counts twice", "Store", |list, bytes, _| {
            bytes[copied(list, IINC) + 2] = 2;
        }),
        ("the copy leaves a count out", "Leave", |list, bytes, _| {
            let at = copied(list, IINC);
            bytes[at..at + 3].fill(NOP);
        }),
        ("the copy reads no element", "Store", |list, bytes, _| {
            let at = all(list, IALOAD);
            assert_eq!(at.len(), 3, "one read is not copied");
            bytes[at[2]] = IADD;
        }),
        ("the copy has no handler", "Handlers", |list, _, code| {
            let at = copied(list, IMUL) as u16;
            code.exceptions.retain(|row| row.start < at && row.end < at);
        }),
    ];
    subject("run").with(|method, armed| {
        let edits = [path(method)];
        let one = (method, armed);
        let mut wrong = Vec::new();
        for bodies in [Bodies::Enter, Bodies::Resume] {
            assert_eq!(failure(one, (&edits, &edits), bodies, |_, _, _| {})?, None);
            for (what, name, change) in &mutants {
                let found = failure(one, (&edits, &edits), bodies, change)?;
                println!("{bodies:?}: {what}: {found:?}");
                if found != Some(*name) {
                    wrong.push((bodies, what, found));
                }
            }
            // Copies need no permission: the version does the same as the method itself.
            assert_eq!(failure(one, (&edits, &[]), bodies, |_, _, _| {})?, None);
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        Ok(())
    })?
}

/// The refusal of a path of this method.
fn refused(method: &'static str, path: &[u32]) -> Result<Option<&'static str>, Refusal> {
    subject(method).with(|method, armed| {
        let path = path.iter().copied().map(FragmentId).collect();
        let refusal = patch::apply(method, &[Edit::Duplicate { path }], &armed.points).err();
        println!("{refusal:?}");
        refusal.map(|r| r.name())
    })
}

#[test]
fn paths_that_cannot_be_copied_are_refused_by_name() -> Result<(), Refusal> {
    assert_eq!(refused("run", &[1, 99])?, Some("UnknownFragment"));
    assert_eq!(refused("run", &[1, 0])?, Some("UnknownEdge"));
    assert_eq!(refused("run", &[0, 1])?, Some("PathEntersLoop"));
    assert_eq!(refused("straight", &[0, 1])?, Some("NoSideEntry"));
    assert_eq!(refused("straight", &[])?, Some("NoSideEntry"));
    // Behind some merges, the operand stack has an object whose constructor has not run.
    let object = subject("make").with(|method, armed| {
        let edges = method.flow.edges().into_iter();
        let names = edges.map(|(from, to)| {
            let path = [from, to].into();
            let edit = Edit::Duplicate { path };
            let refusal = patch::apply(method, &[edit], &armed.points).err();
            refusal.map(|r| r.name())
        });
        names.collect::<Vec<_>>()
    })?;
    println!("{object:?}");
    assert!(object.contains(&Some("UninitializedObject")));
    assert!(
        object.contains(&None),
        "a merge without a new object is copied"
    );
    Ok(())
}

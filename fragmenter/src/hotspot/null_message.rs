//! HotSpot's analysis of the operand stack for the messages of `NullPointerException` (JEP 358), and
//! the methods for which this analysis is unsound.
//!
//! `NullPointerException.getMessage` says which value was null. For this, HotSpot simulates the
//! operand stack of the method in linear passes over its code
//! (`src/hotspot/share/interpreter/bytecodeUtils.cpp`, the same from JDK 14 to the current one):
//!
//! 1. The first instruction begins with an empty stack, each exception handler with one word.
//! 2. A pass visits the instructions in the order of the code. It skips an instruction whose stack
//!    is not known yet. From the others it merges the resulting stack into the next instruction and
//!    into each branch target.
//! 3. The passes end when all instructions have a stack, or when a pass has found no new stack.
//!
//! Two rules of this simulation contradict the JVM specification:
//!
//! * `ldc` of a `MethodHandle`, a `MethodType` or a dynamic constant pushes nothing.
//! * `tableswitch` and `lookupswitch` also continue at the next instruction in the code, with the
//!   stack after their operand was popped.
//!
//! So a simulated stack can be shorter or longer than the real one. HotSpot does not check this: it
//! merges stacks of different lengths by reading past the end of one of them, and pops from empty
//! stacks. The message is then built from arbitrary memory, or the JVM crashes in `getMessage`. This
//! happens without Veneer too.
//!
//! [`NullMessageAnalysis`] repeats the simulation with the depths of the stacks only. The analysis
//! of a method is *sound* if no two merged depths differ and no stack underflows. Veneer must keep
//! sound methods sound: the checker ([`crate::check`]) compares both sides of each emitted body.

use crate::bytecode::opcode::*;
use crate::bytecode::stack_effect::{MemberWords, Words, opcode_words};
use crate::bytecode::{Instruction, decode};
use crate::classfile::{Code, ConstantPool, ConstantTag};
use thiserror::Error;

/// The first position at which HotSpot's simulation of a method goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("pc {pc}: {kind}")]
pub struct Inconsistency {
    /// The simulated instruction.
    pub pc: u16,
    /// The kind of inconsistency.
    pub kind: InconsistencyKind,
}

/// The reason why HotSpot's simulation of a method is unsound. Depths are in words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum InconsistencyKind {
    /// The instruction reads more words than the simulated stack has.
    #[error("the simulated stack has {depth} words, and the instruction reads {read}")]
    Underflow {
        /// The number of words on the stack.
        depth: u16,
        /// The number of words that the instruction reads.
        read: u16,
    },
    /// The stack after the instruction is merged with a stack of another depth.
    #[error("{depth} words are merged into the {known} words at pc {target}")]
    Merge {
        /// The pc at which the stacks are merged.
        target: u16,
        /// The depth after the instruction, in words.
        depth: u16,
        /// The depth that is known at the target, in words.
        known: u16,
    },
    /// The code cannot be simulated: no JVM accepts the class.
    #[error("the code is malformed: {0}")]
    Malformed(String),
}

/// The part of a method that HotSpot's simulation reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// Each instruction has a simulated stack.
    All,
    /// The method has unreachable code, whose instructions have no simulated stack.
    Part,
}

/// Decides for the methods of one class whether HotSpot's simulation is sound.
pub struct NullMessageAnalysis<'f> {
    pool: &'f ConstantPool<'f>,
    members: MemberWords<'f>,
}

/// The simulated depths of a method by pc, up to and including the code length. `None` if the
/// simulation has not reached the instruction.
type Depths = Vec<Option<u16>>;

impl<'f> NullMessageAnalysis<'f> {
    /// Begins the analysis of a class with this constant pool.
    pub fn new(pool: &'f ConstantPool<'f>) -> NullMessageAnalysis<'f> {
        NullMessageAnalysis {
            pool,
            members: MemberWords::new(pool),
        }
    }

    /// Simulates a method. Returns how much of the code the simulation reached.
    ///
    /// # Errors
    /// The first inconsistency in the order of the simulation.
    pub fn check(&mut self, code: &Code) -> Result<Reached, Inconsistency> {
        let instructions = decode(&code.code).map_err(|error| malformed(0, error))?;
        let mut depths: Depths = vec![None; code.code.len() + 1];
        let mut begin = |pc: u16, depth: u16| {
            if let Some(at) = depths.get_mut(usize::from(pc)) {
                at.get_or_insert(depth);
            }
        };
        begin(0, 0);
        for range in &code.exceptions {
            begin(range.handler, 1);
        }
        let end = code.code.len() as u16;
        loop {
            let (mut all_known, mut added) = (true, false);
            for (i, (pc, instruction)) in instructions.iter().enumerate() {
                let Some(depth) = depths.get(usize::from(*pc)).copied().flatten() else {
                    all_known = false;
                    continue;
                };
                let depth = self.depth_after(*pc, instruction, depth)?;
                let op = instruction.op();
                // HotSpot continues after a switch.
                let continues = !ends_flow(op) || matches!(op, TABLESWITCH | LOOKUPSWITCH);
                if continues {
                    let next = instructions.get(i + 1).map_or(end, |next| next.0);
                    added |= merge(&mut depths, *pc, next, depth)?;
                }
                for target in instruction.targets() {
                    // The decoder accepts only targets in the code.
                    added |= merge(&mut depths, *pc, target.0 as u16, depth)?;
                }
            }
            if all_known {
                return Ok(Reached::All);
            }
            if !added {
                return Ok(Reached::Part);
            }
        }
    }

    /// The depth that HotSpot simulates after an instruction.
    fn depth_after(
        &mut self,
        pc: u16,
        instruction: &Instruction,
        depth: u16,
    ) -> Result<u16, Inconsistency> {
        let words = self
            .simulated_words(instruction)
            .ok_or_else(|| malformed(pc, "a constant of another kind is expected"))?;
        let below = depth.checked_sub(words.popped).ok_or(Inconsistency {
            pc,
            kind: InconsistencyKind::Underflow {
                depth,
                read: words.popped,
            },
        })?;
        below
            .checked_add(words.pushed)
            .ok_or_else(|| malformed(pc, "the operand stack is too deep"))
    }

    /// The words that HotSpot's simulation of an instruction pops and pushes. Returns `None` if the
    /// instruction refers to a constant that it cannot use.
    fn simulated_words(&mut self, instruction: &Instruction) -> Option<Words> {
        let words = |popped, pushed| Some(Words { popped, pushed });
        let op = instruction.op();
        match instruction {
            Instruction::Ldc { index, .. } => match self.pool.tag(*index).ok()? {
                // HotSpot pushes nothing for these constants.
                ConstantTag::MethodHandle | ConstantTag::MethodType | ConstantTag::Dynamic => {
                    words(0, 0)
                }
                _ => opcode_words(op),
            },
            Instruction::Pool {
                op: GETSTATIC..=INVOKESTATIC,
                index,
            }
            | Instruction::InvokeInterface { index, .. }
            | Instruction::InvokeDynamic { index } => self.members.of_instruction(op, *index),
            // HotSpot does not read the operand of a cast.
            Instruction::Pool { op: CHECKCAST, .. } => words(0, 0),
            Instruction::MultiNewArray { dims, .. } => words(u16::from(*dims), 1),
            Instruction::Branch { op: JSR, .. } => words(0, 1),
            Instruction::Local { op: RET, .. } => words(0, 0),
            _ => opcode_words(op),
        }
    }
}

/// Merges a depth into that of the instruction at `target`. Returns whether the target had no depth
/// before.
fn merge(depths: &mut Depths, pc: u16, target: u16, depth: u16) -> Result<bool, Inconsistency> {
    let Some(known) = depths.get_mut(usize::from(target)) else {
        return Err(malformed(pc, "a branch leaves the code"));
    };
    match known.replace(depth) {
        Some(known) if known != depth => Err(Inconsistency {
            pc,
            kind: InconsistencyKind::Merge {
                target,
                depth,
                known,
            },
        }),
        before => Ok(before.is_none()),
    }
}

fn malformed(pc: u16, why: impl ToString) -> Inconsistency {
    Inconsistency {
        pc,
        kind: InconsistencyKind::Malformed(why.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::{Assembler, Label};
    use crate::classfile::ExceptionRange;

    /// Number of labels that a test can use.
    const LABELS: u32 = 6;

    /// Assembles a method and simulates it. `handlers` are the labels of exception handlers whose
    /// ranges are the first instruction.
    fn check(
        pool: &ConstantPool,
        handlers: &[Label],
        emit: impl FnOnce(&mut Assembler),
    ) -> Result<Reached, Inconsistency> {
        let mut a = Assembler::new();
        // The labels of `label`.
        for _ in 0..LABELS {
            a.fresh();
        }
        emit(&mut a);
        let out = a.finish().unwrap();
        let handler = |label: &Label| ExceptionRange {
            start: 0,
            end: 1,
            handler: out.at(*label).unwrap(),
            catch_type: 0,
        };
        let code = Code {
            max_stack: 8,
            max_locals: 8,
            code: out.code.clone().into(),
            exceptions: handlers.iter().map(handler).collect(),
            attributes: Vec::new(),
        };
        NullMessageAnalysis::new(pool).check(&code)
    }

    fn label(n: u32) -> Label {
        assert!(n < LABELS);
        Label(Label::FRESH + n)
    }

    fn ldc(a: &mut Assembler, index: u16) {
        a.push(Instruction::Ldc { index, wide: false });
    }

    fn underflow(pc: u16, depth: u16, read: u16) -> Result<Reached, Inconsistency> {
        let kind = InconsistencyKind::Underflow { depth, read };
        Err(Inconsistency { pc, kind })
    }

    fn merged(pc: u16, target: u16, depth: u16, known: u16) -> Result<Reached, Inconsistency> {
        let kind = InconsistencyKind::Merge {
            target,
            depth,
            known,
        };
        Err(Inconsistency { pc, kind })
    }

    /// `b ? String.class : …` as javac compiles it, with a loop and a handler.
    #[test]
    fn a_method_as_javac_compiles_it_is_sound() {
        let mut pool = ConstantPool::new();
        let class = pool.add_class("java/lang/String").unwrap();
        let call = pool
            .add_method("A", "f", "(JLjava/lang/Object;[D)J")
            .unwrap();
        let field = pool.add_field("A", "d", "D").unwrap();
        let outcome = check(&pool, &[label(3)], |a| {
            a.local(ALOAD, 0); // the receiver stays on the stack across the branches
            a.local(LLOAD, 1);
            a.local(ILOAD, 3);
            a.branch(IFEQ, label(0));
            ldc(a, class);
            a.branch(GOTO, label(1));
            a.place(label(0));
            a.plain(ACONST_NULL);
            a.place(label(1));
            a.plain(ACONST_NULL);
            a.pool(INVOKEVIRTUAL, call);
            a.local(LSTORE, 1);
            a.place(label(2));
            a.local(ILOAD, 3);
            a.push(Instruction::TableSwitch {
                default: label(2),
                low: 0,
                targets: vec![label(4), label(5)],
            });
            a.place(label(4));
            a.pool(GETSTATIC, field);
            a.plain(DUP2);
            a.pool(PUTSTATIC, field);
            a.plain(POP2);
            a.place(label(5));
            a.local(LLOAD, 1);
            a.plain(LRETURN);
            a.place(label(3));
            a.local(ASTORE, 4);
            a.branch(GOTO, label(2));
        });
        assert_eq!(outcome, Ok(Reached::All));
    }

    /// `b ? handle : null`: the branch with the handle arrives with an empty stack.
    #[test]
    fn a_method_handle_is_missing_where_branches_merge() {
        let mut pool = ConstantPool::new();
        let method = pool.add_method("A", "f", "()V").unwrap();
        let handle = pool.add_method_handle(6, method).unwrap();
        let code = |a: &mut Assembler| {
            a.local(ILOAD, 0); // 0
            a.branch(IFEQ, label(0)); // 1
            ldc(a, handle); // 4
            a.branch(GOTO, label(1)); // 6
            a.place(label(0));
            a.plain(ACONST_NULL); // 9
            a.place(label(1));
            a.plain(ARETURN); // 10
        };
        assert_eq!(check(&pool, &[], code), merged(9, 10, 1, 0));
        let type_index = pool.add_method_type("()V").unwrap();
        let returned = |index: u16| {
            move |a: &mut Assembler| {
                ldc(a, index);
                a.plain(ARETURN);
            }
        };
        assert_eq!(check(&pool, &[], returned(handle)), underflow(2, 0, 1));
        assert_eq!(check(&pool, &[], returned(type_index)), underflow(2, 0, 1));
        let text = pool.add_string("text").unwrap();
        assert_eq!(check(&pool, &[], returned(text)), Ok(Reached::All));
    }

    #[test]
    fn a_dynamic_constant_of_two_words_is_missing() {
        let mut pool = ConstantPool::new();
        let dynamic = pool.add_dynamic(0, "l", "J").unwrap();
        let long = pool.add_long(7).unwrap();
        let returned = |index: u16| {
            move |a: &mut Assembler| {
                a.push(Instruction::Ldc { index, wide: true });
                a.plain(LRETURN);
            }
        };
        assert_eq!(check(&pool, &[], returned(dynamic)), underflow(3, 0, 2));
        assert_eq!(check(&pool, &[], returned(long)), Ok(Reached::All));
    }

    /// The code after a switch is a handler, which begins with one word. HotSpot continues there
    /// with the empty stack after the switch.
    #[test]
    fn a_switch_continues_at_the_next_instruction() {
        let pool = ConstantPool::new();
        let code = |handler_follows: bool, lookup: bool| {
            move |a: &mut Assembler| {
                a.local(ILOAD, 0); // 0
                a.push(if lookup {
                    Instruction::LookupSwitch {
                        default: label(0),
                        pairs: vec![(5, label(0))],
                    }
                } else {
                    Instruction::TableSwitch {
                        default: label(0),
                        low: 0,
                        targets: vec![label(0)],
                    }
                });
                if handler_follows {
                    a.place(label(1));
                    a.plain(ATHROW);
                    a.place(label(0));
                    a.plain(RETURN);
                } else {
                    a.place(label(0));
                    a.plain(RETURN);
                    a.place(label(1));
                    a.plain(ATHROW);
                }
            }
        };
        assert_eq!(
            check(&pool, &[label(1)], code(true, false)),
            merged(1, 20, 0, 1)
        );
        assert_eq!(
            check(&pool, &[label(1)], code(true, true)),
            merged(1, 20, 0, 1)
        );
        assert_eq!(
            check(&pool, &[label(1)], code(false, false)),
            Ok(Reached::All)
        );
        assert_eq!(
            check(&pool, &[label(1)], code(false, true)),
            Ok(Reached::All)
        );
    }

    /// Code that HotSpot reaches only over a switch has no other depth to conflict with, but its
    /// operands are missing.
    #[test]
    fn operands_are_missing_after_a_switch() {
        let pool = ConstantPool::new();
        let outcome = check(&pool, &[], |a| {
            a.local(ILOAD, 0); // 0
            a.branch(IFEQ, label(1)); // 1
            a.local(ILOAD, 0); // 4
            a.push(Instruction::TableSwitch {
                default: label(0),
                low: 0,
                targets: vec![label(0)],
            }); // 5
            a.place(label(2)); // 24, reached with one word from below
            a.plain(IRETURN);
            a.place(label(0));
            a.push(Instruction::Push(1));
            a.plain(IRETURN);
            a.place(label(1));
            a.push(Instruction::Push(2));
            a.branch(GOTO, label(2));
        });
        assert_eq!(outcome, underflow(24, 0, 1));
    }

    /// As in HotSpot, `jsr` pushes a word and ends the flow, and `ret` ends it too.
    #[test]
    fn subroutines_are_simulated_as_hotspot_does() {
        let pool = ConstantPool::new();
        let outcome = check(&pool, &[], |a| {
            a.branch(JSR, label(0));
            a.plain(RETURN); // Not reached by the simulation.
            a.place(label(0));
            a.local(ASTORE, 0);
            a.local(RET, 0);
        });
        assert_eq!(outcome, Ok(Reached::Part));
    }

    #[test]
    fn malformed_code_is_reported() {
        let pool = ConstantPool::new();
        let outcome = check(&pool, &[], |a| {
            a.pool(GETSTATIC, 99);
            a.plain(RETURN);
        });
        let Err(Inconsistency { pc: 0, kind }) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(matches!(kind, InconsistencyKind::Malformed(_)), "{kind}");
    }
}

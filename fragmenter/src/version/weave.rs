//! Emits the bytecode of advice.

use super::body::slots::Slots;
use super::emitter::Emitter;
use crate::advice::{Probe, ProbeAction};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction};
use crate::point_values::carried_kind;
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::Type;
use veneer_names::{CounterSlot, LocalSlot};

/// Operand stack in words that advice other than probes may use, above the method's own values.
const MIN_ADVICE_STACK_WORDS: u16 = 8;

/// Operand stack in words that these actions need above the method's own values, including the
/// arguments of probes.
pub(super) fn advice_stack_words(probes: &[Probe]) -> u16 {
    let words = |p: &Probe| match &p.action {
        ProbeAction::RunProbe { method, .. } => {
            method.parameters.iter().map(|r| r.1.words()).sum::<u16>() + 2
        }
        _ => 0,
    };
    probes
        .iter()
        .map(words)
        .max()
        .unwrap_or(0)
        .max(MIN_ADVICE_STACK_WORDS)
}

/// The largest number of temporary local-variable words into which one of these probes stores
/// operands.
pub(super) fn operand_spill_words(probes: &[Probe]) -> u16 {
    let words = |p: &Probe| match &p.action {
        ProbeAction::RunProbe { operands, .. } => operands.iter().map(|k| k.words()).sum(),
        _ => 0,
    };
    probes.iter().map(words).max().unwrap_or(0)
}

/// The direction in which a counter changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterChange {
    Increment,
    Decrement,
}

impl Emitter<'_> {
    /// Adds 1 to a counter, or takes it back.
    pub(super) fn count(
        &mut self,
        a: &mut Assembler,
        slots: &Slots,
        slot: CounterSlot,
        change: CounterChange,
    ) -> Result<(), Refusal> {
        let name = match change {
            CounterChange::Increment => "count",
            CounterChange::Decrement => "discount",
        };
        a.local(LLOAD, slots.shard()?);
        self.push_int(a, slot.byte_offset() as i32)?;
        self.call(a, name, "(JI)V")
    }

    /// Appends the code of one action.
    pub(super) fn weave(
        &mut self,
        a: &mut Assembler,
        slots: &Slots,
        action: &ProbeAction,
    ) -> Result<(), Refusal> {
        match action {
            ProbeAction::Count { slot } => self.count(a, slots, *slot, CounterChange::Increment)?,
            ProbeAction::CountInWindow { slot } => {
                a.local(LLOAD, slots.window()?);
                self.push_int(a, slot.byte_offset() as i32)?;
                self.call(a, "countInWindow", "(JI)V")?;
            }
            ProbeAction::CountBuffered { slot } => match slots.promoted(*slot) {
                Some(local) => a.push(Instruction::Iinc {
                    index: local,
                    delta: 1,
                }),
                None => self.count(a, slots, *slot, CounterChange::Increment)?,
            },
            // The code is at all places at which activations enter and leave other than along
            // edges.
            ProbeAction::CountExternalEdge { .. } => {}
            ProbeAction::Start { slot } => {
                self.call(a, "now", "()J")?;
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::Stop { slot } => {
                self.call_timer(a, slots, *slot, "stop", "(JIJ)V")?;
                a.plain(LCONST_0);
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::LapTimer { slot } => {
                self.call_timer(a, slots, *slot, "lap", "(JIJ)J")?;
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::TraceEntry { slot } => {
                self.call_trace(a, slots, *slot, "entry", "(JIJ)J")?;
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::TraceExit { slot } => {
                self.call_trace(a, slots, *slot, "exit", "(JIJ)V")?;
                a.plain(LCONST_0);
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::TraceThrow { slot } => {
                self.call_trace(a, slots, *slot, "unwind", "(JIJ)V")?;
                a.plain(LCONST_0);
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::TraceAllocation => {
                a.local(LLOAD, slots.shard()?);
                let method = self.pool.add_method(runtime::TRACE, "allocation", "(J)V")?;
                a.pool(INVOKESTATIC, method);
            }
            // The prologue contains the code.
            ProbeAction::LateStart { .. } => {}
            ProbeAction::LateStop { slot } => {
                self.call_timer(a, slots, *slot, "until", "(JIJ)V")?;
                a.plain(LCONST_0);
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::LoopEnter { slot } => {
                a.plain(LCONST_1);
                a.local(LSTORE, slots.timer(*slot)?);
            }
            // Branch-free `if n != 0 { n += 1 }`: n + (-n >>> 63). The shift yields 1 for a
            // positive n, and 0 for 0.
            ProbeAction::LoopBackEdge { slot } => {
                let n = slots.timer(*slot)?;
                a.local(LLOAD, n);
                a.local(LLOAD, n);
                a.plain(LNEG);
                self.push_int(a, 63)?;
                a.plain(LUSHR);
                a.plain(LADD);
                a.local(LSTORE, n);
            }
            ProbeAction::LoopExit { slot } => {
                a.plain(LCONST_0);
                a.local(LSTORE, slots.timer(*slot)?);
            }
            ProbeAction::Limited { cell, most, action } => match &**action {
                ProbeAction::Count { slot } => {
                    a.local(LLOAD, slots.shard()?);
                    self.push_int(a, slot.byte_offset() as i32)?;
                    self.push_limit(a, *cell, *most)?;
                    self.call(a, "countFirst", "(JIJJ)V")?;
                }
                ProbeAction::Log { point, values } => {
                    self.push_int(a, point.0 as i32)?;
                    self.push_int(a, values.len() as i32)?;
                    self.push_limit(a, *cell, *most)?;
                    self.call(a, "beginFirst", "(IIJJ)J")?;
                    self.put_values(a, values)?;
                }
                _ => {
                    return Err(Refusal::Internal(
                        "a limit on an action other than `Count` and `Log`".into(),
                    ));
                }
            },
            ProbeAction::RunProbe {
                method,
                reads,
                operands,
            } => self.call_probe(a, slots, (method, reads, operands))?,
            ProbeAction::Log { point, values } => {
                self.push_int(a, point.0 as i32)?;
                self.push_int(a, values.len() as i32)?;
                self.call(a, "begin", "(II)J")?;
                self.put_values(a, values)?;
            }
        }
        Ok(())
    }

    /// Pushes the address of a limit's cell, and the limit.
    fn push_limit(&mut self, a: &mut Assembler, cell: i64, most: u64) -> Result<(), Refusal> {
        for n in [cell, most as i64] {
            let index = self.pool.add_long(n)?;
            a.push(Instruction::Ldc { index, wide: true });
        }
        Ok(())
    }

    /// Writes the values of a log event and ends it. The event's address is on the stack.
    fn put_values(
        &mut self,
        a: &mut Assembler,
        values: &[(LocalSlot, Type)],
    ) -> Result<(), Refusal> {
        for (slot, t) in values {
            let descriptor = match t {
                Type::Int => "(JI)J",
                Type::Long => "(JJ)J",
                Type::Float => "(JF)J",
                Type::Double => "(JD)J",
                _ => "(JLjava/lang/Object;)J",
            };
            if *t == Type::Null {
                a.plain(ACONST_NULL);
            } else {
                a.local(ILOAD + carried_kind(t), slot.0);
            }
            self.call(a, "put", descriptor)?;
        }
        self.call(a, "end", "(J)V")
    }

    fn call_timer(
        &mut self,
        a: &mut Assembler,
        slots: &Slots,
        slot: CounterSlot,
        name: &str,
        descriptor: &str,
    ) -> Result<(), Refusal> {
        self.push_state(a, slots, slot)?;
        self.call(a, name, descriptor)
    }

    /// Calls a method of `VeneerTrace` with the shard, the slot's offset, and the state of the call.
    fn call_trace(
        &mut self,
        a: &mut Assembler,
        slots: &Slots,
        slot: CounterSlot,
        name: &str,
        descriptor: &str,
    ) -> Result<(), Refusal> {
        self.push_state(a, slots, slot)?;
        let method = self.pool.add_method(runtime::TRACE, name, descriptor)?;
        a.pool(INVOKESTATIC, method);
        Ok(())
    }

    /// Pushes the thread's shard, the offset of a slot in it, and the state of the slot.
    fn push_state(
        &mut self,
        a: &mut Assembler,
        slots: &Slots,
        slot: CounterSlot,
    ) -> Result<(), Refusal> {
        a.local(LLOAD, slots.shard()?);
        self.push_int(a, slot.byte_offset() as i32)?;
        a.local(LLOAD, slots.timer(slot)?);
        Ok(())
    }

    /// Boxes the result of a method on the stack. Pushes null for `void`.
    pub(super) fn box_result(
        &mut self,
        a: &mut Assembler,
        result: &Option<Type>,
    ) -> Result<(), Refusal> {
        let (class, descriptor) = match result {
            None => {
                a.plain(ACONST_NULL);
                return Ok(());
            }
            Some(Type::Int) => ("java/lang/Integer", "(I)Ljava/lang/Integer;"),
            Some(Type::Long) => ("java/lang/Long", "(J)Ljava/lang/Long;"),
            Some(Type::Float) => ("java/lang/Float", "(F)Ljava/lang/Float;"),
            Some(Type::Double) => ("java/lang/Double", "(D)Ljava/lang/Double;"),
            Some(_) => return Ok(()),
        };
        a.pool(
            INVOKESTATIC,
            self.pool.add_method(class, "valueOf", descriptor)?,
        );
        Ok(())
    }

    /// Pushes the value at a position of the frame in local `frame`. A value without a position is
    /// a null constant.
    pub(super) fn push_carried(
        &mut self,
        a: &mut Assembler,
        frame: u16,
        position: Option<u16>,
        t: &Type,
    ) -> Result<(), Refusal> {
        let Some(position) = position.filter(|_| *t != Type::Null) else {
            self.push_default(a, t);
            return Ok(());
        };
        a.local(ALOAD, frame);
        self.push_int(a, i32::from(position))?;
        let (name, descriptor) = match t {
            Type::Int => ("getInt", "(I)I"),
            Type::Long => ("getLong", "(I)J"),
            Type::Float => ("getFloat", "(I)F"),
            Type::Double => ("getDouble", "(I)D"),
            _ => ("getObject", "(I)Ljava/lang/Object;"),
        };
        self.frame_call(a, name, descriptor)?;
        if let Type::Object(class) = t {
            self.cast(a, &class.clone())?;
        }
        Ok(())
    }

    /// Pushes a default value of a type. The program never reads it.
    pub(super) fn push_default(&mut self, a: &mut Assembler, t: &Type) {
        match t {
            Type::Int => a.push(Instruction::Push(0)),
            Type::Long => a.plain(LCONST_0),
            Type::Float => a.plain(FCONST_0),
            Type::Double => a.plain(DCONST_0),
            _ => a.plain(ACONST_NULL),
        }
    }
}

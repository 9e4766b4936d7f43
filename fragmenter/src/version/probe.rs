//! Compiled probes as methods of the version class. A body calls them at their join points, with
//! the live values that they read.
//!
//! ```text
//!   static void run0(int total, Object user) {     the JIT compiler inlines it
//!       long a = 0; …                              initialised, so one frame fits all labels
//!       try { … } catch (Throwable t) { }          no exception leaves a probe
//!   }
//! ```
//!
//! A probe that calls methods of the application first records that the thread is inside a probe.
//! At its end, and in the handler, it calls the runtime's `leave` to reset this state.

use super::body::slots::Slots;
use super::emitter::Emitter;
use crate::advice::ProbeArgument;
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::classfile::{Attribute, Code, ExceptionRange, StackMapFrame, encode_stack_map};
use crate::frames;
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use std::sync::Arc;
use veneer_names::MethodDescriptor;
use veneer_probes::step::{Callee, ComputationalType, ProbeStep};

/// The offset of a kind's load from `ILOAD`, and of its store from `ISTORE`.
fn opcode_offset(kind: ComputationalType) -> u8 {
    match kind {
        ComputationalType::Int => 0,
        ComputationalType::Long => 1,
        ComputationalType::Float => 2,
        ComputationalType::Double => 3,
        ComputationalType::Reference => 4,
    }
}

fn verification_type(kind: ComputationalType) -> Type {
    match kind {
        ComputationalType::Int => Type::Int,
        ComputationalType::Long => Type::Long,
        ComputationalType::Float => Type::Float,
        ComputationalType::Double => Type::Double,
        ComputationalType::Reference => Type::object("java/lang/Object"),
    }
}

impl Emitter<'_> {
    /// Emits the call of a probe with these values. If the probe reads operands, these and all
    /// operands above them are stored into temporary locals and pushed back.
    pub(super) fn call_probe(
        &mut self,
        a: &mut Assembler,
        slots: &Slots,
        (probe, reads, operands): (
            &Arc<veneer_probes::ProbeMethod>,
            &[ProbeArgument],
            &[ComputationalType],
        ),
    ) -> Result<(), Refusal> {
        let known = self.probes.iter().position(|p| p == probe);
        let n = known.unwrap_or_else(|| {
            self.probes.push(probe.clone());
            self.probes.len() - 1
        });
        let mut next = slots.temp;
        let mut spilled = Vec::new();
        for kind in operands {
            a.local(ISTORE + opcode_offset(*kind), next);
            spilled.push((*kind, next));
            next += kind.words();
        }
        for (kind, slot) in spilled.iter().rev() {
            a.local(ILOAD + opcode_offset(*kind), *slot);
        }
        for ((_, kind), read) in probe.parameters.iter().zip(reads) {
            let slot = match read {
                ProbeArgument::Slot(slot) => Some(slot.0),
                ProbeArgument::Operand(n) => spilled.get(usize::from(*n)).map(|s| s.1),
                ProbeArgument::Null => None,
                // The handler of all exceptions has stored it there, and reads no operands.
                ProbeArgument::Exception => Some(slots.temp),
                ProbeArgument::Shard => Some(slots.shard()?),
                ProbeArgument::ShardInWindow => Some(slots.window()?),
                ProbeArgument::TripCount(slot) => {
                    a.local(LLOAD, slots.timer(*slot)?);
                    a.plain(LCONST_1);
                    a.plain(LSUB);
                    continue;
                }
            };
            match slot {
                Some(slot) => a.local(ILOAD + opcode_offset(*kind), slot),
                None => a.plain(ACONST_NULL),
            }
        }
        let own = self.self_name.clone();
        let name = runtime::probe_method(n);
        let index = self.pool.add_method(&own, &name, &probe.descriptor())?;
        a.pool(INVOKESTATIC, index);
        Ok(())
    }
}

/// Emits a call of a method of the application.
fn invoke(e: &mut Emitter, a: &mut Assembler, callee: &Callee) -> Result<(), Refusal> {
    let (owner, name, descriptor) = (&callee.owner, &callee.name, &callee.descriptor);
    if !callee.is_interface {
        let index = e.pool.add_method(owner, name, descriptor)?;
        a.pool(INVOKEVIRTUAL, index);
        return Ok(());
    }
    let index = e.pool.add_interface_method(owner, name, descriptor)?;
    let words = MethodDescriptor::parse(descriptor)
        .map_err(|_| Refusal::Internal(format!("the descriptor {descriptor}")))?
        .slots();
    let count = u8::try_from(1 + words)
        .map_err(|_| Refusal::Internal(format!("too many arguments: {descriptor}")))?;
    a.push(Instruction::InvokeInterface { index, count });
    Ok(())
}

/// The local variables of a probe: first the values that the probe reads, then its own.
struct ProbeLocals {
    /// The verification types. The upper word of a `long` or `double` is [`Type::Top`].
    types: Vec<Type>,
    /// The probe's own variables, with their slots.
    own: Vec<(ComputationalType, u16)>,
}

impl ProbeLocals {
    fn new(probe: &veneer_probes::ProbeMethod) -> ProbeLocals {
        let mut types = Vec::new();
        let mut add = |kind: ComputationalType| {
            let slot = types.len() as u16;
            types.push(verification_type(kind));
            if kind.words() == 2 {
                types.push(Type::Top);
            }
            slot
        };
        for (_, kind) in &probe.parameters {
            add(*kind);
        }
        let own = probe
            .locals
            .iter()
            .map(|kind| (*kind, add(*kind)))
            .collect();
        ProbeLocals { types, own }
    }
}

/// The labels of a probe's steps, with their labels in the emitted code.
struct StepLabels(Vec<(veneer_probes::Label, Label)>);

impl StepLabels {
    fn new(probe: &veneer_probes::ProbeMethod, a: &mut Assembler) -> StepLabels {
        let labels = probe.steps.iter().filter_map(|step| match step {
            ProbeStep::BindLabel(label) => Some(*label),
            _ => None,
        });
        StepLabels(labels.map(|l| (l, a.fresh())).collect())
    }

    fn find(&self, label: &veneer_probes::Label) -> Result<Label, Refusal> {
        let found = self.0.iter().find(|(l, _)| l == label);
        found
            .map(|(_, emitted)| *emitted)
            .ok_or_else(|| Refusal::Internal("a probe jumps to an undefined label".into()))
    }
}

/// Emits the method of a probe.
pub(super) fn emit(
    e: &mut Emitter,
    probe: &veneer_probes::ProbeMethod,
) -> Result<Code<'static>, Refusal> {
    let mut a = Assembler::new();
    let locals = ProbeLocals::new(probe);
    for (kind, slot) in &locals.own {
        a.plain(match kind {
            ComputationalType::Int => ICONST_0,
            ComputationalType::Long => LCONST_0,
            ComputationalType::Float => FCONST_0,
            ComputationalType::Double => DCONST_0,
            ComputationalType::Reference => ACONST_NULL,
        });
        a.local(ISTORE + opcode_offset(*kind), *slot);
    }
    let (start, end, handler) = (a.fresh(), a.fresh(), a.fresh());
    let labels = StepLabels::new(probe, &mut a);
    a.place(start);
    for step in &probe.steps {
        emit_step(e, &mut a, step, &labels)?;
    }
    a.place(end);
    a.place(handler);
    a.plain(POP);
    if let Some(entered) = probe.enter_flag {
        a.local(ILOAD, entered);
        let leave = e.pool.add_method(runtime::PROBE, runtime::LEAVE, "(Z)V")?;
        a.pool(INVOKESTATIC, leave);
    }
    a.plain(RETURN);
    let out = a.finish()?;
    let max_locals = locals.types.len() as u16;
    let info = stack_map(e, probe, locals.types, &labels, handler, &out)?;
    let exceptions = vec![ExceptionRange {
        start: placed(&out, start)?,
        end: placed(&out, end)?,
        handler: placed(&out, handler)?,
        catch_type: 0,
    }];
    Ok(Code {
        max_stack: probe.max_stack.max(2),
        max_locals,
        code: out.code.into(),
        exceptions,
        attributes: vec![Attribute {
            name: e.pool.add_utf8("StackMapTable")?,
            info: info.into(),
        }],
    })
}

/// Emits one step of a probe.
fn emit_step(
    e: &mut Emitter,
    a: &mut Assembler,
    step: &ProbeStep,
    labels: &StepLabels,
) -> Result<(), Refusal> {
    match step {
        ProbeStep::Int(n) => e.push_int(a, *n)?,
        ProbeStep::Long(n) => a.push(Instruction::Ldc {
            index: e.pool.add_long(*n)?,
            wide: true,
        }),
        ProbeStep::Double(x) => a.push(Instruction::Ldc {
            index: e.pool.add_double(*x)?,
            wide: true,
        }),
        ProbeStep::Text(text) => a.push(Instruction::Ldc {
            index: e.pool.add_string(text)?,
            wide: false,
        }),
        ProbeStep::Null => a.plain(ACONST_NULL),
        ProbeStep::Load(kind, slot) => a.local(ILOAD + opcode_offset(*kind), *slot),
        ProbeStep::Store(kind, slot) => a.local(ISTORE + opcode_offset(*kind), *slot),
        ProbeStep::Plain(op) => a.plain(*op),
        ProbeStep::Helper {
            of,
            name,
            descriptor,
        } => {
            let owner = runtime::class_name(*of);
            let index = e.pool.add_method(owner, name, descriptor)?;
            a.pool(INVOKESTATIC, index);
        }
        ProbeStep::Cast(class) => {
            let index = e.pool.add_class(class)?;
            a.pool(CHECKCAST, index);
        }
        ProbeStep::Invoke(callee) => invoke(e, a, callee)?,
        ProbeStep::OwnWord => {
            return Err(Refusal::Internal("a probe without a counter".into()));
        }
        ProbeStep::Table(_) => {
            return Err(Refusal::Internal(
                "a probe refers to a table that is not linked".into(),
            ));
        }
        ProbeStep::IfZero(label) => a.branch(IFEQ, labels.find(label)?),
        ProbeStep::Goto(label) => a.branch(GOTO, labels.find(label)?),
        ProbeStep::BindLabel(label) => a.place(labels.find(label)?),
        ProbeStep::Return => a.plain(RETURN),
    }
    Ok(())
}

/// Returns the pc of a label of a probe.
fn placed(out: &Assembled, label: Label) -> Result<u16, Refusal> {
    out.at(label)
        .ok_or_else(|| Refusal::Internal("a label of a probe is not placed".into()))
}

/// The `StackMapTable` of a probe: one frame at each label of a step, and one at the handler.
fn stack_map(
    e: &mut Emitter,
    probe: &veneer_probes::ProbeMethod,
    locals: Vec<Type>,
    labels: &StepLabels,
    handler: Label,
    out: &Assembled,
) -> Result<Vec<u8>, Refusal> {
    let no_new_pc = |_| None;
    let given: u16 = probe.parameters.iter().map(|(_, kind)| kind.words()).sum();
    let initial = locals[..usize::from(given)].to_vec();
    let mut state = State {
        locals,
        stack: Vec::new(),
    };
    let mut table: Vec<StackMapFrame> = Vec::new();
    for (_, label) in &labels.0 {
        let pc = placed(out, *label)?;
        // Several labels may have the same pc.
        if table.last().is_none_or(|f| f.pc != pc) {
            table.push(frames::frame(pc, &state, &mut e.pool, &no_new_pc)?);
        }
    }
    state.stack = vec![Type::object("java/lang/Throwable")];
    let pc = placed(out, handler)?;
    table.push(frames::frame(pc, &state, &mut e.pool, &no_new_pc)?);
    let initial = frames::locals(&initial, &mut e.pool, &no_new_pc)?;
    Ok(encode_stack_map(&table, &initial)?)
}

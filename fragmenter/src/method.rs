//! One method with all that the analyses say of it: flow graph, types, liveness, loops, monitors, names.
//!
//! This is what arming and emission read. Nothing here is changed after [`Method::analyse`].

use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, decode};
use crate::classfile::{
    ClassFile, Code, ConstantPool, StackMapFrame, VerificationType, decode_stack_map,
};
use crate::descriptor::MethodDescriptor;
use crate::flowgraph::{EdgeKind, FlowGraph, FragmentId};
use crate::refusal::Refusal;
use crate::types::{self, State, Type};
use crate::{metadata, monitors};
use std::sync::Arc;
use veneer_liveness::{Effect, Liveness, LoopForest, Set};

/// `ACC_*` flags of methods that matter here (JVMS table 4.6-A).
pub mod access {
    #![allow(missing_docs)]
    pub const PRIVATE: u16 = 0x0002;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const INTERFACE: u16 = 0x0200;
}

/// A local variable's name over a range of pcs (JVMS §4.7.13).
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The source name.
    pub name: String,
    /// The slot.
    pub slot: u16,
    /// The field descriptor.
    pub descriptor: String,
    /// First pc.
    pub start: u16,
    /// Just after the last pc.
    pub end: u32,
}

/// A method and its analyses. See the module documentation.
pub struct Method<'a> {
    /// The class file that it came from.
    pub file: &'a ClassFile<'a>,
    /// Internal name of the class.
    pub class: Arc<str>,
    /// Position in the class file's method list.
    pub index: usize,
    /// Simple name.
    pub name: String,
    /// Descriptor as text.
    pub descriptor: String,
    /// Descriptor as types.
    pub signature: MethodDescriptor,
    /// Access flags.
    pub access: u16,
    /// The `Code` attribute.
    pub code: Code<'a>,
    /// Decoded code.
    pub instructions: Vec<(u16, Instruction)>,
    /// The class file's own frames.
    pub frames: Vec<StackMapFrame>,
    /// Frame at entry as the stack map coder wants it.
    pub initial: Vec<VerificationType>,
    /// Types at entry.
    pub entry: State,
    /// Line table, by pc.
    pub lines: Vec<(u16, u16)>,
    /// Variable names.
    pub variables: Vec<Variable>,
    /// Fragments and edges.
    pub flow: FlowGraph,
    /// Types at each fragment's start; `None` for dead code.
    pub states: Vec<State>,
    /// Types before selected single instructions (returns, and the first after `super(…)`).
    pub state_at: indexmap::IndexMap<usize, State>,
    /// Natural loops.
    pub loops: LoopForest,
    /// Use and def of each fragment.
    pub effects: Vec<Effect>,
    /// Live-in and live-out of each fragment.
    pub liveness: Liveness,
    /// Monitors held before each instruction; empty where there are none.
    pub held: Vec<u8>,
    /// In a constructor: index of the first instruction after `super(…)`/`this(…)`.
    pub after_super: Option<usize>,
}

/// Fails for methods that the JVM knows by their own frame on the stack: in a version they would not be found there.
fn by_frames(
    name: &str,
    descriptor: &str,
    instructions: &[(u16, Instruction)],
    pool: &ConstantPool,
) -> Result<(), Refusal> {
    if name == "fillInStackTrace" && descriptor == "()Ljava/lang/Throwable;" {
        return Err(Refusal::KnownByFrame(
            "stack traces leave its frame out by its name",
        ));
    }
    let asks = |(_, i): &(u16, Instruction)| match i {
        Instruction::Pool {
            op: INVOKESTATIC,
            index,
        } => pool.member(*index).is_ok_and(|m| {
            pool.utf8(m.name).is_ok_and(|n| n == b"getCallerClass")
                && pool.class_name(m.class).is_ok_and(|c| {
                    *c == *"jdk/internal/reflect/Reflection" || *c == *"sun/reflect/Reflection"
                })
        }),
        _ => false,
    };
    if instructions.iter().any(asks) {
        return Err(Refusal::KnownByFrame("it asks the JVM who calls it"));
    }
    Ok(())
}

impl<'a> Method<'a> {
    /// Reads and analyses method number `index`. `cut` marks instructions at which a fragment starts in any case.
    pub fn analyse(
        file: &'a ClassFile<'a>,
        index: usize,
        cut: &dyn Fn(&Instruction, &ConstantPool) -> bool,
    ) -> Result<Method<'a>, Refusal> {
        let member = file
            .methods
            .get(index)
            .ok_or_else(|| Refusal::Internal(format!("no method {index}")))?;
        let pool = &file.pool;
        let name = pool.text(member.name)?.into_owned();
        let descriptor = pool.text(member.descriptor)?.into_owned();
        let attribute = member
            .attributes
            .iter()
            .find(|a| a.is(pool, "Code"))
            .ok_or(Refusal::NoCode)?;
        if file.major < 51 {
            return Err(Refusal::OldClassFile(
                file.major,
                "it was not made modern before".into(),
            ));
        }
        if pool.count() >= types::POOL_LIMIT {
            return Err(Refusal::PoolFull);
        }
        let code = Code::parse(&attribute.info)?;
        let signature = MethodDescriptor::parse(&descriptor)
            .ok_or_else(|| Refusal::BrokenClass(format!("bad descriptor {descriptor}")))?;
        let class: Arc<str> = Arc::from(&*file.name()?);
        let is_static = member.access & access::STATIC != 0;
        let instructions = decode(&code.code)?;
        by_frames(&name, &descriptor, &instructions, pool)?;
        for e in &code.exceptions {
            let starts = |pc: u16| instructions.binary_search_by_key(&pc, |i| i.0).is_ok();
            let end_ok = e.end as usize == code.code.len() || starts(e.end);
            if !(starts(e.start) && starts(e.handler) && end_ok && e.start < e.end) {
                return Err(Refusal::BrokenCode(
                    "an exception range does not lie on instructions".into(),
                ));
            }
        }
        let cuts: Vec<bool> = instructions.iter().map(|(_, i)| cut(i, pool)).collect();
        let flow = FlowGraph::build(
            &instructions,
            &code.exceptions,
            code.code.len() as u32,
            &|i| cuts[i],
        );
        let entry = State::entry(
            &class,
            is_static,
            name == "<init>",
            &signature,
            code.max_locals,
        );
        let initial = initial_frame(&entry);
        let entry_state = entry.clone();
        let frames = match code.attributes.iter().find(|a| a.is(pool, "StackMapTable")) {
            Some(table) => decode_stack_map(&table.info, &initial)?,
            None => Vec::new(),
        };
        let mut states: Vec<State> = vec![State::default(); flow.len()];
        let mut state_at = indexmap::IndexMap::new();
        let mut after_super = None;
        let mut supers = 0;
        let mut strange = None;
        let mut was_uninit = name == "<init>" && &*class != "java/lang/Object";
        types::walk(
            &instructions,
            &frames,
            entry,
            pool,
            &class,
            &mut |i, pc, state| {
                let f = flow.holding(pc);
                if flow.get(f).is_some_and(|f| f.start == pc) {
                    states[f.index()] = state.clone();
                }
                let uninit = state.locals.first() == Some(&Type::UninitializedThis);
                if name == "<init>"
                    && was_uninit
                    && !uninit
                    && !state
                        .locals
                        .iter()
                        .chain(&state.stack)
                        .any(|t| *t == Type::UninitializedThis)
                {
                    supers += 1;
                    after_super = Some(i);
                    state_at.insert(i, state.clone());
                }
                was_uninit = uninit;
                let op = instructions[i].1.op();
                if is_return(op) {
                    state_at.insert(i, state.clone());
                    if op != signature.returns_by() {
                        strange.get_or_insert(pc);
                    }
                }
            },
        )?;
        if let Some(pc) = strange {
            return Err(Refusal::BrokenCode(format!(
                "the return at {pc} does not fit what the method returns"
            )));
        }
        if supers > 1 {
            // Two arms of a branch, or a frame that only shows the object initialised: more than one call?
            let calls = instructions
                .iter()
                .filter(|(_, i)| is_constructor_call_on_this(i, pool, file))
                .count();
            if calls != 1 {
                return Err(Refusal::SplitConstructor);
            }
            let call = instructions
                .iter()
                .position(|(_, i)| is_constructor_call_on_this(i, pool, file));
            after_super = call.map(|c| c + 1);
        }
        let held = monitors::held(&instructions, &flow, &code.exceptions)?;
        let width = code.max_locals as usize + code.max_stack as usize;
        let effects = metadata::effects(&instructions, &flow, &states, code.max_locals, width);
        let kinds: Vec<EdgeKind> = flow.graph.raw_edges().iter().map(|e| e.weight).collect();
        let liveness = veneer_liveness::liveness(
            &flow.graph,
            width,
            code.max_locals as usize,
            &effects,
            |e| metadata::flow_of(kinds[e.index()]),
        );
        let loops = veneer_liveness::loops(&flow.graph, FragmentId(0).node());
        let lines = line_table(&code, pool);
        let variables = variable_table(&code, pool);
        Ok(Method {
            file,
            class,
            index,
            name,
            descriptor,
            signature,
            access: member.access,
            code,
            instructions,
            frames,
            initial,
            entry: entry_state,
            lines,
            variables,
            flow,
            states,
            state_at,
            loops,
            effects,
            liveness,
            held,
            after_super,
        })
    }

    /// Whether the method has no receiver.
    pub fn is_static(&self) -> bool {
        self.access & access::STATIC != 0
    }

    /// Whether `<init>`.
    pub fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// The source line of a pc.
    pub fn line(&self, pc: u16) -> Option<u16> {
        let i = self.lines.partition_point(|(start, _)| *start <= pc);
        i.checked_sub(1).map(|i| self.lines[i].1)
    }

    /// The source name of a slot at a pc, or `local3`.
    pub fn variable_name(&self, slot: u16, pc: u16) -> String {
        self.variable(slot, pc).map_or_else(
            || {
                if slot == 0 && !self.is_static() {
                    "this".into()
                } else {
                    format!("local{slot}")
                }
            },
            |v| v.name.clone(),
        )
    }

    /// The named variable in a slot at a pc.
    pub fn variable(&self, slot: u16, pc: u16) -> Option<&Variable> {
        self.variables
            .iter()
            .find(|v| v.slot == slot && v.start <= pc && (pc as u32) < v.end)
    }

    /// Monitors held before an instruction.
    pub fn held_before(&self, instruction: usize) -> u8 {
        self.held.get(instruction).copied().unwrap_or(0)
    }

    /// Local variables that are live at a fragment's start and have a type there: slot and type.
    pub fn live_locals(&self, id: FragmentId) -> Vec<(u16, Type)> {
        typed_lives(&self.states[id.index()], &self.liveness.live_in[id.index()])
    }

    /// Which exception table entries protect a pc.
    pub fn handlers_at(&self, pc: u16) -> Vec<usize> {
        (0..self.code.exceptions.len())
            .filter(|i| {
                (self.code.exceptions[*i].start..self.code.exceptions[*i].end).contains(&pc)
            })
            .collect()
    }
}

/// The locals of `state` that are in `live` and hold a value.
pub fn typed_lives(state: &State, live: &Set) -> Vec<(u16, Type)> {
    let pick = |(slot, t): (usize, &Type)| {
        (live.get(slot).is_some_and(|b| *b) && *t != Type::Top).then(|| (slot as u16, t.clone()))
    };
    state.locals.iter().enumerate().filter_map(pick).collect()
}

fn is_constructor_call_on_this(i: &Instruction, pool: &ConstantPool, file: &ClassFile) -> bool {
    let Instruction::Pool {
        op: INVOKESPECIAL,
        index,
    } = i
    else {
        return false;
    };
    let Ok(m) = pool.member(*index) else {
        return false;
    };
    let class = pool.class_name(m.class).unwrap_or_default();
    let ours = file.name().is_ok_and(|n| n == class)
        || file
            .super_name()
            .is_ok_and(|n| n.as_deref() == Some(&*class));
    ours && pool.text(m.name).is_ok_and(|n| n == "<init>")
}

/// The locals at entry as the stack map coder wants them.
pub(crate) fn initial_frame(entry: &State) -> Vec<VerificationType> {
    let mut out = Vec::new();
    let mut skip = false;
    let used = entry
        .locals
        .iter()
        .rposition(|t| *t != Type::Top)
        .map_or(0, |i| i + 1);
    for (k, t) in entry.locals[..used].iter().enumerate() {
        if std::mem::take(&mut skip) {
            continue;
        }
        skip = t.width() == 2;
        out.push(match t {
            Type::Int => VerificationType::Integer,
            Type::Float => VerificationType::Float,
            Type::Long => VerificationType::Long,
            Type::Double => VerificationType::Double,
            Type::Null => VerificationType::Null,
            Type::UninitializedThis => VerificationType::UninitializedThis,
            Type::Top | Type::Uninitialized(_) => VerificationType::Top,
            Type::Object(_) => VerificationType::Object(types::initial_index(k)),
        });
    }
    out
}

fn u2(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn line_table(code: &Code, pool: &ConstantPool) -> Vec<(u16, u16)> {
    let mut lines = Vec::new();
    for a in code
        .attributes
        .iter()
        .filter(|a| a.is(pool, "LineNumberTable"))
    {
        for i in 0..u2(&a.info, 0).unwrap_or(0) as usize {
            if let (Some(pc), Some(line)) = (u2(&a.info, 2 + 4 * i), u2(&a.info, 4 + 4 * i)) {
                lines.push((pc, line));
            }
        }
    }
    lines.sort_by_key(|l| l.0);
    lines
}

fn variable_table(code: &Code, pool: &ConstantPool) -> Vec<Variable> {
    let mut out = Vec::new();
    for a in code
        .attributes
        .iter()
        .filter(|a| a.is(pool, "LocalVariableTable"))
    {
        for i in 0..u2(&a.info, 0).unwrap_or(0) as usize {
            let at = |k: usize| u2(&a.info, 2 + 10 * i + 2 * k);
            let (Some(start), Some(len), Some(name), Some(descriptor), Some(slot)) =
                (at(0), at(1), at(2), at(3), at(4))
            else {
                break;
            };
            let (Ok(name), Ok(descriptor)) = (pool.text(name), pool.text(descriptor)) else {
                continue;
            };
            let (name, descriptor) = (name.into_owned(), descriptor.into_owned());
            out.push(Variable {
                name,
                slot,
                descriptor,
                start,
                end: start as u32 + len as u32,
            });
        }
    }
    out
}

//! One method with the results of all analyses: flow graph, types, liveness, loops, monitors and
//! names.
//!
//! Arming and emission read these results. [`Method::analyse`] computes them once; afterwards they
//! do not change.

use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, decode};
use crate::classfile::{
    ClassFile, Code, ConstantPool, Member, StackMapFrame, VerificationType, annotation_types,
    decode_stack_map,
};
use crate::descriptor::MethodType;
use crate::flowgraph::{EdgeKind, FlowGraph, FragmentId, FragmentNode};
use crate::refusal::Refusal;
use crate::types::{self, State, Type};
use crate::{monitors, use_def};
use std::sync::Arc;
use veneer_liveness::{BitSet, Liveness, LoopForest, UseDef};
use veneer_names::LocalSlot;

/// The `ACC_*` flags of classes, fields and methods that this crate tests (JVMS tables 4.1-B, 4.5-A
/// and 4.6-A).
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
    /// The name in the source code.
    pub name: String,
    /// The number of the local variable.
    pub slot: LocalSlot,
    /// The descriptor of the variable's type.
    pub descriptor: String,
    /// First pc of the scope.
    pub start: u16,
    /// pc directly after the scope.
    pub end: u32,
}

/// A method and its analyses. See the module documentation.
pub struct Method<'a> {
    /// The class file that contains the method.
    pub file: &'a ClassFile<'a>,
    /// Internal name of the class.
    pub class: Arc<str>,
    /// Position in the class file's method list.
    pub index: usize,
    /// The simple name of the method.
    pub name: String,
    /// The descriptor as text.
    pub descriptor: String,
    /// The descriptor as verification types.
    pub signature: MethodType,
    /// The access flags (JVMS table 4.6-A).
    pub access: u16,
    /// The `Code` attribute.
    pub code: Code<'a>,
    /// The decoded instructions, each with its pc.
    pub instructions: Vec<(u16, Instruction)>,
    /// The stack-map frames of the class file.
    pub frames: Vec<StackMapFrame>,
    /// The locals at entry, in the form that the stack-map codec needs.
    pub initial: Vec<VerificationType>,
    /// Verification types at entry.
    pub entry: State,
    /// The line table as pairs (pc, line), sorted by pc.
    pub lines: Vec<(u16, u16)>,
    /// The variable names of the `LocalVariableTable`.
    pub variables: Vec<Variable>,
    /// Fragments and edges.
    pub flow: FlowGraph,
    /// Verification types at each fragment's start, by fragment number.
    pub states: Vec<State>,
    /// Verification types before some single instructions, by index: the returns, and the first
    /// instruction after `super(…)`.
    pub state_at: indexmap::IndexMap<usize, State>,
    /// Natural loops and irreducible cycles of `flow`.
    pub loops: LoopForest,
    /// Use and def of each fragment.
    pub effects: Vec<UseDef>,
    /// Live-in and live-out of each fragment.
    pub liveness: Liveness,
    /// Number of monitors held before each instruction. Empty if the method enters no monitor.
    pub held: Vec<u8>,
    /// In a constructor: index of the first instruction after `super(…)` or `this(…)`.
    pub after_super: Option<usize>,
}

/// Refuses methods that the JVM recognises by their frame on the stack. In a version, the JVM would
/// find another frame.
fn refuse_caller_sensitive(
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
    let asks_for_caller = |(_, i): &(u16, Instruction)| match i {
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
    if instructions.iter().any(asks_for_caller) {
        return Err(Refusal::KnownByFrame("it asks the JVM who calls it"));
    }
    Ok(())
}

/// The annotations of the JDK by which the JVM treats a method in a special way (internal names). The
/// JVM obeys them in classes of the JDK only, and no other class can name them.
pub(crate) const JVM_ANNOTATIONS: [&str; 2] = [INTRINSIC, RESERVED_STACK];
const INTRINSIC: &str = "jdk/internal/vm/annotation/IntrinsicCandidate";
const RESERVED_STACK: &str = "jdk/internal/vm/annotation/ReservedStackAccess";

/// Refuses methods of the JDK to which the JVM gives more than their bytecode.
fn refuse_by_annotation(member: &Member, pool: &ConstantPool) -> Result<(), Refusal> {
    for annotation in annotation_types(&member.attributes, pool) {
        match annotation.as_str() {
            INTRINSIC => return Err(Refusal::Intrinsic),
            RESERVED_STACK => {
                return Err(Refusal::KnownByFrame(
                    "it may use the end of the stack, which the JVM reserves for it",
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Parses the `Code` attribute of a method, after the checks of the class file's version and size.
fn parse_code<'a>(file: &'a ClassFile<'a>, member: &'a Member<'a>) -> Result<Code<'a>, Refusal> {
    let attribute = member
        .attributes
        .iter()
        .find(|a| a.is(&file.pool, "Code"))
        .ok_or(Refusal::NoCode)?;
    if file.major < 51 {
        return Err(Refusal::OldClassFile(
            file.major,
            "it was not raised to version 51 before the analysis".into(),
        ));
    }
    if file.pool.count() >= types::POOL_LIMIT {
        return Err(Refusal::PoolFull);
    }
    Ok(Code::parse(&attribute.info)?)
}

/// Checks that exception ranges are not empty and that their pcs are starts of instructions.
fn check_exception_ranges(code: &Code, instructions: &[(u16, Instruction)]) -> Result<(), Refusal> {
    for e in &code.exceptions {
        let starts = |pc: u16| instructions.binary_search_by_key(&pc, |i| i.0).is_ok();
        let end_ok = e.end as usize == code.code.len() || starts(e.end);
        if !(starts(e.start) && starts(e.handler) && end_ok && e.start < e.end) {
            return Err(Refusal::BrokenCode(
                "an exception range does not lie on instructions".into(),
            ));
        }
    }
    Ok(())
}

/// The recorded verification types: [`Method::states`], [`Method::state_at`] and
/// [`Method::after_super`].
type RecordedStates = (Vec<State>, indexmap::IndexMap<usize, State>, Option<usize>);

/// Records the verification types at the starts of fragments, at the returns, and after the
/// constructor call of a constructor.
struct StateRecorder<'m> {
    instructions: &'m [(u16, Instruction)],
    flow: &'m FlowGraph,
    is_constructor: bool,
    /// The return instruction that the method's descriptor requires.
    return_op: u8,
    /// Whether `this` was uninitialised before the previous instruction.
    this_was_uninitialized: bool,
    /// Number of instructions before which `this` has just become initialised.
    constructor_calls: usize,
    /// pc of the first return that does not match the descriptor.
    wrong_return: Option<u16>,
    states: Vec<State>,
    state_at: indexmap::IndexMap<usize, State>,
    after_super: Option<usize>,
}

impl StateRecorder<'_> {
    /// Records the types before the instruction with index `i`.
    fn record(&mut self, i: usize, pc: u16, state: &State) {
        let f = self.flow.fragment_containing(pc);
        if self.flow.get(f).is_some_and(|f| f.start == pc) {
            self.states[f.index()] = state.clone();
        }
        let uninitialized = state.locals.first() == Some(&Type::UninitializedThis);
        if self.is_constructor
            && self.this_was_uninitialized
            && !uninitialized
            && !state
                .locals
                .iter()
                .chain(&state.stack)
                .any(|t| *t == Type::UninitializedThis)
        {
            self.constructor_calls += 1;
            self.after_super = Some(i);
            self.state_at.insert(i, state.clone());
        }
        self.this_was_uninitialized = uninitialized;
        let op = self.instructions[i].1.op();
        if is_return(op) {
            self.state_at.insert(i, state.clone());
            if op != self.return_op {
                self.wrong_return.get_or_insert(pc);
            }
        }
    }

    /// Returns the recorded types, unless a return or the constructor call is malformed.
    fn finish(mut self, file: &ClassFile) -> Result<RecordedStates, Refusal> {
        if let Some(pc) = self.wrong_return {
            return Err(Refusal::BrokenCode(format!(
                "the return at {pc} does not fit what the method returns"
            )));
        }
        if self.constructor_calls > 1 {
            // There are two possible causes: the method has two constructor calls in different
            // branches, or one call after which a stack-map frame shows the object initialised
            // again. Counting the calls distinguishes them.
            let is_call =
                |(_, i): &(u16, Instruction)| is_constructor_call_on_this(i, &file.pool, file);
            if self.instructions.iter().filter(|i| is_call(i)).count() != 1 {
                return Err(Refusal::SplitConstructor);
            }
            let call = self.instructions.iter().position(is_call);
            self.after_super = call.map(|c| c + 1);
        }
        Ok((self.states, self.state_at, self.after_super))
    }
}

impl<'a> Method<'a> {
    /// Decodes and analyses the method with number `index`. `cut` returns true for instructions at
    /// which the policy starts a fragment.
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
        let code = parse_code(file, member)?;
        let signature = MethodType::parse(&descriptor)
            .ok_or_else(|| Refusal::BrokenClass(format!("bad descriptor {descriptor}")))?;
        let class: Arc<str> = Arc::from(&*file.name()?);
        let is_static = member.access & access::STATIC != 0;
        let instructions = decode(&code.code)?;
        refuse_caller_sensitive(&name, &descriptor, &instructions, pool)?;
        refuse_by_annotation(member, pool)?;
        check_exception_ranges(&code, &instructions)?;
        let cuts: Vec<bool> = instructions.iter().map(|(_, i)| cut(i, pool)).collect();
        let flow = FlowGraph::build(
            &instructions,
            &code.exceptions,
            code.code.len() as u32,
            &|i| cuts[i],
        );
        let is_constructor = name == "<init>";
        let entry = State::entry(
            &class,
            is_static,
            is_constructor,
            &signature,
            code.max_locals,
        );
        let initial = initial_frame(&entry);
        let frames = match code.attributes.iter().find(|a| a.is(pool, "StackMapTable")) {
            Some(table) => decode_stack_map(&table.info, &initial)?,
            None => Vec::new(),
        };
        let mut recorder = StateRecorder {
            instructions: &instructions,
            flow: &flow,
            is_constructor,
            return_op: signature.returns_by(),
            this_was_uninitialized: is_constructor && &*class != "java/lang/Object",
            constructor_calls: 0,
            wrong_return: None,
            states: vec![State::default(); flow.len()],
            state_at: indexmap::IndexMap::new(),
            after_super: None,
        };
        types::walk(
            &instructions,
            &frames,
            entry.clone(),
            pool,
            &class,
            &mut |i, pc, state| recorder.record(i, pc, state),
        )?;
        let (states, state_at, after_super) = recorder.finish(file)?;
        let held = monitors::held_monitors(&instructions, &flow, &code.exceptions)?;
        let width = code.max_locals as usize + code.max_stack as usize;
        let effects = use_def::effects(&instructions, &flow, &states, code.max_locals, width);
        let kinds: Vec<EdgeKind> = flow.graph.raw_edges().iter().map(|e| e.weight).collect();
        let liveness = veneer_liveness::liveness(
            &flow.graph,
            width,
            code.max_locals as usize,
            &effects,
            |e| use_def::edge_flow(kinds[e.index()]),
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
            entry,
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

    /// Whether the method is a constructor.
    pub fn is_constructor(&self) -> bool {
        self.name == "<init>"
    }

    /// The source line of a pc.
    pub fn line(&self, pc: u16) -> Option<u16> {
        let i = self.lines.partition_point(|(start, _)| *start <= pc);
        i.checked_sub(1).map(|i| self.lines[i].1)
    }

    /// The source name of a slot at a pc, or a name such as `local3` if the class file has none.
    pub fn variable_name(&self, slot: LocalSlot, pc: u16) -> String {
        self.variable(slot, pc).map_or_else(
            || {
                if slot == LocalSlot(0) && !self.is_static() {
                    "this".into()
                } else {
                    format!("local{slot}")
                }
            },
            |v| v.name.clone(),
        )
    }

    /// The named variable in a slot at a pc.
    pub fn variable(&self, slot: LocalSlot, pc: u16) -> Option<&Variable> {
        self.variables
            .iter()
            .find(|v| v.slot == slot && v.start <= pc && (pc as u32) < v.end)
    }

    /// Number of monitors held before an instruction.
    pub fn held_before(&self, instruction: usize) -> u8 {
        self.held.get(instruction).copied().unwrap_or(0)
    }

    /// The local variables that are live at a fragment's start and have a type there, as pairs of
    /// slot and type.
    pub fn live_locals(&self, id: FragmentId) -> Vec<(u16, Type)> {
        typed_lives(&self.states[id.index()], &self.liveness.live_in[id.index()])
    }

    /// Indices of the exception-table entries that protect a pc.
    pub fn handlers_at(&self, pc: u16) -> Vec<usize> {
        (0..self.code.exceptions.len())
            .filter(|i| {
                (self.code.exceptions[*i].start..self.code.exceptions[*i].end).contains(&pc)
            })
            .collect()
    }
}

/// The locals of `state` that are in `live` and hold a value.
pub fn typed_lives(state: &State, live: &BitSet) -> Vec<(u16, Type)> {
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

/// The locals at entry, in the form that the stack-map codec needs.
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
                slot: LocalSlot(slot),
                descriptor,
                start,
                end: start as u32 + len as u32,
            });
        }
    }
    out
}

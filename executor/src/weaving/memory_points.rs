//! The points of a recording of memory accesses: each instruction that reads or writes a field or an
//! element, and each one that allocates an array.
//!
//! ```text
//!   getfield, putfield       … | object | value          memoryField, before the instruction
//!   getstatic, putstatic                                 memoryStatic, before the instruction
//!   iaload, iastore, …       … | array | index | value   memoryElement, before the instruction
//!   newarray, anewarray, …   … | array                   memoryAllocated, after the instruction
//!   new                      … | object                  memoryAllocated, after the constructor
//! ```
//!
//! A new object is seen if its constructor returns and leaves a reference on the operand stack, as `javac`
//! writes it. Each point calls `VeneerMemory` with the number of its site. [`planner`](crate::weaving::planner)
//! calls [`plan`].

use crate::data::access_form::{AccessForm, L1Form};
use crate::weaving::instruction_sites::{Field, instruction_site};
use crate::weaving::planned_probe::{CompiledProbe, PlannedAction, PlannedProbe};
use std::sync::Arc;
use veneer_fragmenter::advice::{ProbeArgument, Site};
use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::flowgraph::FragmentId;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::readable::Readable;
use veneer_fragmenter::types::Type;
use veneer_instruments::InstructionKind;
use veneer_names::{MethodDescriptor, java_form, java_form_of_type, site_id};
use veneer_probes::ProbeMethod;
use veneer_probes::step::{ComputationalType, HelperClass, ProbeStep};

/// Bits of an access, as `VeneerMemory` reads them. The bytes are above them; 0 for a reference.
const IS_WRITE: i64 = 1;
const IS_ALLOCATION: i64 = 2;
const IS_NESTED: i64 = 4;
const IS_INSTANCE: i64 = 8;
const IS_SAMPLED: i64 = 64;
const BY_ORIGIN: i64 = 128;
const BYTES_SHIFT: u32 = 8;

/// The address of a static field in the simulation: this bit, then bits of the class, then bits of the
/// field. The fields of a class share some lines, as in the class's mirror.
const STATIC_FIELDS: u64 = 1 << 46;
const CLASS_SHIFT: u32 = 9;
const CLASS_MASK: u64 = (1 << 28) - 1;
const FIELD_SHIFT: u32 = 3;
const FIELD_MASK: u64 = 63;

/// The points in the reachable fragments of a method.
pub fn plan(
    method: &Method,
    reachable: &[FragmentId],
    readable: &Readable,
    form: AccessForm,
) -> Vec<PlannedProbe> {
    let fragments = reachable.iter().filter_map(|f| method.flow.get(*f));
    let indices = fragments.flat_map(|f| f.instructions.clone().map(|index| (f.id, index)));
    indices
        .filter_map(|(fragment, index)| {
            point(method, fragment, index, readable, form)
                .or_else(|| constructed(method, fragment, index, readable, form))
        })
        .collect()
}

/// The point of an instruction; `None` if it accesses no memory.
fn point(
    method: &Method,
    fragment: FragmentId,
    index: usize,
    readable: &Readable,
    form: AccessForm,
) -> Option<PlannedProbe> {
    let (pc, instruction) = method.instructions.get(index)?;
    let (which, access) = access(method, (*pc, instruction), readable, form)?;
    let found = instruction_site(&which, method, index)?;
    let text = match array_access((*pc, instruction), readable) {
        Some((word, array)) => format!("{word} {array}"),
        None => found.text,
    };
    let is_after = access.as_ref().is_some_and(|access| access.is_after);
    let site = match is_after {
        true => Site::AfterCode(*pc),
        false => Site::At(*pc),
    };
    Some(PlannedProbe {
        fragment: Some(fragment),
        to: None,
        line: method.line(*pc),
        sites: vec![(site, counted(form))],
        values: Vec::new(),
        what: Some(format!("{text} @{pc}")),
        code: access.map(Access::compiled),
    })
}

/// The point after a constructor that has completed a new object; `None` if the instruction is no such
/// call. The point is listed as the instruction that allocated the object.
fn constructed(
    method: &Method,
    fragment: FragmentId,
    index: usize,
    readable: &Readable,
    form: AccessForm,
) -> Option<PlannedProbe> {
    let (pc, instruction) = method.instructions.get(index)?;
    let Instruction::Pool {
        op: INVOKESPECIAL,
        index: member,
    } = instruction
    else {
        return None;
    };
    let pool = &method.file.pool;
    let member = pool.member(*member).ok()?;
    if pool.text(member.name).ok()? != "<init>" {
        return None;
    }
    let descriptor = pool.text(member.descriptor).ok()?.into_owned();
    let arguments = MethodDescriptor::parse(&descriptor)
        .ok()?
        .parameters()
        .count();
    let (state, _) = readable.state(Site::At(*pc));
    let mut below = state.stack.iter().rev().skip(arguments);
    let (receiver, kept) = (below.next()?, below.next()?);
    let Type::Uninitialized(new_pc) = receiver else {
        return None;
    };
    if kept != receiver {
        return None;
    }
    let all = &method.instructions;
    let allocation = all.binary_search_by_key(new_pc, |(pc, _)| *pc).ok()?;
    let found = instruction_site(&InstructionKind::Allocations, method, allocation)?;
    let access = allocation_access(site_number(method, *new_pc), IS_INSTANCE, form);
    Some(PlannedProbe {
        fragment: Some(fragment),
        to: None,
        line: method.line(*new_pc),
        sites: vec![(Site::AfterCode(*pc), counted(form))],
        values: Vec::new(),
        what: Some(format!("{} @{new_pc}", found.text)),
        code: Some(access.compiled()),
    })
}

/// The counter of an access.
fn counted(form: AccessForm) -> PlannedAction {
    match form.is_sampled {
        true => PlannedAction::CountAccessInWindow,
        false => PlannedAction::CountAccess,
    }
}

/// The bits of the form of a recording.
fn form_bits(form: AccessForm) -> i64 {
    let sampled = if form.is_sampled { IS_SAMPLED } else { 0 };
    let by_origin = if form.has_origins { BY_ORIGIN } else { 0 };
    sampled | by_origin
}

/// The number of an instruction.
fn site_number(method: &Method, pc: u16) -> i64 {
    let label = format!("{}{}", method.name, method.descriptor);
    site_id(&java_form(&method.class), &label, pc)
}

/// A call of `VeneerMemory` at an instruction.
struct Access {
    /// The method of `VeneerProbe`, and its descriptor.
    helper: (&'static str, &'static str),
    /// The kinds of the topmost values of the operand stack.
    operands: Vec<ComputationalType>,
    /// The values that the method takes, and their kinds.
    taken: Vec<(ProbeArgument, ComputationalType)>,
    /// The other arguments.
    constants: Vec<ProbeStep>,
    /// Whether the call follows the instruction.
    is_after: bool,
}

impl Access {
    fn compiled(self) -> CompiledProbe {
        let mut slot = 0;
        let mut steps = Vec::new();
        let mut max_stack = 0;
        for (_, kind) in &self.taken {
            steps.push(ProbeStep::Load(*kind, slot));
            slot += kind.words();
            max_stack += kind.words();
        }
        for constant in self.constants {
            let is_wide = matches!(constant, ProbeStep::Long(_) | ProbeStep::OwnWord);
            max_stack += 1 + u16::from(is_wide);
            steps.push(constant);
        }
        let (name, descriptor) = self.helper;
        steps.push(ProbeStep::Helper {
            of: HelperClass::Probe,
            name,
            descriptor: descriptor.into(),
        });
        steps.push(ProbeStep::Return);
        let parameters = self.taken.iter().map(|(_, kind)| (String::new(), *kind));
        let method = ProbeMethod {
            parameters: parameters.collect(),
            locals: Vec::new(),
            steps,
            max_stack,
            enter_flag: None,
            tables: Vec::new(),
        };
        let reads = self.taken.iter().map(|(argument, _)| *argument);
        CompiledProbe {
            method: Arc::new(method),
            reads: reads.collect(),
            operands: self.operands,
        }
    }
}

/// The kind of an access, and the call of `VeneerMemory`, if the counter of the point is not enough.
fn access(
    method: &Method,
    (pc, instruction): (u16, &Instruction),
    readable: &Readable,
    form: AccessForm,
) -> Option<(InstructionKind, Option<Access>)> {
    let site = site_number(method, pc);
    let is_known = array_access((pc, instruction), readable).is_some();
    let op = instruction.op();
    Some(match op {
        GETFIELD | GETSTATIC => (
            InstructionKind::Reads(None),
            field_access(method, instruction, site, form)?,
        ),
        PUTFIELD | PUTSTATIC => (
            InstructionKind::Writes(None),
            field_access(method, instruction, site, form)?,
        ),
        IALOAD..=SALOAD => (
            InstructionKind::ArrayReads,
            element_access((op - IALOAD, false), is_known, site, form),
        ),
        IASTORE..=SASTORE => (
            InstructionKind::ArrayWrites,
            element_access((op - IASTORE, true), is_known, site, form),
        ),
        NEWARRAY | ANEWARRAY | MULTIANEWARRAY => {
            let nested = if op == MULTIANEWARRAY { IS_NESTED } else { 0 };
            let access = allocation_access(site, nested, form);
            (InstructionKind::Allocations, Some(access))
        }
        _ => return None,
    })
}

/// `read` or `write`, and the type of the array of an instruction, if all such arrays have one class: arrays of
/// primitive values, of arrays of them, and of strings.
fn array_access(
    (pc, instruction): (u16, &Instruction),
    readable: &Readable,
) -> Option<(&'static str, String)> {
    let op = instruction.op();
    let (word, which, depth) = match op {
        IALOAD..=SALOAD => ("read", op - IALOAD, 1),
        IASTORE..=SASTORE => ("write", op - IASTORE, 2),
        _ => return None,
    };
    if let Some(name) = ARRAYS[usize::from(which)] {
        return Some((word, name.into()));
    }
    let (state, _) = readable.state(Site::At(pc));
    let array = state.stack.iter().rev().nth(depth);
    let Some(Type::Object(descriptor)) = array else {
        return None;
    };
    let element = descriptor.trim_start_matches('[');
    let is_array = element.len() < descriptor.len();
    let has_one_class = element.len() == 1 || element == "Ljava/lang/String;";
    (is_array && has_one_class).then(|| (word, java_form_of_type(descriptor)))
}

const REFERENCE: ComputationalType = ComputationalType::Reference;
/// The address of the thread's counters, as an argument.
fn shard(form: AccessForm) -> (ProbeArgument, ComputationalType) {
    let argument = match form.is_sampled {
        true => ProbeArgument::ShardInWindow,
        false => ProbeArgument::Shard,
    };
    (argument, ComputationalType::Long)
}

fn operand(depth: u8, kind: ComputationalType) -> (ProbeArgument, ComputationalType) {
    (ProbeArgument::Operand(depth), kind)
}

fn allocation_access(site: i64, bits: i64, form: AccessForm) -> Access {
    Access {
        helper: ("memoryAllocated", "(Ljava/lang/Object;JJJJ)V"),
        operands: vec![REFERENCE],
        taken: vec![operand(0, REFERENCE), shard(form)],
        constants: vec![
            ProbeStep::Long(site),
            ProbeStep::Long(IS_WRITE | IS_ALLOCATION | bits | form_bits(form)),
            ProbeStep::Long(form.l1.0),
        ],
        is_after: true,
    }
}

/// `None` if the instruction is malformed. The inner value is `None` if the access is only counted.
fn field_access(
    method: &Method,
    instruction: &Instruction,
    site: i64,
    form: AccessForm,
) -> Option<Option<Access>> {
    let field = Field::decode(method, instruction)?;
    let op = instruction.op();
    let is_write = matches!(op, PUTFIELD | PUTSTATIC);
    let kind = ComputationalType::from_descriptor(&field.descriptor)?;
    let bits = i64::from(is_write) | bytes_of(&field.descriptor) << BYTES_SHIFT | form_bits(form);
    if matches!(op, GETSTATIC | PUTSTATIC) {
        let access = Access {
            helper: ("memoryStatic", "(JJJJJLjava/lang/Object;)V"),
            operands: Vec::new(),
            taken: vec![shard(form)],
            constants: vec![
                ProbeStep::Long(site),
                ProbeStep::Long(bits),
                ProbeStep::Long(form.l1.0),
                ProbeStep::Long(static_address(&field)),
                ProbeStep::Text(field.class),
            ],
            is_after: false,
        };
        return Some((form.l1 != L1Form::COUNTED).then_some(access));
    }
    let value = is_write.then_some(kind);
    Some(Some(Access {
        helper: (
            "memoryField",
            "(Ljava/lang/Object;JJJJJLjava/lang/Object;Ljava/lang/Object;)V",
        ),
        taken: vec![operand(u8::from(is_write), REFERENCE), shard(form)],
        operands: value.into_iter().chain([REFERENCE]).collect(),
        constants: vec![
            ProbeStep::OwnWord,
            ProbeStep::Long(site),
            ProbeStep::Long(bits),
            ProbeStep::Long(form.l1.0),
            ProbeStep::Text(field.class),
            ProbeStep::Text(field.name),
        ],
        is_after: false,
    }))
}

/// Bytes and kind of the elements, in the order of the instructions `iaload` to `saload`. A reference has
/// 0 bytes here, because its size depends on the JVM.
const ELEMENTS: [(i64, ComputationalType); 8] = [
    (4, ComputationalType::Int),
    (8, ComputationalType::Long),
    (4, ComputationalType::Float),
    (8, ComputationalType::Double),
    (0, ComputationalType::Reference),
    (1, ComputationalType::Int),
    (2, ComputationalType::Int),
    (2, ComputationalType::Int),
];

/// The types of the arrays that have one class, in the order of [`ELEMENTS`].
const ARRAYS: [Option<&str>; 8] = [
    Some("int[]"),
    Some("long[]"),
    Some("float[]"),
    Some("double[]"),
    None,
    None,
    Some("char[]"),
    Some("short[]"),
];

/// An access to an element; `None` if it is only counted. `which` is the number of the type in
/// [`ELEMENTS`]. `is_known`: whether the class of the array follows from the code.
fn element_access(
    (which, is_write): (u8, bool),
    is_known: bool,
    site: i64,
    form: AccessForm,
) -> Option<Access> {
    let (bytes, kind) = ELEMENTS[usize::from(which)];
    let value = is_write.then_some(kind);
    let above = u8::from(is_write);
    let operands = value.into_iter().chain([ComputationalType::Int, REFERENCE]);
    let taken = vec![
        operand(above + 1, REFERENCE),
        operand(above, ComputationalType::Int),
        shard(form),
    ];
    // An array of references or bytes may have one of several classes. If accesses are only counted, its
    // class is that of an entry.
    let has_one_class = is_known && (bytes > 1 || form.l1 != L1Form::COUNTED);
    let constants = [
        ProbeStep::Long(site),
        ProbeStep::Long(i64::from(is_write) | bytes << BYTES_SHIFT | form_bits(form)),
        ProbeStep::Long(form.l1.0),
    ];
    let (helper, own) = match has_one_class {
        true => (("memoryKnownElement", "(Ljava/lang/Object;IJJJJ)V"), None),
        false => (
            ("memoryElement", "(Ljava/lang/Object;IJJJJJ)V"),
            Some(ProbeStep::OwnWord),
        ),
    };
    let access = Access {
        helper,
        operands: operands.collect(),
        taken,
        constants: own.into_iter().chain(constants).collect(),
        is_after: false,
    };
    Some(access).filter(|_| !(has_one_class && form.l1 == L1Form::COUNTED))
}

/// The size of a field in bytes, by its descriptor (JVMS 4.3.2); 0 for a reference.
fn bytes_of(descriptor: &str) -> i64 {
    match descriptor {
        "Z" | "B" => 1,
        "C" | "S" => 2,
        "I" | "F" => 4,
        "J" | "D" => 8,
        _ => 0,
    }
}

fn static_address(field: &Field) -> i64 {
    let hash = |text: &str| site_id(text, "", 0) as u64;
    let class = (hash(&field.class) & CLASS_MASK) << CLASS_SHIFT;
    let own = (hash(&field.name) & FIELD_MASK) << FIELD_SHIFT;
    (STATIC_FIELDS | class | own) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::with_method;
    use veneer_fragmenter::points::reachable;

    #[test]
    fn each_access_has_a_point_with_the_number_of_its_site() {
        let (points, expected) = with_method(
            "sites(Lshop/Points;Ljava/lang/Object;)Z",
            |method, armed| {
                let readable = Readable::new(method, &armed.points);
                let points = plan(
                    method,
                    &reachable(method, &armed.points),
                    &readable,
                    AccessForm::default(),
                );
                let is_access = |op: u8| {
                    matches!(
                                           op,
                                           GETSTATIC..=PUTFIELD | IALOAD..=SALOAD | IASTORE..=SASTORE | NEW
                    | NEWARRAY | ANEWARRAY | MULTIANEWARRAY
                                       )
                };
                let all = method.instructions.iter();
                let expected = all.filter(|(_, i)| is_access(i.op())).count();
                (points, expected)
            },
        );
        assert!(expected > 4, "{expected}");
        assert_eq!(points.len(), expected);
        let mut sites: Vec<i64> = Vec::new();
        for point in &points {
            let code = point.code.as_ref().expect("code");
            let site = code.method.steps.iter().find_map(|step| match step {
                ProbeStep::Long(site) => Some(*site),
                _ => None,
            });
            sites.extend(site);
            assert_eq!(code.reads.len(), code.method.parameters.len());
        }
        sites.sort_unstable();
        sites.dedup();
        assert_eq!(sites.len(), expected);
    }

    #[test]
    fn accesses_by_origin_say_so_to_the_java_code() {
        let bits = |has_origins: bool| -> Vec<i64> {
            with_method(
                "sites(Lshop/Points;Ljava/lang/Object;)Z",
                |method, armed| {
                    let readable = Readable::new(method, &armed.points);
                    let form = AccessForm {
                        has_origins,
                        ..AccessForm::default()
                    };
                    let reachable = reachable(method, &armed.points);
                    let points = plan(method, &reachable, &readable, form);
                    let codes = points.iter().filter_map(|point| point.code.as_ref());
                    let bits = codes.filter_map(|code| {
                        let mut longs = code.method.steps.iter().filter_map(|step| match step {
                            ProbeStep::Long(number) => Some(*number),
                            _ => None,
                        });
                        longs.nth(1)
                    });
                    bits.collect()
                },
            )
        };
        let (without, with) = (bits(false), bits(true));
        assert!(with.len() > 4);
        let marked = without.iter().map(|bits| bits | BY_ORIGIN);
        assert_eq!(with, marked.collect::<Vec<_>>());
        assert!(without.iter().all(|bits| bits & BY_ORIGIN == 0));
    }

    #[test]
    fn static_fields_of_a_class_are_neighbours() {
        let address = |class: &str, name: &str| {
            static_address(&Field {
                class: class.into(),
                name: name.into(),
                descriptor: "I".into(),
            })
        };
        let distance = (address("a.B", "x") - address("a.B", "y")).abs();
        assert!((1..512).contains(&distance));
        assert_ne!(address("a.B", "x"), address("a.C", "x"));
    }
}

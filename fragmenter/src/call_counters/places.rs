//! The places of a method that are counted, and the counters that they share.

use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label, decode};
use crate::classfile::{ClassFile, Code, ConstantTag};
use crate::method::access;
use crate::refusal::Refusal;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use veneer_names::{Primitive, java_form_of_type};

/// Classes of the JDK that have no subclass, so a call of their methods has one callee.
const FINAL_CLASSES: [&str; 12] = [
    "java/lang/String",
    "java/lang/StringBuilder",
    "java/lang/StringBuffer",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Character",
    "java/lang/Boolean",
    "java/lang/Double",
    "java/lang/Class",
    "java/lang/invoke/MethodType",
    "java/lang/Module",
    "java/util/Optional",
];

/// The most bytes of code of a small method. With 35 bytes, the inlining limit of HotSpot, the route
/// finder of the benchmarks needs 2.3 times its time, with this limit 1.1 times.
const SMALL_METHOD_BYTES: usize = 80;

/// Beginnings of the names of methods that take any arguments (JVMS §2.9.3), by class. The JVM
/// selects their code by the kind of the call.
const POLYMORPHIC_METHODS: [(&str, &[&str]); 2] = [
    ("java/lang/invoke/MethodHandle", &["invoke", "linkTo"]),
    (
        "java/lang/invoke/VarHandle",
        &["get", "set", "compareAnd", "weakCompareAnd"],
    ),
];

/// Methods of `java.lang.Object` that no class overrides.
const FINAL_METHODS_OF_OBJECT: [&str; 4] = ["getClass", "notify", "notifyAll", "wait"];

/// A counted place.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The number of the counter.
    pub counter: u32,
    /// Position of the instruction in the original code; 0 for the entry.
    pub pc: u16,
    /// Whether the counter is counted here. Otherwise the place shares it with the place before it.
    pub has_code: bool,
    /// Whether the instruction can be executed very often: it is in a loop, or its method is small, so
    /// that the compilers can inline it into loops of other methods.
    pub is_hot: bool,
    /// The event that is counted.
    pub event: Event,
}

/// The event at a counted place.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The method is entered.
    Entry,
    /// A method is called.
    Call {
        /// The opcode of the call.
        op: u8,
        /// The method in the instruction.
        target: Target,
        /// Whether the counter counts the calls on objects of one class only, because the callee
        /// depends on the receiver.
        by_receiver: bool,
    },
    /// An object or an array of this type, in Java form, is allocated.
    New(String),
}

/// The method that a call names.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Internal name of the class, or an array descriptor; empty for `invokedynamic`.
    pub class: String,
    /// The simple name of the method.
    pub name: String,
    /// The descriptor of the method.
    pub descriptor: String,
}

/// The counted places of a method.
pub struct Places {
    pub instructions: Vec<(u16, Instruction)>,
    pub places: Vec<Place>,
    /// The number of counters.
    pub counters: u32,
}

/// Finds the places of a method with these access flags. Counters have numbers from 0.
pub fn find(
    file: &ClassFile,
    class: &str,
    access_flags: u16,
    code: &Code,
) -> Result<Places, Refusal> {
    let instructions = decode(&code.code)?;
    let joins = joins(&instructions, code);
    let loops = loops(&instructions);
    let is_small = code.code.len() <= SMALL_METHOD_BYTES;
    let is_instance = access_flags & access::STATIC == 0;
    let keeps_this = is_instance && !instructions.iter().any(|(_, i)| stores_to_slot_0(i));
    let mut places: Vec<Place> = Vec::new();
    let mut counters = 0;
    // The counter that each execution of the current instruction has passed.
    let mut passed: Option<u32> = None;
    let mut follows_this = false;
    for (n, (pc, instruction)) in instructions.iter().enumerate() {
        let mut add = |event: Event, passed: &mut Option<u32>| {
            let is_own = matches!(
                event,
                Event::Call {
                    by_receiver: true,
                    ..
                }
            );
            let shared = passed.filter(|_| !is_own);
            let counter = shared.unwrap_or(counters);
            if shared.is_none() {
                counters += 1;
            }
            if !is_own {
                *passed = Some(counter);
            }
            let has_code = shared.is_none();
            places.push(Place {
                counter,
                pc: *pc,
                has_code,
                is_hot: is_small || loops.iter().any(|range| range.contains(pc)),
                event,
            });
        };
        if n == 0 {
            add(Event::Entry, &mut passed);
        }
        if joins.contains(pc) {
            passed = None;
        }
        if let Some(event) = event(file, class, instruction)? {
            add(event, &mut passed);
        }
        let op = instruction.op();
        let is_safe_read = op == GETFIELD && follows_this && keeps_this;
        let throws = may_throw(op) && !is_safe_read && !is_plain_constant(file, instruction);
        if throws || ends_flow(op) || matches!(instruction, Instruction::Branch { .. }) {
            passed = None;
        }
        follows_this = matches!(
            instruction,
            Instruction::Local {
                op: ALOAD,
                index: 0
            }
        );
    }
    Ok(Places {
        instructions,
        places,
        counters,
    })
}

/// The pcs at which control may arrive from elsewhere than the instruction before.
fn joins(instructions: &[(u16, Instruction)], code: &Code) -> HashSet<u16> {
    let targets = instructions.iter().flat_map(|(_, i)| i.targets());
    let handlers = code.exceptions.iter().map(|e| Label::pc(e.handler));
    let after_subroutine = instructions.windows(2).filter_map(|pair| {
        let is_call = pair[0].1.op() == JSR;
        is_call.then_some(Label::pc(pair[1].0))
    });
    let all = targets.chain(handlers).chain(after_subroutine);
    all.map(|label| label.0 as u16).collect()
}

/// The pcs from the target of each backward branch to the branch.
fn loops(instructions: &[(u16, Instruction)]) -> Vec<RangeInclusive<u16>> {
    let branches = instructions.iter().flat_map(|(pc, instruction)| {
        let targets = instruction.targets().into_iter();
        targets.map(|target| target.0 as u16..=*pc)
    });
    branches.filter(|range| !range.is_empty()).collect()
}

fn stores_to_slot_0(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Local { op, index } => (ISTORE..=ASTORE).contains(op) && *index == 0,
        Instruction::Iinc { index, .. } => *index == 0,
        _ => false,
    }
}

/// Whether the instruction loads a number or a string.
fn is_plain_constant(file: &ClassFile, instruction: &Instruction) -> bool {
    let Instruction::Ldc { index, .. } = instruction else {
        return false;
    };
    matches!(
        file.pool.tag(*index),
        Ok(ConstantTag::Integer
            | ConstantTag::Float
            | ConstantTag::Long
            | ConstantTag::Double
            | ConstantTag::String)
    )
}

fn event(
    file: &ClassFile,
    class: &str,
    instruction: &Instruction,
) -> Result<Option<Event>, Refusal> {
    let pool = &file.pool;
    let op = instruction.op();
    Ok(match instruction {
        Instruction::Pool { op: NEW, index } => {
            Some(Event::New(java_form_of_type(&pool.class_name(*index)?)))
        }
        Instruction::Pool {
            op: ANEWARRAY,
            index,
        } => {
            let component = java_form_of_type(&pool.class_name(*index)?);
            Some(Event::New(component + "[]"))
        }
        Instruction::NewArray(code) => {
            let component = Primitive::from_array_code(*code);
            component.map(|component| Event::New(format!("{component}[]")))
        }
        Instruction::MultiNewArray { index, .. } => {
            Some(Event::New(java_form_of_type(&pool.class_name(*index)?)))
        }
        Instruction::InvokeDynamic { index } => {
            let (_, name, descriptor) = pool.dynamic(*index)?;
            Some(Event::Call {
                op,
                target: Target {
                    class: String::new(),
                    name: pool.text(name)?.into_owned(),
                    descriptor: pool.text(descriptor)?.into_owned(),
                },
                by_receiver: false,
            })
        }
        _ if is_invoke(op) => {
            let Some(index) = instruction.pool_index() else {
                return Ok(None);
            };
            let member = pool.member(index)?;
            let target = Target {
                class: pool.class_name(member.class)?.into_owned(),
                name: pool.text(member.name)?.into_owned(),
                descriptor: pool.text(member.descriptor)?.into_owned(),
            };
            let by_receiver = match op {
                INVOKEINTERFACE => true,
                INVOKEVIRTUAL => !has_one_callee(file, class, &target)?,
                _ => false,
            };
            Some(Event::Call {
                op,
                target,
                by_receiver,
            })
        }
        _ => None,
    })
}

/// Whether a virtual call has the same callee for each receiver.
fn has_one_callee(file: &ClassFile, class: &str, target: &Target) -> Result<bool, Refusal> {
    let owner = target.class.as_str();
    if FINAL_CLASSES.contains(&owner)
        || is_polymorphic(target)
        || owner.starts_with('[')
        || FINAL_METHODS_OF_OBJECT.contains(&target.name.as_str()) && is_of_object(target)
    {
        return Ok(true);
    }
    if owner != class {
        return Ok(false);
    }
    for member in &file.methods {
        let is_target = file.pool.text(member.name)? == target.name
            && file.pool.text(member.descriptor)? == target.descriptor;
        if is_target {
            let flags = member.access | file.access & access::FINAL;
            return Ok(flags & (access::FINAL | access::PRIVATE) != 0);
        }
    }
    Ok(false)
}

fn is_polymorphic(target: &Target) -> bool {
    POLYMORPHIC_METHODS.iter().any(|(class, names)| {
        *class == target.class && names.iter().any(|name| target.name.starts_with(name))
    })
}

fn is_of_object(target: &Target) -> bool {
    match target.name.as_str() {
        "getClass" => target.descriptor == "()Ljava/lang/Class;",
        "wait" => matches!(target.descriptor.as_str(), "()V" | "(J)V" | "(JI)V"),
        _ => target.descriptor == "()V",
    }
}

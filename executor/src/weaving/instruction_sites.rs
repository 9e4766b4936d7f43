//! What single instructions do, as a plan names it: calls, reads and writes of fields and elements, allocations, monitors, throws, branches.
//!
//! Before an instruction its operands lie on the stack, behind it its result does; each has a name here.
//!
//! ```text
//!   invokevirtual shop.Desk::serve(Order, int)       … | receiver | arg0 | arg1      ─▶   … | result
//!   putfield shop.Order.total                        … | object | value              ─▶   …
//!   iaload                                           … | array | index               ─▶   … | result
//! ```

use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::descriptor::{self, MethodDescriptor};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::Type;
use veneer_instruments::Which;

/// A value on the stack that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// In code at the point.
    pub name: String,
    /// Counted from the top, which is 0.
    pub depth: u8,
    /// A `boolean`, which is an `int` on the stack.
    pub boolean: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// For tables: `call shop.Desk::serve`.
    pub text: String,
    /// Before it.
    pub operands: Vec<Operand>,
    /// Behind it, where it leaves a value that may be looked at.
    pub result: Option<Operand>,
    /// Control goes on to the next instruction.
    pub goes_on: bool,
}

/// The instruction at a place of the method's list, if it is one of those that are asked for.
pub fn operation(which: &Which, method: &Method, at: usize) -> Option<Operation> {
    let (_, instruction) = method.instructions.get(at)?;
    let op = instruction.op();
    let goes_on = !ends_flow(op) && !matches!(instruction, Instruction::Branch { .. });
    let named = |names: &[&str]| operands(names.iter().map(|name| ((*name).to_string(), false)));
    let done = |text: String, operands: Vec<Operand>, result: Option<bool>| {
        let result = result.map(|boolean| Operand {
            name: "result".into(),
            depth: 0,
            boolean,
        });
        Some(Operation {
            text,
            operands,
            result,
            goes_on,
        })
    };
    let plain = || mnemonic(op).to_string();
    match which {
        Which::Calls(pattern) => {
            let call = Call::of(method, instruction)?;
            let hit = pattern
                .as_ref()
                .is_none_or(|p| p.matches(&call.class, &call.name, &call.descriptor));
            let result = call.result.map(|t| t == "Z");
            hit.then(|| done(call.text, call.operands, result))?
        }
        Which::Reads(name) | Which::Writes(name) => {
            let wanted: &[u8] = match which {
                Which::Reads(_) => &[GETFIELD, GETSTATIC],
                _ => &[PUTFIELD, PUTSTATIC],
            };
            let field = Field::of(method, instruction).filter(|_| wanted.contains(&op))?;
            let full = format!("{}.{}", field.class, field.name);
            let hit = name
                .as_ref()
                .is_none_or(|name| *name == full || *name == field.name);
            let boolean = field.descriptor == "Z";
            let (word, names, result): (_, &[(&str, bool)], _) = match op {
                GETFIELD => ("read", &[("object", false)], Some(boolean)),
                GETSTATIC => ("read", &[], Some(boolean)),
                PUTFIELD => ("write", &[("object", false), ("value", boolean)], None),
                _ => ("write", &[("value", boolean)], None),
            };
            let names = names.iter().map(|(name, b)| ((*name).to_string(), *b));
            let operands = operands(names);
            hit.then(|| done(format!("{word} {full}"), operands, result))?
        }
        Which::ArrayReads if (IALOAD..=SALOAD).contains(&op) => {
            done(plain(), named(&["array", "index"]), Some(false))
        }
        Which::ArrayWrites if (IASTORE..=SASTORE).contains(&op) => {
            done(plain(), named(&["array", "index", "value"]), None)
        }
        Which::Allocations => match instruction {
            // What `new` has made is nothing yet that code could look at.
            Instruction::Pool { op: NEW, index } => {
                let class = method.file.pool.class_name(*index).ok()?;
                done(format!("new {}", dotted(&class)), Vec::new(), None)
            }
            Instruction::Pool {
                op: ANEWARRAY,
                index,
            } => {
                let class = method.file.pool.class_name(*index).ok()?;
                let text = format!("new {}[]", dotted(&class));
                done(text, named(&["length"]), Some(false))
            }
            Instruction::NewArray(code) => {
                let text = format!("new {}[]", element(*code));
                done(text, named(&["length"]), Some(false))
            }
            Instruction::MultiNewArray { index, .. } => {
                let class = method.file.pool.class_name(*index).ok()?;
                done(format!("new {}", dotted(&class)), Vec::new(), Some(false))
            }
            _ => None,
        },
        Which::Enters if op == MONITORENTER => done(plain(), named(&["object"]), None),
        Which::Leaves if op == MONITOREXIT => done(plain(), named(&["object"]), None),
        Which::Handlers => {
            let pc = method.instructions.get(at)?.0;
            let mut entries = method.code.exceptions.iter();
            let entry = entries.find(|e| e.handler == pc)?;
            let class = method.file.pool.class_name(entry.catch_type).ok();
            let text = class.map_or("any".into(), |class| dotted(&class));
            done(format!("catch {text}"), named(&["exception"]), None)
        }
        Which::Throws if op == ATHROW => done(plain(), named(&["exception"]), None),
        Which::Branches => match instruction {
            Instruction::Branch { op, .. } if !matches!(*op, GOTO | GOTO_W | JSR | JSR_W) => {
                let names: &[&str] = match *op {
                    IF_ICMPEQ..=IF_ACMPNE => &["left", "right"],
                    _ => &["value"],
                };
                done(plain(), named(names), None)
            }
            _ => None,
        },
        Which::Switches if matches!(op, TABLESWITCH | LOOKUPSWITCH) => {
            done(plain(), named(&["key"]), None)
        }
        Which::Opcode(name) if name == "*" || mnemonic(op) == name => {
            done(plain(), Vec::new(), None)
        }
        _ => None,
    }
}

/// Names of operands, the deepest first.
fn operands(names: impl Iterator<Item = (String, bool)>) -> Vec<Operand> {
    let names: Vec<(String, bool)> = names.collect();
    let count = names.len();
    let one = |(n, (name, boolean)): (usize, (String, bool))| Operand {
        name,
        depth: u8::try_from(count - 1 - n).unwrap_or(u8::MAX),
        boolean,
    };
    names.into_iter().enumerate().map(one).collect()
}

fn dotted(class: &str) -> String {
    class.replace('/', ".")
}

/// JVMS table 6.5.newarray-A.
fn element(code: u8) -> &'static str {
    match code {
        4 => "boolean",
        5 => "char",
        6 => "float",
        7 => "double",
        8 => "byte",
        9 => "short",
        10 => "int",
        _ => "long",
    }
}

struct Call {
    class: String,
    name: String,
    descriptor: String,
    text: String,
    operands: Vec<Operand>,
    /// The descriptor of what it returns, where that is something.
    result: Option<String>,
}

impl Call {
    fn of(method: &Method, instruction: &Instruction) -> Option<Call> {
        let pool = &method.file.pool;
        let (class, name, descriptor) = match instruction {
            Instruction::Pool {
                op: INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC,
                index,
            }
            | Instruction::InvokeInterface { index, .. } => {
                let member = pool.member(*index).ok()?;
                let class = dotted(&pool.class_name(member.class).ok()?);
                (Some(class), member.name, member.descriptor)
            }
            Instruction::InvokeDynamic { index } => {
                let (_, name, descriptor) = pool.dynamic(*index).ok()?;
                (None, name, descriptor)
            }
            _ => return None,
        };
        let name = pool.text(name).ok()?.into_owned();
        let descriptor = pool.text(descriptor).ok()?.into_owned();
        let count = MethodDescriptor::parse(&descriptor)?.parameters.len();
        let has_receiver = class.is_some() && instruction.op() != INVOKESTATIC;
        // A new object is nothing yet that code could look at.
        let receiver = if name == "<init>" { " new" } else { "receiver" };
        let booleans = booleans(&descriptor);
        let names = has_receiver.then(|| (receiver.to_string(), false));
        let arguments = (0..count).map(|n| {
            let boolean = booleans.get(n).copied().unwrap_or(false);
            (format!("arg{n}"), boolean)
        });
        let text = match &class {
            Some(class) => format!("call {class}::{name}"),
            None => format!("call {name} (invokedynamic)"),
        };
        let result = descriptor.rsplit(')').next().filter(|r| *r != "V");
        Some(Call {
            class: class.unwrap_or_default(),
            operands: operands(names.into_iter().chain(arguments)),
            result: result.map(str::to_string),
            text,
            name,
            descriptor,
        })
    }
}

/// Which parameters of a descriptor are booleans.
fn booleans(descriptor: &str) -> Vec<bool> {
    let mut rest = descriptor.strip_prefix('(').unwrap_or_default();
    let mut out = Vec::new();
    while !rest.is_empty() && !rest.starts_with(')') {
        let element = rest.trim_start_matches('[');
        let length = match element.strip_prefix('L') {
            Some(class) => class.find(';').map_or(class.len(), |end| end + 2),
            None => 1,
        };
        out.push(rest.starts_with('Z'));
        rest = element.get(length..).unwrap_or_default();
    }
    out
}

struct Field {
    class: String,
    name: String,
    descriptor: String,
}

impl Field {
    fn of(method: &Method, instruction: &Instruction) -> Option<Field> {
        let pool = &method.file.pool;
        let Instruction::Pool {
            op: GETSTATIC..=PUTFIELD,
            index,
        } = instruction
        else {
            return None;
        };
        let member = pool.member(*index).ok()?;
        let descriptor = pool.text(member.descriptor).ok()?.into_owned();
        descriptor::field(&descriptor)?;
        Some(Field {
            class: dotted(&pool.class_name(member.class).ok()?),
            name: pool.text(member.name).ok()?.into_owned(),
            descriptor,
        })
    }
}

/// How a value of a type is kept on the stack; `None` of what no code may look at.
pub fn kind(t: &Type) -> Option<veneer_probes::step::Kind> {
    use veneer_probes::step::Kind;
    Some(match t {
        Type::Int => Kind::Int,
        Type::Long => Kind::Long,
        Type::Float => Kind::Float,
        Type::Double => Kind::Double,
        Type::Null | Type::Object(_) | Type::UninitializedThis | Type::Uninitialized(_) => {
            Kind::Reference
        }
        Type::Top => return None,
    })
}

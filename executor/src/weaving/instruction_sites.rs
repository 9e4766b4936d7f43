//! The effect of single instructions, as plans select them: calls, field accesses, array accesses,
//! allocations, monitors, throws, branches, switches.
//!
//! The operands of an instruction are on the operand stack before it, and its result is there after
//! it. Code of a plan reads them by these names:
//!
//! ```text
//!   invokevirtual shop.Desk::serve(Order, int)       … | receiver | arg0 | arg1      ─▶   … | result
//!   putfield shop.Order.total                        … | object | value              ─▶   …
//!   iaload                                           … | array | index               ─▶   … | result
//! ```
//!
//! [`planner`](crate::weaving::planner) asks for the sites; nothing here calls the JVM.

use veneer_fragmenter::bytecode::Instruction;
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::Type;
use veneer_instruments::{InstructionKind, MethodPattern};
use veneer_names::{
    FieldDescriptor, FieldKind, MethodDescriptor, Primitive, java_form, java_form_of_type,
};
use veneer_probes::step::ComputationalType;

/// A value on the operand stack that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The name in code of plans.
    pub name: String,
    /// The position, counted in values from the top of the stack. The top value has depth 0.
    pub depth: u8,
    /// Whether the value is a `boolean`. On the operand stack, a `boolean` is an `int`.
    pub is_boolean: bool,
}

/// An instruction that a plan has selected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionSite {
    /// The text in reports, such as `call shop.Desk::serve`.
    pub text: String,
    /// The named operands before the instruction, the deepest one first.
    pub operands: Vec<Operand>,
    /// The value that the instruction leaves on the stack. `None` if it leaves none, or an object
    /// without a completed constructor, which code cannot read.
    pub result: Option<Operand>,
    /// Whether the instruction calls a constructor.
    pub constructs: bool,
    /// Whether control continues with the next instruction.
    pub falls_through: bool,
}

/// An instruction of a method, while it is compared with a selector.
struct Selected<'m> {
    method: &'m Method<'m>,
    index: usize,
    instruction: &'m Instruction,
    op: u8,
}

/// The instruction with this index, if the selector selects it.
pub fn instruction_site(
    which: &InstructionKind,
    method: &Method,
    index: usize,
) -> Option<InstructionSite> {
    let (_, instruction) = method.instructions.get(index)?;
    let this = Selected {
        method,
        index,
        instruction,
        op: instruction.op(),
    };
    match which {
        InstructionKind::Calls(pattern) => {
            let call = Call::decode(method, instruction)?;
            let is_selected = pattern
                .as_ref()
                .is_none_or(|p| p.matches(&call.class, &call.name, &call.descriptor));
            let result = call.result.map(|descriptor| descriptor == "Z");
            is_selected.then(|| InstructionSite {
                constructs: call.name == "<init>",
                ..this.site(call.text, call.operands, result)
            })
        }
        InstructionKind::CallSites(opcode) => {
            let call = Call::decode(method, instruction)?;
            let opcode_of_call = mnemonic(this.op);
            let is_selected = opcode.as_ref().is_none_or(|name| name == opcode_of_call);
            let result = call.result.as_ref().map(|descriptor| descriptor == "Z");
            let text = format!("{opcode_of_call} {}", call.target());
            is_selected.then(|| this.site(text, call.operands, result))
        }
        InstructionKind::Reads(name) => this.field_access(name.as_deref(), &[GETFIELD, GETSTATIC]),
        InstructionKind::Writes(name) => this.field_access(name.as_deref(), &[PUTFIELD, PUTSTATIC]),
        InstructionKind::ArrayReads => this.plain_if(
            (IALOAD..=SALOAD).contains(&this.op),
            &["array", "index"],
            Some(false),
        ),
        InstructionKind::ArrayWrites => this.plain_if(
            (IASTORE..=SASTORE).contains(&this.op),
            &["array", "index", "value"],
            None,
        ),
        InstructionKind::Allocations => this.allocation(),
        InstructionKind::MonitorEnters => this.plain_if(this.op == MONITORENTER, &["object"], None),
        InstructionKind::MonitorExits => this.plain_if(this.op == MONITOREXIT, &["object"], None),
        InstructionKind::Handlers => this.handler(),
        InstructionKind::Throws => this.plain_if(this.op == ATHROW, &["exception"], None),
        InstructionKind::Branches => this.conditional_branch(),
        InstructionKind::Switches => {
            let is_switch = matches!(this.op, TABLESWITCH | LOOKUPSWITCH);
            this.plain_if(is_switch, &["key"], None)
        }
        InstructionKind::Opcode(name) => {
            let is_selected = name == "*" || mnemonic(this.op) == name;
            this.plain_if(is_selected, &[], None)
        }
    }
}

impl Selected<'_> {
    /// `result`: whether the result is a boolean; `None` if there is no result.
    fn site(&self, text: String, operands: Vec<Operand>, result: Option<bool>) -> InstructionSite {
        let is_branch = matches!(self.instruction, Instruction::Branch { .. });
        InstructionSite {
            text,
            operands,
            result: result.map(|is_boolean| Operand {
                name: "result".into(),
                depth: 0,
                is_boolean,
            }),
            constructs: false,
            falls_through: !ends_flow(self.op) && !is_branch,
        }
    }

    /// The site of an instruction whose text is its mnemonic.
    fn plain_if(
        &self,
        is_selected: bool,
        names: &[&str],
        result: Option<bool>,
    ) -> Option<InstructionSite> {
        is_selected.then(|| self.site(mnemonic(self.op).to_string(), named(names), result))
    }

    /// The site of a field access with one of these opcodes. `name` is the name of the field,
    /// `class.name`, or `class.*`, where the class may be a pattern.
    fn field_access(&self, name: Option<&str>, opcodes: &[u8]) -> Option<InstructionSite> {
        if !opcodes.contains(&self.op) {
            return None;
        }
        let field = Field::decode(self.method, self.instruction)?;
        let full_name = format!("{}.{}", field.class, field.name);
        let is_selected = match name.and_then(|name| name.strip_suffix(".*")) {
            Some(class) => MethodPattern::parse(class).is_ok_and(|p| p.matches_class(&field.class)),
            None => name.is_none_or(|name| name == full_name || name == field.name),
        };
        if !is_selected {
            return None;
        }
        let is_boolean = field.descriptor == "Z";
        let (word, names, result): (_, &[(&str, bool)], _) = match self.op {
            GETFIELD => ("read", &[("object", false)], Some(is_boolean)),
            GETSTATIC => ("read", &[], Some(is_boolean)),
            PUTFIELD => ("write", &[("object", false), ("value", is_boolean)], None),
            _ => ("write", &[("value", is_boolean)], None),
        };
        let names = names.iter().map(|(name, b)| ((*name).to_string(), *b));
        Some(self.site(format!("{word} {full_name}"), operands(names), result))
    }

    fn allocation(&self) -> Option<InstructionSite> {
        let pool = &self.method.file.pool;
        let class = |index: u16| Some(java_form_of_type(&pool.class_name(index).ok()?));
        Some(match self.instruction {
            // The new object has no completed constructor, so code cannot read it.
            Instruction::Pool { op: NEW, index } => {
                self.site(format!("new {}", class(*index)?), Vec::new(), None)
            }
            Instruction::Pool {
                op: ANEWARRAY,
                index,
            } => {
                let text = format!("new {}[]", class(*index)?);
                self.site(text, named(&["length"]), Some(false))
            }
            Instruction::NewArray(code) => {
                let text = format!("new {}[]", Primitive::from_array_code(*code)?);
                self.site(text, named(&["length"]), Some(false))
            }
            Instruction::MultiNewArray { index, .. } => {
                self.site(format!("new {}", class(*index)?), Vec::new(), Some(false))
            }
            _ => return None,
        })
    }

    /// The first instruction of an exception handler.
    fn handler(&self) -> Option<InstructionSite> {
        let (pc, _) = self.method.instructions.get(self.index)?;
        let mut entries = self.method.code.exceptions.iter();
        let entry = entries.find(|e| e.handler == *pc)?;
        let class = self.method.file.pool.class_name(entry.catch_type).ok();
        let caught = class.map_or("any".into(), |class| java_form(&class));
        Some(self.site(format!("catch {caught}"), named(&["exception"]), None))
    }

    fn conditional_branch(&self) -> Option<InstructionSite> {
        let Instruction::Branch { op, .. } = self.instruction else {
            return None;
        };
        let names: &[&str] = match *op {
            GOTO | GOTO_W | JSR | JSR_W => return None,
            IF_ICMPEQ..=IF_ACMPNE => &["left", "right"],
            _ => &["value"],
        };
        self.plain_if(true, names, None)
    }
}

/// Operands with these names that are not booleans, the deepest one first.
fn named(names: &[&str]) -> Vec<Operand> {
    operands(names.iter().map(|name| ((*name).to_string(), false)))
}

/// Operands with these names, the deepest one first. The flag says whether the operand is a
/// boolean.
fn operands(names: impl Iterator<Item = (String, bool)>) -> Vec<Operand> {
    let names: Vec<(String, bool)> = names.collect();
    let count = names.len();
    let operand = |(n, (name, is_boolean)): (usize, (String, bool))| Operand {
        name,
        depth: u8::try_from(count - 1 - n).unwrap_or(u8::MAX),
        is_boolean,
    };
    names.into_iter().enumerate().map(operand).collect()
}

/// A decoded call instruction.
struct Call {
    /// The dotted class that the instruction names; empty for `invokedynamic`.
    class: String,
    name: String,
    descriptor: String,
    text: String,
    operands: Vec<Operand>,
    /// The descriptor of the result; `None` if the method returns `void`.
    result: Option<String>,
}

impl Call {
    fn decode(method: &Method, instruction: &Instruction) -> Option<Call> {
        let pool = &method.file.pool;
        let (class, name, descriptor) = match instruction {
            Instruction::Pool {
                op: INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC,
                index,
            }
            | Instruction::InvokeInterface { index, .. } => {
                let member = pool.member(*index).ok()?;
                let class = java_form(&pool.class_name(member.class).ok()?);
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
        let parsed = MethodDescriptor::parse(&descriptor).ok()?;
        let has_receiver = class.is_some() && instruction.op() != INVOKESTATIC;
        // Code cannot read an object without a completed constructor. No plan can write a name that
        // begins with a space.
        let receiver = if name == "<init>" { " new" } else { "receiver" };
        let receiver = has_receiver.then(|| (receiver.to_string(), false));
        let arguments = parsed.parameters().enumerate().map(|(n, parameter)| {
            let is_boolean = parameter.kind() == FieldKind::Primitive(Primitive::Boolean);
            (format!("arg{n}"), is_boolean)
        });
        let text = match &class {
            Some(class) => format!("call {class}::{name}"),
            None => format!("call {name} (invokedynamic)"),
        };
        Some(Call {
            class: class.unwrap_or_default(),
            operands: operands(receiver.into_iter().chain(arguments)),
            result: parsed.result().map(|result| result.to_string()),
            text,
            name,
            descriptor,
        })
    }

    /// The whole name of the called method: `shop.Desk::serve(Lshop/Order;)V`. For `invokedynamic`
    /// there is no class: `run()Ljava/lang/Runnable;`.
    fn target(&self) -> String {
        let method = format!("{}{}", self.name, self.descriptor);
        match self.class.as_str() {
            "" => method,
            class => format!("{class}::{method}"),
        }
    }
}

/// The field of a field access instruction.
pub struct Field {
    /// The dotted class that the instruction names.
    pub class: String,
    pub name: String,
    pub descriptor: String,
}

impl Field {
    /// The field of an instruction; `None` if it accesses no field, or its operand is malformed.
    pub fn decode(method: &Method, instruction: &Instruction) -> Option<Field> {
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
        FieldDescriptor::parse(&descriptor).ok()?;
        Some(Field {
            class: java_form(&pool.class_name(member.class).ok()?),
            name: pool.text(member.name).ok()?.into_owned(),
            descriptor,
        })
    }
}

/// The kind of a value of this verification type; `None` for a slot that holds no value.
pub fn value_kind(ty: &Type) -> Option<ComputationalType> {
    Some(match ty {
        Type::Int => ComputationalType::Int,
        Type::Long => ComputationalType::Long,
        Type::Float => ComputationalType::Float,
        Type::Double => ComputationalType::Double,
        Type::Null | Type::Object(_) | Type::UninitializedThis | Type::Uninitialized(_) => {
            ComputationalType::Reference
        }
        Type::Top => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::weaving::test_methods::with_method;
    use veneer_instruments::MethodPattern;

    /// The selected instructions of `Points.sites`, with their pcs.
    fn sites(which: InstructionKind) -> Vec<(u16, InstructionSite)> {
        with_method("sites(Lshop/Points;Ljava/lang/Object;)Z", |method, _| {
            let all = method.instructions.iter().enumerate();
            all.filter_map(|(index, (pc, _))| Some((*pc, instruction_site(&which, method, index)?)))
                .collect()
        })
    }

    fn texts(which: InstructionKind) -> Vec<String> {
        let all = sites(which).into_iter();
        all.map(|(pc, site)| format!("{} @{pc}", site.text))
            .collect()
    }

    /// The operands as `name:depth`, with `!` after booleans.
    fn shown(site: &InstructionSite) -> String {
        let show = |operand: &Operand| {
            let mark = if operand.is_boolean { "!" } else { "" };
            format!("{}:{}{mark}", operand.name, operand.depth)
        };
        let operands: Vec<String> = site.operands.iter().map(show).collect();
        let result = site.result.as_ref().map(show);
        format!("{} -> {}", operands.join(" "), result.unwrap_or("-".into()))
    }

    fn at(which: InstructionKind, pc: u16) -> InstructionSite {
        let found = sites(which).into_iter().find(|(at, _)| *at == pc);
        found
            .map(|(_, site)| site)
            .expect("the instruction is selected")
    }

    #[test]
    fn calls_have_a_receiver_and_arguments_and_a_result() {
        let calls = texts(InstructionKind::Calls(None));
        assert_eq!(
            calls,
            [
                "call shop.Points::<init> @54",
                "call shop.Points::consume @67",
                "call run (invokedynamic) @84",
                "call java.lang.Runnable::run @93",
                "call shop.Points::sites @124",
                "call java.lang.String::valueOf @134",
                "call java.lang.IllegalStateException::<init> @137",
            ]
        );
        let call = |pc| shown(&at(InstructionKind::Calls(None), pc));
        assert_eq!(call(67), "receiver:3 arg0:2! arg1:1 arg2:0 -> -");
        assert_eq!(call(84), " -> result:0");
        assert_eq!(call(124), "receiver:2 arg0:1 arg1:0 -> result:0!");
        assert_eq!(call(134), "arg0:0 -> result:0");
    }

    #[test]
    fn call_sites_have_the_whole_target() {
        let sites = texts(InstructionKind::CallSites(None));
        assert_eq!(sites.len(), texts(InstructionKind::Calls(None)).len());
        let by = |opcode: &str| texts(InstructionKind::CallSites(Some(opcode.into())));
        let consume = "invokevirtual shop.Points::consume(ZID)V @67".to_owned();
        assert!(by("invokevirtual").contains(&consume));
        assert_eq!(
            by("invokedynamic"),
            ["invokedynamic run()Ljava/lang/Runnable; @84"]
        );
        let of_all = ["static", "special", "virtual", "interface", "dynamic"]
            .into_iter()
            .flat_map(|kind| by(&format!("invoke{kind}")));
        assert_eq!(of_all.count(), sites.len());
        let (_, call) = &self::sites(InstructionKind::CallSites(None))[1];
        assert_eq!(shown(call), "receiver:3 arg0:2! arg1:1 arg2:0 -> -");
    }

    #[test]
    fn the_receiver_of_a_constructor_has_no_name_that_a_plan_can_write() {
        let call = at(InstructionKind::Calls(None), 54);
        assert_eq!(shown(&call), " new:1 arg0:0! -> -");
    }

    #[test]
    fn a_pattern_selects_calls_by_the_named_class_and_method() {
        let pattern = MethodPattern::parse("shop.Points::consume(..)").ok();
        assert_eq!(
            texts(InstructionKind::Calls(pattern)),
            ["call shop.Points::consume @67"]
        );
        let other = MethodPattern::parse("shop.Other::consume(..)").ok();
        assert!(texts(InstructionKind::Calls(other)).is_empty());
    }

    #[test]
    fn field_accesses_are_selected_by_simple_and_by_full_name() {
        let reads = texts(InstructionKind::Reads(None));
        assert_eq!(
            reads,
            [
                "read shop.Points.open @2",
                "read shop.Points.served @8",
                "read shop.Points.total @12",
            ]
        );
        assert_eq!(texts(InstructionKind::Reads(Some("total".into()))).len(), 1);
        assert_eq!(
            texts(InstructionKind::Writes(Some("shop.Points.served".into()))).len(),
            1
        );
        assert!(texts(InstructionKind::Writes(Some("total".into()))).is_empty());
        assert!(texts(InstructionKind::Reads(Some("Points.total".into()))).is_empty());
    }

    #[test]
    fn field_accesses_have_an_object_unless_static_and_know_booleans() {
        assert_eq!(
            shown(&at(InstructionKind::Reads(None), 2)),
            "object:0 -> result:0!"
        );
        assert_eq!(shown(&at(InstructionKind::Reads(None), 8)), " -> result:0");
        assert_eq!(
            shown(&at(InstructionKind::Writes(None), 5)),
            "object:1 value:0! -> -"
        );
        assert_eq!(
            shown(&at(InstructionKind::Writes(None), 17)),
            "value:0 -> -"
        );
    }

    #[test]
    fn array_accesses_are_counted_from_the_top_of_the_stack() {
        assert_eq!(
            texts(InstructionKind::ArrayReads),
            ["iaload @28", "iaload @100"]
        );
        assert_eq!(
            shown(&at(InstructionKind::ArrayReads, 28)),
            "array:1 index:0 -> result:0"
        );
        assert_eq!(texts(InstructionKind::ArrayWrites), ["iastore @29"]);
        let write = at(InstructionKind::ArrayWrites, 29);
        assert_eq!(shown(&write), "array:2 index:1 value:0 -> -");
    }

    #[test]
    fn allocations_name_the_class_or_the_element_type() {
        assert_eq!(
            texts(InstructionKind::Allocations),
            [
                "new int[] @21",
                "new boolean[][] @32",
                "new java.lang.Object[] @39",
                "new shop.Points @49",
                "new java.lang.IllegalStateException @128",
            ]
        );
        let shape = |pc| shown(&at(InstructionKind::Allocations, pc));
        assert_eq!(shape(21), "length:0 -> result:0");
        assert_eq!(shape(32), " -> result:0");
        assert_eq!(shape(49), " -> -");
    }

    #[test]
    fn monitors_switches_throws_and_handlers_have_one_operand() {
        assert_eq!(texts(InstructionKind::MonitorEnters), ["monitorenter @48"]);
        assert_eq!(
            texts(InstructionKind::MonitorExits),
            ["monitorexit @72", "monitorexit @80"]
        );
        assert_eq!(texts(InstructionKind::Switches), ["lookupswitch @101"]);
        assert_eq!(
            texts(InstructionKind::Throws),
            ["athrow @83", "athrow @140"]
        );
        assert_eq!(texts(InstructionKind::Handlers), ["catch any @76"]);
        assert_eq!(
            shown(&at(InstructionKind::Handlers, 76)),
            "exception:0 -> -"
        );
    }

    #[test]
    fn a_handler_names_the_class_that_it_catches() {
        with_method("guarded([I)I", |method, _| {
            let is_handler = |i: usize| instruction_site(&InstructionKind::Handlers, method, i);
            let found: Vec<String> = (0..method.instructions.len())
                .filter_map(|i| Some(is_handler(i)?.text))
                .collect();
            assert_eq!(found, ["catch java.lang.ArrayIndexOutOfBoundsException"]);
        });
    }

    #[test]
    fn conditional_branches_have_their_operands_and_do_not_fall_through() {
        with_method("loop(I)I", |method, _| {
            let branches: Vec<InstructionSite> = (0..method.instructions.len())
                .filter_map(|i| instruction_site(&InstructionKind::Branches, method, i))
                .collect();
            assert_eq!(branches.len(), 1, "`goto` is no conditional branch");
            assert_eq!(branches[0].text, "if_icmpge");
            assert_eq!(shown(&branches[0]), "left:1 right:0 -> -");
            assert!(!branches[0].falls_through);
        });
    }

    #[test]
    fn control_goes_elsewhere_after_throws_returns_and_switches() {
        let falls_through = |which, pc| at(which, pc).falls_through;
        assert!(!falls_through(InstructionKind::Throws, 140));
        assert!(!falls_through(InstructionKind::Switches, 101));
        assert!(!falls_through(
            InstructionKind::Opcode("ireturn".into()),
            127
        ));
        assert!(falls_through(InstructionKind::Calls(None), 67));
    }

    #[test]
    fn a_mnemonic_selects_instructions_and_a_star_selects_all() {
        assert_eq!(texts(InstructionKind::Opcode("ladd".into())), ["ladd @16"]);
        let count = with_method("sites(Lshop/Points;Ljava/lang/Object;)Z", |method, _| {
            method.instructions.len()
        });
        assert_eq!(sites(InstructionKind::Opcode("*".into())).len(), count);
    }
}

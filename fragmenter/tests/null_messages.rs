//! Emitted code keeps HotSpot's analysis of null pointers sound
//! (`veneer_fragmenter::hotspot::null_message`), also for methods that javac does not emit.

mod arming_support;
mod check_support;
mod classfile_support;

use check_support::{ProbeSet, Totals, check_all, policies};
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Assembler, Instruction, Label};
use veneer_fragmenter::classfile::{
    Attribute, ClassFile, Code, ConstantPool, ExceptionRange, Member,
};
use veneer_fragmenter::hotspot::null_message::NullMessageAnalysis;

/// A class-file version without stack maps; Veneer infers them.
const JAVA_5: u16 = 49;

/// Assembles a class with the method `static int f(int)`. `emit` returns the label of an exception
/// handler with the start and the end of its range, if the method has one.
fn class(emit: impl FnOnce(&mut Assembler) -> Option<[Label; 3]>) -> Vec<u8> {
    let mut a = Assembler::new();
    let range = emit(&mut a);
    let out = a.finish().unwrap();
    let mut pool = ConstantPool::new();
    let range = range.map(|labels| labels.map(|label| out.at(label).unwrap()));
    let exceptions = range.map(|[handler, start, end]| ExceptionRange {
        start,
        end,
        handler,
        catch_type: 0,
    });
    let code = Code {
        max_stack: 4,
        max_locals: 1,
        code: out.code.into(),
        exceptions: exceptions.into_iter().collect(),
        attributes: Vec::new(),
    };
    NullMessageAnalysis::new(&pool).check(&code).unwrap();
    let this_class = pool.add_class("Switches").unwrap();
    let super_class = pool.add_class("java/lang/Object").unwrap();
    let method = Member {
        access: 0x0008,
        name: pool.add_utf8("f").unwrap(),
        descriptor: pool.add_utf8("(I)I").unwrap(),
        attributes: vec![Attribute {
            name: pool.add_utf8("Code").unwrap(),
            info: code.to_bytes().unwrap().into(),
        }],
    };
    let file = ClassFile {
        minor: 0,
        major: JAVA_5,
        pool,
        access: 0x0021,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: vec![method],
        attributes: Vec::new(),
    };
    file.to_bytes().unwrap()
}

/// Checks the armed class and the versions under each policy. Each must have bodies.
fn check(bytes: &[u8]) {
    let mut totals = Totals::default();
    for policy in policies() {
        for probe_set in [
            ProbeSet::Nothing,
            ProbeSet::Counters,
            ProbeSet::Everything,
            ProbeSet::Edits,
            ProbeSet::Parts,
        ] {
            for seed in 0..20 {
                check_all(&mut totals, "Switches", bytes, &policy, probe_set, seed);
            }
        }
    }
    assert!(totals.bodies > 200, "{} bodies", totals.bodies);
    assert!(totals.edited > 0);
    assert_eq!(totals.failures, []);
}

/// The last instruction of the method is a switch with an empty stack. Out-of-line code follows it
/// it in a version, for instance the entry of the handler, which begins with one word.
#[test]
fn the_last_instruction_is_a_switch() {
    check(&class(|a| {
        let [quotient, handler, switch] = [a.fresh(), a.fresh(), a.fresh()];
        a.branch(GOTO, switch);
        a.place(quotient);
        a.local(ILOAD, 0);
        a.local(ILOAD, 0);
        a.plain(IDIV);
        a.plain(IRETURN);
        a.place(handler);
        a.plain(POP);
        a.push(Instruction::Push(-1));
        a.plain(IRETURN);
        a.place(switch);
        a.local(ILOAD, 0);
        a.push(Instruction::LookupSwitch {
            default: quotient,
            pairs: vec![(1, quotient)],
        });
        Some([handler, quotient, handler])
    }));
}

/// The code after the switch is unreachable for an activation that is in the loop, so the resume
/// body omits it. The next code begins with one word.
#[test]
fn the_code_after_a_switch_is_omitted() {
    check(&class(|a| {
        let [head, before, result, end, three] =
            [a.fresh(), a.fresh(), a.fresh(), a.fresh(), a.fresh()];
        a.local(ILOAD, 0);
        a.branch(IFLT, before);
        a.place(head);
        a.local(ILOAD, 0);
        a.branch(IFLT, end);
        a.push(Instruction::Iinc {
            index: 0,
            delta: -1,
        });
        a.local(ILOAD, 0);
        a.push(Instruction::TableSwitch {
            default: head,
            low: 3,
            targets: vec![three],
        });
        a.place(before);
        a.push(Instruction::Push(1));
        a.plain(IRETURN);
        a.place(result);
        a.plain(IRETURN);
        a.place(end);
        a.push(Instruction::Push(5));
        a.branch(GOTO, result);
        a.place(three);
        a.push(Instruction::Push(7));
        a.branch(GOTO, result);
        None
    }));
}

/// The last instruction of the method is a switch above another operand. The stubs of the armed body
/// follow it and begin with other operands.
#[test]
fn the_last_instruction_is_a_switch_above_an_operand() {
    check(&class(|a| {
        let [sum, switch] = [a.fresh(), a.fresh()];
        a.push(Instruction::Push(4));
        a.branch(GOTO, switch);
        a.place(sum);
        a.local(ILOAD, 0);
        a.plain(IADD);
        a.plain(IRETURN);
        a.place(switch);
        a.local(ILOAD, 0);
        a.push(Instruction::LookupSwitch {
            default: sum,
            pairs: vec![(1, sum)],
        });
        None
    }));
}

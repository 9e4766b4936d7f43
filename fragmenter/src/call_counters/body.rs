//! Writes the `Code` attribute of a method with its counters.

use super::places::{Event, Place, Places};
use crate::arming::StackMap;
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembled, Assembler, Instruction, Label};
use crate::classfile::{
    Attribute, ChangedAttribute, ClassFile, Code, ConstantPool, ExceptionRange,
    remap_code_attributes,
};
use crate::hotspot::MAX_COMPILED_BYTES;
use crate::refusal::Refusal;
use crate::runtime;
use veneer_names::raw::{field_length, slots};

/// Words that the code of a counter needs on top of the operands of its instruction: a copy of the
/// receiver, and the offset.
const STACK_WORDS: u16 = 2;

/// Bytes of a counter in a shard.
const COUNTER_BYTES: u32 = 8;

/// The bodies of a class, and its pool.
pub struct Bodies<'f> {
    file: &'f ClassFile<'f>,
    pool: ConstantPool<'f>,
    counters: CounterMethods,
    changes: Vec<ChangedAttribute>,
    contents: Vec<u8>,
}

/// Constant-pool indices of the methods of the counters.
#[derive(Clone, Copy, Default)]
struct CounterMethods {
    count: u16,
    call: u16,
    hot_call: u16,
}

/// The labels of a body.
struct Layout {
    out: Assembled,
    /// The new pc of each instruction itself, after its counter.
    starts: Vec<Label>,
}

impl<'f> Bodies<'f> {
    pub fn new(file: &'f ClassFile<'f>) -> Result<Bodies<'f>, Refusal> {
        let mut pool = file.pool.clone();
        let name = pool.append_text(runtime::CALLS)?;
        let class = pool.append_class(name)?;
        let mut method = |name: &str, descriptor: &str| {
            let (name, descriptor) = (pool.append_text(name)?, pool.append_text(descriptor)?);
            pool.append_method(class, name, descriptor)
        };
        let counters = CounterMethods {
            count: method("count", "(I)V")?,
            call: method("call", "(Ljava/lang/Object;I)V")?,
            hot_call: method("hotCall", "(Ljava/lang/Object;I)V")?,
        };
        Ok(Bodies {
            file,
            pool,
            counters,
            changes: Vec::new(),
            contents: Vec::new(),
        })
    }

    /// Adds the body of the method at this position, whose code is the attribute at `slot`.
    pub fn add(
        &mut self,
        (method, slot): (usize, usize),
        code: &Code,
        places: &Places,
    ) -> Result<(), Refusal> {
        let mut constants = std::collections::HashMap::new();
        for place in places.places.iter().filter(|p| p.has_code) {
            let index = self.pool.append_integer(offset(place)?)?;
            constants.insert(place.counter, index);
        }
        let layout = assemble(code, places, self.counters, &|place| {
            constants.get(&place.counter).copied().unwrap_or(0)
        })?;
        let begin = self.contents.len();
        let code = self.code(code, places, &layout)?;
        self.contents.extend_from_slice(&code.to_bytes()?);
        self.changes.push(ChangedAttribute {
            method,
            attribute: slot,
            content: begin..self.contents.len(),
        });
        Ok(())
    }

    /// The class file with all bodies.
    pub fn finish(self) -> Result<Vec<u8>, Refusal> {
        Ok(self
            .file
            .to_bytes_with(&self.pool, &self.changes, &self.contents)?)
    }

    fn code<'c>(
        &self,
        code: &'c Code<'c>,
        places: &Places,
        layout: &Layout,
    ) -> Result<Code<'c>, Refusal> {
        let length = code.code.len();
        let out = &layout.out;
        let (mut targets, mut new_pcs) = (vec![StackMap::NO_PC; length + 1], Vec::new());
        new_pcs.resize(length + 1, StackMap::NO_PC);
        for ((pc, _), start) in places.instructions.iter().zip(&layout.starts) {
            targets[usize::from(*pc)] = out.at(Label::pc(*pc)).ok_or_else(lost)?;
            new_pcs[usize::from(*pc)] = out.at(*start).ok_or_else(lost)?;
        }
        targets[length] = out.at(Label(length as u32)).ok_or_else(lost)?;
        let at = |pc: u16| {
            let known = targets.get(usize::from(pc)).copied();
            known.filter(|to| *to != StackMap::NO_PC).ok_or_else(lost)
        };
        let mut exceptions = Vec::with_capacity(code.exceptions.len());
        for range in &code.exceptions {
            exceptions.push(ExceptionRange {
                start: at(range.start)?,
                end: at(range.end)?,
                handler: at(range.handler)?,
                catch_type: range.catch_type,
            });
        }
        let mut attributes = code.attributes.clone();
        let map = |pc: u16| targets.get(usize::from(pc)).copied().unwrap_or(0);
        remap_code_attributes(&mut attributes, &self.pool, length as u16, &map, &|e| e)?;
        for attribute in &mut attributes {
            if attribute.is(&self.pool, "StackMapTable") {
                let mut table = Vec::with_capacity(attribute.info.len() + 16);
                let places = (targets.as_slice(), new_pcs.as_slice());
                let info = Some(&*attribute.info);
                let map = StackMap::relocated(info, places, Vec::new(), &mut table);
                let map = map.ok_or_else(|| Refusal::BrokenCode("its stack map".into()))?;
                map.finish(&mut table);
                *attribute = Attribute {
                    name: attribute.name,
                    info: table.into(),
                };
            }
        }
        let spilled = places.places.iter().map(spill_words).max();
        let too_large =
            || Refusal::MethodTooLarge("it has 65,535 local variables or operands".into());
        Ok(Code {
            max_stack: code
                .max_stack
                .checked_add(STACK_WORDS)
                .ok_or_else(too_large)?,
            max_locals: code
                .max_locals
                .checked_add(spilled.unwrap_or(0))
                .ok_or_else(too_large)?,
            code: out.code.clone().into(),
            exceptions,
            attributes,
        })
    }
}

/// Checks that a method keeps its form with counters.
///
/// # Errors
/// It would no longer be compiled, or a branch would need another form, and so another stack map.
pub fn check_size(code: &Code, places: &Places) -> Result<(), Refusal> {
    // Indices above 255 have the longest form of `ldc`.
    let layout = assemble(code, places, CounterMethods::default(), &|_| u16::MAX)?;
    let (before, after) = (code.code.len(), layout.out.code.len());
    if before <= MAX_COMPILED_BYTES && after > MAX_COMPILED_BYTES {
        return Err(Refusal::CompileLimit(before, after));
    }
    if after > i16::MAX as usize {
        let text = "it would have more than 32,767 bytes with counters";
        return Err(Refusal::MethodTooLarge(text.into()));
    }
    Ok(())
}

fn lost() -> Refusal {
    Refusal::Internal("a label of a counted method was lost".into())
}

/// The offset of a counter in a shard, in bytes.
fn offset(place: &Place) -> Result<i32, Refusal> {
    let bytes = place.counter.checked_mul(COUNTER_BYTES);
    let bytes = bytes.and_then(|bytes| i32::try_from(bytes).ok());
    bytes.ok_or_else(|| Refusal::Internal("the offset of a counter".into()))
}

fn assemble(
    code: &Code,
    places: &Places,
    counters: CounterMethods,
    constant: &dyn Fn(&Place) -> u16,
) -> Result<Layout, Refusal> {
    let mut a = Assembler::new();
    let starts: Vec<Label> = places.instructions.iter().map(|_| a.fresh()).collect();
    let mut rest = places.places.iter().peekable();
    for ((pc, instruction), start) in places.instructions.iter().zip(&starts) {
        let write = |a: &mut Assembler, place: &Place| {
            let index = constant(place);
            if place.has_code {
                write_counter(a, place, code.max_locals, (counters, index));
            }
        };
        if let Some(entry) = rest.next_if(|p| p.event == Event::Entry) {
            write(&mut a, entry);
        }
        a.place(Label::pc(*pc));
        while let Some(place) = rest.next_if(|p| p.pc == *pc) {
            write(&mut a, place);
        }
        a.place(*start);
        a.push(instruction.clone());
    }
    a.place(Label(code.code.len() as u32));
    let out = a.finish()?;
    Ok(Layout { out, starts })
}

/// Writes the code that counts a place.
fn write_counter(
    a: &mut Assembler,
    place: &Place,
    free_local: u16,
    (counters, index): (CounterMethods, u16),
) {
    let load = Instruction::Ldc { index, wide: false };
    let Event::Call {
        target,
        by_receiver: true,
        ..
    } = &place.event
    else {
        a.push(load);
        a.pool(INVOKESTATIC, counters.count);
        return;
    };
    let kinds = parameter_kinds(&target.descriptor);
    let words: u16 = kinds.iter().map(|(_, words)| words).sum();
    match words {
        0 => a.plain(DUP),
        1 => {
            a.plain(SWAP);
            a.plain(DUP_X1);
        }
        2 => {
            a.plain(DUP2_X1);
            a.plain(POP2);
            a.plain(DUP_X2);
        }
        _ => {
            let mut slot = free_local + words;
            for (kind, words) in kinds.iter().rev() {
                slot -= words;
                a.local(ISTORE + kind, slot);
            }
            a.plain(DUP);
        }
    }
    a.push(load);
    a.pool(
        INVOKESTATIC,
        match place.is_hot {
            true => counters.hot_call,
            false => counters.call,
        },
    );
    if words > 2 {
        let mut slot = free_local;
        for (kind, words) in &kinds {
            a.local(ILOAD + kind, slot);
            if ILOAD + kind == ALOAD {
                // The variable must not keep the object alive.
                a.plain(ACONST_NULL);
                a.local(ASTORE, slot);
            }
            slot += words;
        }
    }
}

/// The words of local variables that the code of a counter needs.
fn spill_words(place: &Place) -> u16 {
    match &place.event {
        Event::Call {
            target,
            by_receiver: true,
            ..
        } => {
            let kinds = parameter_kinds(&target.descriptor);
            let words = kinds.iter().map(|(_, words)| words).sum();
            if words > 2 { words } else { 0 }
        }
        _ => 0,
    }
}

/// For each parameter, the distance of its load instruction from `iload`, and its words.
fn parameter_kinds(descriptor: &str) -> Vec<(u8, u16)> {
    let mut kinds = Vec::new();
    let mut rest = descriptor.as_bytes().strip_prefix(b"(").unwrap_or_default();
    while let Some(first) = rest.first().filter(|first| **first != b')') {
        let Some(length) = field_length(rest) else {
            break;
        };
        let kind = match first {
            b'J' => LLOAD,
            b'F' => FLOAD,
            b'D' => DLOAD,
            b'L' | b'[' => ALOAD,
            _ => ILOAD,
        };
        kinds.push((kind - ILOAD, slots(rest)));
        rest = rest.get(length..).unwrap_or_default();
    }
    kinds
}

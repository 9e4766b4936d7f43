//! What an instruction means, by the content of the constants that it names, not by their numbers: two class files have two
//! pools. A version's call sites that stand for something that only the host may do are read back here, by a dictionary of
//! this module's own.

mod canon;
mod content;
mod descriptor;
mod member;
mod own;
mod site;

pub(super) use canon::Canon;
pub(super) use descriptor::{parameters, result_of, shape, words_of};
pub(super) use own::Own;

use super::value::{Map, Value, Values};
use crate::bootstrap::{self, BootstrapMethod};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::{ClassFile, Entry};
use canon::bytes;

/// An action that the world sees, or that may throw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Number of its content.
    pub key: u32,
    /// Tag of the member reference; 0 where a handle stands for it.
    pub tag: u8,
    /// Words taken off the stack.
    pub pops: u16,
    /// Words put there.
    pub pushes: u8,
    /// What boxes or unboxes: the kind of primitive, as in a descriptor; 0 for none.
    pub boxes: u8,
}

/// What an instruction with a constant means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A number, as value and words.
    Int(i32),
    Float(u32),
    Wide(u8, u64),
    Event(Event),
    Own(Own),
    /// Something that emitted code may not do.
    Not(&'static str),
}

/// Which class an instruction stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Original,
    Armed,
    Version,
}

/// One class file, with what its constants were found to mean.
pub(super) struct Constants<'c> {
    pub file: &'c ClassFile<'c>,
    role: Role,
    /// Internal names: of the class that the code belongs to, of the class that holds it, of the anchor.
    host: String,
    own: String,
    anchor: String,
    /// Members of the host: private methods, and final fields with whether they are static.
    privates: Vec<(Vec<u8>, Vec<u8>)>,
    finals: Vec<(Vec<u8>, Vec<u8>, bool)>,
    bootstrap: Vec<BootstrapMethod>,
    memo: Map<(u8, u16), Meaning>,
    /// Whether privates go by one name, whichever instruction calls them: when original and version are compared.
    moved: bool,
}

type Read<T> = Result<T, String>;

impl<'c> Constants<'c> {
    /// `host` is the original class file, `moved` whether the emitted code is in another class.
    pub fn new(
        file: &'c ClassFile<'c>,
        role: Role,
        host: &ClassFile,
        anchor: &str,
        moved: bool,
    ) -> Read<Self> {
        let text = |e: crate::classfile::ClassFileError| e.to_string();
        let mut privates = Vec::new();
        let mut finals = Vec::new();
        for m in &host.methods {
            if m.access & 0x2 != 0 {
                privates.push((
                    host.pool.utf8(m.name).map_err(text)?.to_vec(),
                    host.pool.utf8(m.descriptor).map_err(text)?.to_vec(),
                ));
            }
        }
        for f in &host.fields {
            if f.access & 0x10 != 0 {
                finals.push((
                    host.pool.utf8(f.name).map_err(text)?.to_vec(),
                    host.pool.utf8(f.descriptor).map_err(text)?.to_vec(),
                    f.access & 0x8 != 0,
                ));
            }
        }
        Ok(Constants {
            file,
            role,
            host: host.name().map_err(text)?.into_owned(),
            own: file.name().map_err(text)?.into_owned(),
            anchor: anchor.to_string(),
            privates,
            finals,
            bootstrap: bootstrap::read(file).map_err(|e| e.to_string())?,
            memo: Map::default(),
            moved,
        })
    }

    /// Sets the anchor that the code of the next method may name.
    pub fn set_anchor(&mut self, anchor: &str) {
        if self.anchor != anchor {
            self.anchor = anchor.to_string();
            self.memo.clear();
        }
    }

    /// What an instruction means that is neither silent, a store, a branch nor a return.
    pub fn meaning(&mut self, canon: &mut Canon, i: &Instruction) -> Read<Meaning> {
        let plain = |key: u32, pops: u16, pushes: u8| {
            Meaning::Event(Event {
                key,
                tag: 0,
                pops,
                pushes,
                boxes: 0,
            })
        };
        let (op, index) = match i {
            Instruction::Plain(op) => {
                let (pops, pushes) = match *op {
                    IALOAD | 48 | AALOAD..=SALOAD => (2, 1),
                    47 | 49 => (2, 2),
                    80 | 82 => (4, 0),
                    IASTORE..=SASTORE => (3, 0),
                    IDIV | IREM => (2, 1),
                    LDIV | LREM => (4, 2),
                    ARRAYLENGTH => (1, 1),
                    ATHROW | MONITORENTER | MONITOREXIT => (1, 0),
                    _ => return Err(format!("opcode {op}")),
                };
                return Ok(plain(*op as u32, pops, pushes));
            }
            Instruction::NewArray(t) => return Ok(plain(512 + *t as u32, 1, 1)),
            Instruction::Ldc { index, .. } => (LDC, *index),
            Instruction::Pool { op, index } => (*op, *index),
            Instruction::InvokeInterface { index, .. } => (INVOKEINTERFACE, *index),
            Instruction::InvokeDynamic { index } => (INVOKEDYNAMIC, *index),
            Instruction::MultiNewArray { index, dims } => {
                let class = canon.class(self.file, *index)?;
                let content = bytes(b'm', &[&class.to_be_bytes(), &[*dims]]);
                return Ok(plain(canon.number(content), *dims as u16, 1));
            }
            other => return Err(format!("opcode {}", other.op())),
        };
        if let Some(known) = self.memo.get(&(op, index)) {
            return Ok(*known);
        }
        let found = self.find(canon, op, index)?;
        self.memo.insert((op, index), found);
        Ok(found)
    }

    fn find(&mut self, canon: &mut Canon, op: u8, index: u16) -> Read<Meaning> {
        let event = |key, pops, pushes| {
            Meaning::Event(Event {
                key,
                tag: 0,
                pops,
                pushes,
                boxes: 0,
            })
        };
        Ok(match op {
            LDC => match self.entry(index)? {
                Entry::Integer(v) => Meaning::Int(v),
                Entry::Float(v) => Meaning::Float(v.to_bits()),
                Entry::Long(v) => Meaning::Wide(LONG, v as u64),
                Entry::Double(v) => Meaning::Wide(1, v.to_bits()),
                other => {
                    let words = match other {
                        Entry::Dynamic { .. } => {
                            let (_, _, d) = self.dynamic(index)?;
                            words_of(&d)
                        }
                        _ => 1,
                    };
                    let content = self.content(index, 0)?;
                    event(canon.number(bytes(b'l', &[&content])), 0, words)
                }
            },
            NEW => event(canon.class(self.file, index)? << 2 | 1 << 30, 0, 1),
            ANEWARRAY => event(canon.class(self.file, index)? << 2 | 1 | 1 << 30, 1, 1),
            CHECKCAST => event(canon.class(self.file, index)? << 2 | 2 | 1 << 30, 1, 1),
            INSTANCEOF => event(canon.class(self.file, index)? << 2 | 3 | 1 << 30, 1, 1),
            INVOKEDYNAMIC => self.call_site(canon, index)?,
            _ => self.member(canon, op, index)?,
        })
    }
}

/// The value of a constant that needs no resolution.
pub(super) fn constant(m: Meaning, values: &mut Values) -> Option<(Value, u8)> {
    match m {
        Meaning::Int(v) => Some((Value::int(v), 1)),
        Meaning::Float(v) => Some((Value::float(v), 1)),
        Meaning::Wide(kind, bits) => Some((wide(values, kind, bits), 2)),
        _ => None,
    }
}

fn wide(values: &mut Values, kind: u8, bits: u64) -> Value {
    values.term(LDC2_W, Value(u64::from(kind)), Value(bits))
}

/// The value of a `long` that comes from the constant pool.
pub(super) fn long(values: &mut Values, bits: u64) -> Value {
    wide(values, LONG, bits)
}

/// What tells a `long` from a `double` of the same bits.
const LONG: u8 = 0;

//! The meaning of an instruction that names a constant. The meaning depends on the content of the
//! constant and not on its index, because two class files have two constant pools.
//!
//! A version uses call sites for operations that only the host may perform. The checker translates
//! these call sites back by its own table (`call_site.rs`).

mod call_site;
mod content;
mod content_numbers;
mod descriptor;
mod error;
mod member;
mod runtime_operation;
mod veneer_member;

pub(super) use content_numbers::ContentNumbers;
pub(super) use descriptor::{shape, words_of};
pub(super) use error::ConstantError;
pub(super) use runtime_operation::RuntimeOperation;

use super::value::{Map, Value, Values};
use crate::bootstrap::{self, BootstrapMethod};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::{ClassFile, PoolEntry};
use content_numbers::bytes;

/// An observable effect, or an operation that may throw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// Content number of the effect.
    pub key: u32,
    /// Tag of the member reference; 0 if a method handle replaces the reference.
    pub tag: u8,
    /// Number of words popped.
    pub pops: u16,
    /// Number of words pushed.
    pub pushes: u8,
    /// Kind of the primitive if the effect boxes or unboxes a value, else 0.
    pub boxes: u8,
}

/// The meaning of an instruction that names a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The constants that need no resolution. `Wide` holds the type ([`LONG`] or 1 for `double`)
    /// and the bits.
    Int(i32),
    Float(u32),
    Wide(u8, u64),
    Effect(Effect),
    Runtime(RuntimeOperation),
    /// A store to a final field of the host, whose offset is on the stack. The character is the kind
    /// of the stored value.
    PutFinal(u8),
    /// An operation that emitted code may not contain, with the reason.
    Forbidden(&'static str),
}

/// The class that contains an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Original,
    Armed,
    Version,
}

/// A final field of the host.
struct FinalField {
    /// Index in the host's class file.
    index: u16,
    name: Vec<u8>,
    descriptor: Vec<u8>,
    is_static: bool,
}

/// One class file and the meanings of its constants.
pub(super) struct Constants<'c> {
    pub file: &'c ClassFile<'c>,
    role: Role,
    /// Internal names: the class that the code belongs to, the class that contains it, and the
    /// anchor.
    host: String,
    container: String,
    anchor: String,
    /// Private methods of the host.
    private_methods: Vec<(Vec<u8>, Vec<u8>)>,
    final_fields: Vec<FinalField>,
    bootstrap: Vec<BootstrapMethod>,
    memo: Map<(u8, u16), Meaning>,
    /// True if the original is compared with a version, whose code is in another class. Private
    /// methods then have one key for all invoke instructions.
    other_class: bool,
}

type Resolved<T> = Result<T, ConstantError>;

impl<'c> Constants<'c> {
    /// `host` is the original class file. `other_class` is true if the emitted code is in another
    /// class.
    pub fn new(
        file: &'c ClassFile<'c>,
        role: Role,
        host: &ClassFile,
        anchor: &str,
        other_class: bool,
    ) -> Resolved<Self> {
        let mut private_methods = Vec::new();
        let mut final_fields = Vec::new();
        for m in &host.methods {
            if m.access & 0x2 != 0 {
                private_methods.push((
                    host.pool.utf8(m.name)?.to_vec(),
                    host.pool.utf8(m.descriptor)?.to_vec(),
                ));
            }
        }
        for (index, f) in (0u16..).zip(&host.fields) {
            if f.access & 0x10 != 0 {
                final_fields.push(FinalField {
                    index,
                    name: host.pool.utf8(f.name)?.to_vec(),
                    descriptor: host.pool.utf8(f.descriptor)?.to_vec(),
                    is_static: f.access & 0x8 != 0,
                });
            }
        }
        Ok(Constants {
            file,
            role,
            host: host.name()?.into_owned(),
            container: file.name()?.into_owned(),
            anchor: anchor.to_string(),
            private_methods,
            final_fields,
            bootstrap: bootstrap::read(file)?,
            memo: Map::default(),
            other_class,
        })
    }

    /// Sets the anchor that the code of the next method may name.
    pub fn set_anchor(&mut self, anchor: &str) {
        if self.anchor != anchor {
            self.anchor = anchor.to_string();
            self.memo.clear();
        }
    }

    /// Returns the meaning of an instruction that is neither silent, nor a store, a branch or a
    /// return.
    pub fn meaning(&mut self, contents: &mut ContentNumbers, i: &Instruction) -> Resolved<Meaning> {
        let plain = |key: u32, pops: u16, pushes: u8| {
            Meaning::Effect(Effect {
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
                    _ => return Err(ConstantError::Opcode(*op)),
                };
                return Ok(plain(*op as u32, pops, pushes));
            }
            Instruction::NewArray(t) => return Ok(plain(512 + *t as u32, 1, 1)),
            Instruction::Ldc { index, .. } => (LDC, *index),
            Instruction::Pool { op, index } => (*op, *index),
            Instruction::InvokeInterface { index, .. } => (INVOKEINTERFACE, *index),
            Instruction::InvokeDynamic { index } => (INVOKEDYNAMIC, *index),
            Instruction::MultiNewArray { index, dims } => {
                let class = contents.class(self.file, *index)?;
                let content = bytes(b'm', &[&class.to_be_bytes(), &[*dims]]);
                return Ok(plain(contents.number(content), *dims as u16, 1));
            }
            other => return Err(ConstantError::Opcode(other.op())),
        };
        if let Some(known) = self.memo.get(&(op, index)) {
            return Ok(*known);
        }
        let found = self.find(contents, op, index)?;
        self.memo.insert((op, index), found);
        Ok(found)
    }

    fn find(&mut self, contents: &mut ContentNumbers, op: u8, index: u16) -> Resolved<Meaning> {
        let effect = |key, pops, pushes| {
            Meaning::Effect(Effect {
                key,
                tag: 0,
                pops,
                pushes,
                boxes: 0,
            })
        };
        Ok(match op {
            LDC => match self.entry(index)? {
                PoolEntry::Integer(v) => Meaning::Int(v),
                PoolEntry::Float(v) => Meaning::Float(v.to_bits()),
                PoolEntry::Long(v) => Meaning::Wide(LONG, v as u64),
                PoolEntry::Double(v) => Meaning::Wide(1, v.to_bits()),
                other => {
                    let words = match other {
                        PoolEntry::Dynamic { .. } => {
                            let (_, _, d) = self.dynamic(index)?;
                            words_of(&d)
                        }
                        _ => 1,
                    };
                    let content = self.content(index, 0)?;
                    effect(contents.number(bytes(b'l', &[&content])), 0, words)
                }
            },
            NEW => effect(contents.class(self.file, index)? << 2 | 1 << 30, 0, 1),
            ANEWARRAY => effect(contents.class(self.file, index)? << 2 | 1 | 1 << 30, 1, 1),
            CHECKCAST => effect(contents.class(self.file, index)? << 2 | 2 | 1 << 30, 1, 1),
            INSTANCEOF => effect(contents.class(self.file, index)? << 2 | 3 | 1 << 30, 1, 1),
            INVOKEDYNAMIC => self.call_site(contents, index)?,
            _ => self.member(contents, op, index)?,
        })
    }
}

/// Returns the value and the number of words of a constant that needs no resolution.
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

/// Returns the value of the offset of the host's final field with this index.
pub(super) fn final_offset(values: &mut Values, index: u16) -> Value {
    values.term(GETSTATIC, Value::int(index.into()), Value::NULL)
}

/// Returns the value of the method handle for an operation on a member of the host.
pub(super) fn bound_handle(values: &mut Values, operation: u8, member: u16) -> Value {
    let operation = Value::int(operation.into());
    values.term(GETSTATIC, operation, Value::int(member.into()))
}

/// Returns the value of a `long` from the constant pool.
pub(super) fn long(values: &mut Values, bits: u64) -> Value {
    wide(values, LONG, bits)
}

/// Distinguishes a `long` from a `double` with the same bits.
const LONG: u8 = 0;

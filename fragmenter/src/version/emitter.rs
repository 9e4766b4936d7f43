//! The state of emitting one version class, and the instructions that all bodies use.

use super::plan::ProtectedMembers;
use super::version_class::BoundMember;
use crate::bootstrap::BootstrapMethod;
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction};
use crate::classfile::{ClassFile, ConstantPool, ImportMemo};
use crate::refusal::Refusal;
use crate::runtime;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use veneer_names::MethodId;

/// State that all bodies of one class share.
pub(crate) struct Emitter<'e> {
    pub host: &'e ClassFile<'e>,
    pub host_name: String,
    pub anchor: &'e str,
    pub self_name: String,
    pub pool: ConstantPool<'static>,
    pub memo: ImportMemo,
    pub host_bootstrap: Vec<BootstrapMethod>,
    pub bootstrap: Vec<BootstrapMethod>,
    pub protected: &'e ProtectedMembers,
    /// The indexes of the host's final fields to which the bodies store.
    pub final_fields: BTreeSet<u16>,
    /// The host's members that the bodies use through method handles, by the operation and the
    /// index in the host's constant pool.
    pub bound: BTreeMap<(u8, u16), BoundMember>,
    /// The first local of the current body that may hold operands for a moment, and the number of
    /// locals that were used so.
    pub scratch: u16,
    pub scratch_words: u16,
    pub places: Vec<i32>,
    /// The rest of [`super::VersionClass::places`]: the entries of the parts of split methods.
    pub part_places: Vec<i32>,
    /// The number of parts of all split methods so far.
    pub part_count: u32,
    /// The bytes of the largest body so far.
    pub largest_body: usize,
    /// Compiled probes that the bodies call.
    pub probes: Vec<Arc<veneer_probes::ProbeMethod>>,
}

impl Emitter<'_> {
    /// Pushes an int constant in its smallest form.
    pub fn push_int(&mut self, a: &mut Assembler, value: i32) -> Result<(), Refusal> {
        match i16::try_from(value) {
            Ok(v) => a.push(Instruction::Push(v)),
            Err(_) => a.push(Instruction::Ldc {
                index: self.pool.add_integer(value)?,
                wide: false,
            }),
        }
        Ok(())
    }

    /// Emits a call of a static method of `VeneerRuntime`.
    pub fn call(&mut self, a: &mut Assembler, name: &str, descriptor: &str) -> Result<(), Refusal> {
        a.pool(
            INVOKESTATIC,
            self.pool.add_method(runtime::RUNTIME, name, descriptor)?,
        );
        Ok(())
    }

    /// Emits a call of a method of `VeneerFrame`.
    pub fn frame_call(
        &mut self,
        a: &mut Assembler,
        name: &str,
        descriptor: &str,
    ) -> Result<(), Refusal> {
        a.pool(
            INVOKEVIRTUAL,
            self.pool.add_method(runtime::FRAME, name, descriptor)?,
        );
        Ok(())
    }

    /// Pushes the cell of a method.
    pub fn push_cell(&mut self, a: &mut Assembler, id: MethodId) -> Result<(), Refusal> {
        a.pool(
            GETSTATIC,
            self.pool.add_field(
                self.anchor,
                &runtime::cell_field(id),
                runtime::CELL_DESCRIPTOR,
            )?,
        );
        Ok(())
    }

    /// Emits a cast to a class, unless the class is `java.lang.Object`.
    pub fn cast(&mut self, a: &mut Assembler, class: &str) -> Result<(), Refusal> {
        if class != "java/lang/Object" {
            a.pool(CHECKCAST, self.pool.add_class(class)?);
        }
        Ok(())
    }

    /// The index of a bootstrap method in the version class. Adds the bootstrap method if
    /// necessary.
    pub fn bootstrap(&mut self, method: BootstrapMethod) -> Result<u16, Refusal> {
        if let Some(i) = self.bootstrap.iter().position(|b| *b == method) {
            return Ok(i as u16);
        }
        self.bootstrap.push(method);
        u16::try_from(self.bootstrap.len() - 1).map_err(|_| Refusal::PoolFull)
    }
}

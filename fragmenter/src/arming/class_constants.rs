//! The constants that the fast path adds to one class.
//!
//! A constant that names Veneer's classes, a cell or the body of a version cannot be in the pool
//! yet, so it is appended without looking for an equal one. The constants that methods share are
//! kept here. Only the classes of the application are looked up, in a table of the pool's `Class`
//! entries (`class_table.rs`).

use super::class_table::ClassTable;
use crate::classfile::{ClassFileError, ConstantPool};
use crate::osr_exit::{ExitConstants, FRAME_ADD, FRAME_OF};
use crate::runtime;
use veneer_names::MethodId;

/// Kinds of results: the suffixes of `go` and `exit`.
const RESULT_KINDS: [&str; 6] = ["V", "I", "J", "F", "D", "L"];

/// The constants of one anchor.
#[derive(Clone)]
struct AnchorConstants {
    name: String,
    class: u16,
    /// The method that casts a version to the anchor.
    cast: u16,
}

/// The constants of one class. The number 0 stands for a constant that was not needed yet.
pub(super) struct ClassConstants {
    this_class: u16,
    classes: ClassTable,
    cell_class: u16,
    cell_descriptor: u16,
    pub version: u16,
    pub leave: u16,
    runtime_class: u16,
    frame_class: u16,
    stack_map: u16,
    frame_of: [u16; FRAME_OF.len()],
    frame_add: [u16; FRAME_ADD.len()],
    go: [u16; RESULT_KINDS.len()],
    exit: [u16; RESULT_KINDS.len()],
    anchor: Option<AnchorConstants>,
    /// A name that is being written.
    name: Vec<u8>,
}

impl ClassConstants {
    /// The constants of a class. The memory of the table is reused.
    pub fn new(this_class: u16, mut classes: ClassTable) -> ClassConstants {
        classes.clear();
        ClassConstants {
            this_class,
            classes,
            cell_class: 0,
            cell_descriptor: 0,
            version: 0,
            leave: 0,
            runtime_class: 0,
            frame_class: 0,
            stack_map: 0,
            frame_of: [0; FRAME_OF.len()],
            frame_add: [0; FRAME_ADD.len()],
            go: [0; RESULT_KINDS.len()],
            exit: [0; RESULT_KINDS.len()],
            anchor: None,
            name: Vec::new(),
        }
    }

    pub fn this_class(&self) -> u16 {
        self.this_class
    }

    /// The table of classes, when the class is armed.
    pub fn into_table(self) -> ClassTable {
        self.classes
    }

    /// The class with this internal name or array descriptor.
    pub fn class(&mut self, name: &[u8], pool: &mut ConstantPool) -> Result<u16, ClassFileError> {
        match self.classes.find(name, pool) {
            Ok(index) => Ok(index),
            Err(slot) => {
                let text = pool.append_utf8(name)?;
                let index = pool.append_class(text)?;
                self.classes.insert(slot, index);
                Ok(index)
            }
        }
    }

    /// `java.lang.Object`.
    pub fn object(&mut self, pool: &mut ConstantPool) -> Result<u16, ClassFileError> {
        self.class(b"java/lang/Object", pool)
    }

    /// The class of frames.
    pub fn frame(&mut self, pool: &mut ConstantPool) -> Result<u16, ClassFileError> {
        if self.frame_class == 0 {
            self.frame_class = append_class(pool, runtime::FRAME)?;
        }
        Ok(self.frame_class)
    }

    /// The name of the attribute `StackMapTable`.
    pub fn stack_map_name(&mut self, pool: &mut ConstantPool) -> Result<u16, ClassFileError> {
        if self.stack_map == 0 {
            self.stack_map = pool.append_utf8(b"StackMapTable")?;
        }
        Ok(self.stack_map)
    }

    /// Adds the field that holds a method's cell, and the methods of a cell that checks call.
    pub fn cell(
        &mut self,
        pool: &mut ConstantPool,
        anchor: &str,
        id: MethodId,
    ) -> Result<u16, ClassFileError> {
        if self.cell_descriptor == 0 {
            self.cell_class = append_class(pool, runtime::CELL)?;
            self.version = append_method(pool, self.cell_class, "version", "()Ljava/lang/Object;")?;
            self.leave = append_method(pool, self.cell_class, "leave", "()Z")?;
            self.cell_descriptor = pool.append_utf8(runtime::CELL_DESCRIPTOR.as_bytes())?;
        }
        let class = self.anchor(pool, anchor)?.class;
        self.name.clear();
        runtime::write_cell_field(&mut self.name, id);
        let name = pool.append_utf8(&self.name)?;
        pool.append_field(class, name, self.cell_descriptor)
    }

    /// Adds the body of the version for new activations. Returns the method that casts a version to
    /// the anchor, and the body. `method` is the name and the id of the method. `site` is the index
    /// of the descriptor of the call.
    pub fn enter(
        &mut self,
        pool: &mut ConstantPool,
        anchor: &str,
        method: (&str, MethodId),
        site: u16,
    ) -> Result<(u16, u16), ClassFileError> {
        let (class, cast) = {
            let anchor = self.anchor(pool, anchor)?;
            (anchor.class, anchor.cast)
        };
        self.name.clear();
        runtime::write_enter_method(&mut self.name, method.0, method.1);
        let name = pool.append_utf8(&self.name)?;
        Ok((cast, pool.append_method(class, name, site)?))
    }

    fn anchor(
        &mut self,
        pool: &mut ConstantPool,
        name: &str,
    ) -> Result<&AnchorConstants, ClassFileError> {
        if self.anchor.as_ref().is_none_or(|a| a.name != name) {
            let class = append_class(pool, name)?;
            let descriptor = runtime::anchor_version_descriptor(name);
            self.anchor = Some(AnchorConstants {
                name: name.to_string(),
                class,
                cast: append_method(pool, class, runtime::ANCHOR_VERSION, &descriptor)?,
            });
        }
        self.anchor.as_ref().ok_or(ClassFileError::PoolFull)
    }

    /// The overload of `VeneerFrame.of` with this index.
    pub fn frame_of(&mut self, pool: &mut ConstantPool, n: usize) -> Result<u16, ClassFileError> {
        if self.frame_of[n] == 0 {
            let class = self.frame(pool)?;
            self.frame_of[n] = append_method(pool, class, "of", FRAME_OF[n])?;
        }
        Ok(self.frame_of[n])
    }

    /// The overload of `VeneerFrame.add` with this index.
    pub fn frame_add(&mut self, pool: &mut ConstantPool, n: usize) -> Result<u16, ClassFileError> {
        if self.frame_add[n] == 0 {
            let class = self.frame(pool)?;
            self.frame_add[n] = append_method(pool, class, "add", FRAME_ADD[n])?;
        }
        Ok(self.frame_add[n])
    }

    /// Adds the methods of `VeneerRuntime` by which activations leave: `go` if they leave with a
    /// frame, `exit` if they leave before a return. `result` is the first byte of the descriptor of
    /// the result.
    pub fn add_leaving(
        &mut self,
        pool: &mut ConstantPool,
        (frames, returns): (bool, bool),
        result: u8,
        exit: &mut ExitConstants,
    ) -> Result<(), ClassFileError> {
        let kind = match result {
            b'V' => 0,
            b'J' => 2,
            b'F' => 3,
            b'D' => 4,
            b'L' | b'[' => 5,
            _ => 1,
        };
        let value = match RESULT_KINDS[kind] {
            "L" => "Ljava/lang/Object;",
            other => other,
        };
        if self.runtime_class == 0 {
            self.runtime_class = append_class(pool, runtime::RUNTIME)?;
        }
        if frames {
            if self.go[kind] == 0 {
                let name = format!("go{}", RESULT_KINDS[kind]);
                let (frame, cell) = (runtime::FRAME_DESCRIPTOR, runtime::CELL_DESCRIPTOR);
                let descriptor = format!("({frame}{cell}){value}");
                self.go[kind] = append_method(pool, self.runtime_class, &name, &descriptor)?;
            }
            exit.go = self.go[kind];
        }
        if returns {
            if self.exit[kind] == 0 {
                let name = format!("exit{}", RESULT_KINDS[kind]);
                let taken = if kind == 0 { "" } else { value };
                let descriptor = format!("({taken}I{}){value}", runtime::CELL_DESCRIPTOR);
                self.exit[kind] = append_method(pool, self.runtime_class, &name, &descriptor)?;
            }
            exit.exit = self.exit[kind];
        }
        Ok(())
    }
}

/// Appends a class with this internal name.
fn append_class(pool: &mut ConstantPool, name: &str) -> Result<u16, ClassFileError> {
    let name = pool.append_text(name)?;
    pool.append_class(name)
}

/// Appends a method of a class.
fn append_method(
    pool: &mut ConstantPool,
    class: u16,
    name: &str,
    descriptor: &str,
) -> Result<u16, ClassFileError> {
    let (name, descriptor) = (pool.append_text(name)?, pool.append_text(descriptor)?);
    pool.append_method(class, name, descriptor)
}

//! The anchor: a small class beside an armed one that holds the cells of its methods.
//!
//! ```text
//!   final synthetic class a/b/C$Veneer { static final VeneerCell c17 = VeneerRuntime.cell(17); … }
//! ```
//!
//! It is defined in the armed class's own loader and package, so that nothing has to be added to the armed class. The
//! cells are `static final`, so that the JIT takes them as constants. The agent initialises the anchor before the armed class
//! is there: no application thread ever runs its initialiser.

use crate::bytecode::Assembler;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::{Attribute, ClassFile, Code, ConstantPool, Member};
use crate::refusal::Refusal;
use crate::runtime;

const FLAGS: u16 = 0x1000 | 0x0020 | 0x0010; // synthetic, super, final
const FIELD_FLAGS: u16 = 0x1000 | 0x0010 | 0x0008; // synthetic, final, static

/// The anchor's internal name. `generation` counts redefinitions of the armed class with other code.
pub fn name(class: &str, generation: u32) -> String {
    if generation == 0 {
        format!("{class}$Veneer")
    } else {
        format!("{class}$Veneer{generation}")
    }
}

/// Whether an internal name is an anchor's.
pub fn is_anchor(name: &str) -> bool {
    name.rsplit_once("$Veneer")
        .is_some_and(|(_, rest)| rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Writes the anchor class for the methods with these ids.
pub fn emit(name: &str, ids: &[u32]) -> Result<Vec<u8>, Refusal> {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class(name)?;
    let super_class = pool.add_class("java/lang/Object")?;
    let cell = pool.add_method(runtime::RUNTIME, "cell", "(I)Ljava/lang/invoke/VeneerCell;")?;
    let descriptor = pool.add_utf8(runtime::CELL_DESCRIPTOR)?;
    let mut fields = Vec::with_capacity(ids.len());
    let mut assembler = Assembler::new();
    for id in ids {
        let field = runtime::cell_field(*id);
        fields.push(Member {
            access: FIELD_FLAGS,
            name: pool.add_utf8(&field)?,
            descriptor,
            attributes: Vec::new(),
        });
        let constant = pool.add_integer(*id as i32)?;
        assembler.push(Instruction::Ldc {
            index: constant,
            wide: false,
        });
        assembler.pool(INVOKESTATIC, cell);
        assembler.pool(
            PUTSTATIC,
            pool.add_field(name, &field, runtime::CELL_DESCRIPTOR)?,
        );
    }
    assembler.plain(RETURN);
    let code = Code {
        max_stack: 1,
        max_locals: 0,
        code: assembler.finish()?.code.into(),
        exceptions: Vec::new(),
        attributes: Vec::new(),
    };
    let attribute = Attribute {
        name: pool.add_utf8("Code")?,
        info: code.to_bytes()?.into(),
    };
    let clinit = Member {
        access: 0x0008,
        name: pool.add_utf8("<clinit>")?,
        descriptor: pool.add_utf8("()V")?,
        attributes: vec![attribute],
    };
    let file = ClassFile {
        minor: 0,
        major: 52,
        pool,
        access: FLAGS,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields,
        methods: vec![clinit],
        attributes: Vec::new(),
    };
    Ok(file.to_bytes()?)
}

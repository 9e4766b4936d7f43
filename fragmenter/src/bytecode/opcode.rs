//! Opcodes (JVMS §6.5) by name, and the stack effects of instructions without operands.

macro_rules! opcodes {
    ($($name:ident = $value:expr;)*) => { $(#[allow(missing_docs)] pub const $name: u8 = $value;)* };
}

opcodes! {
    NOP = 0; ACONST_NULL = 1; ICONST_M1 = 2; ICONST_0 = 3; ICONST_1 = 4; LCONST_0 = 9; LCONST_1 = 10; FCONST_0 = 11; DCONST_0 = 14;
    BIPUSH = 16; SIPUSH = 17; LDC = 18; LDC_W = 19; LDC2_W = 20;
    ILOAD = 21; LLOAD = 22; FLOAD = 23; DLOAD = 24; ALOAD = 25; ILOAD_0 = 26;
    IALOAD = 46; AALOAD = 50; SALOAD = 53;
    ISTORE = 54; LSTORE = 55; FSTORE = 56; DSTORE = 57; ASTORE = 58; ISTORE_0 = 59;
    IASTORE = 79; AASTORE = 83; SASTORE = 86;
    POP = 87; POP2 = 88; DUP = 89; DUP_X1 = 90; DUP_X2 = 91; DUP2 = 92; DUP2_X1 = 93; DUP2_X2 = 94; SWAP = 95;
    IADD = 96; LADD = 97; LSUB = 101; IDIV = 108; LDIV = 109; IREM = 112; LREM = 113; LNEG = 117; LUSHR = 125; LXOR = 131; IINC = 132; I2L = 133; I2S = 147;
    LCMP = 148; DCMPG = 152;
    IFEQ = 153; IFNE = 154; IFLT = 155; IF_ICMPEQ = 159; IF_ICMPNE = 160; IF_ICMPLT = 161; IF_ICMPLE = 164; IF_ACMPNE = 166; GOTO = 167; JSR = 168; RET = 169;
    TABLESWITCH = 170; LOOKUPSWITCH = 171;
    IRETURN = 172; LRETURN = 173; FRETURN = 174; DRETURN = 175; ARETURN = 176; RETURN = 177;
    GETSTATIC = 178; PUTSTATIC = 179; GETFIELD = 180; PUTFIELD = 181;
    INVOKEVIRTUAL = 182; INVOKESPECIAL = 183; INVOKESTATIC = 184; INVOKEINTERFACE = 185; INVOKEDYNAMIC = 186;
    NEW = 187; NEWARRAY = 188; ANEWARRAY = 189; ARRAYLENGTH = 190; ATHROW = 191; CHECKCAST = 192; INSTANCEOF = 193;
    MONITORENTER = 194; MONITOREXIT = 195; WIDE = 196; MULTIANEWARRAY = 197; IFNULL = 198; IFNONNULL = 199;
    GOTO_W = 200; JSR_W = 201;
}

/// Returns the stack effect of an instruction without operands: pops left of `:`, with the top of
/// the stack last, and pushes right of it. `I` is int, `L` long, `F` float, `D` double, `A`
/// reference.
///
/// Returns `None` if the effect depends on more than the opcode.
pub const fn signature(op: u8) -> Option<&'static str> {
    Some(match op {
        0 => ":",
        2..=8 => ":I",
        9 | 10 => ":L",
        11..=13 => ":F",
        14 | 15 => ":D",
        16 | 17 => ":I",
        46 | 51 | 52 | 53 => "AI:I",
        47 => "AI:L",
        48 => "AI:F",
        49 => "AI:D",
        79 | 84 | 85 | 86 => "AII:",
        80 => "AIL:",
        81 => "AIF:",
        82 => "AID:",
        83 => "AIA:",
        96 | 100 | 104 | 108 | 112 | 120 | 122 | 124 | 126 | 128 | 130 => "II:I",
        97 | 101 | 105 | 109 | 113 | 127 | 129 | 131 => "LL:L",
        98 | 102 | 106 | 110 | 114 => "FF:F",
        99 | 103 | 107 | 111 | 115 => "DD:D",
        116 => "I:I",
        117 => "L:L",
        118 => "F:F",
        119 => "D:D",
        121 | 123 | 125 => "LI:L",
        133 => "I:L",
        134 => "I:F",
        135 => "I:D",
        136 => "L:I",
        137 => "L:F",
        138 => "L:D",
        139 => "F:I",
        140 => "F:L",
        141 => "F:D",
        142 => "D:I",
        143 => "D:L",
        144 => "D:F",
        145..=147 => "I:I",
        148 => "LL:I",
        149 | 150 => "FF:I",
        151 | 152 => "DD:I",
        153..=158 => "I:",
        159..=164 => "II:",
        165 | 166 => "AA:",
        167 => ":",
        170 | 171 => "I:",
        172 => "I:",
        173 => "L:",
        174 => "F:",
        175 => "D:",
        176 => "A:",
        177 => ":",
        190 => "A:I",
        191 => "A:",
        193 => "A:I",
        194 | 195 => "A:",
        198 | 199 => "A:",
        _ => return None,
    })
}

/// Returns the name of an opcode as in the JVM specification.
pub fn mnemonic(op: u8) -> &'static str {
    const NAMES: [&str; 202] = [
        "nop",
        "aconst_null",
        "iconst_m1",
        "iconst_0",
        "iconst_1",
        "iconst_2",
        "iconst_3",
        "iconst_4",
        "iconst_5",
        "lconst_0",
        "lconst_1",
        "fconst_0",
        "fconst_1",
        "fconst_2",
        "dconst_0",
        "dconst_1",
        "bipush",
        "sipush",
        "ldc",
        "ldc_w",
        "ldc2_w",
        "iload",
        "lload",
        "fload",
        "dload",
        "aload",
        "iload_0",
        "iload_1",
        "iload_2",
        "iload_3",
        "lload_0",
        "lload_1",
        "lload_2",
        "lload_3",
        "fload_0",
        "fload_1",
        "fload_2",
        "fload_3",
        "dload_0",
        "dload_1",
        "dload_2",
        "dload_3",
        "aload_0",
        "aload_1",
        "aload_2",
        "aload_3",
        "iaload",
        "laload",
        "faload",
        "daload",
        "aaload",
        "baload",
        "caload",
        "saload",
        "istore",
        "lstore",
        "fstore",
        "dstore",
        "astore",
        "istore_0",
        "istore_1",
        "istore_2",
        "istore_3",
        "lstore_0",
        "lstore_1",
        "lstore_2",
        "lstore_3",
        "fstore_0",
        "fstore_1",
        "fstore_2",
        "fstore_3",
        "dstore_0",
        "dstore_1",
        "dstore_2",
        "dstore_3",
        "astore_0",
        "astore_1",
        "astore_2",
        "astore_3",
        "iastore",
        "lastore",
        "fastore",
        "dastore",
        "aastore",
        "bastore",
        "castore",
        "sastore",
        "pop",
        "pop2",
        "dup",
        "dup_x1",
        "dup_x2",
        "dup2",
        "dup2_x1",
        "dup2_x2",
        "swap",
        "iadd",
        "ladd",
        "fadd",
        "dadd",
        "isub",
        "lsub",
        "fsub",
        "dsub",
        "imul",
        "lmul",
        "fmul",
        "dmul",
        "idiv",
        "ldiv",
        "fdiv",
        "ddiv",
        "irem",
        "lrem",
        "frem",
        "drem",
        "ineg",
        "lneg",
        "fneg",
        "dneg",
        "ishl",
        "lshl",
        "ishr",
        "lshr",
        "iushr",
        "lushr",
        "iand",
        "land",
        "ior",
        "lor",
        "ixor",
        "lxor",
        "iinc",
        "i2l",
        "i2f",
        "i2d",
        "l2i",
        "l2f",
        "l2d",
        "f2i",
        "f2l",
        "f2d",
        "d2i",
        "d2l",
        "d2f",
        "i2b",
        "i2c",
        "i2s",
        "lcmp",
        "fcmpl",
        "fcmpg",
        "dcmpl",
        "dcmpg",
        "ifeq",
        "ifne",
        "iflt",
        "ifge",
        "ifgt",
        "ifle",
        "if_icmpeq",
        "if_icmpne",
        "if_icmplt",
        "if_icmpge",
        "if_icmpgt",
        "if_icmple",
        "if_acmpeq",
        "if_acmpne",
        "goto",
        "jsr",
        "ret",
        "tableswitch",
        "lookupswitch",
        "ireturn",
        "lreturn",
        "freturn",
        "dreturn",
        "areturn",
        "return",
        "getstatic",
        "putstatic",
        "getfield",
        "putfield",
        "invokevirtual",
        "invokespecial",
        "invokestatic",
        "invokeinterface",
        "invokedynamic",
        "new",
        "newarray",
        "anewarray",
        "arraylength",
        "athrow",
        "checkcast",
        "instanceof",
        "monitorenter",
        "monitorexit",
        "wide",
        "multianewarray",
        "ifnull",
        "ifnonnull",
        "goto_w",
        "jsr_w",
    ];
    NAMES.get(op as usize).copied().unwrap_or("?")
}

/// True if control never continues at the next instruction.
pub fn ends_flow(op: u8) -> bool {
    matches!(
        op,
        GOTO | GOTO_W | JSR | JSR_W | RET | TABLESWITCH | LOOKUPSWITCH | ATHROW
    ) || is_return(op)
}

/// True if the instruction returns from the method.
pub fn is_return(op: u8) -> bool {
    (IRETURN..=RETURN).contains(&op)
}

/// True if the instruction calls a method.
pub fn is_invoke(op: u8) -> bool {
    (INVOKEVIRTUAL..=INVOKEDYNAMIC).contains(&op)
}

/// True if the instruction may throw, apart from asynchronous exceptions, so that exception
/// handlers apply to it.
pub fn may_throw(op: u8) -> bool {
    matches!(op, IALOAD..=SALOAD | IASTORE..=SASTORE | IDIV | LDIV | IREM | LREM | LDC | LDC_W | LDC2_W)
        || (GETSTATIC..=MULTIANEWARRAY).contains(&op) && op != WIDE
}

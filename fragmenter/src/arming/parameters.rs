//! A method's parameters, read from the descriptor alone: the instructions by which a stub loads
//! them, and their verification types in a stack map.

use crate::bytecode::opcode::*;
use crate::classfile::ConstantPool;
use crate::refusal::Refusal;
use veneer_names::raw::field_length;

/// The parameters as local variables. Each load is a pair of opcode and slot.
pub(super) struct Parameters {
    pub loads: Vec<(u8, u16)>,
    /// Descriptor of the call of the version: the parameters, including the receiver, and the
    /// result.
    pub site: String,
    /// Number of parameters, which is the number of verification types in a full frame.
    pub count: u16,
    pub words: u16,
    /// First byte of the result's descriptor. This byte is at index `result_at` of `site`.
    pub result: u8,
    pub result_at: usize,
}

impl Parameters {
    /// Parses a descriptor. Returns `None` if it is malformed.
    pub fn parse(class: &str, descriptor: &[u8], is_static: bool) -> Option<Parameters> {
        let text = std::str::from_utf8(descriptor).ok()?;
        let mut found = Parameters {
            loads: Vec::new(),
            site: String::with_capacity(text.len() + class.len() + 4),
            count: 0,
            words: 0,
            result: 0,
            result_at: 0,
        };
        found.site.push('(');
        let mut slot = 0;
        if !is_static {
            found.site.push('L');
            found.site.push_str(class);
            found.site.push(';');
            found.loads.push((ALOAD, 0));
            slot = 1;
        }
        let mut rest = text.strip_prefix('(')?;
        while !rest.starts_with(')') {
            let length = field_length(rest.as_bytes())?;
            let (load, words) = match rest.as_bytes()[0] {
                b'J' => (LLOAD, 2),
                b'F' => (FLOAD, 1),
                b'D' => (DLOAD, 2),
                b'L' | b'[' => (ALOAD, 1),
                _ => (ILOAD, 1),
            };
            match load {
                ILOAD => found.site.push('I'),
                _ => found.site.push_str(&rest[..length]),
            }
            found.loads.push((load, slot));
            slot = slot.checked_add(words)?;
            rest = &rest[length..];
        }
        found.result_at = found.site.len() + 1;
        found.site.push_str(rest);
        let result = rest.as_bytes().get(1).copied()?;
        if result != b'V' && field_length(&rest.as_bytes()[1..])? != rest.len() - 1
            || result == b'V' && rest.len() != 2
        {
            return None;
        }
        found.result = result;
        found.count = u16::try_from(found.loads.len()).ok()?;
        found.words = slot;
        Some(found)
    }
}

/// The parameters as encoded verification types of a full frame.
pub(super) fn verification_types(
    parameters: &Parameters,
    pool: &mut ConstantPool,
) -> Result<Vec<u8>, Refusal> {
    let mut out = Vec::new();
    let mut rest = &parameters.site[1..];
    for (op, _) in &parameters.loads {
        let length = field_length(rest.as_bytes()).unwrap_or(rest.len());
        match *op {
            ILOAD => out.push(1),
            FLOAD => out.push(2),
            DLOAD => out.push(3),
            LLOAD => out.push(4),
            _ => out.extend(object(&rest[..length], pool, true)?),
        }
        rest = &rest[length..];
    }
    Ok(out)
}

/// Length in bytes of the entry's stub.
pub(super) fn entry_stub_bytes(parameters: &Parameters) -> u32 {
    let bytes = |slot: u16| match slot {
        0..=3 => 1,
        4..=255 => 2,
        _ => 4,
    };
    let loads = parameters.loads.iter().map(|(op, slot)| {
        let drops = if *op == ALOAD { 1 + bytes(*slot) } else { 0 };
        bytes(*slot) + drops
    });
    loads.sum::<u32>() + 7
}

/// Length in bytes of the stub for the return that is point `n`, including the jump to the exit
/// tail.
pub(super) fn exit_stub_bytes(n: usize) -> u32 {
    let push = match n {
        0..=5 => 1,
        6..=127 => 2,
        _ => 3,
    };
    push + 3
}

/// Appends a load (`ILOAD` …) or store (`ISTORE` …) of a local variable.
pub(super) fn local(out: &mut Vec<u8>, op: u8, slot: u16) {
    let (first, short) = if op >= ISTORE {
        (ISTORE, ISTORE_0)
    } else {
        (ILOAD, ILOAD_0)
    };
    match slot {
        0..=3 => out.push(short + (op - first) * 4 + slot as u8),
        4..=255 => out.extend([op, slot as u8]),
        _ => {
            out.extend([WIDE, op]);
            out.extend(slot.to_be_bytes());
        }
    }
}

/// The encoded verification type of a reference type, given its field descriptor. Adds the class to
/// the pool. If `needed` is false, the result is empty and the pool does not change.
pub(super) fn object(
    descriptor: &str,
    pool: &mut ConstantPool,
    needed: bool,
) -> Result<Vec<u8>, Refusal> {
    if !needed {
        return Ok(Vec::new());
    }
    let name = match descriptor.strip_prefix('L') {
        Some(name) => name.trim_end_matches(';'),
        None => descriptor,
    };
    let [a, b] = pool.add_class(name)?.to_be_bytes();
    Ok(vec![7, a, b])
}

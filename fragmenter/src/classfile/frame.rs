//! Stack maps (JVMS 4.7.4): decoding to full frames at absolute pcs, and encoding.
//!
//! In the class file, each frame is a change to the previous frame. The first frame is a change to
//! the frame at method entry, which follows from the descriptor and is not stored:
//!
//! ```text
//!   initial locals [this, int] ─ append 1 ─▶ [this, int, String] pc 7 ─ same ─▶ pc 19 ─ chop 1 ─▶ [this, int] pc 31
//! ```
//!
//! The encoder selects the smallest form for each frame, as `javac` does.

use std::fmt;

use super::error::ClassFileError;
use super::reader::{Reader, put_count, put_u16};

/// Maximum number of types in the decoded frames of one method. A few bytes can encode a frame with
/// 65,535 locals, so without a limit a class file of 130 KB could require 16 GB. The largest method
/// of JDK 17 and 25 needs 6,691 types.
pub const MAX_FRAME_TYPES: usize = 1 << 22;

/// The type of a local variable or stack entry (JVMS 4.10.1.2). `Long` and `Double` are one
/// element, although they take two slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerificationType {
    /// An unusable value.
    Top,
    /// `int`, and all types that the JVM represents as `int`.
    Integer,
    /// The type `float`.
    Float,
    /// The type `double`, which takes two slots.
    Double,
    /// The type `long`, which takes two slots.
    Long,
    /// The type of `null`.
    Null,
    /// `this` in a constructor before `super(…)` or `this(…)` was called.
    UninitializedThis,
    /// An object or array, given by the pool index of its class.
    Object(u16),
    /// An object created by the `new` at this pc, before its constructor is called.
    Uninitialized(u16),
}

impl VerificationType {
    /// Number of slots of a value: 2 for `Long` and `Double`, else 1.
    pub fn slots(self) -> u16 {
        if matches!(self, VerificationType::Long | VerificationType::Double) {
            2
        } else {
            1
        }
    }
}

impl fmt::Display for VerificationType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VerificationType::Top => f.write_str("top"),
            VerificationType::Integer => f.write_str("int"),
            VerificationType::Float => f.write_str("float"),
            VerificationType::Double => f.write_str("double"),
            VerificationType::Long => f.write_str("long"),
            VerificationType::Null => f.write_str("null"),
            VerificationType::UninitializedThis => f.write_str("uninitializedThis"),
            VerificationType::Object(class) => write!(f, "object #{class}"),
            VerificationType::Uninitialized(pc) => write!(f, "uninitialized @{pc}"),
        }
    }
}

/// The types at one pc.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct StackMapFrame {
    /// The pc to which the types apply.
    pub pc: u16,
    /// Locals from slot 0; missing locals at the end are `Top`.
    pub locals: Vec<VerificationType>,
    /// Operand stack, bottom first.
    pub stack: Vec<VerificationType>,
}

/// Decodes the `info` of a `StackMapTable`. `initial_locals` are the locals at method entry.
///
/// # Errors
/// If the table is malformed, or its decoded frames hold more than [`MAX_FRAME_TYPES`] types.
pub fn decode_stack_map(
    info: &[u8],
    initial_locals: &[VerificationType],
) -> Result<Vec<StackMapFrame>, ClassFileError> {
    let mut reader = Reader::new(info);
    let count = reader.u16("a StackMapTable's count")?;
    let mut frames: Vec<StackMapFrame> = reader.vec_for(count, 1);
    let mut types = 0;
    for _ in 0..count {
        let previous = frames.last();
        let locals_before = previous.map_or(initial_locals, |frame| &frame.locals);
        let at = reader.at();
        let form = reader.u8("a stack-map frame")?;
        let delta = match form {
            0..=63 => u16::from(form),
            64..=127 => u16::from(form) - 64,
            247..=255 => reader.u16("a stack-map frame's offset")?,
            128..=246 => {
                return Err(ClassFileError::BadFrame {
                    what: "frame type",
                    value: form,
                    offset: at,
                });
            }
        };
        let pc = previous.map_or(0, |frame| u32::from(frame.pc) + 1) + u32::from(delta);
        let pc = u16::try_from(pc).map_err(|_| ClassFileError::FrameOrder {
            pc,
            previous: previous.map(|frame| frame.pc),
        })?;
        // A form relative to the previous frame copies that frame's locals without a matching
        // number of input bytes. A full frame is limited by its own bytes.
        types += if form == 255 { 0 } else { locals_before.len() };
        if types > MAX_FRAME_TYPES {
            return Err(ClassFileError::FramesTooLarge {
                limit: MAX_FRAME_TYPES,
            });
        }
        let (locals, stack) = match form {
            64..=127 | 247 => (locals_before.to_vec(), vec![read_type(&mut reader)?]),
            248..=250 => {
                let chopped = 251 - usize::from(form);
                let kept = locals_before
                    .len()
                    .checked_sub(chopped)
                    .and_then(|kept| locals_before.get(..kept))
                    .ok_or(ClassFileError::BadChop {
                        pc,
                        chopped,
                        locals: locals_before.len(),
                    })?;
                (kept.to_vec(), Vec::new())
            }
            252..=254 => {
                let appended = usize::from(form) - 251;
                let mut locals = Vec::with_capacity(locals_before.len() + appended);
                locals.extend_from_slice(locals_before);
                for _ in 0..appended {
                    locals.push(read_type(&mut reader)?);
                }
                (locals, Vec::new())
            }
            255 => (read_types(&mut reader)?, read_types(&mut reader)?),
            _ => (locals_before.to_vec(), Vec::new()),
        };
        frames.push(StackMapFrame { pc, locals, stack });
    }
    reader.finish("the StackMapTable")?;
    Ok(frames)
}

fn read_types(reader: &mut Reader<'_>) -> Result<Vec<VerificationType>, ClassFileError> {
    let count = reader.u16("a count of verification types")?;
    let mut types = reader.vec_for(count, 1);
    for _ in 0..count {
        types.push(read_type(reader)?);
    }
    Ok(types)
}

fn read_type(reader: &mut Reader<'_>) -> Result<VerificationType, ClassFileError> {
    let at = reader.at();
    let tag = reader.u8("a verification type")?;
    Ok(match tag {
        0 => VerificationType::Top,
        1 => VerificationType::Integer,
        2 => VerificationType::Float,
        3 => VerificationType::Double,
        4 => VerificationType::Long,
        5 => VerificationType::Null,
        6 => VerificationType::UninitializedThis,
        7 => VerificationType::Object(reader.u16("a verification type's class")?),
        8 => VerificationType::Uninitialized(reader.u16("a verification type's pc")?),
        _ => {
            return Err(ClassFileError::BadFrame {
                what: "verification type",
                value: tag,
                offset: at,
            });
        }
    })
}

/// Encodes the `info` of a `StackMapTable`, each frame in its smallest form. `initial_locals` are
/// the locals at method entry.
///
/// # Errors
/// If the pcs do not ascend, or a count does not fit its field.
pub fn encode_stack_map(
    frames: &[StackMapFrame],
    initial_locals: &[VerificationType],
) -> Result<Vec<u8>, ClassFileError> {
    let mut out = Vec::with_capacity(2 + 4 * frames.len());
    put_count(&mut out, frames.len(), "a StackMapTable")?;
    let mut previous: Option<u16> = None;
    let mut locals_before = initial_locals;
    for frame in frames {
        let first = previous.map_or(0, |pc| u32::from(pc) + 1);
        let delta = u32::from(frame.pc)
            .checked_sub(first)
            .and_then(|delta| u16::try_from(delta).ok())
            .ok_or(ClassFileError::FrameOrder {
                pc: u32::from(frame.pc),
                previous,
            })?;
        write_frame(&mut out, delta, frame, locals_before)?;
        previous = Some(frame.pc);
        locals_before = &frame.locals;
    }
    Ok(out)
}

fn write_frame(
    out: &mut Vec<u8>,
    delta: u16,
    frame: &StackMapFrame,
    locals_before: &[VerificationType],
) -> Result<(), ClassFileError> {
    // `Some` if the offset fits the single byte of a `same` form.
    let short = u8::try_from(delta).ok().filter(|&delta| delta < 64);
    match *frame.stack.as_slice() {
        [] => {
            if let Some(appended) = frame.locals.strip_prefix(locals_before) {
                match (appended.len(), short) {
                    (0, Some(delta)) => out.push(delta),
                    (0..=3, _) => {
                        // 251 is `same_frame_extended`, 252 to 254 append one to three locals.
                        out.push(251 + appended.len() as u8);
                        put_u16(out, delta);
                        appended.iter().for_each(|&local| write_type(out, local));
                    }
                    _ => write_full(out, delta, frame)?,
                }
                return Ok(());
            }
            if let Some(chopped) = locals_before.strip_prefix(frame.locals.as_slice())
                && chopped.len() <= 3
            {
                out.push(251 - chopped.len() as u8);
                put_u16(out, delta);
                return Ok(());
            }
            write_full(out, delta, frame)
        }
        [only] if frame.locals == locals_before => {
            match short {
                Some(delta) => out.push(64 + delta),
                None => {
                    out.push(247);
                    put_u16(out, delta);
                }
            }
            write_type(out, only);
            Ok(())
        }
        _ => write_full(out, delta, frame),
    }
}

fn write_full(out: &mut Vec<u8>, delta: u16, frame: &StackMapFrame) -> Result<(), ClassFileError> {
    out.push(255);
    put_u16(out, delta);
    for (types, what) in [
        (&frame.locals, "a frame's locals"),
        (&frame.stack, "a frame's stack"),
    ] {
        put_count(out, types.len(), what)?;
        types.iter().for_each(|&entry| write_type(out, entry));
    }
    Ok(())
}

fn write_type(out: &mut Vec<u8>, entry: VerificationType) {
    let (tag, detail) = match entry {
        VerificationType::Top => (0, None),
        VerificationType::Integer => (1, None),
        VerificationType::Float => (2, None),
        VerificationType::Double => (3, None),
        VerificationType::Long => (4, None),
        VerificationType::Null => (5, None),
        VerificationType::UninitializedThis => (6, None),
        VerificationType::Object(class) => (7, Some(class)),
        VerificationType::Uninitialized(pc) => (8, Some(pc)),
    };
    out.push(tag);
    if let Some(detail) = detail {
        put_u16(out, detail);
    }
}

#[cfg(test)]
mod tests {
    use super::VerificationType::{Integer, Long, Null, Object, Top, Uninitialized};
    use super::*;

    fn frame(pc: u16, locals: &[VerificationType], stack: &[VerificationType]) -> StackMapFrame {
        StackMapFrame {
            pc,
            locals: locals.to_vec(),
            stack: stack.to_vec(),
        }
    }

    /// Compares each form, at the limits of its offset, with bytes written by hand.
    #[test]
    fn every_form() {
        let this = Object(2);
        let frames = [
            frame(63, &[this, Long], &[]),
            frame(128, &[this, Long], &[]),
            frame(192, &[this, Long], &[Integer]),
            frame(257, &[this, Long], &[Uninitialized(300)]),
            frame(258, &[this, Long, Top, Null, Integer], &[]),
            frame(259, &[this, Long], &[]),
            frame(260, &[this], &[Long, Integer]),
            frame(261, &[this, Integer, Integer, Integer, Integer], &[]),
            frame(262, &[this], &[]),
            frame(263, &[this], &[]),
        ];
        #[rustfmt::skip]
        let bytes = [
            0, 10,
            63,                                             // same
            251, 0, 64,                                     // same, extended
            64 + 63, 1,                                     // same locals, one stack item
            247, 0, 64, 8, 1, 44,                           // the same, extended
            254, 0, 0, 0, 5, 1,                             // append 3
            248, 0, 0,                                      // chop 3
            255, 0, 0, 0, 1, 7, 0, 2, 0, 2, 4, 1,           // full
            255, 0, 0, 0, 5, 7, 0, 2, 1, 1, 1, 1, 0, 0,     // four more locals: full
            255, 0, 0, 0, 1, 7, 0, 2, 0, 0,                 // four fewer: full
            0,
        ];
        assert_eq!(encode_stack_map(&frames, &[this, Long]).unwrap(), bytes);
        assert_eq!(decode_stack_map(&bytes, &[this, Long]).unwrap(), frames);
    }

    #[test]
    fn malformed_tables_are_refused() {
        let twice = [frame(4, &[], &[]), frame(4, &[], &[])];
        assert_eq!(
            encode_stack_map(&twice, &[]),
            Err(ClassFileError::FrameOrder {
                pc: 4,
                previous: Some(4)
            })
        );
        assert_eq!(
            decode_stack_map(&[0, 1, 249, 0, 7], &[Integer]),
            Err(ClassFileError::BadChop {
                pc: 7,
                chopped: 2,
                locals: 1
            })
        );
        assert_eq!(
            decode_stack_map(&[0, 1, 200], &[]),
            Err(ClassFileError::BadFrame {
                what: "frame type",
                value: 200,
                offset: 2
            })
        );
        assert_eq!(
            decode_stack_map(&[0, 2, 251, 0xff, 0xff, 0], &[]),
            Err(ClassFileError::FrameOrder {
                pc: 65_536,
                previous: Some(65_535)
            })
        );
    }
}

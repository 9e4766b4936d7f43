//! The frames of a `StackMapTable` (JVMS §4.7.4), by slot, with all types in one list.
//!
//! ```text
//!   types    [ this int | String | this int Top long… ]
//!   frame 9     └──────┘               a frame that keeps or drops the previous frame's locals shares its types
//!   frame 20    └───────────────┘
//! ```

use std::ops::Range;

use super::class::ClassContext;
use super::failure::{Fault, Rule};
use super::vtype::SlotType;
use crate::classfile::frame::MAX_FRAME_TYPES;

/// Marks for the bytes of a method's code.
pub(super) mod mark {
    /// Inside an instruction.
    pub const INSIDE: u8 = 0;
    /// Start of an instruction other than `new`.
    pub const START: u8 = 1;
    /// Start of a `new`.
    pub const NEW: u8 = 2;
}

/// One frame; its types are in [`StackMapTable::types`].
pub(super) struct DecodedFrame {
    pub pc: u16,
    locals: Range<usize>,
    stack: Range<usize>,
    pub this_uninitialized: bool,
}

/// All frames of a method, in ascending order of their pcs.
pub(super) struct StackMapTable {
    pub frames: Vec<DecodedFrame>,
    types: Vec<SlotType>,
}

impl StackMapTable {
    pub fn locals(&self, frame: &DecodedFrame) -> &[SlotType] {
        self.types.get(frame.locals.clone()).unwrap_or_default()
    }

    pub fn stack(&self, frame: &DecodedFrame) -> &[SlotType] {
        self.types.get(frame.stack.clone()).unwrap_or_default()
    }

    /// Parses the content of a `StackMapTable`. `entry` holds the locals at method entry; the third
    /// parameter is `(max_locals, max_stack)`.
    pub fn read(
        info: Option<&[u8]>,
        entry: &[SlotType],
        (max_locals, max_stack): (u16, u16),
        marks: &[u8],
        context: &mut ClassContext<'_>,
    ) -> Result<StackMapTable, Fault> {
        let mut table = StackMapTable {
            frames: Vec::new(),
            types: entry.to_vec(),
        };
        let Some(info) = info else { return Ok(table) };
        let mut bytes = Bytes { rest: info, marks };
        let count = bytes.u2()?;
        let mut locals = 0..entry.len();
        let mut previous: Option<u16> = None;
        for _ in 0..count {
            let form = bytes.u1()?;
            let delta = match form {
                0..=63 => u16::from(form),
                64..=127 => u16::from(form) - 64,
                247..=255 => bytes.u2()?,
                _ => return Rule::StackMap.fail(format!("frame type {form}")),
            };
            let pc = match previous {
                None => Some(delta),
                Some(pc) => delta.checked_add(1).and_then(|delta| pc.checked_add(delta)),
            };
            let starts = |pc: &u16| {
                let mark = marks.get(usize::from(*pc));
                mark.is_some_and(|mark| *mark != mark::INSIDE)
            };
            let Some(pc) = pc.filter(starts) else {
                return Rule::StackMap.fail("a frame does not lie on an instruction");
            };
            previous = Some(pc);
            let mut stack = 0..0;
            match form {
                64..=127 | 247 => stack = table.append(&mut bytes, 1, context)?,
                248..=250 => {
                    for _ in 0..251 - form {
                        let last = locals.end.checked_sub(1).filter(|end| *end >= locals.start);
                        let Some(last) = last else {
                            return Rule::StackMap.fail("more locals are dropped than there are");
                        };
                        let high = table.types.get(last).is_some_and(|t| t.is_high());
                        locals.end = last - usize::from(high);
                    }
                }
                252..=254 => {
                    let start = table.types.len();
                    table.types.extend_from_within(locals);
                    let added = table.append(&mut bytes, u16::from(form) - 251, context)?;
                    locals = start..added.end;
                }
                255 => {
                    let many = bytes.u2()?;
                    locals = table.append(&mut bytes, many, context)?;
                    let many = bytes.u2()?;
                    stack = table.append(&mut bytes, many, context)?;
                }
                _ => {}
            }
            if locals.len() > usize::from(max_locals) || stack.len() > usize::from(max_stack) {
                return Rule::StackMap.fail(format!("the frame at {pc} is too large"));
            }
            let known = table.types.get(locals.clone()).unwrap_or_default();
            table.frames.push(DecodedFrame {
                pc,
                this_uninitialized: known.contains(&SlotType::UninitializedThis),
                locals: locals.clone(),
                stack,
            });
        }
        if bytes.rest.is_empty() {
            Ok(table)
        } else {
            Rule::StackMap.fail("bytes follow the last frame")
        }
    }

    /// Parses `count` types and appends them to the list.
    fn append(
        &mut self,
        bytes: &mut Bytes<'_>,
        count: u16,
        context: &mut ClassContext<'_>,
    ) -> Result<Range<usize>, Fault> {
        let start = self.types.len();
        for _ in 0..count {
            let t = bytes.slot_type(context)?;
            self.types.push(t);
            self.types.extend(t.high());
        }
        if self.types.len() > MAX_FRAME_TYPES {
            return Rule::StackMap.fail("too many types");
        }
        Ok(start..self.types.len())
    }
}

struct Bytes<'b> {
    rest: &'b [u8],
    marks: &'b [u8],
}

impl Bytes<'_> {
    fn u1(&mut self) -> Result<u8, Fault> {
        let cut = || Rule::StackMap.fault("the table is cut short");
        let (first, rest) = self.rest.split_first().ok_or_else(cut)?;
        self.rest = rest;
        Ok(*first)
    }

    fn u2(&mut self) -> Result<u16, Fault> {
        Ok(u16::from_be_bytes([self.u1()?, self.u1()?]))
    }

    fn slot_type(&mut self, context: &mut ClassContext<'_>) -> Result<SlotType, Fault> {
        Ok(match self.u1()? {
            0 => SlotType::Top,
            1 => SlotType::Int,
            2 => SlotType::Float,
            3 => SlotType::Double,
            4 => SlotType::Long,
            5 => SlotType::Null,
            6 => SlotType::UninitializedThis,
            7 => SlotType::Object(context.class(self.u2()?)?),
            8 => {
                let pc = self.u2()?;
                if self.marks.get(usize::from(pc)) != Some(&mark::NEW) {
                    return Rule::StackMap.fail(format!("no `new` lies at {pc}"));
                }
                SlotType::Uninitialized(pc)
            }
            tag => return Rule::StackMap.fail(format!("verification type {tag}")),
        })
    }
}

//! Relocates a `StackMapTable` to new pcs without analysing the method. Also reads the depth of the
//! operand stack at each frame.
//!
//! Only the parts that contain pcs change: the offset of each frame, and the pc of the `new` for
//! each uninitialised object. The frames of the stubs are appended after all other frames.

/// Marks a pc at which no instruction starts.
pub(super) const NO_PC: u16 = u16::MAX;

/// A frame in the encoded form of the class file.
pub(super) struct Frame<'t> {
    pub form: u8,
    pub pc: u16,
    /// The bytes after the frame type and the offset.
    pub types: &'t [u8],
    /// Whether one of the types names the pc of a `new`.
    names_new: bool,
}

/// An iterator over the frames of a `StackMapTable` (JVMS §4.7.4).
pub(super) struct Frames<'t> {
    rest: &'t [u8],
    left: u16,
    previous: Option<u16>,
}

impl<'t> Frames<'t> {
    pub fn new(info: &'t [u8]) -> Option<Frames<'t>> {
        let (count, rest) = info.split_first_chunk::<2>()?;
        let left = u16::from_be_bytes(*count);
        Some(Frames {
            rest,
            left,
            previous: None,
        })
    }

    fn take(&mut self, n: usize) -> Option<&'t [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    fn u2(&mut self) -> Option<u16> {
        self.take(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    /// Skips `n` verification types. Returns whether one of them names the pc of a `new`.
    fn skip_types(&mut self, n: u16) -> Option<bool> {
        let (mut at, mut names_new) = (0, false);
        for _ in 0..n {
            let tag = *self.rest.get(at)?;
            at += match tag {
                7 | 8 => 3,
                0..=6 => 1,
                _ => return None,
            };
            names_new |= tag == 8;
        }
        self.take(at)?;
        Some(names_new)
    }

    /// The next frame, `Some(None)` after the last frame, or `None` if the table is malformed.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Option<Frame<'t>>> {
        if self.left == 0 {
            return self.rest.is_empty().then_some(None);
        }
        self.left -= 1;
        let form = self.take(1)?[0];
        let delta = match form {
            0..=63 => u16::from(form),
            64..=127 => u16::from(form) - 64,
            247..=255 => self.u2()?,
            _ => return None,
        };
        let pc = match self.previous {
            None => delta,
            Some(before) => before.checked_add(delta)?.checked_add(1)?,
        };
        self.previous = Some(pc);
        let begin = self.rest;
        let names_new = match form {
            64..=127 | 247 => self.skip_types(1)?,
            252..=254 => self.skip_types(u16::from(form) - 251)?,
            255 => {
                let locals = self.u2()?;
                let in_locals = self.skip_types(locals)?;
                let stack = self.u2()?;
                self.skip_types(stack)? || in_locals
            }
            _ => false,
        };
        let types = &begin[..begin.len() - self.rest.len()];
        Some(Some(Frame {
            form,
            pc,
            types,
            names_new,
        }))
    }
}

/// A verification type as it is encoded: the tag, and for an object the number of its class.
pub(crate) type EncodedType = (u8, u16);

/// An encoder that appends a stack map frame by frame to a class file.
pub(crate) struct StackMap {
    /// Position of the number of frames.
    begin: usize,
    count: u16,
    previous: Option<u16>,
    /// The locals of the previous frame, if `is_known` is true.
    locals: Vec<EncodedType>,
    is_known: bool,
}

impl StackMap {
    /// Marks a pc at which no instruction starts.
    pub const NO_PC: u16 = NO_PC;

    /// Writes the frames of a table with new pcs. The memory of `buffer` is reused. Branch targets are mapped by `targets`, and the
    /// pcs of `new` instructions by `new_pcs`. Returns `None` if the table is malformed or a pc is
    /// not the start of an instruction.
    pub fn relocated(
        info: Option<&[u8]>,
        (targets, new_pcs): (&[u16], &[u16]),
        buffer: Vec<EncodedType>,
        out: &mut Vec<u8>,
    ) -> Option<StackMap> {
        let mut map = StackMap {
            begin: out.len(),
            count: 0,
            previous: None,
            locals: buffer,
            is_known: false,
        };
        out.extend([0, 0]);
        let Some(info) = info else { return Some(map) };
        let mut frames = Frames::new(info)?;
        let at = |places: &[u16], pc: u16| {
            places
                .get(usize::from(pc))
                .copied()
                .filter(|to| *to != NO_PC)
        };
        while let Some(frame) = frames.next()? {
            let pc = at(targets, frame.pc)?;
            match frame.form {
                0..=63 | 251 => map.begin_frame(out, pc, 0, 251)?,
                64..=127 | 247 => map.begin_frame(out, pc, 64, 247)?,
                form => map.begin_frame(out, pc, form, form)?,
            }
            let mut place = out.len();
            out.extend_from_slice(frame.types);
            if !frame.names_new {
                continue;
            }
            // Relocate the pcs by which uninitialised objects are named.
            let lists = if frame.form == 255 { 2 } else { 1 };
            for _ in 0..lists {
                let limit = if frame.form == 255 {
                    let limit = u16::from_be_bytes([*out.get(place)?, *out.get(place + 1)?]);
                    place += 2;
                    limit
                } else {
                    u16::MAX
                };
                for _ in 0..limit {
                    let Some(tag) = out.get(place).copied() else {
                        break;
                    };
                    if tag == 8 {
                        let old = u16::from_be_bytes([*out.get(place + 1)?, *out.get(place + 2)?]);
                        let new = at(new_pcs, old)?.to_be_bytes();
                        out[place + 1..place + 3].copy_from_slice(&new);
                    }
                    place += if matches!(tag, 7 | 8) { 3 } else { 1 };
                }
            }
        }
        Some(map)
    }

    /// Writes the frame type and the offset. Uses the short form, which begins at `short`, if there
    /// is one and the offset is below 64. Returns `None` if the frame is not after the previous
    /// one.
    fn begin_frame(&mut self, out: &mut Vec<u8>, pc: u16, short: u8, long: u8) -> Option<()> {
        let delta = match self.previous {
            None => pc,
            Some(before) => pc.checked_sub(before)?.checked_sub(1)?,
        };
        match u8::try_from(delta) {
            Ok(delta) if delta < 64 && short != long => out.push(short + delta),
            _ => {
                out.push(long);
                out.extend(delta.to_be_bytes());
            }
        }
        self.previous = Some(pc);
        self.count += 1;
        Some(())
    }

    /// Appends the frame of the entry's stub. Its only operand is the version. `write_locals`
    /// writes the number and the types of the locals at entry; it is `None` if the previous frame
    /// has the same locals.
    pub fn push_entry<E>(
        &mut self,
        out: &mut Vec<u8>,
        pc: u16,
        write_locals: Option<impl FnOnce(&mut Vec<u8>) -> Result<(), E>>,
        version: u16,
    ) -> Result<(), E> {
        let done = match write_locals {
            None => self.begin_frame(out, pc, 64, 247),
            Some(write_locals) => {
                let begun = self.begin_frame(out, pc, 255, 255);
                write_locals(out)?;
                out.extend([0, 1]);
                begun
            }
        };
        write_type(out, (OBJECT, version));
        debug_assert!(done.is_some(), "the stubs follow all code");
        Ok(())
    }

    /// Appends a frame after that of the entry's stub, in the shortest form. `before` is the number
    /// of locals of the entry's stub.
    pub fn push(
        &mut self,
        out: &mut Vec<u8>,
        pc: u16,
        before: usize,
        locals: &[EncodedType],
        stack: &[EncodedType],
    ) {
        let known = std::mem::take(&mut self.locals);
        let previous = self.is_known.then_some(&*known);
        let count = previous.map_or(before, <[_]>::len);
        let same = previous == Some(locals) || count == 0 && locals.is_empty();
        let extends = |a: &[EncodedType], b: &[EncodedType]| a.starts_with(b);
        let chopped = count
            .checked_sub(locals.len())
            .filter(|n| (1..=3).contains(n));
        let chopped = chopped.filter(|_| {
            locals.is_empty() || previous.is_some_and(|previous| extends(previous, locals))
        });
        let added = locals
            .len()
            .checked_sub(count)
            .filter(|n| (1..=3).contains(n));
        let added = added.filter(|_| count == 0 || previous.is_some_and(|p| extends(locals, p)));
        let done = match (stack, chopped, added) {
            ([], ..) if same => self.begin_frame(out, pc, 0, 251),
            ([one], ..) if same => {
                let begun = self.begin_frame(out, pc, 64, 247);
                write_type(out, *one);
                begun
            }
            ([], Some(n), _) => self.begin_frame(out, pc, 251 - n as u8, 251 - n as u8),
            ([], _, Some(n)) => {
                let begun = self.begin_frame(out, pc, 251 + n as u8, 251 + n as u8);
                locals[count..].iter().for_each(|t| write_type(out, *t));
                begun
            }
            _ => {
                let begun = self.begin_frame(out, pc, 255, 255);
                for list in [locals, stack] {
                    out.extend((list.len() as u16).to_be_bytes());
                    list.iter().for_each(|t| write_type(out, *t));
                }
                begun
            }
        };
        debug_assert!(done.is_some(), "the stubs follow each other");
        let mut kept = known;
        kept.clear();
        kept.extend_from_slice(locals);
        (self.locals, self.is_known) = (kept, true);
    }

    /// Writes the number of frames. Returns the buffer.
    pub fn finish(self, out: &mut [u8]) -> Vec<EncodedType> {
        out[self.begin..self.begin + 2].copy_from_slice(&self.count.to_be_bytes());
        self.locals
    }
}

/// The tag of objects (JVMS §4.7.4).
pub(super) const OBJECT: u8 = 7;

fn write_type(out: &mut Vec<u8>, (tag, class): EncodedType) {
    out.push(tag);
    if tag == OBJECT {
        out.extend(class.to_be_bytes());
    }
}

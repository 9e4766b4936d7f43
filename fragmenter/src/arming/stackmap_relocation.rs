//! Relocates a `StackMapTable` to new pcs without analysing the method. Also reads the depth of the
//! operand stack at each frame.
//!
//! Only the parts that contain pcs change: the offset of each frame, and the pc of the `new` for
//! each uninitialised object. The frames of the stubs are appended after all other frames.

/// Marks a pc at which no instruction starts.
pub(super) const NO_PC: u16 = u16::MAX;

/// The locals of the last frame, in relation to those at entry.
#[derive(Clone, Copy)]
pub(super) struct LastFrame {
    /// The number of locals that the last frame has beyond those of the frame at entry. `None` if the last frame
    /// does not extend the frame at entry.
    pub extra: Option<u16>,
}

/// A frame in the encoded form of the class file.
pub(super) struct Frame<'t> {
    pub form: u8,
    pub pc: u16,
    /// Depth of the operand stack in words.
    pub depth: u16,
    /// The bytes after the frame type and the offset.
    types: &'t [u8],
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

    /// Skips `n` verification types and returns the sum of their words.
    fn skip_types(&mut self, n: u16) -> Option<u16> {
        let mut words = 0u16;
        for _ in 0..n {
            let tag = self.take(1)?[0];
            match tag {
                7 | 8 => {
                    self.take(2)?;
                }
                0..=6 => {}
                _ => return None,
            }
            words = words.checked_add(if matches!(tag, 3 | 4) { 2 } else { 1 })?;
        }
        Some(words)
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
        let depth = match form {
            64..=127 | 247 => self.skip_types(1)?,
            252..=254 => {
                self.skip_types(u16::from(form) - 251)?;
                0
            }
            255 => {
                let locals = self.u2()?;
                self.skip_types(locals)?;
                let stack = self.u2()?;
                self.skip_types(stack)?
            }
            _ => 0,
        };
        let types = &begin[..begin.len() - self.rest.len()];
        Some(Some(Frame {
            form,
            pc,
            depth,
            types,
        }))
    }
}

/// An encoder that builds a stack map frame by frame.
pub(super) struct StackMap {
    out: Vec<u8>,
    count: u16,
    previous: Option<u16>,
}

impl StackMap {
    /// Relocates the frames of a table. Branch targets are mapped by `targets`, and the pcs of
    /// `new` instructions by `new_pcs`. Returns `None` if the table is malformed or a pc is not the
    /// start of an instruction.
    pub fn relocated(info: Option<&[u8]>, targets: &[u16], new_pcs: &[u16]) -> Option<StackMap> {
        let mut map = StackMap {
            out: vec![0, 0],
            count: 0,
            previous: None,
        };
        let Some(info) = info else { return Some(map) };
        map.out.reserve(info.len() + 32);
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
                0..=63 | 251 => map.begin_frame(pc, 0, 251)?,
                64..=127 | 247 => map.begin_frame(pc, 64, 247)?,
                form => map.begin_frame(pc, form, form)?,
            }
            let from = map.out.len();
            map.out.extend_from_slice(frame.types);
            // Relocate the pcs by which uninitialised objects are named.
            let mut place = from;
            let lists = if frame.form == 255 { 2 } else { 1 };
            for _ in 0..lists {
                let limit = if frame.form == 255 {
                    let limit =
                        u16::from_be_bytes([*map.out.get(place)?, *map.out.get(place + 1)?]);
                    place += 2;
                    limit
                } else {
                    u16::MAX
                };
                for _ in 0..limit {
                    let Some(tag) = map.out.get(place).copied() else {
                        break;
                    };
                    if tag == 8 {
                        let old = u16::from_be_bytes([
                            *map.out.get(place + 1)?,
                            *map.out.get(place + 2)?,
                        ]);
                        let new = at(new_pcs, old)?.to_be_bytes();
                        map.out[place + 1..place + 3].copy_from_slice(&new);
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
    fn begin_frame(&mut self, pc: u16, short: u8, long: u8) -> Option<()> {
        let delta = match self.previous {
            None => pc,
            Some(before) => pc.checked_sub(before)?.checked_sub(1)?,
        };
        match u8::try_from(delta) {
            Ok(delta) if delta < 64 && short != long => self.out.push(short + delta),
            _ => {
                self.out.push(long);
                self.out.extend(delta.to_be_bytes());
            }
        }
        self.previous = Some(pc);
        self.count += 1;
        Some(())
    }

    /// Appends the frame of the entry's stub. Its stack is the version. `locals` are the number and
    /// the types of the locals at entry, or `None` if the previous frame has the same locals.
    pub fn push_entry(&mut self, pc: u16, locals: Option<(u16, Vec<u8>)>, version: &[u8]) {
        let done = match locals {
            None => self.begin_frame(pc, 64, 247),
            Some((count, types)) => {
                let begun = self.begin_frame(pc, 255, 255);
                self.out.extend(count.to_be_bytes());
                self.out.extend_from_slice(&types);
                self.out.extend([0, 1]);
                begun
            }
        };
        self.out.extend_from_slice(version);
        debug_assert!(done.is_some(), "the stubs follow all code");
    }

    /// Appends the frame of an exit's stub, which has no locals. `before` is the number of locals
    /// of the previous frame.
    pub fn push_exit(&mut self, pc: u16, before: u16, value: Option<&[u8]>) {
        let done = match (before, value) {
            (0, None) => self.begin_frame(pc, 0, 251),
            (n @ 1..=3, None) => self.begin_frame(pc, 251 - n as u8, 251 - n as u8),
            (0, Some(value)) => {
                let begun = self.begin_frame(pc, 64, 247);
                self.out.extend_from_slice(value);
                begun
            }
            (_, value) => {
                let begun = self.begin_frame(pc, 255, 255);
                self.out.extend([0, 0, 0, u8::from(value.is_some())]);
                self.out.extend_from_slice(value.unwrap_or_default());
                begun
            }
        };
        debug_assert!(done.is_some(), "the stubs follow each other");
    }

    /// Appends the frame of the exit tail. Its stack is the value to return, if any, and an `int`.
    pub fn push_exit_tail(&mut self, pc: u16, value: Option<&[u8]>) {
        const INT: u8 = 1;
        let Some(value) = value else {
            self.push_exit(pc, 0, Some(&[INT]));
            return;
        };
        let done = self.begin_frame(pc, 255, 255);
        self.out.extend([0, 0, 0, 2]);
        self.out.extend_from_slice(value);
        self.out.push(INT);
        debug_assert!(done.is_some(), "the tail follows the last stub");
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.out[..2].copy_from_slice(&self.count.to_be_bytes());
        self.out
    }
}

//! Stack maps without an analysis: how deep the stack is at each frame, and the frames where their code has gone.
//!
//! Only what names a place is changed: the offset of each frame, and the `new` of an object that is not initialised. The frames of
//! the stubs come behind all others.

use super::splice::NOWHERE;

/// What the frames of a stack map come to.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Locals of the last frame beyond those at entry; `None` where it may have others.
    pub extra: Option<u16>,
    /// pc of the last frame.
    pub last: Option<u16>,
}

/// A frame of a stack map, as it stands in the file.
pub(super) struct Frame<'t> {
    pub form: u8,
    pub pc: u16,
    /// Words on the stack.
    pub depth: u16,
    /// What follows form and offset.
    types: &'t [u8],
}

/// The frames of a `StackMapTable` one by one (JVMS §4.7.4).
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

    /// Passes over so many types. Gives their words.
    fn types(&mut self, n: u16) -> Option<u16> {
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

    /// The next one; `Some(None)` behind the last, `None` where the table is damaged.
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
            64..=127 | 247 => self.types(1)?,
            252..=254 => {
                self.types(u16::from(form) - 251)?;
                0
            }
            255 => {
                let locals = self.u2()?;
                self.types(locals)?;
                let stack = self.u2()?;
                self.types(stack)?
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

/// A stack map in the making.
pub(super) struct StackMap {
    out: Vec<u8>,
    count: u16,
    previous: Option<u16>,
}

impl StackMap {
    /// The frames of a table where they have gone. `None` where one of them has no place.
    pub fn shifted(info: Option<&[u8]>, labels: &[u16], moved: &[u16]) -> Option<StackMap> {
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
                .filter(|to| *to != NOWHERE)
        };
        while let Some(frame) = frames.next()? {
            let pc = at(labels, frame.pc)?;
            match frame.form {
                0..=63 | 251 => map.begin(pc, 0, 251)?,
                64..=127 | 247 => map.begin(pc, 64, 247)?,
                form => map.begin(pc, form, form)?,
            }
            let from = map.out.len();
            map.out.extend_from_slice(frame.types);
            // Objects that are not initialised are named by their `new`.
            let mut place = from;
            let lists = if frame.form == 255 { 2 } else { 1 };
            for _ in 0..lists {
                let many = if frame.form == 255 {
                    let many = u16::from_be_bytes([*map.out.get(place)?, *map.out.get(place + 1)?]);
                    place += 2;
                    many
                } else {
                    u16::MAX
                };
                for _ in 0..many {
                    let Some(tag) = map.out.get(place).copied() else {
                        break;
                    };
                    if tag == 8 {
                        let old = u16::from_be_bytes([
                            *map.out.get(place + 1)?,
                            *map.out.get(place + 2)?,
                        ]);
                        let new = at(moved, old)?.to_be_bytes();
                        map.out[place + 1..place + 3].copy_from_slice(&new);
                    }
                    place += if matches!(tag, 7 | 8) { 3 } else { 1 };
                }
            }
        }
        Some(map)
    }

    /// Form and offset: the short form from `short` on where there is one and the offset is small.
    fn begin(&mut self, pc: u16, short: u8, long: u8) -> Option<()> {
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

    /// The frame of the entry's stub, whose locals are those at entry, after a frame with so many more.
    pub fn entry(&mut self, pc: u16, extra: Option<u16>, count: u16, locals: Option<&[u8]>) {
        let done = match extra {
            Some(0) => self.begin(pc, 0, 251),
            Some(n @ 1..=3) => self.begin(pc, 251 - n as u8, 251 - n as u8),
            _ => {
                let begun = self.begin(pc, 255, 255);
                self.out.extend(count.to_be_bytes());
                self.out.extend_from_slice(locals.unwrap_or_default());
                self.out.extend([0, 0]);
                begun
            }
        };
        debug_assert!(done.is_some(), "stubs lie behind all code");
    }

    /// The frame of an exit's stub, after a frame with so many locals.
    pub fn exit(&mut self, pc: u16, before: u16, value: Option<&[u8]>) {
        let done = match (before, value) {
            (0, None) => self.begin(pc, 0, 251),
            (n @ 1..=3, None) => self.begin(pc, 251 - n as u8, 251 - n as u8),
            (0, Some(value)) => {
                let begun = self.begin(pc, 64, 247);
                self.out.extend_from_slice(value);
                begun
            }
            (_, value) => {
                let begun = self.begin(pc, 255, 255);
                self.out.extend([0, 0, 0, u8::from(value.is_some())]);
                self.out.extend_from_slice(value.unwrap_or_default());
                begun
            }
        };
        debug_assert!(done.is_some(), "stubs lie one behind the other");
    }

    /// The frame of the exit tail: the value to return, if any, and an `int`.
    pub fn exit_tail(&mut self, pc: u16, value: Option<&[u8]>) {
        const INT: u8 = 1;
        let Some(value) = value else {
            self.exit(pc, 0, Some(&[INT]));
            return;
        };
        let done = self.begin(pc, 255, 255);
        self.out.extend([0, 0, 0, 2]);
        self.out.extend_from_slice(value);
        self.out.push(INT);
        debug_assert!(done.is_some(), "the tail lies behind the last stub");
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.out[..2].copy_from_slice(&self.count.to_be_bytes());
        self.out
    }
}

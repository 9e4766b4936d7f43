//! An assembler for the code of one method: bytes, labels and tables, which become a `Code`
//! attribute (JVMS 4.7.3).

use super::kind::Kind;
use super::pool::Pool;

/// A position in the code that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(usize);

/// The verification type of a local variable or of an operand (JVMS 4.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    Is(Kind),
    /// An object whose constructor has not run yet, created by the `new` instruction at this label.
    New(Label),
    /// `this` in a constructor before the call of `super(…)`.
    UnfinishedThis,
}

/// An exception handler with its ranges.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The guarded ranges: start, end (exclusive).
    pub pieces: Vec<(Label, Label)>,
    /// The first instruction of the handler.
    pub handler: Label,
    /// The caught class, or `None` for any.
    pub catch: Option<&'static str>,
}

struct Frame {
    at: Label,
    locals: Vec<Option<Verified>>,
    stack: Vec<Verified>,
}

/// Code while it is being assembled.
#[derive(Default)]
pub struct Assembler {
    /// The bytes so far.
    pub bytes: Vec<u8>,
    labels: Vec<Option<u16>>,
    /// Position of the offset, position of the instruction, target, and whether the offset has four
    /// bytes.
    jumps: Vec<(usize, usize, Label, bool)>,
    frames: Vec<Frame>,
    lines: Vec<(u16, u16)>,
    /// The rows of the exception table, in order.
    pub guards: Vec<Guard>,
    /// The greatest depth of the operand stack in words.
    pub max_stack: u16,
    /// Number of local-variable slots.
    pub max_locals: u16,
}

impl Assembler {
    /// Creates a label without a position.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Sets the position of a label to the current one.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.bytes.len() as u16);
    }

    /// Creates a label at the current position.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    /// Emits an instruction without operands.
    pub fn op(&mut self, op: u8) {
        self.bytes.push(op);
    }

    /// Emits an instruction with an operand of two bytes.
    pub fn op2(&mut self, op: u8, operand: u16) {
        self.bytes.push(op);
        self.bytes.extend_from_slice(&operand.to_be_bytes());
    }

    /// Emits a load, a store or another instruction with the number of a variable. `short` is the
    /// opcode of its one-byte form for slot 0, if it has such forms for slots 0 to 3.
    pub fn variable(&mut self, op: u8, short: Option<u8>, slot: u16) {
        match (u8::try_from(slot), short) {
            (Ok(slot @ 0..=3), Some(short)) => self.bytes.push(short + slot),
            (Ok(slot), _) => self.bytes.extend_from_slice(&[op, slot]),
            (Err(_), _) => {
                self.bytes.push(0xc4);
                self.op2(op, slot);
            }
        }
    }

    /// Emits `iinc`, in its wide form if necessary.
    pub fn iinc(&mut self, slot: u16, by: i16) {
        match (u8::try_from(slot), i8::try_from(by)) {
            (Ok(slot), Ok(by)) => self.bytes.extend_from_slice(&[0x84, slot, by as u8]),
            _ => {
                self.bytes.push(0xc4);
                self.op2(0x84, slot);
                self.bytes.extend_from_slice(&by.to_be_bytes());
            }
        }
    }

    /// Emits a branch.
    pub fn jump(&mut self, op: u8, to: Label) {
        let at = self.bytes.len();
        self.jumps.push((at + 1, at, to, false));
        self.op2(op, 0);
    }

    /// Emits a `tableswitch` whose lowest key is `low`.
    pub fn table_switch(&mut self, low: i32, targets: &[Label], default: Label) {
        let at = self.begin_switch(0xaa, default);
        self.bytes.extend_from_slice(&low.to_be_bytes());
        let high = low + targets.len() as i32 - 1;
        self.bytes.extend_from_slice(&high.to_be_bytes());
        for target in targets {
            self.wide_offset(at, *target);
        }
    }

    /// Emits a `lookupswitch`. The keys must be in ascending order.
    pub fn lookup_switch(&mut self, pairs: &[(i32, Label)], default: Label) {
        let at = self.begin_switch(0xab, default);
        self.bytes
            .extend_from_slice(&(pairs.len() as i32).to_be_bytes());
        for (key, target) in pairs {
            self.bytes.extend_from_slice(&key.to_be_bytes());
            self.wide_offset(at, *target);
        }
    }

    fn begin_switch(&mut self, op: u8, default: Label) -> usize {
        let at = self.bytes.len();
        self.bytes.push(op);
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self.wide_offset(at, default);
        at
    }

    fn wide_offset(&mut self, at: usize, to: Label) {
        self.jumps.push((self.bytes.len(), at, to, true));
        self.bytes.extend_from_slice(&[0; 4]);
    }

    /// Adds the stack-map frame of a label. `locals` is indexed by slot; the second slot of a wide
    /// value is `None`.
    pub fn frame(&mut self, at: Label, locals: Vec<Option<Verified>>, stack: Vec<Verified>) {
        self.frames.push(Frame { at, locals, stack });
    }

    /// Sets the line of the following code. If one instruction gets several lines, the last one is
    /// kept, as in `javac`.
    pub fn line(&mut self, line: u16) {
        let pc = self.bytes.len() as u16;
        if self.lines.last().is_some_and(|last| last.0 == pc) {
            self.lines.pop();
        }
        self.lines.push((pc, line));
    }

    fn pc(&self, label: Label) -> u16 {
        self.labels[label.0].unwrap_or_else(|| panic!("label {} stands nowhere", label.0))
    }

    /// Returns the content of the `Code` attribute.
    ///
    /// # Panics
    /// Panics if a used label has no position or a branch is too long. Either is a mistake
    /// in the generator.
    pub fn finish(mut self, pool: &mut Pool, this: &str) -> Vec<u8> {
        for (place, at, to, wide) in std::mem::take(&mut self.jumps) {
            let offset = i32::from(self.pc(to)) - at as i32;
            if wide {
                self.bytes[place..place + 4].copy_from_slice(&offset.to_be_bytes());
            } else {
                let offset = i16::try_from(offset).unwrap_or_else(|_| panic!("a jump of {offset}"));
                self.bytes[place..place + 2].copy_from_slice(&offset.to_be_bytes());
            }
        }
        let mut out = Vec::new();
        let put2 = |out: &mut Vec<u8>, value: u16| out.extend_from_slice(&value.to_be_bytes());
        put2(&mut out, self.max_stack);
        put2(&mut out, self.max_locals);
        out.extend_from_slice(&(self.bytes.len() as u32).to_be_bytes());
        out.extend_from_slice(&self.bytes);
        let mut rows = Vec::new();
        for guard in &self.guards {
            let catch = guard
                .catch
                .map_or(0, |name| pool.class(&format!("java/lang/{name}")));
            for (start, end) in &guard.pieces {
                if self.pc(*start) < self.pc(*end) {
                    rows.push([
                        self.pc(*start),
                        self.pc(*end),
                        self.pc(guard.handler),
                        catch,
                    ]);
                }
            }
        }
        put2(&mut out, rows.len() as u16);
        for value in rows.into_iter().flatten() {
            put2(&mut out, value);
        }
        put2(&mut out, 2);
        put2(&mut out, pool.utf8("LineNumberTable"));
        out.extend_from_slice(&(2 + 4 * self.lines.len() as u32).to_be_bytes());
        put2(&mut out, self.lines.len() as u16);
        for (pc, line) in &self.lines {
            put2(&mut out, *pc);
            put2(&mut out, *line);
        }
        put2(&mut out, pool.utf8("StackMapTable"));
        let map = self.stack_map(pool, this);
        out.extend_from_slice(&(map.len() as u32).to_be_bytes());
        out.extend_from_slice(&map);
        out
    }

    fn stack_map(&mut self, pool: &mut Pool, this: &str) -> Vec<u8> {
        let mut frames = std::mem::take(&mut self.frames);
        frames.sort_by_key(|frame| self.pc(frame.at));
        frames.dedup_by_key(|frame| self.pc(frame.at));
        let mut out = (frames.len() as u16).to_be_bytes().to_vec();
        let mut last = None;
        for frame in &frames {
            let pc = self.pc(frame.at);
            let delta = last.map_or(pc, |last: u16| pc - last - 1);
            last = Some(pc);
            out.push(255);
            out.extend_from_slice(&delta.to_be_bytes());
            let used = frame
                .locals
                .iter()
                .rposition(Option::is_some)
                .map_or(0, |i| i + 1);
            let mut locals = Vec::new();
            let (mut slot, mut count) = (0, 0u16);
            while slot < used {
                let width = match frame.locals[slot] {
                    Some(one) => self.verified(&mut locals, one, pool, this),
                    None => {
                        locals.push(0);
                        1
                    }
                };
                slot += usize::from(width);
                count += 1;
            }
            out.extend_from_slice(&count.to_be_bytes());
            out.append(&mut locals);
            out.extend_from_slice(&(frame.stack.len() as u16).to_be_bytes());
            for one in &frame.stack {
                self.verified(&mut out, *one, pool, this);
            }
        }
        out
    }

    /// Writes a verification type, and returns the number of slots that it needs.
    fn verified(&self, out: &mut Vec<u8>, one: Verified, pool: &mut Pool, this: &str) -> u16 {
        match one {
            Verified::Is(kind) => {
                match kind {
                    Kind::Int => out.push(1),
                    Kind::Float => out.push(2),
                    Kind::Double => out.push(3),
                    Kind::Long => out.push(4),
                    Kind::Ref(class) => {
                        out.push(7);
                        let index = pool.class(&class.name(this));
                        out.extend_from_slice(&index.to_be_bytes());
                    }
                }
                kind.width()
            }
            Verified::New(at) => {
                out.push(8);
                out.extend_from_slice(&self.pc(at).to_be_bytes());
                1
            }
            Verified::UnfinishedThis => {
                out.push(6);
                1
            }
        }
    }
}

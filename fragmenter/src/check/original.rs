//! The original method, with the edits as an overlay on its edges.
//!
//! A position is an instruction *in a place*: a place stands where a fragment of its number stood, holds some fragment's
//! instructions, and says where each of their successors leads now. Without edits there is one place, number 0.

use super::constants::Canon;
use super::failure::Failure;
use super::program::{Program, for_targets};
use super::{Expected, constants};
use crate::bytecode::opcode::*;
use crate::bytecode::{Instruction, Label};
use crate::classfile::{ClassFile, Code};
use crate::patch::Edit;

/// See the module documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Position {
    pub place: u32,
    pub instruction: u32,
}

impl Position {
    /// Where an exception has left the method.
    pub const OUT: Position = Position {
        place: u32::MAX,
        instruction: u32::MAX,
    };
}

struct Place {
    code: usize,
    out: Vec<(usize, usize)>,
}

struct Overlay {
    /// First instruction of each fragment, and the number of instructions.
    starts: Vec<u32>,
    fragment: Vec<usize>,
    places: Vec<Place>,
    successor: Vec<usize>,
    entry: usize,
}

/// The original side.
pub(super) struct Original {
    pub program: Program,
    /// The kind of result, as in a descriptor: `V`, `I` for all small ones, `J`, `F`, `D`, `L`.
    pub result: u8,
    /// The result's descriptor.
    pub result_text: Vec<u8>,
    overlay: Option<Overlay>,
}

impl Original {
    pub fn read(
        file: &ClassFile,
        code: &Code,
        descriptor: &[u8],
        canon: &mut Canon,
    ) -> Result<Original, Failure> {
        let result_text = constants::result_of(descriptor).to_vec();
        Ok(Original {
            program: Program::read(file, code, canon, "original")?,
            result: kind(&result_text),
            result_text,
            overlay: None,
        })
    }

    /// Lays the edits over it.
    pub fn edit(&mut self, expected: &Expected) -> Result<(), Failure> {
        if expected.edits.is_empty() {
            self.overlay = None;
            return Ok(());
        }
        let bad = |why: &str| Failure::Unreadable("list of edits", why.to_string());
        let count = self.program.instructions.len() as u32;
        let starts: Vec<u32> = expected
            .fragments
            .iter()
            .map(|pc| self.program.target(Label(*pc as u32)))
            .chain([count])
            .collect();
        if starts.windows(2).any(|w| w[0] >= w[1]) || starts[0] != 0 {
            return Err(bad("the fragments do not follow each other"));
        }
        let mut fragment = vec![0; count as usize];
        for (f, w) in starts.windows(2).enumerate() {
            fragment[w[0] as usize..w[1] as usize].fill(f);
        }
        let many = starts.len() - 1;
        let mut places: Vec<Place> = Vec::with_capacity(many);
        for f in 0..many {
            let mut out = Vec::new();
            let last = starts[f + 1] - 1;
            let Some(i) = self.program.get(last) else {
                return Err(bad("a fragment without instructions"));
            };
            if !ends_flow(i.op()) {
                out.push(starts[f + 1]);
            }
            for_targets(i, &mut |t| out.push(self.program.target(t)));
            let mut to = Vec::new();
            for t in out {
                let n = fragment.get(t as usize).copied().unwrap_or(0);
                if starts[n] != t {
                    return Err(bad("a branch into the middle of a fragment"));
                }
                if !to.contains(&(n, n)) {
                    to.push((n, n));
                }
            }
            places.push(Place { code: f, out: to });
        }
        let begin = expected
            .points
            .first()
            .and_then(|p| fragment.get(p.instruction).copied())
            .unwrap_or(0);
        let mut overlay = Overlay {
            starts,
            fragment,
            places,
            successor: (0..many).collect(),
            entry: begin,
        };
        let known = |f: crate::flowgraph::FragmentId| {
            if f.index() < many {
                Ok(f.index())
            } else {
                Err(bad("an edit of a fragment that is not there"))
            }
        };
        // The order of a fragment's different successors, which `replace` maps one by one.
        let original: Vec<Vec<usize>> = overlay
            .places
            .iter()
            .map(|p| p.out.iter().map(|o| o.0).collect())
            .collect();
        for edit in &expected.edits {
            match *edit {
                Edit::Redirect { from, to, target } => {
                    let (from, to, target) = (known(from)?, known(to)?, known(target)?);
                    for o in &mut overlay.places[from].out {
                        if o.1 == to {
                            o.1 = target;
                        }
                    }
                }
                Edit::Skip { fragment } => {
                    let f = known(fragment)?;
                    let mut next = overlay.places[f]
                        .out
                        .iter()
                        .map(|o| o.1)
                        .filter(|t| *t != f);
                    let Some(n) = next.next() else {
                        return Err(bad("a fragment that leads nowhere is skipped"));
                    };
                    for p in &mut overlay.places {
                        p.out.iter_mut().filter(|o| o.1 == f).for_each(|o| o.1 = n);
                    }
                    for s in &mut overlay.successor {
                        if *s == f {
                            *s = n;
                        }
                    }
                    if overlay.entry == f {
                        overlay.entry = n;
                    }
                }
                Edit::Replace { fragment, by } => {
                    let (f, by) = (known(fragment)?, known(by)?);
                    let ours: Vec<usize> = overlay.places[f].out.iter().map(|o| o.1).collect();
                    if ours.len() != original[by].len() {
                        return Err(bad("fragments of different shape replace each other"));
                    }
                    overlay.places[f] = Place {
                        code: by,
                        out: original[by].iter().copied().zip(ours).collect(),
                    };
                }
            }
        }
        self.overlay = Some(overlay);
        Ok(())
    }

    /// The place of a fragment's number.
    pub fn place(&self, fragment: usize) -> Option<Position> {
        let o = self.overlay.as_ref()?;
        let code = o.places.get(fragment)?.code;
        Some(Position {
            place: fragment as u32,
            instruction: *o.starts.get(code)?,
        })
    }

    fn go(&self, from: u32, to: u32) -> Option<Position> {
        let Some(o) = &self.overlay else {
            return ((to as usize) < self.program.instructions.len()).then_some(Position {
                place: 0,
                instruction: to,
            });
        };
        let target = *o.fragment.get(to as usize)?;
        let out = &o.places.get(from as usize)?.out;
        self.place(out.iter().find(|x| x.0 == target)?.1)
    }

    /// The next instruction.
    pub fn next(&self, p: Position) -> Option<Position> {
        let i = p.instruction + 1;
        if let Some(o) = &self.overlay {
            let f = *o.fragment.get(p.instruction as usize)?;
            if o.starts.get(f + 1) == Some(&i) {
                return self.go(p.place, i);
            }
        }
        ((i as usize) < self.program.instructions.len()).then_some(Position {
            place: p.place,
            instruction: i,
        })
    }

    /// Where a branch leads.
    pub fn branch(&self, p: Position, to: Label) -> Option<Position> {
        self.go(p.place, self.program.target(to))
    }

    /// A handler.
    pub fn handler(&self, instruction: u32) -> Position {
        let place = self
            .overlay
            .as_ref()
            .and_then(|o| o.fragment.get(instruction as usize));
        Position {
            place: place.map_or(0, |f| *f as u32),
            instruction,
        }
    }

    /// The same position behind all `goto` and `nop`; where these go round for ever, one of them.
    pub fn settle(&self, p: Position) -> Position {
        let mut at = p;
        for _ in 0..=self.program.instructions.len() * 2 {
            let next = match self.program.get(at.instruction) {
                Some(Instruction::Branch { op: GOTO, target }) => self.branch(at, *target),
                Some(Instruction::Plain(NOP)) => self.next(at),
                _ => return at,
            };
            match next {
                Some(n) => at = n,
                None => return at,
            }
        }
        let (mut least, start) = (at, at);
        while let Some(n) = match self.program.get(at.instruction) {
            Some(Instruction::Branch { target, .. }) => self.branch(at, *target),
            _ => self.next(at),
        } {
            at = n;
            least = least.min(at);
            if at == start {
                break;
            }
        }
        least
    }

    /// Where new activations begin, given where point 0 stands.
    pub fn entry(&self, instruction: u32) -> Option<Position> {
        let Some(o) = &self.overlay else {
            return Some(Position {
                place: 0,
                instruction,
            });
        };
        let f = *o.fragment.get(instruction as usize)?;
        if o.starts[f] == instruction {
            self.place(o.entry)
        } else {
            Some(Position {
                place: f as u32,
                instruction,
            })
        }
    }

    /// Where an activation stands that leaves at a point: before its fragment's place, or before its `return` in any.
    pub fn stands(&self, instruction: u32, exit: bool) -> Option<Position> {
        match &self.overlay {
            Some(o) => {
                let f = *o.fragment.get(instruction as usize)?;
                if o.starts[f] == instruction && !exit {
                    return self.place(f);
                }
                Some(Position {
                    place: f as u32,
                    instruction,
                })
            }
            None => Some(Position {
                place: 0,
                instruction,
            }),
        }
    }

    /// Where an activation that comes from a point goes on.
    pub fn resumes(&self, instruction: u32, exit: bool) -> Option<Position> {
        let Some(o) = &self.overlay else {
            return self.stands(instruction, exit);
        };
        let f = *o.fragment.get(instruction as usize)?;
        let to = *o.successor.get(f)?;
        if exit && to == f {
            return Some(Position {
                place: f as u32,
                instruction,
            });
        }
        self.place(to)
    }
}

/// A descriptor's kind of value: `Z`, `B`, `C`, `S` count as `I`, arrays as `L`.
pub(super) fn kind(descriptor: &[u8]) -> u8 {
    match descriptor.first() {
        Some(b'Z' | b'B' | b'C' | b'S' | b'I') => b'I',
        Some(b'[' | b'L') => b'L',
        Some(k) => *k,
        None => b'V',
    }
}

/// The class in a reference descriptor, as casts name it.
pub(super) fn class_in(descriptor: &[u8]) -> &[u8] {
    descriptor
        .strip_prefix(b"L")
        .and_then(|d| d.strip_suffix(b";"))
        .unwrap_or(descriptor)
}

/// One value that a point carries.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Carried {
    /// The local's slot, or the number of the value on the stack.
    pub slot: Slot,
    /// The value's descriptor in the call that hands it over.
    pub descriptor: Vec<u8>,
    /// Known to be `null`: made anew where it is needed.
    pub null: bool,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Local(u16),
    /// By values from the bottom, and by words.
    Stack(u16, usize),
}

/// A capture point as both sides of a transfer must see it: which value stands where. What an activation brings that
/// leaves, and what one finds that comes, are checked against this.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Face {
    pub instruction: u32,
    /// All places that it may be said to have, `instruction` the last: the original passes them unseen with the same stack.
    pub places: Vec<u32>,
    pub exit: bool,
    pub carried: Vec<Carried>,
    pub nulls: Vec<u16>,
    /// Words on the stack.
    pub depth: usize,
}

impl Face {
    /// The same point, found once more on another way; `None` where it is not the same. What is null is so on all ways.
    pub fn meet(&self, other: &Face) -> Option<Face> {
        if !self.carries_like(other) {
            return None;
        }
        let mut met = self.clone();
        met.places.retain(|place| other.places.contains(place));
        met.instruction = *met.places.last()?;
        for (a, b) in met.carried.iter_mut().zip(&other.carried) {
            a.null &= b.null;
        }
        Some(met)
    }

    /// Whether the same values lie in the same places.
    pub fn carries_like(&self, other: &Face) -> bool {
        let place = |c: &Carried| (c.slot, kind(&c.descriptor));
        self.depth == other.depth
            && self
                .carried
                .iter()
                .map(place)
                .eq(other.carried.iter().map(place))
    }

    /// The descriptor of a call that takes what the point carries.
    pub fn descriptor(&self, result: &[u8]) -> Vec<u8> {
        let mut text = b"(".to_vec();
        for c in &self.carried {
            text.extend_from_slice(&c.descriptor);
        }
        text.push(b')');
        text.extend_from_slice(result);
        text
    }

    /// What a point carries, as the emitter says.
    pub fn of(point: &crate::points::Point) -> Result<Face, Failure> {
        use crate::types::Type;
        let describe = |t: &Type| {
            crate::descriptor::of(t)
                .map(String::into_bytes)
                .ok_or_else(|| Failure::Missing("a type that a call can carry".into()))
        };
        let (mut carried, mut nulls, mut words) = (Vec::new(), Vec::new(), 0usize);
        for (n, t) in (0u16..).zip(&point.stack) {
            carried.push(Carried {
                slot: Slot::Stack(n, words),
                descriptor: describe(t)?,
                null: *t == Type::Null,
            });
            words += t.width() as usize;
        }
        for (slot, t) in &point.locals {
            if *t == Type::Null {
                nulls.push(*slot);
            } else {
                carried.push(Carried {
                    slot: Slot::Local(*slot),
                    descriptor: describe(t)?,
                    null: false,
                });
            }
        }
        let words_of = |c: &Carried| constants::words_of(&c.descriptor) as usize;
        let depth = carried
            .iter()
            .filter(|c| matches!(c.slot, Slot::Stack(..)))
            .map(words_of)
            .sum();
        Ok(Face {
            instruction: point.instruction as u32,
            places: vec![point.instruction as u32],
            exit: point.kind == crate::points::PointKind::Exit,
            carried,
            nulls,
            depth,
        })
    }
}

//! Where activations begin: what both sides have there.

use super::super::constants::words_of;
use super::super::failure::Failure;
use super::super::machine::Machine;
use super::super::original::{Face, Position, Slot};
use super::super::value::Value;
use super::{Product, Run};

impl<'x> Product<'x, '_> {
    /// An armed body: both sides begin with the same parameters.
    pub fn armed(&mut self, parameters: usize) -> Result<(), Failure> {
        let at = self.original.settle(Position {
            place: 0,
            instruction: 0,
        });
        let mut r = self.blank(at);
        for slot in 0..parameters {
            if let (Some(o), Some(e)) = (r.o.locals.get(slot), r.e.locals.get_mut(slot)) {
                *e = *o;
            }
        }
        self.arrive(None, r, true)?;
        self.explore()
    }

    pub(super) fn face(&self, point: usize) -> Result<Face, Failure> {
        self.faces
            .get(point)
            .and_then(Clone::clone)
            .ok_or_else(|| Failure::Missing(format!("point {point}")))
    }

    /// The original at a point, with a symbol for each value that is carried.
    pub fn standing(&mut self, face: &Face, at: Position) -> Machine {
        let mut o = self.blank(at).o;
        o.stack = (0..face.depth).map(|_| Value::HIGH).collect();
        for c in &face.carried {
            let v = if c.null {
                Value::NULL
            } else {
                self.values.fresh()
            };
            match c.slot {
                Slot::Local(slot) => {
                    let words = words_of(&c.descriptor);
                    let _ = o.set(slot, v, words);
                }
                Slot::Stack(_, word) => {
                    if let Some(x) = o.stack.get_mut(word) {
                        *x = v;
                    }
                }
            }
        }
        for slot in &face.nulls {
            let _ = o.set(*slot, Value::NULL, 1);
        }
        o
    }

    /// Gives the emitted side the carried values as parameters, in order.
    pub(super) fn pass(face: &Face, r: &mut Run) {
        let mut slot = 0u16;
        for c in &face.carried {
            let words = words_of(&c.descriptor);
            let v = match c.slot {
                Slot::Local(n) => r.o.locals.get(n as usize).copied(),
                Slot::Stack(_, word) => r.o.stack.get(word).copied(),
            };
            if let Some(v) = v {
                let _ = r.e.set(slot, v, words);
            }
            slot += words as u16;
        }
    }

    /// `enter`.
    pub fn enter(&mut self) -> Result<(), Failure> {
        let face = self.face(0)?;
        let entry = self.original.entry(face.instruction);
        let at = entry.ok_or_else(|| Failure::Missing("the place of point 0".into()))?;
        let at = self.original.settle(at);
        let mut r = self.blank(at);
        r.o = self.standing(&face, at);
        Self::pass(&face, &mut r);
        // The prologue puts parameters where the method has them, so the first run begins before any node.
        self.runs += 1;
        self.go(None, r)?;
        self.explore()
    }

    /// `resume`, from every point.
    pub fn resume(&mut self) -> Result<(), Failure> {
        self.starts = vec![None; self.faces.len()];
        for point in 1..self.faces.len() {
            let Some(face) = self.faces[point].clone() else {
                continue;
            };
            let at = self.original.resumes(face.instruction, face.exit);
            let at = at.ok_or_else(|| Failure::Missing(format!("the place of point {point}")))?;
            let at = self.original.settle(at);
            let o = self.standing(&face, at);
            let mut r = self.blank(at);
            r.o = o.clone();
            r.from = point as u16;
            self.starts[point] = Some((o, at));
            match r.e.locals.first_mut() {
                Some(v) => *v = Value::FRAME_IN,
                None => return Err(Failure::Missing("the frame".into())),
            }
            self.runs += 1;
            self.go(None, r)?;
        }
        self.of_no_point()?;
        self.explore()
    }

    /// A frame of a point that `resume` does not know: it is given back as it came.
    fn of_no_point(&mut self) -> Result<(), Failure> {
        let Ok(number) = u16::try_from(self.faces.len()) else {
            return Ok(());
        };
        let at = self.original.settle(Position {
            place: 0,
            instruction: 0,
        });
        let mut r = self.blank(at);
        r.from = number;
        match r.e.locals.first_mut() {
            Some(v) => *v = Value::FRAME_IN,
            None => return Err(Failure::Missing("the frame".into())),
        }
        self.runs += 1;
        self.go(None, r)
    }
}

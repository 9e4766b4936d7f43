//! Bytecode by which an activation leaves the code that it runs (an *OSR exit*).
//!
//! ```text
//!   entry      load the arguments, Anchor.version(cell).search$e17(arguments), return its result
//!   point p    VeneerFrame.of(first values, p), add the other live values, goto tail
//!   tail       drop the locals, VeneerRuntime.go(frame, cell), return its result
//!   return p   goto exit tail with the result and p
//!   exit tail  VeneerRuntime.exit(result, p, cell), return its result
//! ```
//!
//! Armed bodies and versions leave in the same way. No instruction here names a class of the application except the result's, in a
//! cast of an object that is there: so leaving loads no class. The locals are dropped (set to null) before the call, because the
//! interpreter keeps the frame of the caller as it is: a variable that the method does not need any more must not be kept alive
//! by a frame that only waits for the version to return.

use crate::arming::{carried, kind};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction, Label};
use crate::classfile::ConstantPool;
use crate::descriptor;
use crate::method::Method;
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};

/// Descriptors of `VeneerFrame.add`, by [`add_index`].
const ADDS: [&str; 15] = [
    "(I)Ljava/lang/invoke/VeneerFrame;",
    "(II)Ljava/lang/invoke/VeneerFrame;",
    "(III)Ljava/lang/invoke/VeneerFrame;",
    "(IIII)Ljava/lang/invoke/VeneerFrame;",
    "(IIIII)Ljava/lang/invoke/VeneerFrame;",
    "(IIIIII)Ljava/lang/invoke/VeneerFrame;",
    "(J)Ljava/lang/invoke/VeneerFrame;",
    "(F)Ljava/lang/invoke/VeneerFrame;",
    "(D)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/invoke/VeneerFrame;",
];

/// Descriptors of `VeneerFrame.of`, by [`add_index`] of the first values; the last is that of a frame without values.
const FIRSTS: [&str; 16] = [
    "(II)Ljava/lang/invoke/VeneerFrame;",
    "(III)Ljava/lang/invoke/VeneerFrame;",
    "(IIII)Ljava/lang/invoke/VeneerFrame;",
    "(IIIII)Ljava/lang/invoke/VeneerFrame;",
    "(IIIIII)Ljava/lang/invoke/VeneerFrame;",
    "(IIIIIII)Ljava/lang/invoke/VeneerFrame;",
    "(JI)Ljava/lang/invoke/VeneerFrame;",
    "(FI)Ljava/lang/invoke/VeneerFrame;",
    "(DI)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;I)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/invoke/VeneerFrame;",
    "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;I)Ljava/lang/invoke/VeneerFrame;",
    "(I)Ljava/lang/invoke/VeneerFrame;",
];

/// The place in [`FIRSTS`] of a frame without values.
const EMPTY: usize = FIRSTS.len() - 1;

/// The longest run of values that one call adds.
const RUN: usize = 6;

/// The `add` that takes `count` values of a kind ([`kind`]).
fn add_index(kind: u8, count: usize) -> usize {
    match kind {
        0 => count - 1,
        4 => RUN + 2 + count,
        other => RUN - 1 + other as usize,
    }
}

/// Lengths of the runs of values of one kind, with the kind: what each call of `add` takes.
fn runs(kinds: impl Iterator<Item = u8>) -> Vec<(u8, usize)> {
    let mut found: Vec<(u8, usize)> = Vec::new();
    for kind in kinds {
        match found.last_mut() {
            Some((last, n)) if *last == kind && *n < RUN && matches!(kind, 0 | 4) => *n += 1,
            _ => found.push((kind, 1)),
        }
    }
    found
}

/// How an activation leaves at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// At the method's entry.
    Entry,
    /// With its live values in a frame.
    Frame,
    /// Before a return, with nothing but the result.
    Return,
}

/// How an activation leaves at a point of a method with this result. Below a result, or without one, the operand stack may hold
/// values that the method leaves behind; they need a frame.
pub(crate) fn way(point: &Point, result: &Option<Type>) -> Way {
    let returned = usize::from(result.is_some());
    match point.kind {
        PointKind::Entry => Way::Entry,
        PointKind::Exit if point.locals.is_empty() && point.stack.len() == returned => Way::Return,
        _ => Way::Frame,
    }
}

/// The constants that the code of a method refers to for leaving.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refs {
    pub cell: u16,
    firsts: [u16; FIRSTS.len()],
    adds: [u16; ADDS.len()],
    go: u16,
    exit: u16,
    class: u16,
}

/// The kind of a method's result, as the names of `go` and `exit` end: `V`, `I`, `J`, `F`, `D` or `L`.
fn result_kind(result: &Option<Type>) -> char {
    match result {
        None => 'V',
        Some(Type::Int) => 'I',
        Some(Type::Long) => 'J',
        Some(Type::Float) => 'F',
        Some(Type::Double) => 'D',
        Some(_) => 'L',
    }
}

/// Which forms of `of` and `add` frames need.
type Used = ([bool; FIRSTS.len()], [bool; ADDS.len()]);

/// Which forms frames of these points need; `None` if there is no point.
fn used<'p>(points: impl Iterator<Item = &'p Point>) -> Option<Used> {
    let mut used: Option<Used> = None;
    for p in points {
        let (firsts, adds) = used.get_or_insert_default();
        let runs = runs(carried(p).map(kind));
        let first = runs.first().map_or(EMPTY, |(k, n)| add_index(*k, *n));
        firsts[first] = true;
        for (k, n) in runs.iter().skip(1) {
            adds[add_index(*k, *n)] = true;
        }
    }
    used
}

/// The class to which a result has to be cast.
fn cast(result: &Option<Type>) -> Option<&str> {
    match result {
        Some(Type::Object(class)) if &**class != "java/lang/Object" => Some(class),
        _ => None,
    }
}

impl Refs {
    /// Adds what leaving an armed body at these points refers to.
    pub fn add(
        pool: &mut ConstantPool,
        cell: u16,
        points: &[Point],
        result: &Option<Type>,
    ) -> Result<Refs, Refusal> {
        let returns = points.iter().any(|p| way(p, result) == Way::Return);
        Refs::with(
            pool,
            cell,
            (used(framed(points, result)), returns),
            result_kind(result),
            cast(result),
        )
    }

    /// Adds what leaving a version at these points refers to: always with a frame.
    pub fn framed_only<'p>(
        pool: &mut ConstantPool,
        cell: u16,
        points: impl Iterator<Item = &'p Point>,
        result: &Option<Type>,
    ) -> Result<Refs, Refusal> {
        Refs::with(
            pool,
            cell,
            (used(points), false),
            result_kind(result),
            cast(result),
        )
    }

    /// Adds what leaving before returns refers to. `result` is the kind of the method's result as a descriptor begins, `cast` its
    /// class, if it has to be named.
    pub fn returns(
        pool: &mut ConstantPool,
        cell: u16,
        result: u8,
        cast: Option<&str>,
    ) -> Result<Refs, Refusal> {
        let kind = match result {
            b'V' => 'V',
            b'J' => 'J',
            b'F' => 'F',
            b'D' => 'D',
            b'L' | b'[' => 'L',
            _ => 'I',
        };
        Refs::with(pool, cell, (None, true), kind, cast)
    }

    fn with(
        pool: &mut ConstantPool,
        cell: u16,
        (framed, returns): (Option<Used>, bool),
        kind: char,
        cast: Option<&str>,
    ) -> Result<Refs, Refusal> {
        let mut refs = Refs {
            cell,
            ..Refs::default()
        };
        let text = if kind == 'L' {
            "Ljava/lang/Object;".to_string()
        } else {
            kind.to_string()
        };
        if let Some((firsts, adds)) = framed {
            for (n, _) in firsts.iter().enumerate().filter(|u| *u.1) {
                refs.firsts[n] = pool.add_method(runtime::FRAME, "of", FIRSTS[n])?;
            }
            for (n, _) in adds.iter().enumerate().filter(|u| *u.1) {
                refs.adds[n] = pool.add_method(runtime::FRAME, "add", ADDS[n])?;
            }
            let (frame, cell) = (runtime::FRAME_DESCRIPTOR, runtime::CELL_DESCRIPTOR);
            let (name, go) = (format!("go{kind}"), format!("({frame}{cell}){text}"));
            refs.go = pool.add_method(runtime::RUNTIME, &name, &go)?;
        }
        if returns {
            let value = if kind == 'V' { "" } else { &text };
            let exit = format!("({value}I{}){text}", runtime::CELL_DESCRIPTOR);
            refs.exit = pool.add_method(runtime::RUNTIME, &format!("exit{kind}"), &exit)?;
        }
        if let Some(class) = cast.filter(|_| returns || framed.is_some()) {
            refs.class = pool.add_class(class)?;
        }
        Ok(refs)
    }

    /// The bytes of [`Refs::exit_tail`] without the return.
    pub fn exit_tail_bytes(&self, out: &mut Vec<u8>, cast: bool) {
        out.push(GETSTATIC);
        out.extend(self.cell.to_be_bytes());
        out.push(INVOKESTATIC);
        out.extend(self.exit.to_be_bytes());
        if cast {
            out.push(CHECKCAST);
            out.extend(self.class.to_be_bytes());
        }
    }

    /// Leaves at the returns that jump here, with the result and the point on the stack.
    pub fn exit_tail(&self, a: &mut Assembler, result: &Option<Type>) {
        a.pool(GETSTATIC, self.cell);
        a.pool(INVOKESTATIC, self.exit);
        self.result(a, result);
    }

    /// Leaves the frame for an activation at a point on the stack. Values of the operand stack that the frame takes with its first
    /// values stay on the stack; the others are put into locals from `temp` on first.
    pub fn framed(&self, a: &mut Assembler, point: &Point, temp: u16) {
        let stay = in_place(point);
        let mut next = temp;
        let mut from = Vec::with_capacity(point.stack.len());
        for t in &point.stack[stay..] {
            from.push(next);
            next += t.width();
        }
        for (t, slot) in point.stack[stay..].iter().zip(&from).rev() {
            a.local(ISTORE + kind(t), *slot);
        }
        let locals = point.locals.iter().filter(|l| l.1 != Type::Null);
        let mut slots = from.into_iter().chain(locals.map(|l| l.0));
        let runs = runs(carried(point).map(kind));
        let first = runs.first().map_or(EMPTY, |(k, n)| add_index(*k, *n));
        let mut load = |a: &mut Assembler, (of, n): (u8, usize)| {
            for slot in slots.by_ref().take(n) {
                a.local(ILOAD + of, slot);
            }
        };
        if let Some((of, n)) = runs.first() {
            load(a, (*of, n - stay));
        }
        a.push(Instruction::Push(point.id.0 as i16));
        a.pool(INVOKESTATIC, self.firsts[first]);
        for run in runs.iter().skip(1) {
            load(a, *run);
            a.pool(INVOKEVIRTUAL, self.adds[add_index(run.0, run.1)]);
        }
    }

    /// Goes on in the executor loop with the frame on the stack, and returns the result.
    pub fn go(&self, a: &mut Assembler, dropped: &[u16], result: &Option<Type>) {
        drop_locals(a, dropped);
        a.pool(GETSTATIC, self.cell);
        a.pool(INVOKESTATIC, self.go);
        self.result(a, result);
    }

    /// Returns the result on the stack.
    fn result(&self, a: &mut Assembler, result: &Option<Type>) {
        if cast(result).is_some() {
            a.pool(CHECKCAST, self.class);
        }
        a.plain(match result_kind(result) {
            'V' => RETURN,
            'I' => IRETURN,
            'J' => LRETURN,
            'F' => FRETURN,
            'D' => DRETURN,
            _ => ARETURN,
        });
    }
}

/// Sets locals to null.
pub(crate) fn drop_locals(a: &mut Assembler, slots: &[u16]) {
    for slot in slots {
        a.plain(ACONST_NULL);
        a.local(ASTORE, *slot);
    }
}

/// Locals to drop before an activation goes on elsewhere: those of the method that hold an object at some time, and those from
/// `temp` on into which the operand stack of one of these points was put.
pub(crate) fn dropped<'p>(
    method: &Method,
    points: impl Iterator<Item = &'p Point>,
    temp: u16,
) -> Vec<u16> {
    let mut slots = object_slots(method);
    slots.extend(temp..temp + spilled(points));
    slots
}

/// Locals of a method that hold an object at some time, in order.
fn object_slots(method: &Method) -> Vec<u16> {
    let parameters = (0u16..).zip(&method.entry.locals);
    let mut slots: Vec<u16> = parameters
        .filter(|(_, t)| matches!(t, Type::Object(_) | Type::Null))
        .map(|(slot, _)| slot)
        .collect();
    if method.is_constructor() {
        slots.push(0);
    }
    for (_, instruction) in &method.instructions {
        if let Instruction::Local { op: ASTORE, index } = instruction {
            slots.push(*index);
        }
    }
    slots.sort_unstable();
    slots.dedup();
    slots
}

/// Locals at a method's entry that hold an object.
pub(crate) fn object_arguments(entry: &Point) -> Vec<u16> {
    let objects = entry
        .locals
        .iter()
        .filter(|l| matches!(l.1, Type::Object(_)));
    objects.map(|l| l.0).collect()
}

/// Values of a point's operand stack, from the bottom, that a frame takes with its first values.
fn in_place(point: &Point) -> usize {
    let first = runs(carried(point).map(kind))
        .first()
        .map_or(0, |run| run.1);
    first.min(point.stack.len())
}

/// Words of locals into which parts of the operand stacks of these points are put.
pub(crate) fn spilled<'p>(points: impl Iterator<Item = &'p Point>) -> u16 {
    let words = |p: &Point| p.stack[in_place(p)..].iter().map(Type::width).sum();
    points.map(words).max().unwrap_or(0)
}

/// Those of the points at which activations leave with a frame.
pub(crate) fn framed<'p>(
    points: &'p [Point],
    result: &'p Option<Type>,
) -> impl Iterator<Item = &'p Point> {
    points.iter().filter(|p| way(p, result) == Way::Frame)
}

/// Words of operand stack that leaving at these points needs. No more than that: C1 gives each activation as much room as the operand
/// stacks of a method and of what it inlines there may take, even where they hold nothing.
pub(crate) fn stack(points: &[Point], result: &Option<Type>) -> u16 {
    let words = |p: &Point| {
        let depth: u16 = p.stack.iter().map(Type::width).sum();
        match way(p, result) {
            // The version, its arguments, and the null that a local is set to.
            Way::Entry => p.words() + 1 + u16::from(!object_arguments(p).is_empty()),
            Way::Return => depth + 2,
            // A run of values and the point, or the frame and a run of values; at last the frame and the cell.
            Way::Frame => {
                let runs = runs(carried(p).map(kind));
                let words =
                    |(kind, n): &(u8, usize)| if matches!(kind, 1 | 3) { 2 } else { *n as u16 };
                let most = runs.iter().map(words).max().unwrap_or(0);
                depth.max(1 + most).max(2)
            }
        }
    };
    points.iter().map(words).max().unwrap_or(0)
}

/// More bytes than leaving at a point ever takes, the part that all points share aside.
pub(crate) fn most_bytes(point: &Point, result: &Option<Type>) -> usize {
    let values = point.locals.len() + point.stack.len();
    match way(point, result) {
        Way::Entry => 10 + 9 * values,
        Way::Return => 6,
        Way::Frame => 9 + 11 * values,
    }
}

/// More bytes than what all points share ever takes.
pub(crate) fn most_shared_bytes(method: &Method) -> usize {
    20 + 5 * (object_slots(method).len() + usize::from(method.code.max_stack))
}

/// Code at which the stubs of several points meet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tails {
    /// Of the points that leave with a frame. The frame is on the stack.
    pub frame: Option<Label>,
    /// Of the returns. The result and the point are on the stack.
    pub exit: Option<Label>,
}

impl Tails {
    /// Labels for the tails that the stubs of these points jump to.
    pub fn new(a: &mut Assembler, points: &[Point], result: &Option<Type>) -> Tails {
        let mut label = |of: Way| {
            let some = points.iter().any(|p| way(p, result) == of);
            some.then(|| a.fresh())
        };
        Tails {
            frame: label(Way::Frame),
            exit: label(Way::Return),
        }
    }

    /// The labels that are jumped to, each with the state of the JVM's type checker there.
    pub fn states(self, points: &[Point], result: &Option<Type>) -> Vec<(Label, State)> {
        let exits = points.iter().filter(|p| way(p, result) == Way::Return);
        let exit = self.exit.filter(|_| exits.count() > 1);
        let of_exit = result.iter().cloned().chain([Type::Int]).collect();
        let of_frame = vec![Type::object(runtime::FRAME)];
        let found = [(self.frame, of_frame), (exit, of_exit)];
        let state = |stack| State {
            locals: Vec::new(),
            stack,
        };
        let found = found.into_iter();
        found
            .filter_map(|(label, stack)| Some((label?, state(stack))))
            .collect()
    }
}

/// The position of a value in a frame: of the operand stack's value number `n`, or of the local in a slot.
pub(crate) fn position(point: &Point, value: Value) -> Option<u16> {
    let at = match value {
        Value::Stack(n) => Some(n as usize),
        Value::Local(slot) => point
            .locals
            .iter()
            .filter(|l| l.1 != Type::Null)
            .position(|l| l.0 == slot)
            .map(|n| n + point.stack.len()),
    };
    at.and_then(|n| u16::try_from(n).ok())
}

/// A value that an activation takes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// By its number from the bottom of the operand stack.
    Stack(u16),
    /// By its slot.
    Local(u16),
}

/// The descriptor of the call by which an activation leaves at a method's entry: the live values, and the declared result.
pub(crate) fn entry_descriptor(point: &Point, method: &Method) -> Result<String, Refusal> {
    let mut out = String::from("(");
    for t in carried(point) {
        out += &descriptor::of(t).ok_or(Refusal::UninitializedObject)?;
    }
    out.push(')');
    // The declared result, not its verification type: a boolean stays a boolean.
    out += descriptor::result(&method.descriptor);
    Ok(out)
}

//! OSR exits: the bytecode by which an activation leaves the code that it runs at a capture point.
//!
//! ```text
//!   entry      load the arguments, Anchor.version(version).search$e17(arguments), return its result
//!   point p    VeneerFrame.of(first values, p), add the other live values, goto tail
//!   tail       set the locals to null, VeneerRuntime.go(frame, cell), return its result
//!   return p   goto exit tail with the result and p
//!   exit tail  VeneerRuntime.exit(result, p, cell), return its result
//! ```
//!
//! `VeneerRuntime.go` is the *executor loop*: a trampoline that passes the frame to the cell's
//! current version until a version returns a result instead of another frame.
//!
//! Armed bodies and versions leave in the same way. Leaving loads no class of the application: the
//! only such class named here is that of the result, in a cast of an object that already exists.
//!
//! The locals are set to null before the call because the interpreter keeps the caller's frame
//! unchanged. Without this, a frame that only waits for the version to return would keep objects
//! alive that the method no longer needs.

use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction, Label};
use crate::classfile::ConstantPool;
use crate::descriptor;
use crate::method::Method;
use crate::point_values::{carried_kind, carried_types};
use crate::points::{Point, PointKind};
use crate::refusal::Refusal;
use crate::runtime;
use crate::types::{State, Type};
use veneer_names::MethodDescriptor;

/// Descriptors of the overloads of `VeneerFrame.add`, indexed by [`add_index`].
pub(crate) const FRAME_ADD: [&str; 15] = [
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

/// Descriptors of the overloads of `VeneerFrame.of`, indexed by [`add_index`] of the first values.
/// The last descriptor is that of a frame without values.
pub(crate) const FRAME_OF: [&str; 16] = [
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

/// Index in [`FRAME_OF`] of the overload for a frame without values.
pub(crate) const EMPTY_FRAME_INDEX: usize = FRAME_OF.len() - 1;

/// The largest number of values that one call of `add` accepts.
const MAX_RUN: usize = 6;

/// Index in [`FRAME_ADD`] of the overload that accepts `count` values of a kind ([`carried_kind`]).
pub(crate) fn add_index(kind: u8, count: usize) -> usize {
    match kind {
        0 => count - 1,
        4 => MAX_RUN + 2 + count,
        other => MAX_RUN - 1 + other as usize,
    }
}

/// Splits the values into runs, one for each call of `add`. Only `int` and reference values form
/// runs of more than one value. Returns the kind and the length of each run.
fn runs(kinds: impl Iterator<Item = u8>) -> Vec<(u8, usize)> {
    run_lengths(kinds).collect()
}

/// Like [`runs`], without a vector.
pub(crate) fn run_lengths(kinds: impl Iterator<Item = u8>) -> impl Iterator<Item = (u8, usize)> {
    let mut kinds = kinds.peekable();
    std::iter::from_fn(move || {
        let kind = kinds.next()?;
        let mut count = 1;
        while count < MAX_RUN
            && matches!(kind, 0 | 4)
            && kinds.next_if(|next| *next == kind).is_some()
        {
            count += 1;
        }
        Some((kind, count))
    })
}

/// The form in which an activation leaves at a capture point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitForm {
    /// At the method's entry, by a direct call of the version's body.
    Entry,
    /// With the live values in a `VeneerFrame`.
    Frame,
    /// Before a return, with only the result.
    Return,
}

/// The form in which an activation leaves at a point of a method with this result type. A return
/// needs a frame if the method leaves more on the operand stack than its result, or if locals are
/// live there.
pub(crate) fn exit_form(point: &Point, result: &Option<Type>) -> ExitForm {
    let returned = usize::from(result.is_some());
    match point.kind {
        PointKind::Entry => ExitForm::Entry,
        PointKind::Exit if point.locals.is_empty() && point.stack.len() == returned => {
            ExitForm::Return
        }
        _ => ExitForm::Frame,
    }
}

/// The number of a point that a frame gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointNumber {
    /// The number of the point for which the frame is built.
    OfPoint,
    /// The number in this local. Several points share the code that builds their frames.
    Local(u16),
}

/// Constant-pool indices that a method's code needs for leaving. Indices that a method does not use
/// are 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitConstants {
    pub cell: u16,
    /// `VeneerFrame.of`, by [`add_index`] of the first values or [`EMPTY_FRAME_INDEX`].
    pub frame_of: [u16; FRAME_OF.len()],
    /// `VeneerFrame.add`, by [`add_index`].
    pub frame_add: [u16; FRAME_ADD.len()],
    pub go: u16,
    pub exit: u16,
    /// The class to which the result is cast.
    pub class: u16,
}

/// Suffix of `go` and `exit` for a result type: `V`, `I`, `J`, `F`, `D` or `L`.
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

/// The overloads of `VeneerFrame.of` and `VeneerFrame.add` that a method uses, by index.
type UsedOverloads = ([bool; FRAME_OF.len()], [bool; FRAME_ADD.len()]);

/// The overloads that the frames of these points use, or `None` if there is no point.
fn used_overloads<'p>(points: impl Iterator<Item = &'p Point>) -> Option<UsedOverloads> {
    let mut used: Option<UsedOverloads> = None;
    for p in points {
        let (frame_of, frame_add) = used.get_or_insert_default();
        let runs = runs(carried_types(p).map(carried_kind));
        let first = runs
            .first()
            .map_or(EMPTY_FRAME_INDEX, |(k, n)| add_index(*k, *n));
        frame_of[first] = true;
        for (k, n) in runs.iter().skip(1) {
            frame_add[add_index(*k, *n)] = true;
        }
    }
    used
}

/// The class to which a result must be cast, if any.
fn result_class(result: &Option<Type>) -> Option<&str> {
    match result {
        Some(Type::Object(class)) if &**class != "java/lang/Object" => Some(class),
        _ => None,
    }
}

impl ExitConstants {
    /// Adds the constants for leaving an armed body at these points.
    pub fn for_armed_body(
        pool: &mut ConstantPool,
        cell: u16,
        points: &[Point],
        result: &Option<Type>,
    ) -> Result<ExitConstants, Refusal> {
        let returns = points
            .iter()
            .any(|p| exit_form(p, result) == ExitForm::Return);
        ExitConstants::build(
            pool,
            cell,
            (used_overloads(points_with_frame(points, result)), returns),
            result_kind(result),
            result_class(result),
        )
    }

    /// Adds the constants for leaving a version at these points. A version always leaves with a
    /// frame.
    pub fn for_version<'p>(
        pool: &mut ConstantPool,
        cell: u16,
        points: impl Iterator<Item = &'p Point>,
        result: &Option<Type>,
    ) -> Result<ExitConstants, Refusal> {
        ExitConstants::build(
            pool,
            cell,
            (used_overloads(points), false),
            result_kind(result),
            result_class(result),
        )
    }

    fn build(
        pool: &mut ConstantPool,
        cell: u16,
        (framed, returns): (Option<UsedOverloads>, bool),
        kind: char,
        cast: Option<&str>,
    ) -> Result<ExitConstants, Refusal> {
        let mut refs = ExitConstants {
            cell,
            ..ExitConstants::default()
        };
        let text = if kind == 'L' {
            "Ljava/lang/Object;".to_string()
        } else {
            kind.to_string()
        };
        if let Some((frame_of, frame_add)) = framed {
            for (n, _) in frame_of.iter().enumerate().filter(|u| *u.1) {
                refs.frame_of[n] = pool.add_method(runtime::FRAME, "of", FRAME_OF[n])?;
            }
            for (n, _) in frame_add.iter().enumerate().filter(|u| *u.1) {
                refs.frame_add[n] = pool.add_method(runtime::FRAME, "add", FRAME_ADD[n])?;
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

    /// Appends the bytes that [`ExitConstants::exit_tail`] emits, without the return instruction.
    pub fn exit_tail_bytes(&self, out: &mut Vec<u8>, cast: bool) {
        let ([a, b], [c, d]) = (self.cell.to_be_bytes(), self.exit.to_be_bytes());
        out.extend_from_slice(&[GETSTATIC, a, b, INVOKESTATIC, c, d]);
        if cast {
            out.push(CHECKCAST);
            out.extend(self.class.to_be_bytes());
        }
    }

    /// Emits the tail that the returns share. The result and the point's number are on the stack.
    pub fn exit_tail(&self, a: &mut Assembler, result: &Option<Type>) {
        a.pool(GETSTATIC, self.cell);
        a.pool(INVOKESTATIC, self.exit);
        self.return_result(a, result);
    }

    /// Emits code that puts the live values at a point into a new frame and leaves the frame on the
    /// stack. Operands that fit the first run of values stay on the stack; the other operands are
    /// first stored into the locals from `temp` on.
    pub fn build_frame(&self, a: &mut Assembler, point: &Point, number: PointNumber, temp: u16) {
        let stay = operands_on_stack(point);
        let mut next = temp;
        let mut from = Vec::with_capacity(point.stack.len());
        for t in &point.stack[stay..] {
            from.push(next);
            next += t.width();
        }
        for (t, slot) in point.stack[stay..].iter().zip(&from).rev() {
            a.local(ISTORE + carried_kind(t), *slot);
        }
        let locals = point.locals.iter().filter(|l| l.1 != Type::Null);
        let mut slots = from.into_iter().chain(locals.map(|l| l.0));
        let runs = runs(carried_types(point).map(carried_kind));
        let first = runs
            .first()
            .map_or(EMPTY_FRAME_INDEX, |(k, n)| add_index(*k, *n));
        let mut load = |a: &mut Assembler, (of, n): (u8, usize)| {
            for slot in slots.by_ref().take(n) {
                a.local(ILOAD + of, slot);
            }
        };
        if let Some((of, n)) = runs.first() {
            load(a, (*of, n - stay));
        }
        match number {
            PointNumber::OfPoint => a.push(Instruction::Push(point.id.0 as i16)),
            PointNumber::Local(slot) => a.local(ILOAD, slot),
        }
        a.pool(INVOKESTATIC, self.frame_of[first]);
        for run in runs.iter().skip(1) {
            load(a, *run);
            a.pool(INVOKEVIRTUAL, self.frame_add[add_index(run.0, run.1)]);
        }
    }

    /// Emits the call of the executor loop with the frame on the stack, and the return of its
    /// result. The locals in `cleared` are set to null before.
    pub fn run_loop(&self, a: &mut Assembler, cleared: &[u16], result: &Option<Type>) {
        clear_locals(a, cleared);
        a.pool(GETSTATIC, self.cell);
        a.pool(INVOKESTATIC, self.go);
        self.return_result(a, result);
    }

    /// Emits the return of the result on the stack, cast if necessary.
    fn return_result(&self, a: &mut Assembler, result: &Option<Type>) {
        if result_class(result).is_some() {
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

/// Emits code that sets locals to null.
pub(crate) fn clear_locals(a: &mut Assembler, slots: &[u16]) {
    for slot in slots {
        a.plain(ACONST_NULL);
        a.local(ASTORE, *slot);
    }
}

/// Locals to set to null before an activation continues in other code. They are the method's
/// locals that ever hold an object, and the locals from `temp` on that hold operands of one of
/// these points.
pub(crate) fn locals_to_clear<'p>(
    method: &Method,
    points: impl Iterator<Item = &'p Point>,
    temp: u16,
) -> Vec<u16> {
    let mut slots = object_slots(method);
    slots.extend(temp..temp + spill_words(points));
    slots
}

/// Locals of a method that hold an object at some time, in rising order.
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

/// Locals that hold an object at a method's entry.
pub(crate) fn object_arguments(entry: &Point) -> Vec<u16> {
    let objects = entry
        .locals
        .iter()
        .filter(|l| matches!(l.1, Type::Object(_)));
    objects.map(|l| l.0).collect()
}

/// How many values at the bottom of a point's operand stack can stay there, because the first call
/// (`VeneerFrame.of`) accepts them.
fn operands_on_stack(point: &Point) -> usize {
    let first = runs(carried_types(point).map(carried_kind))
        .first()
        .map_or(0, |run| run.1);
    first.min(point.stack.len())
}

/// The largest number of local-variable words that any of these points needs for operands.
pub(crate) fn spill_words<'p>(points: impl Iterator<Item = &'p Point>) -> u16 {
    let words = |p: &Point| {
        p.stack[operands_on_stack(p)..]
            .iter()
            .map(Type::width)
            .sum()
    };
    points.map(words).max().unwrap_or(0)
}

/// Selects the points at which activations leave with a frame.
pub(crate) fn points_with_frame<'p>(
    points: &'p [Point],
    result: &'p Option<Type>,
) -> impl Iterator<Item = &'p Point> {
    points
        .iter()
        .filter(|p| exit_form(p, result) == ExitForm::Frame)
}

/// The operand stack, in words, that leaving at these points needs. The number is exact: C1
/// reserves room in each frame for the maximum operand stacks of a method and of everything inlined
/// into it, used or not.
pub(crate) fn exit_stack_words(points: &[Point], result: &Option<Type>) -> u16 {
    let words = |p: &Point| {
        let depth: u16 = p.stack.iter().map(Type::width).sum();
        match exit_form(p, result) {
            // The version, its arguments, and the null that is stored into a local; or the version
            // and the copy of it that the check compares.
            ExitForm::Entry => {
                let cleared = u16::from(!object_arguments(p).is_empty());
                (p.words() + 1 + cleared).max(2)
            }
            ExitForm::Return => depth + 2,
            // Either one run of values and the point's number, or the frame and one run of values;
            // at the end the frame and the cell.
            ExitForm::Frame => {
                let runs = runs(carried_types(p).map(carried_kind));
                let words =
                    |(kind, n): &(u8, usize)| if matches!(kind, 1 | 3) { 2 } else { *n as u16 };
                let most = runs.iter().map(words).max().unwrap_or(0);
                depth.max(1 + most).max(2)
            }
        }
    };
    points.iter().map(words).max().unwrap_or(0)
}

/// Upper bound in bytes for the exit code of one point, without the code that all points share.
pub(crate) fn max_exit_bytes(point: &Point, result: &Option<Type>) -> usize {
    let values = point.locals.len() + point.stack.len();
    match exit_form(point, result) {
        ExitForm::Entry => 7 + 9 * values,
        ExitForm::Return => 6,
        ExitForm::Frame => 9 + 11 * values,
    }
}

/// Upper bound in bytes for the exit code that all points of a method share.
pub(crate) fn max_shared_bytes(method: &Method) -> usize {
    20 + 5 * (object_slots(method).len() + usize::from(method.code.max_stack))
}

/// Labels of the code that the exit stubs of several points share.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SharedTails {
    /// Tail for the points that leave with a frame. The frame is on the stack.
    pub frame: Option<Label>,
    /// Tail for the returns. The result and the point's number are on the stack.
    pub exit: Option<Label>,
}

impl SharedTails {
    /// Creates the labels for the tails that the stubs of these points jump to.
    pub fn new(a: &mut Assembler, points: &[Point], result: &Option<Type>) -> SharedTails {
        let mut label = |of: ExitForm| {
            let some = points.iter().any(|p| exit_form(p, result) == of);
            some.then(|| a.fresh())
        };
        SharedTails {
            frame: label(ExitForm::Frame),
            exit: label(ExitForm::Return),
        }
    }

    /// The tails that are reached by a jump, each with the verification types at its start. A tail
    /// that only one stub reaches by falling through needs no stack-map frame.
    pub fn states(self, points: &[Point], result: &Option<Type>) -> Vec<(Label, State)> {
        let exits = points
            .iter()
            .filter(|p| exit_form(p, result) == ExitForm::Return);
        let exit = self.exit.filter(|_| exits.count() > 1);
        let of_exit = result.iter().map(as_object).chain([Type::Int]).collect();
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

/// The type by which a stub knows a value. A stub passes every reference as an `Object`, so its
/// stack map names no class of the application.
pub(crate) fn as_object(t: &Type) -> Type {
    match t {
        Type::Object(_) => Type::object("java/lang/Object"),
        other => other.clone(),
    }
}

/// The index of a value in the frame of a point, or `None` if the frame does not carry it.
pub(crate) fn frame_index(point: &Point, value: CarriedValue) -> Option<u16> {
    let at = match value {
        CarriedValue::Stack(n) => Some(n as usize),
        CarriedValue::Local(slot) => point
            .locals
            .iter()
            .filter(|l| l.1 != Type::Null)
            .position(|l| l.0 == slot)
            .map(|n| n + point.stack.len()),
    };
    at.and_then(|n| u16::try_from(n).ok())
}

/// A value that an activation carries from one version to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarriedValue {
    /// A value of the operand stack, numbered from the bottom.
    Stack(u16),
    /// The local variable in this slot.
    Local(u16),
}

/// Descriptor of the call by which an activation leaves at a method's entry: the live values as
/// parameters, and the declared result.
pub(crate) fn entry_call_descriptor(point: &Point, method: &Method) -> Result<String, Refusal> {
    let mut out = String::from("(");
    for t in carried_types(point) {
        out += &descriptor::field_descriptor(t).ok_or(Refusal::UninitializedObject)?;
    }
    out.push(')');
    // The result is the declared one and not its verification type, so that a boolean remains a
    // boolean.
    out += MethodDescriptor::parse(&method.descriptor).map_or("V", MethodDescriptor::result_text);
    Ok(out)
}

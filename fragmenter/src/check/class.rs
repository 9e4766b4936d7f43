//! Compares whole classes: everything outside the method bodies must be unchanged, and each changed
//! body is compared by the product.

use super::checked::Checked;
use super::constants::{Constants, ContentNumbers, Role};
use super::expected::Expected;
use super::failure::Failure;
use super::frame_contract::FrameContract;
use super::liveness::LiveLocals;
use super::part_choice;
use super::probe;
use super::product::{Mode, Product};
use super::program::Program;
use super::reference::ReferenceProgram;
use crate::arming::ArmedMethod;
use crate::classfile::{Attribute, ClassFile, Code, Member};
use crate::hotspot::null_message::{NullMessageAnalysis, Reached};
use crate::patch::{Edit, constants};
use crate::{bootstrap, runtime};
use std::sync::Arc;
use veneer_names::CounterSlot;
use veneer_probes::step::ProbeStep;

type Outcome<T> = Result<T, Failure>;

fn unreadable(who: &'static str) -> impl Fn(crate::classfile::ClassFileError) -> Failure {
    move |e| Failure::Unreadable(who, e.to_string())
}

fn changed(what: &str) -> Failure {
    Failure::ClassChanged(what.to_string())
}

/// Prepares the constant pools of both sides. For a version, both sides use the rules for code in
/// another class than its host.
fn sides<'c>(
    original: &'c ClassFile<'c>,
    emitted: &'c ClassFile<'c>,
    role: Role,
    anchor: &str,
) -> Result<(Constants<'c>, Constants<'c>), Failure> {
    let version = role == Role::Version;
    let of = |file, role| Constants::new(file, role, original, anchor, version);
    let both = of(original, Role::Original).and_then(|left| Ok((left, of(emitted, role)?)));
    both.map_err(|why| Failure::Unreadable("class", why.to_string()))
}

/// Compares an armed class with the original.
pub(super) fn armed(
    original: &ClassFile,
    emitted: &ClassFile,
    anchor: &str,
    methods: &[ArmedMethod],
) -> Checked {
    let mut checked = Checked::default();
    if let Err(failure) = outline(original, emitted) {
        checked.failures.push((String::new(), failure));
        return checked;
    }
    let mut contents = ContentNumbers::new();
    let (mut left, mut right) = match sides(original, emitted, Role::Armed, anchor) {
        Ok(sides) => sides,
        Err(failure) => {
            checked.failures.push((String::new(), failure));
            return checked;
        }
    };
    let mut null_messages = [original, emitted].map(|f| NullMessageAnalysis::new(&f.pool));
    // Method number `i` has cell id `first + i`, so no two methods share a cell.
    let mut first = None;
    for (index, (a, b)) in original.methods.iter().zip(&emitted.methods).enumerate() {
        let declared = methods.iter().find(|m| m.index == index);
        let mut one = || -> Outcome<Option<usize>> {
            right.set_anchor(declared.map_or(anchor, |m| &m.anchor));
            let codes = codes(original, emitted, a, b)?;
            let Some((a_info, b_info)) = codes else {
                return Ok(None);
            };
            let (a_code, b_code) = (
                Code::parse(a_info).map_err(unreadable("original"))?,
                Code::parse(b_info).map_err(unreadable("emitted code"))?,
            );
            let descriptor = original
                .pool
                .utf8(a.descriptor)
                .map_err(unreadable("original"))?;
            let left_side = ReferenceProgram::read(original, &a_code, descriptor, &mut contents)?;
            let right_side = Program::read(emitted, &b_code, &mut contents, "emitted code")?;
            if right_side.max_locals < left_side.program.max_locals {
                return Err(changed("fewer local variables"));
            }
            let live = LiveLocals::solve(&left_side.program);
            let (words, _) = super::constants::shape(descriptor);
            let parameters = words as usize + (a.access & 0x8 == 0) as usize;
            let mut product = Product::new(
                &left_side,
                &right_side,
                &mut contents,
                &mut left,
                &mut right,
                Mode::Armed,
            );
            product.live = Some(&live);
            product.armed(parameters)?;
            product.check_points(declared.map_or(&[], |m| &m.points))?;
            null_messages_remain_sound(&mut null_messages, &a_code, &b_code, false)?;
            let (runs, id) = (product.runs, product.id);
            if let Some(declared) = declared
                && id.is_some_and(|id| id != declared.id)
            {
                return Err(Failure::Own {
                    at: Default::default(),
                    why: "the cell of another method".into(),
                });
            }
            if let Some(id) = id {
                let base = i64::from(id.0) - index as i64;
                if *first.get_or_insert(base) != base {
                    return Err(Failure::Own {
                        at: Default::default(),
                        why: "the cell of another method".into(),
                    });
                }
            }
            Ok(Some(runs))
        };
        match one() {
            Ok(None) => {}
            Ok(Some(runs)) => {
                checked.methods += 1;
                checked.states += runs;
            }
            Err(failure) => {
                checked.methods += 1;
                checked.failures.push((label(original, a), failure));
            }
        }
    }
    checked
}

/// Checks that HotSpot's analysis for null-pointer messages is sound for the emitted code, if it is
/// sound for the original. `analyses` are those of the original's and of the emitted class.
///
/// The analysis of the original says nothing about its unreachable code. `reaches_more` is true if
/// the emitted code can reach such code: by an edit, or by the switch over the points of a resume
/// body. Then the original counts as sound only if its analysis reaches all of its code.
fn null_messages_remain_sound(
    [before, after]: &mut [NullMessageAnalysis; 2],
    original: &Code,
    emitted: &Code,
    reaches_more: bool,
) -> Outcome<()> {
    let Err(inconsistency) = after.check(emitted) else {
        return Ok(());
    };
    match before.check(original) {
        Err(_) => Ok(()),
        Ok(Reached::Part) if reaches_more => Ok(()),
        Ok(_) => Err(Failure::NullMessage(inconsistency)),
    }
}

fn label(file: &ClassFile, m: &Member) -> String {
    let text = |i| file.pool.text(i).unwrap_or_default();
    format!("{}{}", text(m.name), text(m.descriptor))
}

/// Returns the contents of both `Code` attributes if they differ. All other parts of the method
/// must be equal.
fn codes<'m>(
    original: &ClassFile,
    emitted: &ClassFile,
    a: &'m Member,
    b: &'m Member,
) -> Outcome<Option<(&'m [u8], &'m [u8])>> {
    if (a.access, a.name, a.descriptor) != (b.access, b.name, b.descriptor)
        || a.attributes.len() != b.attributes.len()
    {
        return Err(changed("a method's name, flags or attributes"));
    }
    let mut found = None;
    for (x, y) in a.attributes.iter().zip(&b.attributes) {
        if x == y {
            continue;
        }
        let code = x.name == y.name
            && x.is(&original.pool, "Code")
            && y.is(&emitted.pool, "Code")
            && found.is_none();
        if !code {
            return Err(changed("a method's attributes"));
        }
        found = Some((&*x.info, &*y.info));
    }
    Ok(found)
}

/// Compares everything outside the methods. The emitted constant pool must begin with the
/// original's constants at the same indices; more constants may follow.
fn outline(original: &ClassFile, emitted: &ClassFile) -> Outcome<()> {
    let (a, b) = (original, emitted);
    if (a.major, a.minor, a.access, a.this_class, a.super_class)
        != (b.major, b.minor, b.access, b.this_class, b.super_class)
        || a.interfaces != b.interfaces
    {
        return Err(changed("version, flags, name or supertypes"));
    }
    if a.fields != b.fields || a.methods.len() != b.methods.len() {
        return Err(changed("its members"));
    }
    if b.pool.count() < a.pool.count() {
        return Err(changed("constants are missing"));
    }
    for i in a.pool.indices() {
        // The debug text also compares equal for two NaNs, which `==` never does.
        let (x, y) = (a.pool.entry(i), b.pool.entry(i));
        if x != y && format!("{x:?}") != format!("{y:?}") {
            return Err(changed("its constants"));
        }
    }
    let table =
        |f: &ClassFile| bootstrap::read(f).map_err(|e| Failure::Unreadable("class", e.to_string()));
    let (before, after) = (table(a)?, table(b)?);
    if after.get(..before.len()) != Some(&before[..]) {
        return Err(changed("its bootstrap methods"));
    }
    let rest = |f: &ClassFile| -> Vec<(u16, Vec<u8>)> {
        let other = |x: &&Attribute| !x.is(&f.pool, "BootstrapMethods");
        let kept = f.attributes.iter().filter(other);
        kept.map(|x| (x.name, x.info.to_vec())).collect()
    };
    if rest(a) != rest(b) {
        return Err(changed("its attributes"));
    }
    Ok(())
}

/// Compares a version class with its host.
pub(super) fn version(
    host: &ClassFile,
    emitted: &ClassFile,
    anchor: &str,
    expected: &[Expected],
) -> Checked {
    let mut checked = Checked::default();
    if let Err(failure) = version_outline(host, emitted, anchor, expected) {
        checked.failures.push((String::new(), failure));
        return checked;
    }
    let mut contents = ContentNumbers::new();
    let (mut left, mut right) = match sides(host, emitted, Role::Version, anchor) {
        Ok(sides) => sides,
        Err(failure) => {
            checked.failures.push((String::new(), failure));
            return checked;
        }
    };
    let mut null_messages = [host, emitted].map(|f| NullMessageAnalysis::new(&f.pool));
    let mut seen = 0;
    for x in expected {
        let Some(member) = host.methods.get(x.index) else {
            let missing = Failure::Missing(format!("method {}", x.index));
            checked.failures.push((String::new(), missing));
            continue;
        };
        let label = label(host, member);
        let side = match host_side(host, member, x, &mut contents) {
            Ok(side) => side,
            Err(failure) => {
                checked.failures.push((label, failure));
                continue;
            }
        };
        let (original, contracts) = side;
        // Emitted code can only use an offset that fits an `int`; larger offsets are dropped.
        let offset = |slot: &CounterSlot| i32::try_from(slot.byte_offset()).ok();
        let mut counters: Vec<i32> = x.counters.iter().filter_map(offset).collect();
        counters.sort_unstable();
        let (mode, name) = {
            let method = host.pool.text(member.name).unwrap_or_default();
            let enter = runtime::enter_method(&method, x.id);
            if named(emitted, &enter).is_some() {
                (Mode::Enter, enter)
            } else {
                (Mode::Resume, runtime::resume_method(&method, x.id))
            }
        };
        checked.methods += 1;
        let mut one = || -> Outcome<(usize, usize)> {
            let is_split = x.edits.iter().any(|e| matches!(e, Edit::Split { .. }));
            let bodies = bodies(emitted, &name, (mode, is_split), &contracts, &original)?;
            let host_code = member
                .code(&host.pool)
                .map_err(unreadable("original"))?
                .ok_or_else(|| Failure::Missing("the original's code".into()))?;
            let mut runs = 0;
            let receivers = receivers(&x.edits);
            let constants = constants(&x.edits);
            let chooses_loops = x.edits.iter().any(|e| matches!(e, Edit::Unswitch { .. }));
            for (code, points) in &bodies {
                let read = match mode {
                    Mode::Enter => Program::read_instance,
                    _ => Program::read,
                };
                let program = read(emitted, code, &mut contents, "emitted code")?;
                if program.max_locals < original.program.max_locals {
                    return Err(changed("fewer local variables"));
                }
                let mut product = Product::new(
                    &original,
                    &program,
                    &mut contents,
                    &mut left,
                    &mut right,
                    mode,
                );
                product.id = Some(x.id);
                product.clean = x.clean;
                product.counters = &counters;
                product.limits = &x.limits;
                product.reads_shard = x.reads_shard;
                product.receivers = &receivers;
                product.constants = &constants;
                product.chooses_loops = chooses_loops;
                product.contracts = contracts.clone();
                match mode {
                    Mode::Enter => product.enter(),
                    _ => product.resume(points),
                }?;
                runs += product.runs;
                let reaches_more = mode == Mode::Resume || !x.edits.is_empty();
                null_messages_remain_sound(&mut null_messages, &host_code, code, reaches_more)?;
            }
            let choices = usize::from(mode == Mode::Resume && is_split);
            Ok((runs, bodies.len() + choices))
        };
        match one() {
            Ok((runs, methods)) => {
                checked.states += runs;
                seen += methods;
            }
            Err(failure) => checked
                .failures
                .push((format!("{label} in {name}"), failure)),
        }
    }
    seen += check_probes(emitted, expected, &mut checked.failures);
    if checked.failures.is_empty() && emitted.methods.len() != seen {
        let failure = Failure::Unasked("a method of the version class".into());
        checked.failures.push((String::new(), failure));
    }
    checked
}

/// The pcs of calls that are tested, with the classes for which they are.
fn receivers(edits: &[Edit]) -> Vec<(u16, Arc<str>)> {
    let receiver = |edit: &Edit| match edit {
        Edit::Receiver { pc, class } => Some((*pc, class.clone())),
        _ => None,
    };
    edits.iter().filter_map(receiver).collect()
}

/// The codes of the bodies of a method, each with the points at which activations enter it. A split
/// method has a body for each part.
fn bodies<'c>(
    emitted: &'c ClassFile<'c>,
    name: &str,
    (mode, is_split): (Mode, bool),
    contracts: &[Option<FrameContract>],
    original: &ReferenceProgram,
) -> Outcome<Vec<(Code<'c>, Vec<usize>)>> {
    let code = |name: &str, wanted: &[u8], access: u16| {
        let body =
            named(emitted, name).ok_or_else(|| Failure::Missing(format!("the body {name}")))?;
        let text = emitted.pool.utf8(body.descriptor);
        let text = text.map_err(unreadable("emitted code"))?;
        if text != wanted || body.access & 0x0fff != access {
            return Err(changed("the descriptor or flags of a body"));
        }
        let info = body.attribute(&emitted.pool, "Code");
        let info = info.ok_or_else(|| Failure::Missing("a body's code".into()))?;
        Code::parse(&info.info).map_err(unreadable("emitted code"))
    };
    let resume = runtime::RESUME_DESCRIPTOR.as_bytes();
    let entry = contracts.first().and_then(Option::as_ref);
    match (mode, entry) {
        (Mode::Resume, _) if is_split => {
            let choice = code(name, resume, 0x0008)?;
            let parts = part_choice::parts(emitted, &choice, contracts)?.into_iter();
            let read =
                |part: part_choice::Part| Ok((code(&part.name, resume, 0x0008)?, part.points));
            parts.map(read).collect()
        }
        (Mode::Resume, _) => {
            let all_points = (1..contracts.len()).collect();
            Ok(vec![(code(name, resume, 0x0008)?, all_points)])
        }
        (_, Some(entry)) => {
            let descriptor = entry.descriptor(&original.result_text);
            Ok(vec![(code(name, &descriptor, 0x0010)?, Vec::new())])
        }
        (_, None) => Err(Failure::Missing("point 0".into())),
    }
}

/// Checks the methods of the version class that contain probes. Returns their number.
fn check_probes(
    emitted: &ClassFile,
    expected: &[Expected],
    failures: &mut Vec<(String, Failure)>,
) -> usize {
    let steps: Vec<ProbeStep> = expected.iter().flat_map(|x| x.steps.clone()).collect();
    let mut seen = 0;
    for member in emitted
        .methods
        .iter()
        .filter(|m| probe::is_probe_method(emitted, m))
    {
        seen += 1;
        if let Err(failure) = probe::check_harmless(emitted, member, &steps) {
            let name = emitted.pool.text(member.name).unwrap_or_default();
            failures.push((name.into_owned(), failure));
        }
    }
    seen
}

fn named<'m>(file: &'m ClassFile<'m>, name: &str) -> Option<&'m Member<'m>> {
    file.methods
        .iter()
        .find(|m| file.pool.utf8(m.name).is_ok_and(|n| n == name.as_bytes()))
}

type HostSide = (ReferenceProgram, Vec<Option<FrameContract>>);

fn host_side(
    host: &ClassFile,
    member: &Member,
    expected: &Expected,
    contents: &mut ContentNumbers,
) -> Outcome<HostSide> {
    let code = member
        .code(&host.pool)
        .map_err(unreadable("original"))?
        .ok_or_else(|| Failure::Missing("the original's code".into()))?;
    let descriptor = host
        .pool
        .utf8(member.descriptor)
        .map_err(unreadable("original"))?;
    let mut original = ReferenceProgram::read(host, &code, descriptor, contents)?;
    original.edit(expected)?;
    let contract = |p| FrameContract::from_point(p).map(Some);
    let mut contracts = expected
        .points
        .iter()
        .map(contract)
        .collect::<Result<Vec<_>, _>>()?;
    // Fragments without an edit point have no frame contract, and no activation leaves or enters
    // there.
    for point in &expected.edit_points {
        let number = point.id.0 as usize;
        if number < expected.points.len() {
            return Err(Failure::Points {
                point: number,
                why: "an edit point has the number of a point of the armed body".into(),
            });
        }
        if contracts.len() <= number {
            contracts.resize(number + 1, None);
        }
        contracts[number] = contract(point)?;
    }
    Ok((original, contracts))
}

/// Checks the name, the superclass, and the fields with tokens and offsets, which the agent fills
/// in.
fn version_outline(
    host: &ClassFile,
    emitted: &ClassFile,
    anchor: &str,
    expected: &[Expected],
) -> Outcome<()> {
    let read = unreadable("emitted code");
    let host_name = host.name().map_err(unreadable("original"))?;
    let name = emitted.name().map_err(&read)?;
    if *name != format!("{host_name}$V")
        || emitted.super_name().map_err(&read)?.as_deref() != Some(anchor)
        || !emitted.interfaces.is_empty()
    {
        return Err(changed("the version's name or supertypes"));
    }
    let pool = &emitted.pool;
    let tokens: Vec<String> = expected
        .iter()
        .map(|x| runtime::token_field(x.id))
        .collect();
    let is = |f: &Member, name: &str, descriptor: &str| {
        f.access & 0x18 == 0x18
            && pool.utf8(f.name).is_ok_and(|n| n == name.as_bytes())
            && pool
                .utf8(f.descriptor)
                .is_ok_and(|d| d == descriptor.as_bytes())
    };
    let (found, filled) = emitted
        .fields
        .split_at_checked(tokens.len())
        .ok_or_else(|| changed("the version's tokens"))?;
    let mut tokens = found.iter().zip(&tokens);
    if !tokens.all(|(f, token)| is(f, token, runtime::HANDLE_DESCRIPTOR)) {
        return Err(changed("the version's tokens"));
    }
    let is_offset = |f: &Member| {
        let names = (0..host.fields.len() as u16).map(runtime::final_offset_field);
        names.into_iter().any(|name| is(f, &name, "J"))
    };
    let is_handle = |f: &Member| {
        let name = pool.text(f.name).unwrap_or_default();
        runtime::bound_member(&name).is_some() && is(f, &name, runtime::HANDLE_DESCRIPTOR)
    };
    if !filled.iter().all(|f| is_offset(f) || is_handle(f)) {
        return Err(changed("the version's fields"));
    }
    Ok(())
}

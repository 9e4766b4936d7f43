//! Converts the instructions of a body to its `Code` attribute: exception table, stack-map frames
//! and lines.

use super::{BodyEmitter, CopiedInstruction, EmittedBody, LabelledSpan, MonitoredCode};
use crate::bytecode::{Assembled, Label};
use crate::classfile::{Code, ExceptionRange, encode_stack_map};
use crate::flowgraph::FragmentId;
use crate::frames;
use crate::osr_exit;
use crate::refusal::Refusal;
use crate::types::{State, Type};
use crate::version::emitter::Emitter;
use crate::version::plan::{Bodies, VersionPlan};
use crate::version::version_class::Span;
use crate::version::weave;
use indexmap::IndexMap;

impl BodyEmitter<'_, '_> {
    pub(super) fn finish(
        self,
        begin: Label,
        end: Label,
        catch: Option<Label>,
    ) -> Result<EmittedBody, Refusal> {
        let BodyEmitter {
            e,
            plan,
            slots,
            mut a,
            frames: wanted,
            points,
            copied,
            monitored,
            new_instruction_labels,
            handlers,
            bodies,
            spans,
            ..
        } = self;
        let method = plan.method;
        // The enter body is called on an instance of the version class, which occupies slot 0.
        let this = (bodies == Bodies::Enter).then(|| Type::object(&e.self_name));
        if this.is_some() {
            a.shift_locals(1);
        }
        let out = a.finish()?;
        let exceptions = exception_table(
            plan,
            &out,
            (&copied, &monitored),
            &handlers,
            e,
            (begin, end, catch),
        )?;
        let new_pc = |pc: u16| new_instruction_labels.get(&pc).and_then(|l| out.at(*l));
        let mut at: Vec<(u16, &State)> = wanted
            .iter()
            .filter_map(|(l, s)| Some((out.at(*l)?, s)))
            .collect();
        at.sort_by_key(|f| f.0);
        at.dedup_by(|b, a| a.0 == b.0 && a.1 == b.1);
        let framed = |pc: &u16| at.binary_search_by_key(pc, |f| f.0).is_ok();
        if !out.skips.iter().all(framed) {
            return Err(Refusal::MethodTooLarge(
                "a conditional branch would reach further than 32,767 bytes".into(),
            ));
        }
        let mut stack_map = Vec::with_capacity(at.len());
        for (pc, state) in at {
            let shifted = this.as_ref().map(|this| State {
                locals: std::iter::once(this)
                    .chain(&state.locals)
                    .cloned()
                    .collect(),
                stack: state.stack.clone(),
            });
            let state = shifted.as_ref().unwrap_or(state);
            stack_map.push(frames::frame(pc, state, &mut e.pool, &new_pc)?);
        }
        let initial = initial_types(plan, bodies);
        let initial: Vec<Type> = this.iter().cloned().chain(initial).collect();
        let initial = frames::locals(&initial, &mut e.pool, &new_pc)?;
        let info = encode_stack_map(&stack_map, &initial)?;
        let attribute = crate::classfile::Attribute {
            name: e.pool.add_utf8("StackMapTable")?,
            info: info.into(),
        };
        let spill = osr_exit::spill_words(points.iter());
        let armed_pcs = copied
            .iter()
            .filter_map(|p| Some((out.at(p.start)?, p.armed_pc?)));
        let mut armed_pcs: Vec<(u16, u16)> = armed_pcs.collect();
        armed_pcs.sort_unstable();
        let span = |span: &LabelledSpan| {
            Some(Span {
                pc: out.at(span.label)?,
                fragment: span.fragment,
                original_pc: span.original_pc,
                gathers: span.gathers,
            })
        };
        let mut spans: Vec<Span> = spans.iter().filter_map(span).collect();
        spans.sort_unstable_by_key(|s| s.pc);
        let mut attributes = vec![attribute];
        attributes.extend(line_table(plan, &out, &copied, e)?);
        let code = Code {
            // One word more than the code needs. C2 reads the first argument of a call in a body
            // with the annotation `super::COMPILED`, and the call may have no arguments. Another
            // word is for a method handle below the operands of a call.
            max_stack: (method.code.max_stack + weave::advice_stack_words(plan.probes))
                .max(osr_exit::exit_stack_words(&points, &method.signature.result) + 3)
                + u16::from(e.scratch_words > 0)
                + 1,
            max_locals: slots.temp
                + 2
                + spill
                    .max(weave::operand_spill_words(plan.probes))
                    .max(e.scratch_words)
                + u16::from(this.is_some()),
            code: out.code.into(),
            exceptions,
            attributes,
        };
        Ok(EmittedBody {
            code,
            armed_pcs,
            spans,
        })
    }
}

/// The types of a body's parameters, without the instance on which it is called.
fn initial_types(plan: &VersionPlan, bodies: Bodies) -> Vec<Type> {
    match bodies {
        Bodies::Resume => vec![Type::object("java/lang/Object")],
        Bodies::Enter => {
            let widths = crate::point_values::carried_types(&plan.armed.points[0]);
            widths
                .flat_map(|t| {
                    if t.width() == 2 {
                        vec![t.clone(), Type::Top]
                    } else {
                        vec![t.clone()]
                    }
                })
                .collect()
        }
    }
}

/// The line table of the application's instructions, for tools that show the frames of versions.
fn line_table(
    plan: &VersionPlan,
    out: &Assembled,
    copied: &[CopiedInstruction],
    e: &mut Emitter,
) -> Result<Option<crate::classfile::Attribute<'static>>, Refusal> {
    let found = copied
        .iter()
        .filter_map(|p| Some((out.at(p.start)?, plan.method.line(p.pc)?)));
    let rows = line_rows(found.collect());
    if rows.is_empty() {
        return Ok(None);
    }
    let mut info = (rows.len() as u16).to_be_bytes().to_vec();
    for (pc, line) in rows {
        info.extend(pc.to_be_bytes());
        info.extend(line.to_be_bytes());
    }
    Ok(Some(crate::classfile::Attribute {
        name: e.pool.add_utf8("LineNumberTable")?,
        info: info.into(),
    }))
}

/// The rows of a line table, as pairs of a pc and a line. Woven instructions belong to the line
/// before them; those at the start of a body, to the first line. Without a row for pc 0, the Flight
/// Recorder of JDK 17 reports the line -1 for a sample taken there.
fn line_rows(mut rows: Vec<(u16, u16)>) -> Vec<(u16, u16)> {
    rows.sort_unstable();
    rows.dedup_by_key(|row| row.0);
    rows.dedup_by_key(|row| row.1);
    if let Some(first) = rows.first_mut() {
        first.0 = 0;
    }
    rows
}

/// The exception table: the application's ranges over the copies of its instructions, then the
/// version's own catch-all range.
fn exception_table(
    plan: &VersionPlan,
    out: &Assembled,
    (copied, monitored): (&[CopiedInstruction], &[MonitoredCode]),
    handlers: &IndexMap<FragmentId, Label>,
    e: &mut Emitter,
    all: (Label, Label, Option<Label>),
) -> Result<Vec<ExceptionRange>, Refusal> {
    let mut rows: Vec<ExceptionRange> = Vec::new();
    let method = plan.method;
    for range in &method.code.exceptions {
        let Some(handler) = method
            .flow
            .fragment_starting_at(Label::pc(range.handler))
            .and_then(|h| handlers.get(&h))
            .and_then(|l| out.at(*l))
        else {
            continue;
        };
        let catch_type = if range.catch_type == 0 {
            0
        } else {
            e.pool
                .import(&method.file.pool, range.catch_type, &mut e.memo)?
        };
        let pcs = range.start..range.end;
        let copies = copied.iter().filter(|copy| pcs.contains(&copy.pc));
        let mut protected: Vec<(u16, u16)> = copies
            .filter_map(|copy| Some((out.at(copy.start)?, out.at(copy.end)?)))
            .collect();
        if range.catch_type == 0 {
            let own = monitored.iter().filter(|own| pcs.contains(&own.pc));
            protected.extend(own.filter_map(|own| Some((out.at(own.start)?, out.at(own.end)?))));
            protected.sort_unstable();
        }
        let from = rows.len();
        for (start, end) in protected.into_iter().filter(|(start, end)| start < end) {
            match rows[from..].last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => rows.push(ExceptionRange {
                    start,
                    end,
                    handler,
                    catch_type,
                }),
            }
        }
    }
    if let (Some(start), Some(end), Some(handler)) =
        (out.at(all.0), out.at(all.1), all.2.and_then(|l| out.at(l)))
        && start < end
    {
        rows.push(ExceptionRange {
            start,
            end,
            handler,
            catch_type: 0,
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::line_rows;

    #[test]
    fn every_pc_has_a_line() {
        let rows = vec![(14, 3), (9, 7), (12, 7), (14, 3), (20, 7)];
        assert_eq!(line_rows(rows), [(0, 7), (14, 3), (20, 7)]);
        assert!(line_rows(Vec::new()).is_empty());
    }
}

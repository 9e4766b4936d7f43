//! Converts one method body to version 51.

use super::class_hierarchy::ClassHierarchy;
use super::flow::{self, InferenceBody};
use super::verifier_facts::Facts;
use super::{constraints, stackmap, subroutine, upgrade};
use crate::bytecode::opcode::{ATHROW, JSR, NOP, RET};
use crate::bytecode::{Instruction, decode};
use crate::classfile::{Attribute, ClassFile, Code, ExceptionRange};
use crate::descriptor::MethodType;
use crate::flowgraph::FlowGraph;
use crate::method::access;
use crate::refusal::Refusal;
use crate::types::{self, State};
use crate::verify::Checker;
use std::borrow::Cow;

/// Replaces the code of method number `index` in `out`. The new code has no subroutines, and a
/// stack map that is inferred, or kept if it is correct.
pub(super) fn modernise(
    file: &ClassFile,
    index: usize,
    hierarchy: &ClassHierarchy,
    facts: &mut Facts,
    checker: Option<&mut Checker>,
    out: &mut ClassFile,
) -> Result<(), Refusal> {
    let member = &file.methods[index];
    let Some(slot) = out.methods[index]
        .attributes
        .iter()
        .position(|a| a.is(&file.pool, "Code"))
    else {
        return Ok(());
    };
    let name = file.pool.text(member.name)?;
    let descriptor = file.pool.text(member.descriptor)?;
    let label = format!("{name}{descriptor}");
    let signature = MethodType::parse(&descriptor)
        .ok_or_else(|| Refusal::BrokenClass(format!("bad descriptor {descriptor}")))?;
    let Some(mut code) = member.code(&file.pool)? else {
        return Ok(());
    };
    if file.pool.count() >= types::POOL_LIMIT {
        return Err(Refusal::PoolFull);
    }
    upgrade::drop_ignored_code_attributes(&mut code.attributes, &file.pool, file.major);
    let mut instructions = decode(&code.code)?;
    check_ranges(&code, &instructions)?;
    if instructions
        .iter()
        .any(|(_, i)| matches!(i.op(), JSR | RET))
    {
        code = subroutine::inline(&code, &instructions, &file.pool)?;
        instructions = decode(&code.code)?;
    }
    let class = file.name()?;
    let entry = State::entry(
        &class,
        member.access & access::STATIC != 0,
        name == "<init>",
        &signature,
        code.max_locals,
    );
    let flow = FlowGraph::build(
        &instructions,
        &code.exceptions,
        code.code.len() as u32,
        &|_| false,
    );
    let mut body = InferenceBody {
        instructions: &instructions,
        exceptions: &code.exceptions,
        flow: &flow,
        pool: &file.pool,
        class: &class,
        result: signature.result.clone(),
    };
    let mut facts_here = Facts::default();
    let states = flow::run(&body, entry.clone()).and_then(|states| {
        facts_here.collect(&body, &states)?;
        Ok(states)
    });
    facts.join(&facts_here);
    let inferred = match judge_map(checker, &class, index, &facts_here, hierarchy) {
        MapVerdict::Proven => None,
        // If no map can be inferred, facts from other methods may still prove the assumptions of
        // the kept map.
        MapVerdict::Unproven => infer(&body, hierarchy, states, &label).ok(),
        MapVerdict::Wrong => Some(infer(&body, hierarchy, states, &label)?),
    };
    if let Some((states, reached)) = inferred {
        let exceptions = drop_dead_ranges(&code.exceptions, &flow, &reached);
        let bytes = overwrite_dead_code(&code.code, &flow, &reached);
        body.exceptions = &exceptions;
        let table = stackmap::encode_table(&body, &states, &reached, &entry, &mut out.pool)?;
        code.attributes
            .retain(|a| !a.is(&file.pool, "StackMapTable"));
        if let Some(info) = table {
            code.attributes.push(Attribute {
                name: out.pool.add_utf8("StackMapTable")?,
                info: info.into(),
            });
        }
        if reached.contains(&false) {
            code.max_stack = code.max_stack.max(1);
        }
        code.code = bytes.into();
        code.exceptions = exceptions;
    }
    out.methods[index].attributes[slot].info = Cow::Owned(code.to_bytes()?);
    Ok(())
}

fn check_ranges(code: &Code, instructions: &[(u16, Instruction)]) -> Result<(), Refusal> {
    let starts = |pc: u16| instructions.binary_search_by_key(&pc, |i| i.0).is_ok();
    let fine = |e: &ExceptionRange| {
        let end = e.end as usize == code.code.len() || starts(e.end);
        starts(e.start) && starts(e.handler) && end && e.start < e.end
    };
    if code.exceptions.iter().all(fine) {
        Ok(())
    } else {
        Err(Refusal::BrokenCode(
            "an exception range does not lie on instructions".into(),
        ))
    }
}

/// Returns the states at the starts of all fragments, and for each fragment whether it is
/// reachable.
fn infer(
    body: &InferenceBody,
    hierarchy: &ClassHierarchy,
    states: Result<Vec<Option<State>>, Refusal>,
    label: &str,
) -> Result<(Vec<State>, Vec<bool>), Refusal> {
    let states = states?;
    let reached = states.iter().map(Option::is_some).collect();
    let collected = constraints::collect(body, hierarchy, states)?;
    Ok((
        stackmap::resolve_types(collected, hierarchy, label)?,
        reached,
    ))
}

/// The type checker's verdict on a method's existing stack map.
enum MapVerdict {
    /// The map is correct: the facts of the method prove all its assumptions.
    Proven,
    /// The map verifies, but the facts of this method do not prove all its assumptions.
    Unproven,
    /// The map is wrong, or the class file's version has no stack maps.
    Wrong,
}

fn judge_map(
    checker: Option<&mut Checker>,
    this: &str,
    index: usize,
    facts: &Facts,
    hierarchy: &ClassHierarchy,
) -> MapVerdict {
    let Some(checker) = checker else {
        return MapVerdict::Wrong;
    };
    let passed = checker.method(index);
    let needed = checker.take_assumptions();
    if passed.is_err() {
        MapVerdict::Wrong
    } else if needed.iter().all(|a| facts.prove(this, a, hierarchy)) {
        MapVerdict::Proven
    } else {
        MapVerdict::Unproven
    }
}

/// Removes unreachable code from the exception table, so that no handler has to accept its types.
fn drop_dead_ranges(
    exceptions: &[ExceptionRange],
    flow: &FlowGraph,
    reached: &[bool],
) -> Vec<ExceptionRange> {
    if !reached.contains(&false) {
        return exceptions.to_vec();
    }
    let mut out: Vec<ExceptionRange> = Vec::new();
    for row in exceptions {
        let first = out.len();
        for f in flow.fragments().filter(|f| reached[f.id.index()]) {
            let (start, end) = (f.start.max(row.start), f.end.min(row.end as u32) as u16);
            if start >= end {
                continue;
            }
            match out[first..].last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => out.push(ExceptionRange { start, end, ..*row }),
            }
        }
    }
    out
}

/// Overwrites each unreachable fragment with `nop … athrow`. The types of unreachable code are
/// unknown, but a verifier with stack maps requires types for all code.
fn overwrite_dead_code(code: &[u8], flow: &FlowGraph, reached: &[bool]) -> Vec<u8> {
    let mut out = code.to_vec();
    for f in flow.fragments().filter(|f| !reached[f.id.index()]) {
        let end = (f.end as usize).min(out.len());
        if let Some([rest @ .., last]) = out.get_mut(f.start as usize..end) {
            rest.fill(NOP);
            *last = ATHROW;
        }
    }
    out
}

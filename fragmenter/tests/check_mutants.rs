//! Mutation tests of the checker. Emitted code is changed in one small way at a time, and the
//! checker must detect each change.
//!
//! A mutant that cannot be parsed, or that the verifier of the tests refuses, is not counted. A
//! surviving mutant is explained from the instructions alone (`check_support/explain.rs`): the
//! change affects only a measurement of Veneer, or has no effect. A survivor without an explanation
//! is treated as a gap in the checker until the explanation is found.

mod arming_support;
mod check_support;
mod classfile_support;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use check_support::explain::{Why, differs, explain, throws};
use check_support::{ProbeSet, SplitMix, armed, policies, versions};
use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::check::{self, Checked};
use veneer_fragmenter::classfile::{ClassFile, Code, ExceptionRange};
use veneer_fragmenter::descriptor::MethodType;
use veneer_fragmenter::runtime;
use veneer_fragmenter::version::Bodies;

const KINDS: [&str; 14] = [
    "local index",
    "constant",
    "branch condition",
    "branch target",
    "instruction dropped",
    "instructions swapped",
    "operation changed",
    "switch targets swapped",
    "member changed",
    "range narrowed",
    "range widened",
    "handlers swapped",
    "frame slot left out",
    "wrong frame slot",
];

/// Applies a change of kind `kind`, if the code has an opportunity for it. The code keeps its
/// length.
fn mutate(
    kind: usize,
    code: &mut Code,
    pool: &ClassFile,
    version: bool,
    random: &mut SplitMix,
) -> Option<String> {
    let list = decode(&code.code).ok()?;
    let mut bytes = code.code.to_vec();
    let pick = |random: &mut SplitMix, fits: &dyn Fn(&Instruction) -> bool| -> Option<usize> {
        let places: Vec<usize> = (0..list.len()).filter(|i| fits(&list[*i].1)).collect();
        (!places.is_empty()).then(|| places[random.below(places.len())])
    };
    let end = |i: usize| list.get(i + 1).map_or(bytes.len(), |n| n.0 as usize);
    let text;
    match kind {
        0 => {
            let i = pick(random, &|i| {
                matches!(i, Instruction::Local { .. } | Instruction::Iinc { .. })
            })?;
            let pc = list[i].0 as usize;
            match bytes[pc] {
                op @ (26..=45 | 59..=78) => {
                    let base = if op < 59 { 26 } else { 59 };
                    let n = (op - base) % 4;
                    let to = (n + 1 + random.below(3) as u8) % 4;
                    bytes[pc] = op - n + to;
                }
                21..=25 | 54..=58 | 132 => {
                    let to = random.below(code.max_locals as usize) as u8;
                    if bytes[pc + 1] == to {
                        return None;
                    }
                    bytes[pc + 1] = to;
                }
                _ => return None,
            }
            text = format!("{pc}");
        }
        1 => {
            let i = pick(random, &|i| {
                matches!(
                    i,
                    Instruction::Push(_) | Instruction::Iinc { .. } | Instruction::Plain(3..=8)
                )
            })?;
            let pc = list[i].0 as usize;
            match bytes[pc] {
                op @ 3..=8 => bytes[pc] = 3 + (op - 3 + 1) % 6,
                BIPUSH => bytes[pc + 1] ^= 1,
                SIPUSH | IINC => bytes[pc + 2] ^= 1,
                _ => return None,
            }
            text = format!("{pc}");
        }
        2 => {
            let i = pick(
                random,
                &|i| matches!(i, Instruction::Branch { op, .. } if *op != GOTO),
            )?;
            let pc = list[i].0 as usize;
            bytes[pc] = match bytes[pc] {
                IFNULL => IFNONNULL,
                IFNONNULL => IFNULL,
                op => ((op - IFEQ) ^ 1) + IFEQ,
            };
            text = format!("{pc}");
        }
        3 => {
            let i = pick(random, &|i| matches!(i, Instruction::Branch { .. }))?;
            let Instruction::Branch { target, .. } = &list[i].1 else {
                return None;
            };
            let j = pick(random, &|i| matches!(i, Instruction::Branch { .. }))?;
            let Instruction::Branch { target: to, .. } = &list[j].1 else {
                return None;
            };
            let pc = list[i].0 as usize;
            if to == target || bytes[pc] >= GOTO_W {
                return None;
            }
            let distance = i16::try_from(to.0 as i64 - pc as i64).ok()?;
            bytes[pc + 1..pc + 3].copy_from_slice(&distance.to_be_bytes());
            text = format!("{pc} to {}", to.0);
        }
        4 => {
            let i = pick(random, &|i| {
                let op = i.op();
                (ISTORE..=ASTORE).contains(&op)
                    || op == IINC
                    || is_invoke(op)
                    || (MONITORENTER..=MONITOREXIT).contains(&op)
                    || (PUTSTATIC..=PUTFIELD).contains(&op)
                    || (I2L..=I2S).contains(&op)
            })?;
            let pc = list[i].0 as usize;
            // The operand of a store may be popped instead. Any other replacement must not change
            // the stack depth.
            let pop = match list[i].1.op() {
                LSTORE | DSTORE => POP2,
                ISTORE..=ASTORE | MONITORENTER | MONITOREXIT => POP,
                _ => NOP,
            };
            let stop = end(i);
            bytes[pc..stop].fill(NOP);
            bytes[pc] = pop;
            text = format!("{pc}");
        }
        5 => {
            let i = pick(random, &|_| true)?;
            let (a, b) = (list[i].0 as usize, list.get(i + 1)?.0 as usize);
            let c = end(i + 1);
            let branches = |i: usize| {
                matches!(
                    list[i].1,
                    Instruction::Branch { .. }
                        | Instruction::TableSwitch { .. }
                        | Instruction::LookupSwitch { .. }
                ) || ends_flow(list[i].1.op())
            };
            if branches(i) || branches(i + 1) || bytes[a..b] == bytes[b..c] {
                return None;
            }
            bytes[a..c].rotate_left(b - a);
            text = format!("{a}");
        }
        6 => {
            let i = pick(random, &|i| {
                matches!(i, Instruction::Plain(IADD..=LXOR | 133..=147))
            })?;
            let pc = list[i].0 as usize;
            bytes[pc] = match bytes[pc] {
                op @ 96..=107 => {
                    if op < 104 {
                        op + 4
                    } else {
                        op - 8
                    }
                }
                op @ 120..=125 => {
                    if op < 124 {
                        op + 2
                    } else {
                        op - 4
                    }
                }
                op @ 126..=131 => {
                    if op < 130 {
                        op + 2
                    } else {
                        op - 4
                    }
                }
                145 => 146,
                146 => 147,
                147 => 145,
                _ => return None,
            };
            text = format!("{pc}");
        }
        7 => {
            let i = pick(random, &|i| {
                matches!(
                    i,
                    Instruction::TableSwitch { .. } | Instruction::LookupSwitch { .. }
                )
            })?;
            let pc = list[i].0 as usize;
            let base = (pc + 4) & !3;
            let (first, step) = match &list[i].1 {
                Instruction::TableSwitch { .. } => (base + 12, 4),
                _ => (base + 12, 8),
            };
            let count = (end(i) - (base + 8)) / step;
            let n = random.below(count.max(1));
            let at = first + step * n;
            if at + 4 > end(i) || bytes[at..at + 4] == bytes[base..base + 4] {
                return None;
            }
            let (x, y) = (bytes[at..at + 4].to_vec(), bytes[base..base + 4].to_vec());
            bytes[at..at + 4].copy_from_slice(&y);
            bytes[base..base + 4].copy_from_slice(&x);
            text = format!("{pc} case {n}");
        }
        8 => {
            let i = pick(random, &|i| {
                i.pool_index().is_some() && !matches!(i, Instruction::Ldc { .. })
            })?;
            let op = list[i].1.op();
            let (pc, index) = (list[i].0 as usize, list[i].1.pool_index()?);
            let same = |a: u16, b: u16| {
                let shape = |x: u16| {
                    let d = match op {
                        INVOKEDYNAMIC => pool.pool.dynamic(x).ok().map(|m| m.2),
                        _ => pool.pool.member(x).ok().map(|m| m.descriptor),
                    };
                    d.and_then(|d| pool.pool.text(d).ok().map(|t| t.into_owned()))
                };
                shape(a).is_some() && shape(a) == shape(b) && pool.pool.tag(a) == pool.pool.tag(b)
            };
            // The pool may name one member twice. To exchange these two entries changes nothing.
            let named = member_texts(pool, index);
            let others: Vec<u16> = pool
                .pool
                .indices()
                .filter(|x| *x != index && same(index, *x))
                .filter(|x| named.is_none() || member_texts(pool, *x) != named)
                .collect();
            if others.is_empty() {
                return None;
            }
            let to = others[random.below(others.len())];
            bytes[pc + 1..pc + 3].copy_from_slice(&to.to_be_bytes());
            text = format!("{pc} #{index} to #{to}");
        }
        9 | 10 => {
            // The last exception-table entry of a version's body is Veneer's own.
            let rows = code.exceptions.len().checked_sub(version as usize)?;
            if rows == 0 {
                return None;
            }
            let n = random.below(rows);
            let e = &mut code.exceptions[n];
            // Move the boundary past the next instruction that may throw, or the change has no
            // effect.
            let past = |from: u16| {
                let i = list
                    .iter()
                    .position(|i| i.0 >= from && throws(pool, &i.1))?;
                Some(end(i) as u16)
            };
            if kind == 9 {
                e.start = past(e.start)?;
                if e.start >= e.end {
                    return None;
                }
            } else {
                e.end = past(e.end)?;
            }
            text = format!("row {n}");
        }
        12 | 13 => {
            let frame = |i: usize, names: [&str; 2]| {
                let Some((
                    _,
                    Instruction::Pool {
                        op: INVOKEVIRTUAL,
                        index,
                    },
                )) = list.get(i)
                else {
                    return false;
                };
                let Ok(m) = pool.pool.member(*index) else {
                    return false;
                };
                pool.pool
                    .class_name(m.class)
                    .is_ok_and(|c| *c == *runtime::FRAME)
                    && pool
                        .pool
                        .text(m.name)
                        .is_ok_and(|n| names.iter().any(|x| n.starts_with(x)))
            };
            // The pattern `aload frame, push slot, load, put` or `aload frame, push slot, get`.
            let calls: Vec<usize> = (0..list.len())
                .filter(|i| {
                    *i > 2
                        && frame(
                            *i,
                            if kind == 12 {
                                ["add", "of"]
                            } else {
                                ["get", "get"]
                            },
                        )
                })
                .collect();
            if calls.is_empty() {
                return None;
            }
            let i = calls[random.below(calls.len())];
            if kind == 12 {
                // The values that this call adds to the frame, and the call.
                let taken = match &list[i].1 {
                    Instruction::Pool { index, .. } => {
                        let member = pool.pool.member(*index).ok()?;
                        let descriptor = pool.pool.text(member.descriptor).ok()?;
                        MethodType::parse(&descriptor)?.parameters.len()
                    }
                    _ => return None,
                };
                let from = list[i.checked_sub(taken)?].0 as usize;
                let to = end(i);
                bytes[from..to].fill(NOP);
                text = format!("{from}");
            } else {
                let pc = list[i - 1].0 as usize;
                match bytes[pc] {
                    op @ 3..=8 => bytes[pc] = 3 + (op - 3 + 1) % 6,
                    BIPUSH => bytes[pc + 1] ^= 1,
                    SIPUSH => bytes[pc + 2] ^= 1,
                    _ => return None,
                }
                text = format!("{pc}");
            }
        }
        _ => {
            let n = random.below(code.exceptions.len().max(1));
            let ExceptionRange { handler, .. } = *code.exceptions.get(n)?;
            let m = random.below(code.exceptions.len());
            let other = code.exceptions[m].handler;
            if other == handler {
                return None;
            }
            code.exceptions[n].handler = other;
            text = format!("row {n} to {other}");
        }
    }
    code.code = Cow::Owned(bytes);
    Some(text)
}

/// The class, the name and the descriptor of a field or method in the constant pool.
fn member_texts(file: &ClassFile, index: u16) -> Option<[String; 3]> {
    let member = file.pool.member(index).ok()?;
    Some([
        file.pool.class_name(member.class).ok()?.into_owned(),
        file.pool.text(member.name).ok()?.into_owned(),
        file.pool.text(member.descriptor).ok()?.into_owned(),
    ])
}

/// The mutants by kind of change.
type Table = BTreeMap<&'static str, Kind>;

#[derive(Default)]
struct Kind {
    mutants: usize,
    killed: usize,
    own: usize,
    equivalent: usize,
    unexplained: Vec<String>,
}

impl Kind {
    fn add(&mut self, other: &Kind) {
        self.mutants += other.mutants;
        self.killed += other.killed;
        self.own += other.own;
        self.equivalent += other.equivalent;
        self.unexplained.extend_from_slice(&other.unexplained);
    }

    fn row(&self, name: &str) {
        let (killed, own, equivalent) = (self.killed, self.own, self.equivalent);
        let (mutants, left) = (self.mutants, self.unexplained.len());
        println!("{name:24} {mutants:>8} {killed:>8} {own:>8} {equivalent:>11} {left:>12}");
    }
}

/// Mutates methods of an emitted class and lets `check` judge each mutant.
fn check_mutants_of(
    table: &mut Table,
    at: &str,
    bytes: &[u8],
    random: &mut SplitMix,
    host_locals: &dyn Fn(&str) -> u16,
    check: &dyn Fn(&ClassFile) -> Checked,
) {
    let file = ClassFile::parse(bytes).unwrap();
    assert!(check(&file).passed(), "{at}: unchanged code does not pass");
    for (kind, name) in KINDS.iter().enumerate() {
        let mut mutant = file.clone();
        let n = random.below(mutant.methods.len());
        let method = &mut mutant.methods[n];
        let name_of = file.pool.text(method.name).unwrap().into_owned();
        let Some(slot) = method
            .attributes
            .iter()
            .position(|a| a.is(&file.pool, "Code"))
        else {
            continue;
        };
        let version = file
            .pool
            .class_name(file.this_class)
            .unwrap()
            .ends_with("$V");
        if version && name_of == "<clinit>" {
            continue;
        }
        let info = method.attributes[slot].info.to_vec();
        let before = Code::parse(&info).unwrap();
        let mut code = before.clone();
        let Some(what) = mutate(kind, &mut code, &file, version, random) else {
            continue;
        };
        method.attributes[slot].info = Cow::Owned(code.to_bytes().unwrap());
        let (before, after) = (before.clone(), code);
        let written = mutant.to_bytes().unwrap();
        if arming_support::verify(&written).is_err() {
            continue;
        }
        let read = ClassFile::parse(&written).unwrap();
        // The JVM refuses a class with assumptions that the unchanged class does not have, for
        // example an object used as a frame.
        let types = |class| veneer_fragmenter::verify::class(class).ok();
        let needs_more = match (types(&read), types(&file)) {
            (Some(needed), Some(granted)) => needed.not_implied_by(&granted, &|_| false).is_some(),
            (None, _) => true,
            (Some(_), None) => false,
        };
        if needs_more {
            continue;
        }
        let entry = table.entry(name).or_default();
        entry.mutants += 1;
        if check(&read).passed() {
            match explain(&file, host_locals(&name_of), &name_of, &before, &after) {
                Some(Why::Own) => entry.own += 1,
                Some(Why::Equivalent) => entry.equivalent += 1,
                None => {
                    let change = differs(&before, &after);
                    let body: Vec<String> = decode(&before.code)
                        .unwrap_or_default()
                        .iter()
                        .map(|(pc, i)| format!("{pc}: {i:?}"))
                        .collect();
                    entry.unexplained.push(format!(
                        "{at} {name_of} {what}: {change}\nof {}",
                        body.join("\n   ")
                    ));
                }
            }
        } else {
            entry.killed += 1;
        }
    }
}

/// The mutants of one class and of its versions. `n` is its number among the classes, which chooses
/// the policy and the mutants.
fn mutants_of_class(n: usize, sparse: usize, path: &Path, bytes: &[u8]) -> Table {
    let mut table = Table::new();
    let mut random = SplitMix(n as u64);
    let policy = &policies()[n / sparse % 4];
    let Ok(modern) = veneer_fragmenter::inference::upgrade_class_file(bytes) else {
        return table;
    };
    let file = ClassFile::parse(&modern).unwrap();
    let at = format!("{} {policy:?}", path.display());
    if let Some(armed) = armed(bytes, policy) {
        for _ in 0..3 {
            check_mutants_of(
                &mut table,
                &format!("{at} armed"),
                &armed.bytes,
                &mut random,
                &|_| u16::MAX,
                &|m| check::armed_class(&file, m, &armed.anchor, &armed.methods),
            );
        }
    }
    let anchor = format!("{}$Veneer", file.name().unwrap());
    for probe_set in [
        ProbeSet::Nothing,
        ProbeSet::Counters,
        ProbeSet::Everything,
        ProbeSet::Receivers,
        ProbeSet::Constants,
    ] {
        for v in versions(&file, &anchor, policy, probe_set, 1) {
            let at = format!("{at} {probe_set:?} {:?}", v.bodies);
            // In an `enter` body, the host's locals are one slot higher.
            let instance = u16::from(v.bodies == Bodies::Enter);
            let host_locals = |name: &str| {
                let id = veneer_fragmenter::version::method_id(name);
                let index = v.expected.iter().find(|x| Some(x.id) == id)?.index;
                let code = file.methods[index].code(&file.pool).ok()??;
                Some(code.max_locals + instance)
            };
            check_mutants_of(
                &mut table,
                &at,
                &v.bytes,
                &mut random,
                &|name| host_locals(name).unwrap_or(u16::MAX),
                &|m| check::version_class(&file, m, &anchor, &v.expected),
            );
        }
    }
    table
}

/// The mutants of every `sparse`-th class. One thread for each processor takes the classes in turn.
fn mutants(label: &str, include: &str, sparse: usize) -> Table {
    // A fixed order makes the mutants reproducible on the same JDKs.
    let mut classes: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    classfile_support::for_each_class(label, include, |path, bytes| {
        classes.push((path.to_path_buf(), bytes.to_vec()));
    });
    classes.sort();
    let (next, found) = (AtomicUsize::new(1), Mutex::new(BTreeMap::new()));
    let work = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed) * sparse;
            let Some((path, bytes)) = classes.get(n - 1) else {
                return;
            };
            let table = mutants_of_class(n, sparse, path, bytes);
            found.lock().unwrap().insert(n, table);
        }
    };
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (0..processors).for_each(|_| drop(scope.spawn(work)));
    });
    let mut table = Table::new();
    for one in found.into_inner().unwrap().values() {
        for (name, kind) in one {
            table.entry(name).or_default().add(kind);
        }
    }
    println!(
        "{:24} {:>8} {:>8} {:>8} {:>11} {:>12}",
        "kind", "mutants", "killed", "own", "equivalent", "unexplained"
    );
    let mut sum = Kind::default();
    for (name, kind) in &table {
        kind.row(name);
        sum.add(kind);
    }
    sum.row("all");
    for text in sum.unexplained.iter().take(60) {
        println!("      {text}");
    }
    table
}

#[test]
fn a_few_mutants() {
    judge(mutants("quick", classfile_support::QUICK, 53), 0);
}

#[test]
#[ignore = "takes minutes: mutants of every third class of the quick set"]
fn many_mutants() {
    // The unexplained survivors seen so far are 4 of 44,222. Each changes the target of a `goto` in
    // a `resume` body. It is not yet known whether these bodies are equivalent or the checker has a
    // gap.
    judge(mutants("quick", classfile_support::QUICK, 3), 1);
}

/// Limits the survivors without an explanation (`unexplained` per ten thousand), and the share of
/// survivors with one.
fn judge(table: Table, unexplained: usize) {
    let mut sum = Kind::default();
    table.values().for_each(|k| sum.add(k));
    assert!(sum.mutants > 200, "hardly any mutant verified");
    assert!(
        sum.unexplained.len() * 10_000 <= unexplained * sum.mutants,
        "{:#?}",
        sum.unexplained
    );
    assert!(sum.killed * 10 >= sum.mutants * 7, "most mutants pass");
    for name in KINDS {
        let killed = table.get(name).map_or(0, |k| k.killed);
        assert!(killed > 0, "{name}: no mutant was seen");
    }
}

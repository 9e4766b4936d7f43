//! Compares the type checker with HotSpot's: both judge mutants of one program.
//!
//! ```text
//!   program ─ javac ─▶ class files ─▶ mutants ─┬─▶ verify::class       accepts with assumptions │ names a broken rule
//!                                              └─▶ Referee.java (JVM)  links the class          │ VerifyError
//! ```
//!
//! If the checker accepts a mutant and HotSpot does not, one of the assumptions must be false. If
//! HotSpot accepts a mutant and the checker does not, the broken rule must be one that the checker
//! applies more strictly than HotSpot.

mod classfile_support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use veneer_fragmenter::bytecode::opcode::*;
use veneer_fragmenter::bytecode::{Instruction, decode};
use veneer_fragmenter::classfile::{ClassFile, Code, ConstantTag};
use veneer_fragmenter::verify::{self, Assumption};

/// Number of mutants per kind and class.
const MUTANTS: usize = 400;

const KINDS: [&str; 13] = [
    "opcode",
    "local index",
    "branch target",
    "constant",
    "exception range",
    "caught class",
    "class in a frame",
    "byte of a frame",
    "frame dropped",
    "max_stack",
    "max_locals",
    "operand byte",
    "variable range",
];

/// A deterministic generator of pseudo-random numbers (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Changes one method's code. Returns `None` if the code has no opportunity for the change.
fn change(kind: usize, file: &ClassFile, code: &mut Code, random: &mut Random) -> Option<()> {
    let list = decode(&code.code).ok()?;
    let mut bytes = code.code.to_vec();
    let pick = |random: &mut Random, fits: &dyn Fn(&Instruction) -> bool| {
        let places: Vec<usize> = (0..list.len()).filter(|i| fits(&list[*i].1)).collect();
        (!places.is_empty()).then(|| places[random.below(places.len())])
    };
    let pc_of = |i: usize| usize::from(list[i].0);
    let map = code
        .attributes
        .iter()
        .position(|a| a.is(&file.pool, "StackMapTable"));
    let classes = || {
        let of_class = |i: &u16| file.pool.tag(*i) == Ok(ConstantTag::Class);
        file.pool.indices().filter(of_class).collect::<Vec<u16>>()
    };
    match kind {
        0 => {
            let pc = pc_of(pick(random, &|i| matches!(i, Instruction::Plain(_)))?);
            let plain = [
                ACONST_NULL,
                ICONST_0,
                LCONST_0,
                FCONST_0,
                DCONST_0,
                IALOAD,
                AALOAD,
                IASTORE,
                AASTORE,
                POP,
                POP2,
                DUP,
                DUP_X1,
                DUP_X2,
                DUP2,
                DUP2_X1,
                DUP2_X2,
                SWAP,
                IADD,
                LADD,
                LUSHR,
                I2L,
                LCMP,
                DCMPG,
                IRETURN,
                LRETURN,
                ARETURN,
                RETURN,
                ARRAYLENGTH,
                ATHROW,
                MONITORENTER,
                NOP,
                47,
                48,
                49,
                51,
                52,
                53,
                80,
                81,
                82,
                84,
                98,
                99,
                136,
                139,
                142,
                145,
                174,
                175,
            ];
            bytes[pc] = plain[random.below(plain.len())];
        }
        1 => {
            let i = pick(random, &|i| matches!(i, Instruction::Local { .. }))?;
            let pc = pc_of(i);
            let one_byte = matches!(bytes[pc], 26..=45 | 59..=78);
            if one_byte {
                let base = if bytes[pc] < 59 { 26 } else { 59 };
                bytes[pc] = base + random.below(20) as u8;
            } else if bytes[pc] != WIDE {
                bytes[pc + 1] = random.below(usize::from(code.max_locals) + 1) as u8;
            }
        }
        2 => {
            let pc = pc_of(pick(random, &|i| matches!(i, Instruction::Branch { .. }))?);
            let to = pc_of(random.below(list.len())) as i64 - pc as i64;
            let to = i16::try_from(to).ok()?.to_be_bytes();
            bytes.get_mut(pc + 1..pc + 3)?.copy_from_slice(&to);
        }
        3 => {
            let i = pick(random, &|i| i.pool_index().is_some())?;
            let old = list[i].1.pool_index()?;
            let tag = file.pool.tag(old).ok()?;
            let any = random.below(8) == 0;
            let same = |i: &u16| any || file.pool.tag(*i) == Ok(tag);
            let others: Vec<u16> = file.pool.indices().filter(same).collect();
            let new = others[random.below(others.len())];
            let pc = pc_of(i);
            match bytes[pc] {
                LDC => bytes[pc + 1] = u8::try_from(new).ok()?,
                _ => bytes
                    .get_mut(pc + 1..pc + 3)?
                    .copy_from_slice(&new.to_be_bytes()),
            }
        }
        4 => {
            let row = random.below(code.exceptions.len());
            let range = code.exceptions.get_mut(row)?;
            let pc = list[random.below(list.len())].0;
            match random.below(3) {
                0 => range.start = pc,
                1 => range.end = pc,
                _ => range.handler = pc,
            }
            if range.start >= range.end {
                return None;
            }
        }
        5 => {
            let row = random.below(code.exceptions.len());
            let (range, classes) = (code.exceptions.get_mut(row)?, classes());
            range.catch_type = classes[random.below(classes.len())];
        }
        6 | 7 => {
            let mut info = code.attributes.get(map?)?.info.to_vec();
            let at = 2 + random.below(info.len().saturating_sub(2));
            if kind == 7 {
                *info.get_mut(at)? = random.below(12) as u8;
            } else {
                let classes = classes();
                let of_class = |i: &usize| {
                    let index = u16::from_be_bytes([info[i + 1], info[i + 2]]);
                    info[*i] == 7 && classes.contains(&index)
                };
                let places: Vec<usize> =
                    (2..info.len().saturating_sub(2)).filter(of_class).collect();
                let at = *places.get(random.below(places.len()))?;
                let class = classes[random.below(classes.len())].to_be_bytes();
                info.get_mut(at + 1..at + 3)?.copy_from_slice(&class);
            }
            code.attributes.get_mut(map?)?.info = info.into();
        }
        8 => {
            code.attributes.remove(map?);
        }
        9 => code.max_stack = code.max_stack.checked_sub(1 + random.below(2) as u16)?,
        10 => code.max_locals = code.max_locals.checked_sub(1 + random.below(3) as u16)?,
        11 => {
            let at = random.below(bytes.len());
            bytes[at] = random.below(202) as u8;
        }
        _ => {
            let variables = |a: &veneer_fragmenter::classfile::Attribute| {
                a.is(&file.pool, "LocalVariableTable")
            };
            let at = code.attributes.iter().position(variables)?;
            let mut info = code.attributes[at].info.to_vec();
            let row = random.below((info.len() - 2) / 10);
            *info.get_mut(2 + 10 * row + 1 + 2 * random.below(2))? =
                random.below(bytes.len() + 1) as u8;
            code.attributes[at].info = info.into();
        }
    }
    code.code = bytes.into();
    Some(())
}

struct Mutant {
    class: String,
    kind: &'static str,
    bytes: Vec<u8>,
    ours: Result<Vec<String>, verify::VerifyFailure>,
}

fn mutant(kind: usize, class: &str, original: &[u8], random: &mut Random) -> Option<Mutant> {
    let mut file = ClassFile::parse(original).ok()?;
    let with_code: Vec<usize> = (0..file.methods.len())
        .filter(|i| file.methods[*i].attribute(&file.pool, "Code").is_some())
        .collect();
    let method = *with_code.get(random.below(with_code.len()))?;
    let slot = file.methods[method]
        .attributes
        .iter()
        .position(|a| a.is(&file.pool, "Code"))?;
    let info = file.methods[method].attributes[slot]
        .info
        .clone()
        .into_owned();
    let mut code = Code::parse(&info).ok()?;
    change(kind, &file, &mut code, random)?;
    let changed = code.to_bytes().ok()?;
    if changed == info {
        return None;
    }
    file.methods[method].attributes[slot].info = changed.into();
    let bytes = file.to_bytes().ok()?;
    let ours = judge(&bytes);
    Some(Mutant {
        class: class.to_owned(),
        kind: KINDS[kind],
        bytes,
        ours,
    })
}

/// Returns the checker's verdict, with the assumptions in the form that the referee reads.
fn judge(bytes: &[u8]) -> Result<Vec<String>, verify::VerifyFailure> {
    let file = ClassFile::parse(bytes).unwrap();
    let line = |assumption| match assumption {
        Assumption::Assignable { from, to } => format!("assignable {from} {to}"),
        Assumption::Accessible {
            class,
            name,
            descriptor,
            receiver,
        } => format!("accessible {class} {name} {descriptor} {receiver}"),
    };
    Ok(verify::class(&file)?.iter().map(line).collect())
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn class_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            class_files(&path, into);
        } else {
            into.push(path);
        }
    }
    into.sort();
}

/// Returns the referee's result for each mutant: HotSpot's message, and a false assumption.
fn referee(home: &Path, folder: &Path, mutants: &[Mutant]) -> Vec<(String, String)> {
    let mut file = (mutants.len() as u32).to_be_bytes().to_vec();
    for mutant in mutants {
        file.extend((mutant.class.len() as u16).to_be_bytes());
        file.extend(mutant.class.as_bytes());
        file.extend((mutant.bytes.len() as u32).to_be_bytes());
        file.extend(&mutant.bytes);
        let assumptions = mutant.ours.as_deref().unwrap_or_default().join("\n");
        file.extend((assumptions.len() as u32).to_be_bytes());
        file.extend(assumptions.as_bytes());
    }
    let input = folder.join("mutants");
    fs::write(&input, file).unwrap();
    let out = run(Command::new(home.join("bin/java"))
        .args(["-Xmx1g", "-XX:TieredStopAtLevel=1", "-cp"])
        .arg(folder.join("referee"))
        .arg("Referee")
        .arg(folder.join("program"))
        .arg(&input));
    let lines = out.lines().filter_map(|line| line.split_once('\t'));
    lines
        .map(|(said, untrue)| (said.into(), untrue.into()))
        .collect()
}

/// True if the failure belongs to a rule that the checker applies more strictly than HotSpot: `new`
/// forgets older objects of its pc.
fn is_stricter(failure: &verify::VerifyFailure) -> bool {
    failure.detail.contains("an older object of the same `new`")
}

#[test]
fn mutants_are_judged_as_hotspot_judges_them() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify");
    for home in classfile_support::jdks() {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
            "verify-{}{}",
            std::process::id(),
            home.to_string_lossy().replace('/', "_")
        ));
        let javac = |into: &str, files: &[&str]| {
            run(Command::new(home.join("bin/javac"))
                .args(["-g", "-nowarn", "-Xlint:-options", "--release", "17", "-d"])
                .arg(folder.join(into))
                .args(files.iter().map(|file| sources.join(file))));
        };
        javac("program", &["p/Verified.java", "q/Base.java"]);
        javac("referee", &["Referee.java"]);
        let program = folder.join("program");
        let mut paths = Vec::new();
        class_files(&program, &mut paths);
        let mut random = Random(11);
        let mut mutants = Vec::new();
        for path in &paths {
            let name = path.strip_prefix(&program).unwrap().with_extension("");
            let class = name.to_string_lossy().replace('/', ".");
            let bytes = fs::read(path).unwrap();
            judge(&bytes).unwrap_or_else(|failure| panic!("{class}: {failure}"));
            let many = if class == "p.Verified" {
                5 * MUTANTS
            } else {
                MUTANTS / 4
            };
            for kind in 0..KINDS.len() {
                let made = (0..many).filter_map(|_| mutant(kind, &class, &bytes, &mut random));
                mutants.extend(made);
            }
        }
        let verdicts = referee(&home, &folder, &mutants);
        assert_eq!(verdicts.len(), mutants.len());
        let mut tally: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut wrong = Vec::new();
        for (mutant, (said, untrue)) in mutants.iter().zip(&verdicts) {
            let refused = said.starts_with("VerifyError") || said.starts_with("ClassFormatError");
            let verdict = match &mutant.ours {
                Ok(_) if said == "ok" => "both accept",
                Err(_) if refused => "both refuse",
                Ok(_) if refused && !untrue.is_empty() => "an assumption is false",
                Ok(_) if refused => {
                    wrong.push(format!("{}, {}: {said}", mutant.class, mutant.kind));
                    "WRONGLY ACCEPTED"
                }
                Err(failure) if said == "ok" && is_stricter(failure) => "stricter",
                Err(failure) if said == "ok" => {
                    wrong.push(format!(
                        "{}, {}: HotSpot accepts, {failure}",
                        mutant.class, mutant.kind
                    ));
                    "WRONGLY REFUSED"
                }
                // Other errors do not concern types.
                _ => "not comparable",
            };
            *tally.entry((mutant.kind, verdict)).or_default() += 1;
        }
        println!("{}: {} mutants, {tally:#?}", home.display(), mutants.len());
        let sum = |verdict: &str| -> usize {
            let of = tally.iter().filter(|((_, v), _)| *v == verdict);
            of.map(|(_, n)| n).sum()
        };
        assert!(
            wrong.is_empty(),
            "{} wrong:\n{}",
            wrong.len(),
            wrong[..wrong.len().min(40)].join("\n")
        );
        assert!(sum("both refuse") > 3000, "{tally:?}");
        assert!(sum("both accept") > 1000, "{tally:?}");
        assert!(sum("an assumption is false") > 50, "{tally:?}");
        fs::remove_dir_all(&folder).unwrap();
    }
}

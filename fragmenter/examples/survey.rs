//! Counts refusals by name over class files, without a JVM. Shows which methods can be armed, and
//! which can be emitted with a counter on every block.
//!
//! ```text
//! cargo run --release -p veneer-fragmenter --example survey -- [--policy loop,block] [--named] [--show NAME] [--write FOLDER] FOLDER…
//! ```
//!
//! * `FOLDER` holds class files, extracted with `unzip` or `jimage extract`.
//! * `--named` arms as if a plan named every method, which lifts the limits of the policy.
//! * `--show NAME` prints the methods with a refusal of this name.
//! * `--write FOLDER` writes old class files after their conversion, for a JVM to verify.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use veneer_fragmenter::Refusal;
use veneer_fragmenter::advice::{Probe, ProbeAction, Site};
use veneer_fragmenter::arming::{self, ArmedCode, Request};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::inference;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::version::{self, Bodies, VersionPlan};
use veneer_names::CounterSlot;

/// The command-line options.
struct Options {
    policies: Vec<Policy>,
    named: bool,
    show: Option<String>,
    write: Option<PathBuf>,
    folders: Vec<PathBuf>,
}

/// The counts for one policy.
#[derive(Default)]
struct Totals {
    classes: usize,
    raised: usize,
    code: usize,
    initialisers: usize,
    armed: usize,
    emitted: usize,
    whole: usize,
    blocks: usize,
    before_super: usize,
    refusals: BTreeMap<String, usize>,
}

fn options() -> Option<Options> {
    let mut options = Options {
        policies: Vec::new(),
        named: false,
        show: None,
        write: None,
        folders: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match &*word {
            "--named" => options.named = true,
            "--show" => options.show = Some(words.next()?),
            "--write" => options.write = Some(words.next()?.into()),
            "--policy" => {
                for name in words.next()?.split(',') {
                    options.policies.push(policy(name)?);
                }
            }
            folder => options.folders.push(folder.into()),
        }
    }
    if options.policies.is_empty() {
        options.policies.push(Policy::Loop);
    }
    (!options.folders.is_empty()).then_some(options)
}

fn policy(name: &str) -> Option<Policy> {
    Some(match name {
        "method" | "entry" => Policy::Method,
        "loop" => Policy::Loop,
        "call" => Policy::Call(Arc::new(|class: &str, _: &str, _: &str| {
            class.starts_with("java.")
        })),
        "block" => Policy::Block,
        _ => return None,
    })
}

impl Totals {
    fn refuse(
        &mut self,
        options: &Options,
        stage: &str,
        methods: usize,
        at: &str,
        refusal: &Refusal,
    ) {
        let name = refusal.name();
        if options.show.as_deref() == Some(name) {
            println!("{stage} {at}: {refusal}");
        }
        *self.refusals.entry(format!("{stage} {name}")).or_default() += methods;
    }

    fn class(&mut self, options: &Options, policy: &Policy, raw: &[u8]) {
        let Ok(file) = ClassFile::parse(raw) else {
            return self.refuse(
                options,
                "read",
                1,
                "?",
                &Refusal::BrokenClass(String::new()),
            );
        };
        self.classes += 1;
        let name = file.name().map(|n| n.into_owned()).unwrap_or_default();
        let (mut code, mut initialisers) = (0, 0);
        for member in &file.methods {
            if member.attribute(&file.pool, "Code").is_some() {
                code += 1;
                let name = file.pool.utf8(member.name);
                initialisers += usize::from(name.is_ok_and(|n| n == b"<clinit>"));
            }
        }
        self.code += code;
        self.initialisers += initialisers;
        let bytes = match inference::upgrade_class_file(raw) {
            Ok(bytes) => bytes,
            Err(refusal) => return self.refuse(options, "raise", code, &name, &refusal),
        };
        if *bytes != *raw {
            self.raised += 1;
            if let Some(folder) = &options.write {
                let path = folder.join(format!("{name}.class"));
                let written = path.parent().map_or(Ok(()), fs::create_dir_all);
                if let Err(e) = written.and_then(|()| fs::write(&path, &bytes)) {
                    eprintln!("{}: {e}", path.display());
                }
            }
        }
        let request = Request {
            policy,
            first_id: veneer_names::MethodId(1000),
            generation: 0,
            wanted: &|_, _| true,
            forced: &|_, _| options.named,
            points: false,
            only_loops: false,
            earlier: None,
        };
        let armed = match arming::arm(&bytes, &request) {
            Ok(armed) => armed,
            Err(refusal) => return self.refuse(options, "arm", code, &name, &refusal),
        };
        self.armed += armed.methods.len();
        for (method, refusal) in &armed.refusals {
            // A refusal with a pc concerns a single position without a point, and not the whole
            // method.
            let stage = if method.contains('@') { "point" } else { "arm" };
            self.refuse(options, stage, 1, &format!("{name}.{method}"), refusal);
        }
        let chosen: HashSet<usize> = armed.methods.iter().map(|m| m.index).collect();
        self.versions(options, policy, &bytes, &name, &chosen);
    }

    fn versions(
        &mut self,
        options: &Options,
        policy: &Policy,
        bytes: &[u8],
        name: &str,
        chosen: &HashSet<usize>,
    ) {
        let Ok(file) = ClassFile::parse(bytes) else {
            return;
        };
        let mut kept: Vec<(Method, ArmedCode, Vec<Probe>)> = Vec::new();
        for index in chosen.iter().copied() {
            let Ok(method) = Method::analyse(&file, index, &|i, p| policy.cuts(i, p)) else {
                continue;
            };
            let Ok(layout) = arming::layout(&method, policy, options.named) else {
                continue;
            };
            let first = layout.points.first().map_or(0, |p| p.instruction);
            let mut whole = true;
            let mut probes = Vec::new();
            for f in method.flow.fragments() {
                self.blocks += 1;
                if f.instructions.end <= first {
                    self.before_super += 1;
                    whole = false;
                }
                let slot = CounterSlot(4 + probes.len() as u32);
                probes.push(Probe {
                    site: Site::Before(f.id),
                    action: ProbeAction::Count { slot },
                });
            }
            self.whole += whole as usize;
            kept.push((method, layout, probes));
        }
        let mut lost: HashSet<veneer_names::MethodId> = HashSet::new();
        for bodies in [Bodies::Enter, Bodies::Resume] {
            let plans: Vec<VersionPlan> = (0u32..)
                .zip(&kept)
                .filter(|(_, k)| bodies == Bodies::Enter || k.1.points.len() > 1)
                .map(|(id, (method, armed, probes))| VersionPlan {
                    method,
                    id: veneer_names::MethodId(id),
                    armed,
                    edits: &[],
                    kept: &[],
                    probes,
                    clean: false,
                })
                .collect();
            // Like the agent, put many methods into a class. If a class has no room for all, use
            // one class per method.
            for chunk in plans.chunks(100) {
                match version::emit(
                    &file,
                    &format!("{name}$Veneer"),
                    chunk,
                    bodies,
                    &HashSet::new(),
                ) {
                    Ok(class) => {
                        for (id, refusal) in &class.refused {
                            let method = &kept[id.0 as usize].0;
                            let at = format!("{name}.{}{}", method.name, method.descriptor);
                            if lost.insert(*id) {
                                self.refuse(options, &format!("emit {bodies:?}"), 1, &at, refusal);
                            }
                        }
                    }
                    Err(refusal) => {
                        let news = chunk.iter().filter(|p| lost.insert(p.id)).count();
                        self.refuse(options, "emit", news, name, &refusal);
                    }
                }
            }
        }
        self.emitted += kept.len() - lost.len();
    }

    fn print(&self, policy: &Policy) {
        let part = |n: usize| 100.0 * n as f64 / self.code.max(1) as f64;
        println!(
            "{policy:?}: {} classes ({} raised), {} methods with code, {} of them static initialisers",
            self.classes, self.raised, self.code, self.initialisers
        );
        println!("  armed   {:8} {:7.3} %", self.armed, part(self.armed));
        println!(
            "  emitted {:8} {:7.3} %   {} methods have all blocks in reach; {} of {} blocks lie before super",
            self.emitted,
            part(self.emitted),
            self.whole,
            self.before_super,
            self.blocks
        );
        for (name, n) in &self.refusals {
            println!("  {n:8} {:7.3} % {name}", part(*n));
        }
    }
}

fn walk(folder: &Path, each: &mut dyn FnMut(&[u8])) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, each)?;
        } else if path.extension().is_some_and(|e| e == "class") {
            each(&fs::read(&path)?);
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!(
            "usage: survey [--policy loop,block] [--named] [--show NAME] [--write FOLDER] FOLDER…"
        );
        return ExitCode::from(2);
    };
    for policy in &options.policies {
        let mut totals = Totals::default();
        for folder in &options.folders {
            if let Err(e) = walk(folder, &mut |bytes| totals.class(&options, policy, bytes)) {
                eprintln!("{}: {e}", folder.display());
                return ExitCode::FAILURE;
            }
        }
        totals.print(policy);
    }
    ExitCode::SUCCESS
}

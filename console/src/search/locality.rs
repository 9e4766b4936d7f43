//! `veneer search --memory`: the memory accesses of the methods that take processor time, and why they are
//! slow.
//!
//! ```text
//!   finding ─▶ window of accesses of its class ─▶ class files of accessed objects ─▶ strides ─▶ judge ─▶ facts
//!              memory("L1:…\nsharing")            class codes of the agent            a held plan
//! ```
//!
//! [`veneer_search::locality`] derives the causes. The facts go to the search, and so to its record.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use serde::Deserialize;
use veneer_client::plan_text::literal;
use veneer_fragmenter::classfile::ClassFile;
use veneer_instruments::PointRow;
use veneer_memory::profile::MemoryProfile;
use veneer_names::{FieldDescriptor, java_form, site_id};
use veneer_protocol::{ClassCode, Reply, Request};
use veneer_search::Search;
use veneer_search::cause::Cause;
use veneer_search::locality::{
    AccessTarget, AccessedSite, ClassShape, LocalityWindow, MIN_ACCESSES, SharedSites, SiteStride,
    judge,
};
use veneer_search::observation::Fact;
use veneer_search::outcome::{Axis, Finding};

use super::finding_pattern::pattern_of;
use crate::held_plan::{HeldPlan, PlanEnd};
use crate::interruption::Interruption;
use crate::memory::{RecordedWindow, record_window};
use crate::output::{describe, print_note};

/// The simulated caches. The thresholds of the judge are for this first level.
const CACHES: [&str; 2] = ["L1:32K/8/64,L2:1M/16/64", "sharing"];
const LINE_BYTES: u64 = 64;
/// The length of a window of accesses, and of a window of strides.
const WINDOW_SECONDS: f64 = 2.0;
const STRIDE_SECONDS: f64 = 1.0;
/// The most methods that are examined.
const MAX_METHODS: usize = 3;
/// The most instructions of a method whose strides are recorded.
const MAX_STRIDES: usize = 3;
/// The name of the plans in messages.
const PLAN_NAME: &str = "locality";
/// The causes of the findings that are examined. A finding without a cause has processor time, too, if its
/// causes are undecided.
const CAUSES: [Cause; 2] = [Cause::Processor, Cause::Time];
/// The flag `ACC_STATIC` of a field (JVMS table 4.5-A).
const STATIC: u16 = 0x0008;

/// A method that takes processor time.
struct Subject<'s> {
    finding: &'s Finding,
    class: String,
    method: String,
    /// The pattern that selects the method.
    pattern: String,
}

/// A line that the plan of strides prints.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum StrideLine {
    Stride {
        site: usize,
        elements: i64,
        share: f64,
    },
    Done {
        #[serde(rename = "done")]
        _done: bool,
    },
}

/// The facts about the memory accesses of the largest findings that take processor time. A method that
/// cannot be recorded is noted, and the others are examined.
pub fn examine(pid: u32, search: &Search, stopped: &Arc<AtomicBool>) -> Vec<Fact> {
    let outcome = search.outcome();
    let mut facts = Vec::new();
    for subject in subjects(&outcome.findings) {
        if stopped.load(Ordering::Relaxed) {
            break;
        }
        match examine_method(pid, &subject, stopped) {
            Ok(found) => facts.extend(found),
            Err(error) => print_note(&format_args!(
                "the memory accesses of {} were not examined: {}",
                subject.pattern,
                describe(&error)
            )),
        }
    }
    facts
}

/// The methods of the specific findings with these causes, each once.
fn subjects(findings: &[Finding]) -> Vec<Subject<'_>> {
    let mut seen = BTreeSet::new();
    let specific = findings.iter().filter(|one| one.specific);
    let subject = |finding| {
        let pattern = pattern_of(finding)?;
        let step = |kind: &str| {
            let mut steps = finding.path.iter().filter(|step| step.axis == Axis::Where);
            steps.find(|step| step.kind == kind).map(|step| &step.name)
        };
        Some(Subject {
            class: step("class")?.clone(),
            method: step("method")?.clone(),
            pattern,
            finding,
        })
    };
    let mut chosen: Vec<&Finding> = specific.filter(|one| CAUSES.contains(&one.why)).collect();
    chosen.sort_by_key(|one| CAUSES.iter().position(|cause| *cause == one.why));
    let subjects = chosen.into_iter().filter_map(subject);
    let subjects = subjects.filter(|one| seen.insert(one.pattern.clone()));
    subjects.take(MAX_METHODS).collect()
}

fn examine_method(pid: u32, subject: &Subject<'_>, stopped: &Arc<AtomicBool>) -> Result<Vec<Fact>> {
    let interruption = Interruption::from_flag(stopped.clone());
    let caches = CACHES.map(str::to_owned).to_vec();
    let patterns = vec![subject.class.clone()];
    let recorded = record_window(pid, patterns, caches, WINDOW_SECONDS, &interruption)?;
    let Some(recorded) = recorded else {
        // The refusal was printed.
        return Ok(Vec::new());
    };
    let (mut window, indices) = window(&recorded.profile, subject);
    window.shapes = shapes(pid, &window)?;
    let candidates = window.stride_candidates();
    if !candidates.is_empty() && !stopped.load(Ordering::Relaxed) {
        let numbers = site_numbers(&recorded);
        let sites = candidates.into_iter().filter_map(|site| {
            let index = *indices.get(site)?;
            Some((site, *numbers.get(index)?))
        });
        let sites: Vec<(usize, i64)> = sites.take(MAX_STRIDES).collect();
        window.strides = strides(pid, subject, &sites, stopped)?;
    }
    let line = subject.finding.path.iter().rev();
    let mut line = line.filter(|step| step.kind == "block");
    let line = line.find_map(|step| step.line);
    let fact = |found: veneer_search::locality::LocalityFinding| Fact {
        method: Some(subject.finding.method),
        line,
        causes: CAUSES.to_vec(),
        source: found.cause.name().into(),
        text: found.text,
        locality: Some(found.cause),
    };
    Ok(judge(&window).into_iter().map(fact).collect())
}

/// The accesses of the method, and the index of each one's site in the profile.
fn window(profile: &MemoryProfile, subject: &Subject<'_>) -> (LocalityWindow, Vec<usize>) {
    let mut sums = vec![(0u64, 0u64); profile.sites.len()];
    for row in &profile.accesses {
        let Some(sum) = sums.get_mut(row.site as usize) else {
            continue;
        };
        let levels = row.caches.first().map(|counts| &counts.levels);
        let misses = levels.and_then(|levels| levels.first());
        sum.0 += row.references.accesses();
        sum.1 += misses.map_or(0, |level| level.misses);
    }
    let is_of_class = |index: usize| {
        let site = profile.sites.get(index);
        site.is_some_and(|site| *site.class == *subject.class)
    };
    let is_of_method = |index: usize| {
        let method = profile.sites.get(index).map(|site| &*site.method);
        let name = method.and_then(|method| method.split('(').next());
        is_of_class(index) && name == Some(&subject.method)
    };
    let own = sums
        .iter()
        .enumerate()
        .filter(|(index, _)| is_of_method(*index));
    // The time of methods that are inlined is that of their caller, which has few accesses of its own.
    let has_own = own.map(|(_, (accesses, _))| accesses).sum::<u64>() >= MIN_ACCESSES;
    let is_own = |index: usize| match has_own {
        true => is_of_method(index),
        false => is_of_class(index),
    };
    let target = |index: usize| target(profile.sites.get(index).map_or("", |site| &site.field));
    let (mut sites, mut indices) = (Vec::new(), Vec::new());
    for (index, (accesses, misses)) in sums.iter().enumerate() {
        if let Some(target) = target(index).filter(|_| is_own(index) && *accesses > 0) {
            sites.push(AccessedSite {
                line: profile.sites[index].line,
                target,
                accesses: *accesses,
                misses: *misses,
            });
            indices.push(index);
        }
    }
    let line = |site: u32| profile.sites.get(site as usize).and_then(|site| site.line);
    let shared = profile.sharing.iter().filter_map(|row| {
        let (writer, other) = (row.writer as usize, row.other as usize);
        let is_shared = is_own(writer) || is_own(other);
        Some(SharedSites {
            writer: line(row.writer),
            other: line(row.other),
            target: target(other).filter(|_| is_shared)?,
            accesses: sums.get(other)?.0,
            true_misses: row.true_misses,
            false_misses: row.false_misses,
        })
    });
    let window = LocalityWindow {
        line_bytes: LINE_BYTES,
        shared: shared.collect(),
        sites,
        ..LocalityWindow::default()
    };
    (window, indices)
}

/// The target in the text of a site: `a.B.name` or `long[]`. `None` for allocations.
fn target(text: &str) -> Option<AccessTarget> {
    if text.starts_with("new ") {
        return None;
    }
    if text.ends_with("[]") {
        return Some(AccessTarget::Element { array: text.into() });
    }
    let (owner, name) = text.rsplit_once('.')?;
    Some(AccessTarget::Field {
        owner: owner.into(),
        name: name.into(),
    })
}

/// The numbers of the instructions, in the order of the sites of the profile.
fn site_numbers(recorded: &RecordedWindow) -> Vec<i64> {
    let number = |row: &PointRow| {
        let (_, index) = row.what.as_deref()?.rsplit_once(" @")?;
        Some(site_id(&row.class, &row.method, index.parse().ok()?))
    };
    let mut seen = BTreeSet::new();
    let numbers = recorded.points.iter().filter_map(number);
    numbers.filter(|number| seen.insert(*number)).collect()
}

/// The fields of the classes whose fields miss, from the class files that the agent has.
fn shapes(pid: u32, window: &LocalityWindow) -> Result<Vec<ClassShape>> {
    let owners = window.sites.iter().filter_map(|site| match &site.target {
        AccessTarget::Field { owner, .. } if site.misses > 0 => Some(owner.clone()),
        _ => None,
    });
    let owners: BTreeSet<String> = owners.collect();
    if owners.is_empty() {
        return Ok(Vec::new());
    }
    let mut client = veneer_client::connect(pid)?;
    client.send(&Request::ClassCode {
        patterns: owners.into_iter().collect(),
    })?;
    let mut shapes = Vec::new();
    loop {
        match client.receive()? {
            Reply::ClassCode(code) => shapes.extend(shape(&code)),
            // Classes that cannot be armed have no class file here.
            Reply::Done { .. } | Reply::Failed { .. } => return Ok(shapes),
            _ => {}
        }
    }
}

/// The instance fields of a class.
fn shape(code: &ClassCode) -> Option<ClassShape> {
    let file = ClassFile::parse(&code.original).ok()?;
    let pool = &file.pool;
    let fields = file.fields.iter();
    let fields = fields.filter(|field| field.access & STATIC == 0);
    let fields = fields.filter_map(|field| {
        let name = pool.text(field.name).ok()?.into_owned();
        let descriptor = pool.text(field.descriptor).ok()?;
        let of = FieldDescriptor::parse(&descriptor).ok()?.java_form();
        Some((name, of))
    });
    let superclass = pool.class_name(file.super_class).ok()?;
    Some(ClassShape {
        name: code.class.clone(),
        fields: fields.collect(),
        is_whole: matches!(
            &*java_form(&superclass),
            "java.lang.Object" | "java.lang.Number" | "java.lang.Record"
        ),
    })
}

/// Records the most frequent distance between consecutive elements at these instructions.
fn strides(
    pid: u32,
    subject: &Subject<'_>,
    sites: &[(usize, i64)],
    stopped: &Arc<AtomicBool>,
) -> Result<Vec<SiteStride>> {
    let mut plan = HeldPlan::start(
        pid,
        PLAN_NAME,
        stride_plan(&subject.pattern, sites),
        stopped,
    )?;
    let mut strides = Vec::new();
    let ended = plan.read(|text| match serde_json::from_str(text) {
        Ok(StrideLine::Stride {
            site,
            elements,
            share,
        }) => {
            strides.push(SiteStride {
                site,
                elements,
                share,
            });
            false
        }
        Ok(StrideLine::Done { .. }) => true,
        Err(_) => false,
    })?;
    match ended {
        PlanEnd::Failed(message) => anyhow::bail!(message),
        PlanEnd::Read | PlanEnd::Interrupted => Ok(strides),
    }
}

/// The plan that counts distances. Each thread keeps the last element of each instruction.
fn stride_plan(pattern: &str, sites: &[(usize, i64)]) -> String {
    let mut source = format!("let m = methods({});\n", literal(pattern));
    let mut prints = String::new();
    for (site, number) in sites {
        source += &format!(
            "let t{site} = tally();\n\
             let l{site} = per_thread(0);\n"
        );
        for points in ["array_reads", "array_writes"] {
            source += &format!(
                "m.{points}().before(|p| {{ if site_id() == {number} {{ \
                 t{site}.count(p.index - l{site}.pop()); l{site}.push(p.index); }} }});\n"
            );
        }
        prints += &format!(
            "let rows = t{site}.rows();\n\
             if rows.len() > 0 {{ print(#{{ site: {site}, elements: rows[0].keys[0], \
             share: rows[0].count.to_float() / t{site}.total().to_float() }}.to_json()); }}\n"
        );
    }
    format!(
        "{source}after({STRIDE_SECONDS:?}, || {{\n{prints}print(#{{ done: true }}.to_json());\n}});\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use veneer_protocol::PlanSource;

    #[test]
    fn the_plan_of_strides_is_a_program() {
        let source = stride_plan("a.B::m(..)", &[(0, -5), (7, 9)]);
        assert!(source.contains("site_id() == -5"), "{source}");
        crate::plans::check_plan(&PlanSource {
            name: PLAN_NAME.into(),
            source,
            settings: Default::default(),
            modules: Default::default(),
        })
        .unwrap();
    }

    #[test]
    fn targets_are_fields_and_elements_and_no_allocations() {
        let field = AccessTarget::Field {
            owner: "a.B".into(),
            name: "x".into(),
        };
        assert_eq!(target("a.B.x"), Some(field));
        let element = AccessTarget::Element {
            array: "a.B[]".into(),
        };
        assert_eq!(target("a.B[]"), Some(element));
        assert_eq!(target("new a.B[]"), None);
        assert_eq!(target(""), None);
    }

    #[test]
    fn lines_of_the_plan_are_strides_or_its_end() {
        let line = r#"{"elements":1024,"share":0.97,"site":2}"#;
        let stride = serde_json::from_str(line).unwrap();
        assert!(matches!(
            stride,
            StrideLine::Stride {
                site: 2,
                elements: 1024,
                ..
            }
        ));
        let end = serde_json::from_str(r#"{"done":true}"#).unwrap();
        assert!(matches!(end, StrideLine::Done { .. }));
    }
}

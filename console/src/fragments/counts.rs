//! `veneer fragments PID PATTERN --counts SECONDS`: the passes of blocks and edges.
//!
//! ```text
//!   arm ─▶ plan ─▶ graphs, ids ─▶ seconds pass ─▶ detach ─▶ report ─▶ MethodCounts, by method
//! ```
//!
//! The counts belong to a listing if the agent and the listing divide the method into the same blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use veneer_client::{Client, ControlError};
use veneer_fragmenter::listing::MethodListing;
use veneer_instruments::MethodPattern;
use veneer_instruments::table::format_count;
use veneer_protocol::{DetachTarget, RefusalRow, Reply, Report, Request};

use crate::ask::plan_error::explain_without_expressions;
use crate::flow_counts::Graph;
use crate::output::{print_error, print_note};
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use veneer_client::plan_text::block_counter_plan;

/// The name of the plan, as it occurs in messages of the agent.
const PLAN_NAME: &str = "fragments";
/// The most refusals that are printed.
const MAX_REFUSALS: usize = 20;
/// The width of a line with the most passes, beside that of a line with none.
const MAX_EXTRA_WIDTH: f64 = 5.0;

/// A line that the plan prints.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PlanLine {
    Graph(Graph),
    /// The counters, with what they count.
    Ids(BTreeMap<String, String>),
}

/// Class and method, as the agent names them.
type MethodKey = (String, String);

/// The passes of all selected methods.
#[derive(Debug, Default)]
pub(super) struct FlowCounts {
    methods: HashMap<MethodKey, MethodCounts>,
}

/// The passes of the blocks and edges of a method. If several classes have its name, the sums.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MethodCounts {
    /// The time between the attachment and the detachment of the counters.
    seconds: f64,
    /// The division of the method by the agent.
    flow: Flow,
    blocks: BTreeMap<u32, u64>,
    edges: BTreeMap<(u32, u32), u64>,
}

/// The blocks and edges of a method, without edges to exception handlers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Flow {
    blocks: BTreeSet<u32>,
    edges: BTreeSet<(u32, u32)>,
}

/// The passes in JSON.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct CountRows {
    seconds: f64,
    blocks: Vec<BlockRow>,
    edges: Vec<EdgeRow>,
}

#[derive(Debug, PartialEq, Serialize)]
struct BlockRow {
    fragment: String,
    passes: u64,
}

#[derive(Debug, PartialEq, Serialize)]
struct EdgeRow {
    from: String,
    to: String,
    passes: u64,
}

/// Counts for some seconds. Returns `None` if the agent has refused the plan; the reason was printed.
pub(super) fn measure(pid: u32, pattern: &str, seconds: f64) -> Result<Option<FlowCounts>> {
    let parsed = MethodPattern::parse(pattern)?;
    let mut holder = veneer_client::connect(pid)?;
    if !arm(&mut holder, pattern)? {
        print_refusals(&holder.report()?.refusals, &parsed, pid);
        return Ok(None);
    }
    let Some((graphs, ids)) = attach(&mut holder, pattern)? else {
        return Ok(None);
    };
    let began = Instant::now();
    if !graphs.is_empty() {
        let methods = match graphs.len() {
            1 => "1 method".to_owned(),
            n => format!("{} methods", format_count(n as u64)),
        };
        print_note(&format_args!("counting in {methods} for {seconds} s"));
        thread::sleep(Duration::from_secs_f64(seconds));
    }
    let closer = holder.closer()?;
    let mut client = veneer_client::connect(pid)?;
    let elapsed = began.elapsed().as_secs_f64();
    if !ids.is_empty() {
        client.detach(DetachTarget::Ids(ids.clone()))?;
    }
    let report = client.report()?;
    closer.close();
    print_refusals(&report.refusals, &parsed, pid);
    Ok(Some(FlowCounts::new(&graphs, &ids, &report, elapsed)))
}

/// Arms the classes that the pattern selects, because a plan knows the flow graphs of armed methods
/// only. Returns whether a method is armed; otherwise the reason was printed.
fn arm(holder: &mut Client, pattern: &str) -> Result<bool> {
    holder.send(&Request::ClassCode {
        patterns: vec![pattern.to_owned()],
    })?;
    loop {
        match holder.receive()? {
            Reply::ClassCode(_) => {}
            Reply::Done { .. } => return Ok(true),
            Reply::Failed { message } => {
                print_error(&message);
                return Ok(false);
            }
            _ => return Err(ControlError::Unexpected(holder.pid()).into()),
        }
    }
}

/// Attaches the counters. Returns the flow graphs of the methods, and the ids of the counters.
fn attach(holder: &mut Client, pattern: &str) -> Result<Option<(Vec<Graph>, Vec<String>)>> {
    holder.send(&Request::Exec {
        name: PLAN_NAME.into(),
        source: block_counter_plan(pattern),
        settings: Default::default(),
        modules: Default::default(),
        hold: Some(LEASE_MILLIS),
    })?;
    holder.keep_renewing(RENEWAL_INTERVAL)?;
    let mut graphs = Vec::new();
    let mut counters = Vec::new();
    loop {
        match holder.receive()? {
            Reply::Print(text) => match serde_json::from_str(&text) {
                Ok(PlanLine::Graph(graph)) => graphs.push(graph),
                Ok(PlanLine::Ids(ids)) => counters.extend(ids.into_keys()),
                Err(_) => print_error(&explain_without_expressions(&text, PLAN_NAME)),
            },
            Reply::Done { .. } => return Ok(Some((graphs, counters))),
            Reply::Failed { message } => {
                print_error(&explain_without_expressions(&message, PLAN_NAME));
                return Ok(None);
            }
            _ => return Err(ControlError::Unexpected(holder.pid()).into()),
        }
    }
}

/// Prints the refused classes and methods that the pattern selects. A refusal of a single fragment
/// (`m()V@17`) concerns a capture point, and no counter.
fn print_refusals(all: &[RefusalRow], pattern: &MethodPattern, pid: u32) {
    let is_selected = |row: &&RefusalRow| match row.method.split_once('(') {
        None => row.method.is_empty() && pattern.matches_class(&row.class),
        Some((name, rest)) => {
            !rest.contains('@') && pattern.matches(&row.class, name, &format!("({rest}"))
        }
    };
    let selected: Vec<&RefusalRow> = all.iter().filter(is_selected).collect();
    for row in selected.iter().take(MAX_REFUSALS) {
        let place = match row.method.as_str() {
            "" => row.class.clone(),
            method => format!("{}::{method}", row.class),
        };
        print_error(&format_args!(
            "{place} is not counted: {}: {}",
            row.reason, row.detail
        ));
    }
    if let Some(rest) = selected.len().checked_sub(MAX_REFUSALS).filter(|n| *n > 0) {
        print_error(&format_args!(
            "{rest} more refusals; `veneer refusals {pid} --all` lists them"
        ));
    }
}

impl FlowCounts {
    fn new(graphs: &[Graph], ids: &[String], report: &Report, seconds: f64) -> FlowCounts {
        let mut methods: HashMap<MethodKey, MethodCounts> = HashMap::new();
        for graph in graphs {
            let flow = Flow {
                blocks: graph.blocks.iter().map(|block| block.number).collect(),
                edges: graph.edges.iter().copied().collect(),
            };
            let key = (graph.class.clone(), graph.method.clone());
            let counts = methods.entry(key).or_insert_with(|| MethodCounts {
                seconds,
                flow: flow.clone(),
                ..MethodCounts::default()
            });
            if counts.flow != flow {
                // Classes of one name with different code: no listing equals an empty division.
                counts.flow = Flow::default();
            }
        }
        let counters = report.instruments.iter().filter(|i| ids.contains(&i.id));
        for point in counters.flat_map(|counter| &counter.points) {
            let key = (point.class.clone(), point.method.clone());
            let (Some(counts), Some(from)) = (methods.get_mut(&key), point.fragment) else {
                continue;
            };
            let passes = match point.to {
                Some(to) => counts.edges.entry((from.0, to.0)).or_default(),
                None => counts.blocks.entry(from.0).or_default(),
            };
            *passes = passes.saturating_add(point.data.hits());
        }
        FlowCounts { methods }
    }

    /// The passes of a listed method. Prints the reason if there are none.
    pub(super) fn for_method(&self, listing: &MethodListing) -> Option<&MethodCounts> {
        let name = format!("{}::{}", listing.class, listing.method);
        let key = (listing.class.clone(), listing.method.clone());
        let Some(counts) = self.methods.get(&key) else {
            match &listing.refusal {
                Some(refusal) => print_error(&format_args!(
                    "{name} is not counted: {}: {}",
                    refusal.reason, refusal.detail
                )),
                None => print_error(&format_args!("{name} is not counted: it is not armed")),
            }
            return None;
        };
        if !counts.flow.has(&Flow::of_listing(listing)) {
            print_error(&format_args!(
                "{name} is not counted: the agent numbers its fragments in another way, because of `--policy call` or of another class with this name (OtherFragments)"
            ));
            return None;
        }
        Some(counts)
    }
}

impl Flow {
    /// Whether the blocks of another division have the same numbers and the same successors here.
    fn has(&self, other: &Flow) -> bool {
        let edges = self.edges.iter();
        let edges = edges.filter(|(from, _)| other.blocks.contains(from));
        other.blocks.is_subset(&self.blocks) && edges.eq(&other.edges)
    }

    fn of_listing(listing: &MethodListing) -> Flow {
        let mut flow = Flow::default();
        for fragment in &listing.fragments {
            let Some(from) = number(&fragment.id) else {
                continue;
            };
            flow.blocks.insert(from);
            let targets = fragment.edges.iter().filter_map(|edge| number(&edge.to));
            flow.edges.extend(targets.map(|to| (from, to)));
        }
        flow
    }
}

/// The number of a fragment: 3 for `f3`.
fn number(id: &str) -> Option<u32> {
    id.strip_prefix('f')?.parse().ok()
}

impl MethodCounts {
    pub(super) fn rows(&self) -> CountRows {
        let block = |(fragment, passes): (&u32, &u64)| BlockRow {
            fragment: format!("f{fragment}"),
            passes: *passes,
        };
        let edge = |((from, to), passes): (&(u32, u32), &u64)| EdgeRow {
            from: format!("f{from}"),
            to: format!("f{to}"),
            passes: *passes,
        };
        CountRows {
            seconds: self.seconds,
            blocks: self.blocks.iter().map(block).collect(),
            edges: self.edges.iter().map(edge).collect(),
        }
    }

    /// Adds the passes to a graph that [`MethodListing::to_dot`] has made. Each node and each edge of
    /// such a graph is a statement on a line of its own, and the label is its last quoted text.
    pub(super) fn annotate(&self, dot: &str) -> String {
        let all = self.blocks.values().chain(self.edges.values());
        let most = all.copied().max().unwrap_or(0);
        let line = |line: &str| {
            self.annotated(line, most)
                .unwrap_or_else(|| line.to_owned())
        };
        dot.lines().map(|text| line(text) + "\n").collect()
    }

    /// The line with the passes in its label and a width, if it is that of a counted block or edge.
    fn annotated(&self, line: &str, most: u64) -> Option<String> {
        let (place, _) = line.strip_prefix("  ")?.split_once(" [label=\"")?;
        let (passes, text) = match place.split_once(" -> ") {
            Some((from, to)) => {
                let passes = *self.edges.get(&(number(from)?, number(to)?))?;
                (passes, format!("\\n{}", format_count(passes)))
            }
            None => {
                let passes = *self.blocks.get(&number(place)?)?;
                (passes, format!("{} passes\\l", format_count(passes)))
            }
        };
        let (before, after) = line.split_at(line.rfind('"')?);
        let after = after.strip_prefix('"')?;
        let look = match passes {
            0 => "color=gray60, fontcolor=gray60".to_owned(),
            _ => format!("penwidth={:.1}", pen_width(passes, most)),
        };
        Some(format!("{before}{text}\", {look}{after}"))
    }
}

/// The width grows with the logarithm, because counts of one method differ by orders of magnitude.
fn pen_width(passes: u64, most: u64) -> f64 {
    let logarithm = |number: u64| (number as f64).ln_1p();
    match most {
        0 => 1.0,
        most => 1.0 + MAX_EXTRA_WIDTH * logarithm(passes) / logarithm(most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> MethodCounts {
        MethodCounts {
            seconds: 2.0,
            flow: Flow::default(),
            blocks: [(0, 1), (1, 1001), (2, 0)].into(),
            edges: [((0, 1), 1), ((1, 1), 1000), ((1, 2), 0)].into(),
        }
    }

    #[test]
    fn a_graph_shows_the_passes_of_blocks_and_edges() {
        let dot = r#"digraph "a.B::m()V" {
  label="a.B::m()V\npolicy block"; labelloc=t; fontname="monospace";
  f0 [label="f0  pc 0..3\l"];
  f1 [label="f1  pc 3..9\luse \"s\\l\"\l", peripheries=2];
  f2 [label="f2  pc 9..10\l"];
  f3 [label="f3  pc 10..11\l"];
  f0 -> f1 [label="fall"];
  f1 -> f1 [label="branch"];
  f1 -> f2 [label="fall"];
  f1 -> f3 [style=dashed, label="any"];
}
"#;
        let expected = r#"digraph "a.B::m()V" {
  label="a.B::m()V\npolicy block"; labelloc=t; fontname="monospace";
  f0 [label="f0  pc 0..3\l1 passes\l", penwidth=1.5];
  f1 [label="f1  pc 3..9\luse \"s\\l\"\l1,001 passes\l", penwidth=6.0, peripheries=2];
  f2 [label="f2  pc 9..10\l0 passes\l", color=gray60, fontcolor=gray60];
  f3 [label="f3  pc 10..11\l"];
  f0 -> f1 [label="fall\n1", penwidth=1.5];
  f1 -> f1 [label="branch\n1,000", penwidth=6.0];
  f1 -> f2 [label="fall\n0", color=gray60, fontcolor=gray60];
  f1 -> f3 [style=dashed, label="any"];
}
"#;
        assert_eq!(counts().annotate(dot), expected);
    }

    #[test]
    fn rows_name_fragments_as_listings_do() {
        let rows = serde_json::to_value(counts().rows()).unwrap();
        assert_eq!(
            rows["blocks"][1],
            serde_json::json!({"fragment": "f1", "passes": 1001})
        );
        assert_eq!(
            rows["edges"][1],
            serde_json::json!({"from": "f1", "to": "f1", "passes": 1000})
        );
    }

    #[test]
    fn counts_belong_to_methods_with_the_same_blocks() {
        let graph = |edges: &[(u32, u32)]| Graph {
            class: "a.B".into(),
            method: "m()V".into(),
            edges: edges.to_vec(),
            ..Graph::default()
        };
        let report = Report::new(veneer_protocol::JvmInfo {
            pid: 1,
            name: String::new(),
            version: String::new(),
            millis: 0,
        });
        let flow = |graphs: &[Graph]| {
            let all = FlowCounts::new(graphs, &[], &report, 1.0);
            all.methods.into_values().next().map(|counts| counts.flow)
        };
        let same = flow(&[graph(&[(0, 1)]), graph(&[(0, 1)])]).unwrap();
        assert_eq!(same.edges, [(0, 1)].into());
        assert!(!Flow::default().has(&Flow {
            blocks: [0].into(),
            edges: BTreeSet::new(),
        }));
        let other = flow(&[graph(&[(0, 1)]), graph(&[(0, 2)])]).unwrap();
        assert_eq!(other, Flow::default());
    }
}

//! Adds the calling-context trees of the threads, which the agent recorded, to a call profile.
//!
//! ```text
//!   names ───────────────▶ methods, threads ──┐
//!   thread-N.contexts ───▶ nodes ─────────────┼─▶ contexts of CallProfile
//!   edges of the profile ─▶ call sites ───────┘
//! ```
//!
//! A node knows its method and the node of the caller, but not the call site. If the call graph has
//! one call site from that method to this one, the context has its bytecode index and kind.
//!
//! A node of tasks is below the context in which they were submitted, which may be in the tree of
//! another thread.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use veneer_calls::{
    CallKind, CallProfile, Context, ContextCost, Loader, LoaderId, Method, MethodForm, MethodId,
    MethodName, Origin, Parent, Thread,
};
use veneer_instruments::PointRow;
use veneer_traces::{ContextTree, Names, ProcessorTimes, Submission};

use super::assemble::{ANY_LOADER, hits, method_name};
use crate::output::print_error;

/// The root of the contexts of a thread that began before the recording.
const EARLY_CALLS: &str = "calls that began before the recording";
/// The context of the tasks that a context has submitted.
const TASKS: &str = "tasks";
/// The context of calls that found no room for contexts of their own.
const OVERFLOW: &str = "contexts beyond 1,048,576 of a thread or 4,194,304 of the recording";
/// The thread of calls whose contexts are not known.
const OTHER_THREADS: &str = "[virtual threads, and threads without a context tree]";

/// The numbers of recorded contexts, and of calls without a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ContextSummary {
    /// The number of threads with a tree.
    threads: usize,
    /// The number of contexts.
    contexts: usize,
    /// The number of calls that found no room for a context.
    overflow_calls: u64,
    /// The number of calls in other threads.
    other_calls: u64,
    /// The number of trees that are cut or damaged.
    incomplete: usize,
    /// The number of trees without processor times.
    without_cpu: usize,
}

/// The call site and the kind of the calls from one method to another; `None` if there are several.
type Sites = HashMap<(MethodId, MethodId), Option<(Option<u16>, CallKind)>>;

/// Adds the trees in a directory to a profile, and removes the directory. The profile and standard
/// error say what is missing.
pub fn take_contexts(profile: &mut CallProfile, directory: &Path, other_calls: &[PointRow]) {
    match add_contexts(profile, directory, other_calls) {
        Ok(summary) => {
            note_gaps(profile, &summary);
            // The profile has everything that is in the files.
            let _ = fs::remove_dir_all(directory);
        }
        Err(error) => {
            print_error(&format_args!("the contexts cannot be read: {error:#}"));
            profile.add_info("incomplete", "the contexts could not be read");
        }
    }
}

/// Notes what the trees of contexts do not have, as facts of the profile and for the user.
fn note_gaps(profile: &mut CallProfile, summary: &ContextSummary) {
    let calls = |count, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let gaps = [
        calls(
            summary.overflow_calls,
            "calls found no room for a context of their own",
        ),
        calls(
            summary.other_calls,
            "calls in virtual threads, or in threads without a context tree",
        ),
        calls(summary.incomplete as u64, "trees of threads have no end"),
        calls(
            summary.without_cpu as u64,
            "trees of threads have no processor times, because the C library is older than glibc 2.35",
        ),
    ];
    for gap in gaps.into_iter().flatten() {
        print_error(&format_args!("contexts: {gap}"));
        profile.add_info("contexts", &gap);
    }
}

/// Adds the trees in the directory, and the calls of other threads.
///
/// # Errors
/// The directory is no recording of contexts, or cannot be read.
fn add_contexts(
    profile: &mut CallProfile,
    directory: &Path,
    other_calls: &[PointRow],
) -> Result<ContextSummary> {
    let names = Names::read(directory)?;
    let trees = ContextTree::read_all(directory)?;
    let loader = profile.add_loader(&Loader {
        name: ANY_LOADER.into(),
        number: 1,
    });
    let sites = sites(profile);
    let submissions = ContextTree::read_submissions(directory)?;
    let mut adder = ContextAdder {
        profile,
        names: &names,
        loader,
        sites,
    };
    let mut summary = ContextSummary::default();
    for tree in &trees {
        summary.threads += 1;
        summary.contexts += tree.nodes.len() - 1;
        summary.incomplete += usize::from(tree.is_damaged || !tree.is_complete);
        summary.without_cpu += usize::from(!tree.has_cpu);
        let overflow = tree.nodes.iter().map(|node| node.overflow_calls);
        summary.overflow_calls += overflow.sum::<u64>();
    }
    adder.add_trees(&trees, &submissions);
    for row in other_calls {
        summary.other_calls += adder.add_other_calls(row);
    }
    Ok(summary)
}

/// The call sites in the call graph.
fn sites(profile: &CallProfile) -> Sites {
    let mut sites = Sites::new();
    for edge in profile.edges() {
        let site = Some((edge.site.bci, edge.kind));
        sites
            .entry((edge.caller, edge.callee))
            .and_modify(|known| {
                if *known != site {
                    *known = None;
                }
            })
            .or_insert(site);
    }
    sites
}

/// Adds nodes to a profile.
struct ContextAdder<'a> {
    profile: &'a mut CallProfile,
    names: &'a Names,
    loader: LoaderId,
    sites: Sites,
}

/// A node of one of the trees: the position of the tree, and of the node in it.
type NodePlace = (usize, usize);

/// A tree with what is derived from it.
struct DerivedTree<'a> {
    tree: &'a ContextTree,
    own: Vec<u64>,
    processor: Vec<ProcessorTimes>,
    /// The context and the method of each node that was added.
    added: Vec<Option<(Parent, Option<MethodId>)>>,
}

/// The node whose context must exist before that of another one.
fn node_above(
    trees: &[DerivedTree<'_>],
    positions: &HashMap<u32, usize>,
    submissions: &[Submission],
    (tree, node): NodePlace,
) -> Option<NodePlace> {
    let this = trees[tree].tree.nodes[node];
    let submitted = this.submission.and_then(|number| {
        let place = submissions.get(number)?;
        let tree = *positions.get(&place.thread)?;
        (place.node < trees[tree].added.len()).then_some((tree, place.node))
    });
    submitted.or_else(|| (node > 0).then_some((tree, this.parent)))
}

impl ContextAdder<'_> {
    fn add_trees(&mut self, trees: &[ContextTree], submissions: &[Submission]) {
        let positions = trees.iter().enumerate();
        let positions: HashMap<u32, usize> =
            positions.map(|(at, tree)| (tree.thread, at)).collect();
        let derive = |tree| {
            let own = ContextTree::self_times(tree);
            DerivedTree {
                tree,
                processor: tree.processor_times(&own),
                own,
                added: vec![None; tree.nodes.len()],
            }
        };
        let mut trees: Vec<DerivedTree<'_>> = trees.iter().map(derive).collect();
        for at in 0..trees.len() {
            for node in 0..trees[at].added.len() {
                if trees[at].added[node].is_some() {
                    continue;
                }
                // The nodes from this one up to the first one that has a context.
                let mut path = vec![(at, node)];
                let mut seen = HashSet::new();
                while let Some(above) = path
                    .last()
                    .and_then(|last| node_above(&trees, &positions, submissions, *last))
                    .filter(|above| trees[above.0].added[above.1].is_none())
                {
                    // Only a damaged file has a context above itself.
                    if !seen.insert(above) {
                        break;
                    }
                    path.push(above);
                }
                for place in path.into_iter().rev() {
                    let above = node_above(&trees, &positions, submissions, place);
                    let above = above.and_then(|above| trees[above.0].added[above.1]);
                    let added = self.add_node(&trees[place.0], place.1, above);
                    trees[place.0].added[place.1] = Some(added);
                }
            }
        }
    }

    /// Adds the context of a node below another context, or below the thread. Returns it with its
    /// method.
    fn add_node(
        &mut self,
        derived: &DerivedTree<'_>,
        position: usize,
        above: Option<(Parent, Option<MethodId>)>,
    ) -> (Parent, Option<MethodId>) {
        let node = derived.tree.nodes[position];
        let processor = derived.processor[position];
        let cost = ContextCost {
            calls: node.calls,
            wall_ns: self.nanoseconds(node.wall),
            self_ns: self.nanoseconds(derived.own[position]),
            cpu_ns: self.nanoseconds(processor.all),
            self_cpu_ns: self.nanoseconds(processor.own),
            allocations: node.allocations,
        };
        let added = match (position, above) {
            (0, _) | (_, None) => (self.add_thread(derived), None),
            (_, Some((parent, _))) if node.submission.is_some() => {
                let origin = Origin::Call(CallKind::Handover);
                (self.add_bracketed(parent, TASKS, origin, cost), None)
            }
            (_, Some((parent, caller))) => {
                let method = self.method(node.method);
                let site = caller.and_then(|caller| self.sites.get(&(caller, method)));
                let (bci, kind) = site.copied().flatten().unwrap_or((None, CallKind::Other));
                let context = self.profile.add_context(Context {
                    parent,
                    method,
                    bci,
                    origin: Origin::Call(kind),
                    cost,
                });
                (Parent::Context(context), Some(method))
            }
        };
        if node.overflow_calls > 0 {
            let origin = Origin::Call(CallKind::Other);
            let wall_ns = self.nanoseconds(node.overflow_wall);
            let cpu_ns = self.nanoseconds(processor.overflow);
            // The time without callees of an overflow is all of its time.
            let cost = ContextCost {
                calls: node.overflow_calls,
                wall_ns,
                self_ns: wall_ns,
                cpu_ns,
                self_cpu_ns: cpu_ns,
                ..ContextCost::default()
            };
            self.add_bracketed(added.0, OVERFLOW, origin, cost);
        }
        added
    }

    /// Adds the thread of a tree. Returns the context of its outermost calls.
    fn add_thread(&mut self, derived: &DerivedTree<'_>) -> Parent {
        let tree = derived.tree;
        let record = self.names.threads.get(&tree.thread);
        let thread = self.profile.add_thread(&Thread {
            name: self.names.thread_name(tree.thread),
            number: record.map_or(0, |record| record.java_id),
            is_virtual: false,
        });
        let root = Parent::Root(Some(thread));
        if !tree.is_late {
            return root;
        }
        let nodes = tree.nodes.iter().zip(&derived.processor).skip(1);
        let roots = nodes.filter(|(node, _)| node.parent == 0 && node.submission.is_none());
        let (wall, cpu) = roots.fold(
            (0u64, derived.processor[0].own),
            |(wall, cpu), (node, one)| {
                (wall.saturating_add(node.wall), cpu.saturating_add(one.all))
            },
        );
        let cost = ContextCost {
            wall_ns: self.nanoseconds(wall),
            cpu_ns: self.nanoseconds(cpu),
            self_cpu_ns: self.nanoseconds(derived.processor[0].own),
            allocations: tree.nodes[0].allocations,
            ..ContextCost::default()
        };
        self.add_bracketed(root, EARLY_CALLS, Origin::Early, cost)
    }

    fn nanoseconds(&self, ticks: u64) -> u64 {
        self.names.clock.nanoseconds(ticks)
    }

    /// Adds the context of a method in brackets, which stands for several methods.
    fn add_bracketed(
        &mut self,
        parent: Parent,
        name: &str,
        origin: Origin,
        cost: ContextCost,
    ) -> Parent {
        let method = self.profile.add_method(Method {
            loader: self.loader,
            name: MethodName::new("", name, ""),
            form: MethodForm::Overflow,
            code_bytes: None,
            entries: None,
        });
        let context = self.profile.add_context(Context {
            parent,
            method,
            bci: None,
            origin,
            cost,
        });
        Parent::Context(context)
    }

    /// Adds the calls of a method in threads without a tree. Returns their number.
    fn add_other_calls(&mut self, row: &PointRow) -> u64 {
        let calls = hits(row);
        let (Some(name), 1..) = (method_name(&row.class, &row.method), calls) else {
            return 0;
        };
        let thread = self.profile.add_thread(&Thread {
            name: OTHER_THREADS.into(),
            number: 0,
            is_virtual: true,
        });
        let method = self.add_method(name);
        self.profile.add_context(Context {
            parent: Parent::Root(Some(thread)),
            method,
            bci: None,
            origin: Origin::Call(CallKind::Other),
            cost: ContextCost {
                calls,
                ..ContextCost::default()
            },
        });
        calls
    }

    fn method(&mut self, id: u64) -> MethodId {
        let frame = self.names.frame(self.names.slot(id));
        self.add_method(MethodName::new(
            &frame.class,
            &frame.name,
            &frame.descriptor,
        ))
    }

    fn add_method(&mut self, name: MethodName) -> MethodId {
        self.profile.add_method(Method {
            loader: self.loader,
            name,
            form: MethodForm::Bytecode,
            code_bytes: None,
            entries: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;
    use veneer_calls::Site;
    use veneer_instruments::Measurement;
    use veneer_traces::NameRecord;
    use veneer_traces::format::context_node::{
        HAS_CPU, IS_LATE, MAGIC, OVERFLOW_BYTES, OVERFLOW_OFFSET, SUBMISSIONS_FILE, TASK, VERSION,
        contexts_file,
    };
    use veneer_traces::format::names::{ClockRecord, FrameKind, FrameRecord, ThreadRecord};
    use veneer_traces::writer::NamesWriter;

    fn frame(id: u64, name: &str) -> NameRecord {
        NameRecord::Frame(FrameRecord {
            id,
            kind: FrameKind::Method,
            class: "a.B".into(),
            name: name.into(),
            descriptor: "()V".into(),
            line: 1,
            probe: 0,
        })
    }

    fn thread(id: u32) -> NameRecord {
        NameRecord::Thread(ThreadRecord {
            id,
            java_id: 20 + u64::from(id),
            os_id: 0,
            name: "worker".into(),
            group: String::new(),
            parent: 0,
        })
    }

    /// Writes the names of methods and of two threads.
    fn write_names(directory: &Path, frames: &[NameRecord]) {
        let mut names = NamesWriter::create(directory, 1, "VM", "25").unwrap();
        let others = [
            NameRecord::Clock(ClockRecord::default()),
            thread(1),
            thread(2),
        ];
        for record in others.iter().chain(frames) {
            names.write(record).unwrap();
        }
    }

    /// The words of a node: its key, calls, time, begin, allocations, time off the processor.
    fn node(
        parent: u64,
        id: u64,
        calls: u64,
        wall: u64,
        (allocations, off): (u64, u64),
    ) -> [u64; 8] {
        let key = parent << 32 | (id + 1);
        [key, calls, wall, 0, allocations, off, 0, 0]
    }

    /// Writes a tree whose last node has an overflow.
    fn write_tree(
        directory: &Path,
        thread: u32,
        flags: u64,
        nodes: &[[u64; 8]],
        overflow: [u64; 2],
    ) {
        let root = [MAGIC, VERSION | flags, 9, 0, 6, 0, 0, 0];
        let all = std::iter::once(&root).chain(nodes).flatten();
        let bytes: Vec<u8> = all.flat_map(|word| word.to_le_bytes()).collect();
        let path = directory.join(contexts_file(thread));
        fs::write(&path, bytes).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let at = OVERFLOW_OFFSET + (nodes.len() * OVERFLOW_BYTES) as u64;
        let words: Vec<u8> = overflow
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        file.write_all_at(&words, at).unwrap();
    }

    /// The contexts as `path calls wall self cpu self_cpu allocations bci`.
    fn lines(profile: &CallProfile) -> Vec<String> {
        let mut paths: Vec<String> = Vec::new();
        for context in profile.contexts() {
            let above = match context.parent {
                Parent::Root(thread) => thread
                    .and_then(|id| profile.threads().get(id.index()))
                    .map(|thread| format!("{}#{}", thread.name, thread.number))
                    .unwrap_or_default(),
                Parent::Context(id) => paths[id.index()].clone(),
            };
            let name = &profile.method(context.method).name;
            paths.push(format!("{above}/{}", name.method));
        }
        let all = profile.contexts().iter().zip(paths);
        let line = |(one, path): (&Context, String)| {
            let (cost, bci) = (&one.cost, one.bci);
            format!(
                "{path} {} {} {} {} {} {} {bci:?}",
                cost.calls,
                cost.wall_ns,
                cost.self_ns,
                cost.cpu_ns,
                cost.self_cpu_ns,
                cost.allocations
            )
        };
        all.map(line).collect()
    }

    #[test]
    fn nodes_become_contexts_with_their_sites() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("trace");
        write_names(&directory, &[frame(3, "run"), frame(4, "step")]);
        let main = [node(0, 3, 1, 100, (2, 15)), node(1, 4, 7, 40, (1, 4))];
        write_tree(&directory, 1, HAS_CPU, &main, [5, 10]);
        let late = [node(0, 4, 2, 8, (3, 0))];
        write_tree(&directory, 2, IS_LATE, &late, [0, 0]);
        let mut profile = CallProfile::new();
        let loader = profile.add_loader(&Loader {
            name: ANY_LOADER.into(),
            number: 1,
        });
        let mut method = |name| {
            profile.add_method(Method {
                loader,
                name: MethodName::new("a.B", name, "()V"),
                form: MethodForm::Bytecode,
                code_bytes: None,
                entries: Some(1),
            })
        };
        let (run, step) = (method("run"), method("step"));
        let site = Site {
            bci: Some(12),
            line: None,
        };
        profile.add_calls(run, site, step, CallKind::Static, 7);
        let other = PointRow {
            class: "a.B".into(),
            method: "step()V".into(),
            fragment: None,
            to: None,
            what: None,
            line: None,
            data: Measurement::Count { hits: 3 },
        };
        let summary = add_contexts(&mut profile, &directory, &[other]).unwrap();
        let expected = ContextSummary {
            threads: 2,
            contexts: 3,
            overflow_calls: 5,
            other_calls: 3,
            incomplete: 0,
            without_cpu: 1,
        };
        assert_eq!(summary, expected);
        let overflow = format!("worker#21/run/step/{OVERFLOW} 5 10 10 6 6 0 None");
        let early = format!("worker#22/{EARLY_CALLS}");
        assert_eq!(
            lines(&profile),
            [
                "worker#21/run 1 100 60 81 45 2 None".to_owned(),
                "worker#21/run/step 7 40 30 36 30 1 Some(12)".to_owned(),
                overflow,
                format!("{early} 0 8 0 0 0 6 None"),
                format!("{early}/step 2 8 8 0 0 3 None"),
                format!("{OTHER_THREADS}#0/step 3 0 0 0 0 0 None"),
            ]
        );
        assert!(add_contexts(&mut profile, folder.path(), &[]).is_err());
    }

    #[test]
    fn tasks_are_below_the_contexts_that_submitted_them() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("trace");
        let frames = [frame(3, "main"), frame(4, "job"), frame(5, "next")];
        write_names(&directory, &frames);
        let task = |parent: u64, number: u64, calls: u64, wall: u64| {
            [parent << 32 | TASK | number, calls, wall, 0, 1, 0, 0, 0]
        };
        // The job of the worker submits another one, which the first thread runs.
        let main = [
            node(0, 3, 1, 100, (0, 0)),
            task(1, 1, 2, 30),
            node(2, 5, 2, 20, (0, 0)),
        ];
        let worker = [
            task(0, 0, 4, 50),
            node(1, 4, 4, 45, (0, 0)),
            task(0, 2, 1, 5),
            task(0, 9, 1, 5),
        ];
        write_tree(&directory, 1, 0, &main, [0, 0]);
        write_tree(&directory, 2, 0, &worker, [0, 0]);
        // The last submission is in itself, which no recorder writes.
        let submissions = [1 << 32 | 1, 2 << 32 | 2, 2u64 << 32 | 3];
        let bytes: Vec<u8> = submissions
            .iter()
            .flat_map(|one| one.to_le_bytes())
            .collect();
        fs::write(directory.join(SUBMISSIONS_FILE), bytes).unwrap();
        let mut profile = CallProfile::new();
        add_contexts(&mut profile, &directory, &[]).unwrap();
        let mut shown = lines(&profile);
        shown.sort();
        assert_eq!(
            shown,
            [
                "worker#21/main 1 100 70 0 0 0 None",
                "worker#21/main/tasks 4 50 5 0 0 0 None",
                "worker#21/main/tasks/job 4 45 45 0 0 0 None",
                "worker#21/main/tasks/job/tasks 2 30 10 0 0 0 None",
                "worker#21/main/tasks/job/tasks/next 2 20 20 0 0 0 None",
                "worker#22/tasks 2 10 10 0 0 0 None",
            ]
        );
    }
}

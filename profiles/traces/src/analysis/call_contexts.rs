//! The calling-context tree of a trace: nodes with the same path of methods are one context.

use std::collections::{BTreeMap, HashMap};

use crate::error::TraceError;
use crate::query::method_text;
use crate::reader::{Names, Node, OpenNode, ThreadTrace, Trace, Visitor};

/// The most contexts. Nodes of further contexts are added to the context around them.
const MAX_CONTEXTS: usize = 1 << 20;
/// The context of the threads themselves.
const ROOT: usize = 0;

/// A path of methods from the thread's outermost call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallContext {
    /// The position of the context around this one; the root has its own.
    pub parent: usize,
    /// The text of the innermost method; empty for the root.
    pub method: String,
    /// The number of nodes.
    pub calls: u64,
    /// The sum of their durations in nanoseconds.
    pub wall_ns: u64,
    /// The sum of their durations without children, in nanoseconds.
    pub self_ns: u64,
}

/// A calling-context tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallContexts {
    /// The contexts. The first is the root, and each context comes after its parent.
    pub contexts: Vec<CallContext>,
    /// The nodes that were added to the context around them, because there were too many.
    pub merged: u64,
}

impl CallContexts {
    /// Joins all threads of a trace.
    pub fn of_trace(trace: &Trace) -> Result<CallContexts, TraceError> {
        let mut builder = ContextBuilder::new(&trace.names);
        for thread in &trace.threads {
            let thread = trace.thread(thread.number)?;
            builder
                .add(&thread)
                .map_err(|e| TraceError::io(&trace.directory, e))?;
        }
        Ok(builder.result)
    }

    /// The path of a context, the outermost method first.
    pub fn path(&self, mut context: usize) -> Vec<&str> {
        let mut path = Vec::new();
        while context != ROOT
            && let Some(found) = self.contexts.get(context)
        {
            path.push(found.method.as_str());
            context = found.parent;
        }
        path.reverse();
        path
    }

    /// Collapsed stacks: one line per context with its own time in nanoseconds, sorted.
    pub fn collapsed(&self) -> String {
        let lines = self.by_stack();
        let lines = lines.iter().filter(|(_, ns)| **ns > 0);
        lines.map(|(stack, ns)| format!("{stack} {ns}\n")).collect()
    }

    /// The own times of all contexts in nanoseconds, by their paths joined with `;`.
    fn by_stack(&self) -> BTreeMap<String, u64> {
        let mut stacks = BTreeMap::new();
        for (n, context) in self.contexts.iter().enumerate().skip(1) {
            let path = self.path(n);
            let clean: Vec<String> = path.iter().map(|m| clean_frame(m)).collect();
            *stacks.entry(clean.join(";")).or_default() += context.self_ns;
        }
        stacks
    }
}

/// Differential collapsed stacks of two traces, as `difffolded.pl` prints them: the path and the
/// own times in nanoseconds in the first and in the second trace.
pub fn differential_stacks(a: &CallContexts, b: &CallContexts) -> String {
    let mut both: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (stack, ns) in a.by_stack() {
        both.entry(stack).or_default().0 = ns;
    }
    for (stack, ns) in b.by_stack() {
        both.entry(stack).or_default().1 = ns;
    }
    let lines = both.iter().filter(|(_, times)| **times != (0, 0));
    lines
        .map(|(stack, (a, b))| format!("{stack} {a} {b}\n"))
        .collect()
}

/// A frame without the characters that separate frames and lines.
fn clean_frame(frame: &str) -> String {
    let clean = frame.chars().map(|c| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    });
    clean.collect()
}

/// A node's kind, frame and id: nodes with equal keys have equal texts.
type MethodKey = (u8, u32, u64);

struct ContextBuilder<'n> {
    names: &'n Names,
    result: CallContexts,
    children: HashMap<(usize, MethodKey), usize>,
    /// The contexts of the open nodes.
    open: Vec<usize>,
}

impl<'n> ContextBuilder<'n> {
    fn new(names: &'n Names) -> ContextBuilder<'n> {
        ContextBuilder {
            names,
            result: CallContexts {
                contexts: vec![CallContext::default()],
                merged: 0,
            },
            children: HashMap::new(),
            open: Vec::new(),
        }
    }

    fn add(&mut self, thread: &ThreadTrace) -> std::io::Result<()> {
        self.open.clear();
        let names = self.names;
        thread.read(names, self)
    }

    fn child(&mut self, parent: usize, node: &OpenNode) -> usize {
        let id = if node.slot != 0 { 0 } else { node.id };
        let key = (parent, (node.kind, node.slot, id));
        if let Some(context) = self.children.get(&key) {
            return *context;
        }
        if self.result.contexts.len() >= MAX_CONTEXTS {
            self.result.merged += 1;
            return parent;
        }
        let context = self.result.contexts.len();
        self.result.contexts.push(CallContext {
            parent,
            method: method_text(self.names, node.kind, node.slot, node.id),
            ..CallContext::default()
        });
        self.children.insert(key, context);
        context
    }
}

impl Visitor for ContextBuilder<'_> {
    fn enter(&mut self, open: &[OpenNode]) {
        let parent = self.open.last().copied().unwrap_or(ROOT);
        if let Some(node) = open.last() {
            let context = self.child(parent, node);
            self.open.push(context);
        }
    }

    fn leave(&mut self, node: &Node, _: &[OpenNode]) {
        let Some(context) = self.open.pop() else {
            return;
        };
        let clock = &self.names.clock;
        if let Some(context) = self.result.contexts.get_mut(context) {
            let wall = clock.nanoseconds(node.ticks());
            context.calls += 1;
            context.wall_ns = context.wall_ns.saturating_add(wall);
            let own = clock.nanoseconds(node.self_ticks);
            context.self_ns = context.self_ns.saturating_add(own);
        }
    }
}

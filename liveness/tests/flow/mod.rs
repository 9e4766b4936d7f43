//! The textual form of a graph with effects, and of the expected results of an analysis.
//!
//! ```text
//! test liveness                          the command: liveness, loops, dominators or order
//! # Any text.
//! locals a b                             optional: numbers these variables first, in this order
//! stack s                                optional: variables that no exceptional edge carries
//! entry n0                               optional: the entry, n0 by default
//! n0: use a def b -> n1, n2 !n3 ; in: {a} out: {b}
//! n1: def b use b -> n2         ; in: {}  out: {b}
//! ; loop0: header n1 …                   a line of its own: about the whole graph
//! ```
//!
//! The words of a node are replayed in order: `use` reads the variables that follow, and `def`
//! writes them. The successors follow `->`; `!n3` is reached by an exceptional edge. The text after
//! `;` is the expectation. Every node has an expectation if the command makes statements about
//! nodes.

mod answer;

pub use answer::answer;

use petgraph::graph::{DiGraph, NodeIndex};
use veneer_liveness::{EdgeTransfer, UseDef};

/// The analysis that a file tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Liveness,
    Loops,
    Dominators,
    Order,
}

pub struct File {
    pub command: Command,
    pub graph: DiGraph<(), EdgeTransfer>,
    pub effect: Vec<UseDef>,
    pub entry: NodeIndex,
    pub variables: Vec<String>,
    /// The number of local variables, which are the first ones of `variables`.
    pub locals: usize,
    /// By node: the line number and the text after `;`.
    pub expected_of_node: Vec<(usize, Option<String>)>,
    /// The line number and the text of each expectation about the whole graph.
    pub expected_of_graph: Vec<(usize, String)>,
}

/// Parses a file. An error names the line.
pub fn parse(text: &str) -> Result<File, Box<dyn std::error::Error>> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.trim()));
    let command = match lines.next() {
        Some((_, "test liveness")) => Command::Liveness,
        Some((_, "test loops")) => Command::Loops,
        Some((_, "test dominators")) => Command::Dominators,
        Some((_, "test order")) => Command::Order,
        first => return Err(format!("line 1 must name the test, but is {first:?}").into()),
    };
    let mut parser = Parser::new(command);
    for (number, line) in lines {
        parser
            .line(number, line)
            .map_err(|why| format!("line {number}: {why}: `{line}`"))?;
    }
    parser.finish()
}

struct Parser {
    file: File,
    stack: Vec<String>,
    entry: Option<String>,
    nodes: Vec<Node>,
}

/// A node whose names are not yet resolved.
struct Node {
    accesses: Vec<(Access, String)>,
    successors: Vec<(String, EdgeTransfer)>,
}

#[derive(Clone, Copy)]
enum Access {
    Use,
    Def,
}

impl Parser {
    fn new(command: Command) -> Self {
        let file = File {
            command,
            graph: DiGraph::new(),
            effect: Vec::new(),
            entry: NodeIndex::new(0),
            variables: Vec::new(),
            locals: 0,
            expected_of_node: Vec::new(),
            expected_of_graph: Vec::new(),
        };
        Parser {
            file,
            stack: Vec::new(),
            entry: None,
            nodes: Vec::new(),
        }
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), Box<dyn std::error::Error>> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(expected) = line.strip_prefix(';') {
            self.file.expected_of_graph.push((number, tidy(expected)));
            return Ok(());
        }
        let (code, expected) = match line.split_once(';') {
            Some((code, expected)) => (code, Some(tidy(expected))),
            None => (line, None),
        };
        if let Some((name, rest)) = code.split_once(':') {
            let wanted = format!("n{}", self.nodes.len());
            if name.trim() != wanted {
                return Err(format!("the next node must be {wanted}").into());
            }
            self.file.expected_of_node.push((number, expected));
            return self.node(rest);
        }
        let words: Vec<String> = code.split_whitespace().map(String::from).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["locals", names @ ..] => names.iter().for_each(|name| self.local(name)),
            ["stack", names @ ..] => self.stack.extend(names.iter().map(ToString::to_string)),
            ["entry", node] => self.entry = Some(node.to_string()),
            _ => return Err("neither a node nor a declaration".into()),
        }
        Ok(())
    }

    fn node(&mut self, code: &str) -> Result<(), Box<dyn std::error::Error>> {
        let (effect, successors) = code.split_once("->").unwrap_or((code, ""));
        let mut accesses = Vec::new();
        let mut access = None;
        for word in effect.split_whitespace() {
            match word {
                "use" => access = Some(Access::Use),
                "def" => access = Some(Access::Def),
                name => {
                    let access = access.ok_or("a variable without `use` or `def`")?;
                    self.local(name);
                    accesses.push((access, name.to_string()));
                }
            }
        }
        let separators = |c: char| c == ',' || c.is_whitespace();
        let successors = successors
            .split(separators)
            .filter(|word| !word.is_empty())
            .map(|word| match word.strip_prefix('!') {
                Some(name) => (name.to_string(), EdgeTransfer::Exceptional),
                None => (word.to_string(), EdgeTransfer::Normal),
            })
            .collect();
        self.nodes.push(Node {
            accesses,
            successors,
        });
        Ok(())
    }

    /// Declares a local variable, unless a `stack` line has named it.
    fn local(&mut self, name: &str) {
        let known = self.file.variables.iter().chain(&self.stack);
        if known.into_iter().all(|known| known != name) {
            self.file.variables.push(name.to_string());
        }
    }

    fn finish(self) -> Result<File, Box<dyn std::error::Error>> {
        let mut file = self.file;
        file.locals = file.variables.len();
        file.variables.extend(self.stack);
        if let Some(twice) = (1..file.variables.len())
            .map(|i| file.variables.split_at(i))
            .find_map(|(before, rest)| before.contains(&rest[0]).then(|| &rest[0]))
        {
            return Err(format!("{twice} is named before the `stack` line").into());
        }
        let width = file.variables.len();
        for _ in &self.nodes {
            file.graph.add_node(());
        }
        for (index, node) in self.nodes.into_iter().enumerate() {
            let mut effect = UseDef::new(width);
            for (access, name) in node.accesses {
                let variable = file.variable(&name)?;
                match access {
                    Access::Use => effect.read(variable),
                    Access::Def => effect.write(variable),
                }
            }
            file.effect.push(effect);
            for (name, flow) in node.successors {
                let target = file.node(&name)?;
                file.graph.add_edge(NodeIndex::new(index), target, flow);
            }
        }
        if let Some(entry) = self.entry {
            file.entry = file.node(&entry)?;
        }
        Ok(file)
    }
}

impl File {
    fn variable(&self, name: &str) -> Result<usize, Box<dyn std::error::Error>> {
        let found = self.variables.iter().position(|known| known == name);
        Ok(found.ok_or_else(|| format!("no variable {name}"))?)
    }

    fn node(&self, name: &str) -> Result<NodeIndex, Box<dyn std::error::Error>> {
        let number = name.strip_prefix('n').and_then(|n| n.parse().ok());
        let node = number.map(NodeIndex::new);
        let node = node.filter(|node| node.index() < self.graph.node_count());
        Ok(node.ok_or_else(|| format!("no node {name}"))?)
    }
}

/// Returns `text` with single spaces, so that expectations may be aligned.
fn tidy(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

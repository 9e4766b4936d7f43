//! The sizes of call graphs: methods, edges, call sites and allocation sites of a program's own code and
//! of its libraries.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use serde::Deserialize;

use super::workload::Workload;
use crate::command::veneer;
use crate::trust::part::{Table, TrustError};

/// The part of the output of `veneer calls show --json` from which the sizes are computed.
#[derive(Debug, Deserialize)]
struct Graph {
    methods: Vec<GraphMethod>,
    edges: Vec<GraphEdge>,
    allocations: Vec<GraphAllocation>,
}

#[derive(Debug, Deserialize)]
struct GraphMethod {
    id: u64,
    class: String,
    entries: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct GraphEdge {
    caller: u64,
    callee: u64,
    bci: Option<u16>,
    count: u64,
}

#[derive(Debug, Deserialize)]
struct GraphAllocation {
    method: u64,
    bci: Option<u16>,
    count: u64,
}

/// The size of a part of a graph. An edge, a site and an object belong to the method that has the code.
#[derive(Clone, Debug, Default, PartialEq)]
struct GraphSize {
    /// The methods that were called.
    methods: HashSet<u64>,
    edges: u64,
    call_sites: HashSet<(u64, Option<u16>)>,
    calls: u64,
    allocation_sites: HashSet<(u64, Option<u16>)>,
    objects: u64,
}

impl Graph {
    /// The sizes of the code whose classes begin with `package`, in internal form, and of all other code.
    fn sizes(&self, package: &str) -> [GraphSize; 2] {
        let package = package.replace('/', ".");
        let mut sizes = [GraphSize::default(), GraphSize::default()];
        let owner = |method: &GraphMethod| usize::from(!method.class.starts_with(&package));
        let owners: HashMap<u64, usize> = self.methods.iter().map(|m| (m.id, owner(m))).collect();
        let owner = |id: u64| owners.get(&id).copied().unwrap_or(1);
        let entered = self.methods.iter().filter(|m| m.entries > Some(0));
        let called = self.edges.iter().filter(|edge| edge.count > 0);
        for id in entered.map(|m| m.id).chain(called.map(|edge| edge.callee)) {
            sizes[owner(id)].methods.insert(id);
        }
        for edge in &self.edges {
            let size = &mut sizes[owner(edge.caller)];
            size.edges += 1;
            size.calls += edge.count;
            size.call_sites.insert((edge.caller, edge.bci));
        }
        for allocation in &self.allocations {
            let size = &mut sizes[owner(allocation.method)];
            size.objects += allocation.count;
            size.allocation_sites
                .insert((allocation.method, allocation.bci));
        }
        sizes
    }
}

/// The table of the sizes.
pub struct GraphSizes {
    table: Table,
}

impl GraphSizes {
    /// A table without rows.
    pub fn new() -> GraphSizes {
        GraphSizes {
            table: Table::new(
                "Sizes of the graphs of all classes",
                &[
                    "workload",
                    "code",
                    "methods called",
                    "edges",
                    "call sites",
                    "calls",
                    "allocation sites",
                    "objects",
                ],
            ),
        }
    }

    /// Adds the rows of a workload, whose graph is in this file.
    ///
    /// # Errors
    /// The command that reads the file failed.
    pub fn add(&mut self, workload: &Workload, file: &Path) -> Result<(), TrustError> {
        let output = veneer().args(["calls", "show", "--json"]).arg(file);
        let output = output.run()?.succeeded("veneer calls show")?;
        let graph: Graph = serde_json::from_str(&output.out)?;
        for (code, size) in ["application", "libraries"]
            .iter()
            .zip(graph.sizes(workload.package))
        {
            self.table.rows.push(vec![
                workload.name.to_string(),
                (*code).to_string(),
                size.methods.len().to_string(),
                size.edges.to_string(),
                size.call_sites.len().to_string(),
                size.calls.to_string(),
                size.allocation_sites.len().to_string(),
                size.objects.to_string(),
            ]);
        }
        Ok(())
    }

    /// The table with all rows.
    pub fn finish(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_the_application_by_its_package() {
        let graph: Graph = serde_json::from_value(serde_json::json!({
            "methods": [
                { "id": 0, "class": "a.b.C", "entries": 1 },
                { "id": 1, "class": "java.util.List", "entries": 0 },
                { "id": 2, "class": "a.b.Unused", "entries": 0 },
            ],
            "edges": [
                { "caller": 0, "callee": 1, "bci": 4, "count": 3 },
                { "caller": 0, "callee": 0, "bci": 4, "count": 2 },
                { "caller": 1, "callee": 1, "bci": 4, "count": 7 },
            ],
            "allocations": [{ "method": 1, "bci": 2, "count": 5 }],
        }))
        .expect("a graph");
        let [application, libraries] = graph.sizes("a/b/");
        let figures = |size: &GraphSize| {
            let (methods, sites) = (size.methods.len(), size.call_sites.len());
            (methods, size.edges, sites, size.calls, size.objects)
        };
        assert_eq!(figures(&application), (1, 2, 1, 5, 0));
        assert_eq!(figures(&libraries), (1, 1, 1, 7, 5));
    }
}

//! Lists the points that the methods of class files have after arming. The policy is `loop`, the
//! default of `veneer run`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use veneer_fragmenter::cell_path::on_cell_path;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::listing::{self, GraphListing, PlaceListing};
use veneer_fragmenter::method::Method;
use veneer_fragmenter::policy::Policy;
use veneer_fragmenter::{Refusal, arming};
use veneer_instruments::{ArmedMethod, MethodPattern};

use super::graph::{Block, Graph, Variable};
use super::output::List;
use crate::matching;
use crate::output::print_error;

pub(super) fn run(list: &mut List<impl Write>, path: &Path, pattern: &str) -> Result<u8> {
    let pattern = MethodPattern::parse(pattern)?;
    let mut reported = BTreeSet::new();
    matching::methods(path, &pattern, |file, index| {
        let class = file.name()?;
        let armed = ArmedMethod {
            id: veneer_names::MethodId::default(),
            class: veneer_names::java_form(&class),
            method: name(file, index),
        };
        if on_cell_path(&class) {
            if reported.insert(class.into_owned()) {
                print_error(&format_args!(
                    "{} has no points: Veneer executes methods of the class in each call of an instrumented method, so it is never armed",
                    armed.class
                ));
            }
            return Ok(());
        }
        match analyse(file, index) {
            Ok(listed) => list.show(&graph(armed, listed)),
            Err(refusal) => {
                print_error(&format_args!(
                    "{}::{} has no points: {refusal} ({})",
                    armed.class,
                    armed.method,
                    refusal.name()
                ));
                Ok(())
            }
        }
    })
}

fn name(file: &ClassFile, index: usize) -> String {
    let text = |index: u16| file.pool.text(index).unwrap_or_default();
    let member = file.methods.get(index);
    member.map_or(String::new(), |m| {
        format!("{}{}", text(m.name), text(m.descriptor))
    })
}

/// Analyses a method as the agent does if a plan names the method.
fn analyse(file: &ClassFile, index: usize) -> Result<GraphListing, Refusal> {
    let policy = Policy::Loop;
    let method = Method::analyse(file, index, &|i, p| policy.cuts(i, p))?;
    let armed = arming::layout(&method, &policy, true)?;
    Ok(listing::graph(&method, &armed.points))
}

fn graph(armed: ArmedMethod, listed: GraphListing) -> Graph {
    let block = |(number, place): (usize, PlaceListing)| Block {
        depth: place.depth,
        header: place.is_header,
        line: place.line,
        number: number as u32,
        reachable: place.is_reachable,
        size: place.instructions.len(),
        instructions: place.instructions.into_iter().map(Into::into).collect(),
        variables: place
            .variables
            .into_iter()
            .map(|(name, type_name)| Variable { name, type_name })
            .collect(),
    };
    Graph {
        pattern: armed.pattern().unwrap_or_default(),
        class: armed.class,
        method: armed.method,
        fragments: listed.places.len() as u32,
        hash: listed.hash.to_string(),
        edges: listed.edges,
        blocks: listed.places.into_iter().enumerate().map(block).collect(),
    }
}

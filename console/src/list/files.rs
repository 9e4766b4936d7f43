//! What would be armed of class files, under the policy that `veneer run` has where nothing else is said.

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

use super::{Block, Graph, List, Variable};
use crate::matching;
use crate::output::complain;

pub(super) fn run(list: &mut List<impl Write>, path: &Path, pattern: &str) -> Result<u8> {
    let pattern = MethodPattern::parse(pattern)?;
    let mut never = BTreeSet::new();
    matching::methods(path, &pattern, |file, index| {
        let class = file.name()?;
        let armed = ArmedMethod {
            id: 0,
            class: class.replace('/', "."),
            method: name(file, index),
        };
        if on_cell_path(&class) {
            if never.insert(class.into_owned()) {
                complain(&format_args!(
                    "{} has no points: the JVM needs the class to run a cell; it is never armed",
                    armed.class
                ));
            }
            return Ok(());
        }
        match places(file, index) {
            Ok(listed) => list.show(&graph(armed, listed)),
            Err(refusal) => {
                complain(&format_args!(
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

/// Name and descriptor.
fn name(file: &ClassFile, index: usize) -> String {
    let text = |index: u16| file.pool.text(index).unwrap_or_default();
    let member = file.methods.get(index);
    member.map_or(String::new(), |m| {
        format!("{}{}", text(m.name), text(m.descriptor))
    })
}

/// As the agent finds them where a plan names the method.
fn places(file: &ClassFile, index: usize) -> Result<GraphListing, Refusal> {
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
            .map(|(name, of)| Variable { name, of })
            .collect(),
    };
    Graph {
        pattern: armed.pattern().unwrap_or_default(),
        class: armed.class,
        method: armed.method,
        fragments: listed.places.len() as u32,
        edges: listed.edges,
        blocks: listed.places.into_iter().enumerate().map(block).collect(),
    }
}

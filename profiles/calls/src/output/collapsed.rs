//! Collapsed stacks, the input format of flame graph tools. A line has frames joined by `;`, a space
//! and a weight. The weight is the number of calls or of objects, or a self time in microseconds.

use std::io::Write;

use indexmap::IndexMap;
use veneer_text::clean_frame;

use super::error::OutputError;
use super::stacks::stacks;
use crate::labels::Labels;
use crate::measure::Measure;
use crate::selection::Selection;

/// Writes a line for each different stack with a weight above 0.
pub fn write(selection: &Selection, mut to: impl Write) -> Result<(), OutputError> {
    let labels = Labels::new(selection.profile);
    let nodes = stacks(selection);
    let mut weights: IndexMap<String, u64> = IndexMap::new();
    for node in &nodes {
        let cost = node.cost.by(selection.by);
        let weight = match selection.by {
            Measure::Time | Measure::Cpu => cost / 1000,
            Measure::Count | Measure::Allocations => cost,
        };
        if weight == 0 {
            continue;
        }
        let mut frames = vec![clean_frame(&labels.label(node.method))];
        let mut above = node.parent;
        while let Some(index) = above {
            frames.push(clean_frame(&labels.label(nodes[index].method)));
            above = nodes[index].parent;
        }
        frames.reverse();
        let sum = weights.entry(frames.join(";")).or_default();
        *sum = sum.saturating_add(weight);
    }
    for (stack, weight) in weights {
        writeln!(to, "{stack} {weight}")?;
    }
    Ok(())
}

//! The format of pprof: a protocol buffer, `perftools.profiles.Profile` of `proto/profile.proto` in
//! `github.com/google/pprof`. The field numbers here are those of that file. The output is not
//! compressed; pprof accepts both.

use std::collections::HashMap;
use std::io::Write;

use prost::Message;

use super::error::OutputError;
use super::stacks::stacks;
use crate::labels::Labels;
use crate::measure::Measure;
use crate::method::MethodId;
use crate::selection::Selection;

/// `Profile`
#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    /// The strings that other messages name by their position. The first one is empty.
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    /// The position of the name of the sample type that is shown unless the user names another one.
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

/// `ValueType`: the meaning and the unit of a value of each sample.
#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

/// `Sample`: a stack, with its innermost location first.
#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

/// `Location`: a line in a function.
#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

/// `Line`
#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

/// `Function`
#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The sample types, in the order of the values of a sample: the measure, its name and its unit.
const TYPES: [(Measure, &str, &str); 4] = [
    (Measure::Count, "calls", "count"),
    (Measure::Time, "wall", "nanoseconds"),
    (Measure::Cpu, "cpu", "nanoseconds"),
    (Measure::Allocations, "allocations", "count"),
];

/// The tables of a profile while it is made.
#[derive(Default)]
struct Builder {
    profile: Profile,
    strings: HashMap<String, i64>,
    functions: HashMap<MethodId, u64>,
    locations: HashMap<(MethodId, Option<u16>), u64>,
}

impl Builder {
    fn string(&mut self, text: &str) -> i64 {
        if let Some(position) = self.strings.get(text) {
            return *position;
        }
        let position = self.profile.string_table.len() as i64;
        self.profile.string_table.push(text.into());
        self.strings.insert(text.into(), position);
        position
    }

    fn function(&mut self, labels: &Labels, selection: &Selection, method: MethodId) -> u64 {
        if let Some(id) = self.functions.get(&method) {
            return *id;
        }
        let name = self.string(&labels.label(method));
        let MethodNameParts { system, class } = MethodNameParts::new(selection, method);
        let system_name = self.string(&system);
        let filename = self.string(&class);
        // pprof does not accept the id 0.
        let id = self.profile.function.len() as u64 + 1;
        self.profile.function.push(Function {
            id,
            name,
            system_name,
            filename,
        });
        self.functions.insert(method, id);
        id
    }

    /// The location of an activation of a method at a line.
    fn location(
        &mut self,
        labels: &Labels,
        selection: &Selection,
        method: MethodId,
        line: Option<u16>,
    ) -> u64 {
        if let Some(id) = self.locations.get(&(method, line)) {
            return *id;
        }
        let function_id = self.function(labels, selection, method);
        let id = self.profile.location.len() as u64 + 1;
        self.profile.location.push(Location {
            id,
            line: vec![Line {
                function_id,
                line: line.map_or(0, i64::from),
            }],
        });
        self.locations.insert((method, line), id);
        id
    }
}

/// The parts of a name that pprof stores besides the readable name.
struct MethodNameParts {
    /// Class, name and descriptor as in the class file.
    system: String,
    class: String,
}

impl MethodNameParts {
    fn new(selection: &Selection, method: MethodId) -> MethodNameParts {
        let name = &selection.profile.method(method).name;
        MethodNameParts {
            system: format!("{}.{}{}", name.class, name.method, name.descriptor),
            class: name.class.clone(),
        }
    }
}

/// Writes the stacks of the selected part of a profile.
pub fn write(selection: &Selection, mut to: impl Write) -> Result<(), OutputError> {
    let labels = Labels::new(selection.profile);
    let nodes = stacks(selection);
    let mut builder = Builder::default();
    builder.string("");
    for (measure, name, unit) in TYPES {
        let value_type = ValueType {
            r#type: builder.string(name),
            unit: builder.string(unit),
        };
        if measure == selection.by {
            builder.profile.default_sample_type = value_type.r#type;
        }
        builder.profile.sample_type.push(value_type);
    }
    for node in &nodes {
        let value =
            TYPES.map(|(measure, ..)| i64::try_from(node.cost.by(measure)).unwrap_or(i64::MAX));
        if value == [0; TYPES.len()] {
            continue;
        }
        let mut location_id = vec![builder.location(&labels, selection, node.method, None)];
        let mut callee = node;
        while let Some(caller) = callee.parent.map(|index| &nodes[index]) {
            location_id.push(builder.location(&labels, selection, caller.method, callee.call_line));
            callee = caller;
        }
        builder.profile.sample.push(Sample {
            location_id,
            value: value.to_vec(),
        });
    }
    to.write_all(&builder.profile.encode_to_vec())?;
    Ok(())
}

//! The summary of a class in one line: its number of methods, fragments, loops and edges, and the
//! code size before and after arming.

use super::method_listing::{MethodListing, RefusalListing};
use crate::classfile::ClassFile;
use crate::policy::Policy;
use crate::refusal::Refusal;
use serde::Serialize;
use std::fmt;
use veneer_text::{pad_left, replace_control_characters};

/// The sums over a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassListing {
    /// Class name with dots.
    pub class: String,
    /// The policy's name.
    pub policy: String,
    /// Number of methods with code.
    pub methods: usize,
    /// Number of fragments of all methods.
    pub fragments: usize,
    /// Number of natural loops.
    pub loops: usize,
    /// Number of edges between fragments, without those to exception handlers.
    pub edges: usize,
    /// Length of the original code of all methods in bytes.
    pub code_bytes: usize,
    /// Length of the armed code in bytes. A refused method counts with its original length.
    pub armed_bytes: usize,
    /// The methods that are not armed, with the reasons.
    pub refusals: Vec<RefusedMethod>,
}

/// A method that is not armed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedMethod {
    /// Name and descriptor.
    pub method: String,
    #[serde(flatten)]
    pub refusal: RefusalListing,
}

impl ClassListing {
    /// Sums up a class file.
    pub fn from_class_file(file: &ClassFile, policy: &Policy) -> ClassListing {
        let mut class = ClassListing {
            class: veneer_names::java_form(&file.name().unwrap_or_default()),
            policy: format!("{policy:?}"),
            methods: 0,
            fragments: 0,
            loops: 0,
            edges: 0,
            code_bytes: 0,
            armed_bytes: 0,
            refusals: Vec::new(),
        };
        for index in 0..file.methods.len() {
            let method = super::method::from_class_file(file, index, policy);
            // Native and abstract methods have no code, so they are not counted as refused.
            if method
                .refusal
                .as_ref()
                .is_none_or(|r| r.reason != Refusal::NoCode.name())
            {
                class.add(method);
            }
        }
        class
    }

    fn add(&mut self, method: MethodListing) {
        self.methods += 1;
        self.fragments += method.fragments.len();
        self.loops += method.loops;
        self.edges += method
            .fragments
            .iter()
            .map(|f| f.edges.len())
            .sum::<usize>();
        self.code_bytes += method.code_bytes;
        self.armed_bytes += method.armed_bytes.unwrap_or(method.code_bytes);
        if let Some(refusal) = method.refusal {
            self.refusals.push(RefusedMethod {
                method: method.method,
                refusal,
            });
        }
    }
}

/// Returns the heading line of the table of classes.
pub fn heading() -> String {
    row(
        [
            "methods",
            "fragments",
            "loops",
            "edges",
            "refused",
            "bytes",
            "armed",
        ]
        .map(str::to_owned),
        "class",
    )
}

fn row(numbers: [String; 7], class: &str) -> String {
    const WIDTHS: [usize; 7] = [7, 9, 6, 7, 7, 8, 8];
    let cells = numbers.iter().zip(WIDTHS);
    let cells: Vec<String> = cells.map(|(text, width)| pad_left(text, width)).collect();
    format!("{}  {}", cells.join(" "), replace_control_characters(class))
}

impl fmt::Display for ClassListing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = [
            self.methods,
            self.fragments,
            self.loops,
            self.edges,
            self.refusals.len(),
            self.code_bytes,
            self.armed_bytes,
        ];
        writeln!(f, "{}", row(numbers.map(|n| n.to_string()), &self.class))?;
        for refused in &self.refusals {
            let method = replace_control_characters(&refused.method);
            writeln!(f, "        {method}: {}", refused.refusal.reason)?;
        }
        Ok(())
    }
}

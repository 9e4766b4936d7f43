//! A class in one line: how many methods, fragments, loops and edges, and what arming makes of its code.

use super::{MethodListing, RefusalListing};
use crate::classfile::ClassFile;
use crate::policy::Policy;
use crate::refusal::Refusal;
use serde::Serialize;
use std::fmt;

/// The sums over a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassListing {
    /// The class, dotted.
    pub class: String,
    /// The policy's name.
    pub policy: String,
    /// Methods with code.
    pub methods: usize,
    /// Their fragments.
    pub fragments: usize,
    /// Natural loops.
    pub loops: usize,
    /// Edges between fragments, exceptions aside.
    pub edges: usize,
    /// Length of the code of all methods, in bytes.
    pub code_bytes: usize,
    /// The same once armed; what is refused counts with its own length.
    pub armed_bytes: usize,
    /// Methods that are not armed, and why.
    pub refusals: Vec<RefusedMethod>,
}

/// A method that is left alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedMethod {
    /// Name and descriptor.
    pub method: String,
    /// Why.
    #[serde(flatten)]
    pub refusal: RefusalListing,
}

impl ClassListing {
    /// Sums up a class file.
    pub fn of(file: &ClassFile, policy: &Policy) -> ClassListing {
        let mut class = ClassListing {
            class: file.name().unwrap_or_default().replace('/', "."),
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
            let method = super::of(file, index, policy);
            // Native and abstract methods are nobody's loss.
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

/// The line that stands above the classes.
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
    let [a, b, c, d, e, f, g] = numbers;
    format!("{a:>7} {b:>9} {c:>6} {d:>7} {e:>7} {f:>8} {g:>8}  {class}")
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
            writeln!(f, "{:>8}{}: {}", "", refused.method, refused.refusal.reason)?;
        }
        Ok(())
    }
}

//! Analysed methods for the unit tests of this folder. They are the methods of
//! `classes/fixtures/Points.java`.
//!
//! `Points.classfile`, in the same folder, was made by `javac -g --release 17`, so pcs, lines and
//! variable names in the tests are those of `javap -c -l`.

use crate::weaving::planned_probe::CompiledProbe;
use std::sync::Arc;
use veneer_fragmenter::arming::{self, ArmedCode};
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::policy::Policy;
use veneer_probes::{Callee, Field, ProbeCode, Reason, Scope, Ty};

/// The class file of the methods.
pub const POINTS: &[u8] = include_bytes!("../classes/fixtures/Points.classfile");

/// Calls `test` with the method that has this name and descriptor, and with the layout of its armed
/// body.
///
/// # Panics
/// If the class file has no such method, or if the method cannot be analysed.
pub fn with_method<R>(label: &str, test: impl FnOnce(&Method, &ArmedCode) -> R) -> R {
    let file = ClassFile::parse(POINTS).expect("the fixture is a class file");
    let is_named = |index: &usize| {
        let member = &file.methods[*index];
        let text = |index| file.pool.text(index).expect("a name of the fixture");
        format!("{}{}", text(member.name), text(member.descriptor)) == label
    };
    let index = (0..file.methods.len()).find(is_named);
    let index = index.unwrap_or_else(|| panic!("the fixture has no method {label}"));
    let method = Method::analyse(&file, index, &|_, _| false).expect("the fixture is analysed");
    let armed = arming::layout(&method, &Policy::Loop, true).expect("the fixture is armed");
    test(&method, &armed)
}

/// A compiled probe without statements and without arguments.
pub fn empty_probe() -> CompiledProbe {
    let method = veneer_probes::compile(&ProbeCode::default(), &EmptyScope);
    CompiledProbe {
        method: Arc::new(method.expect("code without statements compiles")),
        reads: Vec::new(),
        operands: Vec::new(),
    }
}

/// A point at which code can read nothing.
struct EmptyScope;

impl Scope for EmptyScope {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn method_label(&self) -> String {
        String::new()
    }

    fn live(&self) -> Vec<String> {
        Vec::new()
    }

    fn field(&self, _: &str, _: &str) -> Option<Field> {
        None
    }

    fn is_loaded(&self, _: &str) -> bool {
        false
    }

    fn here(&self) -> String {
        String::new()
    }

    fn site_id(&self) -> i64 {
        7
    }

    fn fields(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn cast(&self, class: &str) -> Result<i64, Reason> {
        let class = class.into();
        Err(Reason::NotLoaded { class })
    }

    fn method(&self, class: &str, _: &str, _: &[Ty]) -> Result<Callee, Reason> {
        let class = class.into();
        Err(Reason::NotLoaded { class })
    }
}

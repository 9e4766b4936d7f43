//! Counters for the entry, the calls and the allocations of each method, inside the method's own
//! code. They need no cell and no version, so also the classes that are never armed
//! (`cell_path.rs`) can have them.
//!
//! ```text
//!   pc 0:  ldc offset; invokestatic VeneerCalls.count(I)V         the entry
//!          …
//!   pc:    ldc offset; invokestatic VeneerCalls.count(I)V         a call with one callee, or a `new`
//!          invokespecial X.<init>
//!   pc:    (receiver); ldc offset; invokestatic VeneerCalls.call(Object;I)V
//!          invokevirtual X.m                                      a call with a callee for each receiver
//! ```
//!
//! A counter is counted before what it counts happens. Two places share a counter if nothing between
//! them can throw or jump. A branch to a counted instruction leads to its counter, except that no
//! branch leads to the entry's counter.
//!
//! **Invariants:** only `Code` attributes change, and constants are appended to the pool. Types of
//! local variables and operands stay as they are at each instruction of the original, so the stack
//! maps keep their types.

mod body;
mod places;

pub use places::{Event, Place, Target};

use crate::classfile::{ClassFile, Code, annotation_types};
use crate::method::JVM_ANNOTATIONS;
use crate::refusal::Refusal;

/// Methods that the counters themselves execute. Counting them would not end.
const EXECUTED_BY_COUNTERS: [(&str, &str); 2] = [
    ("java/lang/ref/Reference", "refersTo"),
    ("java/lang/ref/Reference", "refersToImpl"),
];

/// A class file with counters.
pub struct CountedClass {
    /// The class file; empty if no method has a counter.
    pub bytes: Vec<u8>,
    /// All methods of the class, in file order.
    pub methods: Vec<CountedMethod>,
}

/// A method of a class file with counters.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedMethod {
    /// The simple name of the method.
    pub name: String,
    /// The descriptor of the method.
    pub descriptor: String,
    /// The access flags (JVMS table 4.6-A).
    pub access: u16,
    /// The size of the original code in bytes; `None` if the method has no code.
    pub size: Option<u32>,
    /// The counted places in the order of the code. Empty if the method has no counters.
    pub places: Vec<Place>,
    /// Why a method with code has no counters.
    pub refusal: Option<Refusal>,
}

/// Inserts counters into each method that can have them.
///
/// `allocate` returns the number of the first one of that many consecutive counters.
///
/// # Errors
/// The class file is malformed, its pool has no room, or there are no counters left.
pub fn insert(
    file: &ClassFile,
    allocate: &mut dyn FnMut(u32) -> Result<u32, Refusal>,
) -> Result<CountedClass, Refusal> {
    file.check_closed()?;
    file.check_names()?;
    let class = file.name()?.into_owned();
    let mut methods = Vec::with_capacity(file.methods.len());
    let mut scanned = Vec::new();
    let mut counters = 0;
    for (index, member) in file.methods.iter().enumerate() {
        let slot = member
            .attributes
            .iter()
            .position(|a| a.is(&file.pool, "Code"));
        let mut method = CountedMethod {
            name: file.pool.text(member.name)?.into_owned(),
            descriptor: file.pool.text(member.descriptor)?.into_owned(),
            access: member.access,
            size: None,
            places: Vec::new(),
            refusal: None,
        };
        if let Some(slot) = slot {
            let code = Code::parse(&member.attributes[slot].info)?;
            method.size = Some(code.code.len() as u32);
            let types = annotation_types(&member.attributes, &file.pool);
            match refused(&class, &method, &types)
                .map_or_else(|| places::find(file, &class, method.access, &code), Err)
            {
                Ok(found) => scanned.push((index, slot, code, found)),
                Err(reason) => method.refusal = Some(reason),
            }
        }
        methods.push(method);
    }
    // Bodies are emitted with relative numbers first, so that refused methods need no counters.
    for (index, _, code, found) in &mut scanned {
        if let Err(reason) = body::check_size(code, found) {
            methods[*index].refusal = Some(reason);
            found.places.clear();
            continue;
        }
        found.places.iter_mut().for_each(|p| p.counter += counters);
        counters += found.counters;
    }
    scanned.retain(|(.., found)| !found.places.is_empty());
    if scanned.is_empty() {
        let bytes = Vec::new();
        return Ok(CountedClass { bytes, methods });
    }
    let first = allocate(counters)?;
    let mut bodies = body::Bodies::new(file)?;
    for (index, slot, code, mut found) in scanned {
        found.places.iter_mut().for_each(|p| p.counter += first);
        bodies.add((index, slot), &code, &found)?;
        methods[index].places = found.places;
    }
    let bytes = bodies.finish()?;
    Ok(CountedClass { bytes, methods })
}

/// The methods of a class that gets no counters for this reason.
///
/// # Errors
/// The class file is malformed.
pub fn methods_without_counters(
    file: &ClassFile,
    reason: &Refusal,
) -> Result<Vec<CountedMethod>, Refusal> {
    let methods = file.methods.iter().map(|member| {
        let code = member.code(&file.pool)?;
        Ok(CountedMethod {
            name: file.pool.text(member.name)?.into_owned(),
            descriptor: file.pool.text(member.descriptor)?.into_owned(),
            access: member.access,
            size: code.as_ref().map(|code| code.code.len() as u32),
            places: Vec::new(),
            refusal: code.is_some().then(|| reason.clone()),
        })
    });
    methods.collect()
}

/// Why a method gets no counters because of what it is.
fn refused(class: &str, method: &CountedMethod, annotations: &[String]) -> Option<Refusal> {
    if (class, method.name.as_str()) == ("java/lang/Object", "<init>") {
        return Some(Refusal::Intrinsic);
    }
    if EXECUTED_BY_COUNTERS.contains(&(class, &method.name)) {
        let why = "the counters execute it";
        return Some(Refusal::KnownByFrame(why));
    }
    let is_special = annotations
        .iter()
        .any(|t| JVM_ANNOTATIONS.contains(&t.as_str()));
    is_special.then_some(Refusal::Intrinsic)
}

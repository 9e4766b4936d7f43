//! Locality causes: why the processor time of a method is spent waiting for memory.
//!
//! A driver records the memory accesses of a method for a short window, with a simulated first-level
//! cache. [`judge`] compares the counts with stated thresholds and names the causes. The judge is a
//! function of the window.
//!
//! | cause | is found if, at an instruction with many misses |
//! | --- | --- |
//! | `false-sharing` | threads write different bytes of one line |
//! | `pointer-chasing` | the objects are linked by a field of their own class |
//! | `boxed-keys` | the field is the only one of its class, and arrays refer to the objects |
//! | `array-of-objects` | arrays refer to the objects, and at most half of their bytes is read |
//! | `stride` | consecutive accesses to an array are a line or more apart |
//!
//! `false-sharing` needs no misses: the simulated caches of a thread do not see other threads.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The fewest accesses of an instruction from which a cause is derived.
pub const MIN_ACCESSES: u64 = 10_000;
/// The fewest misses of L1 for each access. An instruction that reads an array of `long` in its order
/// has 0.125.
pub const MISSES_PER_ACCESS: f64 = 0.5;
/// The smallest part of all misses of the method.
pub const PART_OF_MISSES: f64 = 0.1;
/// The part of the accesses that must have the most frequent stride.
pub const PART_WITH_STRIDE: f64 = 0.5;
/// The fewest accesses to invalid lines for each access. Each one costs as much as a miss of all
/// caches of a core.
pub const INVALID_PER_ACCESS: f64 = 0.000_1;
/// The fewest reads of a link, or of an element that refers to an object, for each access to the object.
const LOADS_PER_ACCESS: f64 = 0.5;
/// The largest part of an object's bytes that is read, if fields in arrays of their own would help.
const USED_PART: f64 = 0.5;
/// The classes of the JDK whose objects have one value.
const BOXES: [&str; 8] = [
    "java.lang.Boolean",
    "java.lang.Byte",
    "java.lang.Character",
    "java.lang.Short",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Float",
    "java.lang.Double",
];

/// Why memory accesses are slow. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalityCause {
    /// Threads write different bytes of one line.
    FalseSharing,
    /// Each object is found by a link in the one before it.
    PointerChasing,
    /// Values that are compared or added are objects of their own.
    BoxedKeys,
    /// A few fields of each object are read, for all objects of an array.
    ArrayOfObjects,
    /// An array is read in steps of a line or more.
    Stride,
}

impl LocalityCause {
    /// The name in JSON and in evidence.
    pub fn name(self) -> &'static str {
        match self {
            LocalityCause::FalseSharing => "false-sharing",
            LocalityCause::PointerChasing => "pointer-chasing",
            LocalityCause::BoxedKeys => "boxed-keys",
            LocalityCause::ArrayOfObjects => "array-of-objects",
            LocalityCause::Stride => "stride",
        }
    }

    /// The name in sentences.
    pub fn words(self) -> &'static str {
        match self {
            LocalityCause::FalseSharing => "false sharing",
            LocalityCause::PointerChasing => "pointer chasing",
            LocalityCause::BoxedKeys => "boxed keys",
            LocalityCause::ArrayOfObjects => "an array of objects",
            LocalityCause::Stride => "a long stride",
        }
    }
}

/// The accessed field or element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessTarget {
    /// A field of a class in Java form.
    Field {
        /// The class that the instruction names.
        owner: String,
        /// The name of the field.
        name: String,
    },
    /// An element of an array, whose type is `long[]` or `a.B[]`.
    Element {
        /// The type of the array.
        array: String,
    },
}

impl fmt::Display for AccessTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AccessTarget::Field { owner, name } => write!(f, "{owner}.{name}"),
            AccessTarget::Element { array } => write!(f, "elements of {array}"),
        }
    }
}

/// The accesses of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessedSite {
    /// The source line.
    pub line: Option<u32>,
    /// The accessed field or element.
    pub target: AccessTarget,
    /// The number of accesses.
    pub accesses: u64,
    /// The number of accesses that missed the simulated first level.
    pub misses: u64,
}

/// The instance fields that a class declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassShape {
    /// The class in Java form.
    pub name: String,
    /// Name and type of each field, in Java form.
    pub fields: Vec<(String, String)>,
    /// Whether superclasses declare no further fields.
    pub is_whole: bool,
}

/// Two instructions whose threads share lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedSites {
    /// The line of the instruction that wrote.
    pub writer: Option<u32>,
    /// The line of the instruction that found its copy invalid.
    pub other: Option<u32>,
    /// The field or element that the other instruction accesses.
    pub target: AccessTarget,
    /// The number of accesses of the other instruction.
    pub accesses: u64,
    /// Accesses to invalid lines, to bytes that were written.
    pub true_misses: u64,
    /// Accesses to invalid lines, to neighbours of the written bytes.
    pub false_misses: u64,
}

/// The most frequent distance between consecutive elements of an instruction, in one thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SiteStride {
    /// The index of the instruction in [`LocalityWindow::sites`].
    pub site: usize,
    /// The distance in elements.
    pub elements: i64,
    /// The part of the accesses that has this distance.
    pub share: f64,
}

/// The accesses that were recorded in one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LocalityWindow {
    /// The bytes of a line of the simulated cache.
    pub line_bytes: u64,
    /// The instructions of the method that access memory.
    pub sites: Vec<AccessedSite>,
    /// The classes of the accessed fields.
    pub shapes: Vec<ClassShape>,
    /// Instructions that share lines, one of which is in the method.
    pub shared: Vec<SharedSites>,
    /// The strides of the instructions that [`LocalityWindow::stride_candidates`] names.
    pub strides: Vec<SiteStride>,
}

/// A cause that a window shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalityFinding {
    /// The named cause of slow accesses.
    pub cause: LocalityCause,
    /// The source line of the accesses.
    pub line: Option<u32>,
    /// The cause in words, with the line, the field or type, and the figure.
    pub text: String,
}

impl AccessedSite {
    fn ratio(&self) -> f64 {
        self.misses as f64 / self.accesses.max(1) as f64
    }
}

impl LocalityWindow {
    /// The instructions that miss often, by their indices; the most misses first.
    fn missing(&self) -> Vec<usize> {
        let all: u64 = self.sites.iter().map(|site| site.misses).sum();
        let is_missing = |index: &usize| {
            self.sites.get(*index).is_some_and(|site| {
                site.accesses >= MIN_ACCESSES
                    && site.ratio() >= MISSES_PER_ACCESS
                    && site.misses as f64 >= PART_OF_MISSES * all as f64
            })
        };
        let mut missing: Vec<usize> = (0..self.sites.len()).filter(is_missing).collect();
        missing.sort_by_key(|index| std::cmp::Reverse(self.sites[*index].misses));
        missing
    }

    /// The instructions whose strides the judge needs: accesses to elements that miss often.
    pub fn stride_candidates(&self) -> Vec<usize> {
        let is_element = |index: &usize| {
            let target = self.sites.get(*index).map(|site| &site.target);
            matches!(target, Some(AccessTarget::Element { .. }))
        };
        self.missing().into_iter().filter(is_element).collect()
    }

    fn shape(&self, class: &str) -> Option<&ClassShape> {
        self.shapes.iter().find(|shape| shape.name == class)
    }

    /// The accesses to all targets that a predicate selects.
    fn accesses_to(&self, selects: impl Fn(&AccessTarget) -> bool) -> u64 {
        let selected = self.sites.iter().filter(|site| selects(&site.target));
        selected.map(|site| site.accesses).sum()
    }
}

/// Names the causes that a window shows: each cause once, at the instruction with the most misses.
pub fn judge(window: &LocalityWindow) -> Vec<LocalityFinding> {
    let mut found: Vec<LocalityFinding> = false_sharing(window).into_iter().collect();
    for index in window.missing() {
        let Some(site) = window.sites.get(index) else {
            continue;
        };
        let finding = match &site.target {
            AccessTarget::Field { owner, name } => field_cause(window, site, (owner, name)),
            AccessTarget::Element { array } => stride(window, index, site, array),
        };
        if let Some(finding) = finding
            && !found.iter().any(|known| known.cause == finding.cause)
        {
            found.push(finding);
        }
    }
    found
}

fn line_text(line: Option<u32>) -> String {
    line.map_or_else(|| "an instruction".into(), |line| format!("line {line}"))
}

fn false_sharing(window: &LocalityWindow) -> Option<LocalityFinding> {
    let is_false = |shared: &&SharedSites| {
        shared.accesses >= MIN_ACCESSES
            && shared.false_misses > shared.true_misses
            && shared.false_misses as f64 >= INVALID_PER_ACCESS * shared.accesses as f64
    };
    let shared = window.shared.iter().filter(is_false);
    let most = shared.max_by_key(|shared| shared.false_misses)?;
    Some(LocalityFinding {
        cause: LocalityCause::FalseSharing,
        line: most.other,
        text: format!(
            "false sharing: {} accesses {} in lines of {} bytes whose other bytes another thread writes at {}; \
             {:.2} % of {} accesses found the line invalid",
            line_text(most.other),
            most.target,
            window.line_bytes,
            line_text(most.writer),
            100.0 * most.false_misses as f64 / most.accesses.max(1) as f64,
            most.accesses,
        ),
    })
}

/// The cause of the misses at a field.
fn field_cause(
    window: &LocalityWindow,
    site: &AccessedSite,
    (owner, name): (&str, &str),
) -> Option<LocalityFinding> {
    let loads = |selects: &dyn Fn(&AccessTarget) -> bool| {
        window.accesses_to(selects) as f64 >= LOADS_PER_ACCESS * site.accesses as f64
    };
    let finding = |cause: LocalityCause, what: String| {
        Some(LocalityFinding {
            cause,
            line: site.line,
            text: format!(
                "{}: {} reads {owner}.{name}{what}; {:.2} misses of L1 for each access",
                cause.words(),
                line_text(site.line),
                site.ratio()
            ),
        })
    };
    let array = format!("{owner}[]");
    let is_of_array = |target: &AccessTarget| matches!(target, AccessTarget::Element { array: read } if *read == array || read == "java.lang.Object[]");
    let shape = window.shape(owner);
    if loads(&is_of_array) {
        if is_box(shape, owner) {
            let what = format!(", the only field of the objects in {array}");
            return finding(LocalityCause::BoxedKeys, what);
        }
        let (used, all) = used_bytes(window, shape?)?;
        let what = format!(", and {used} of {all} bytes of the fields of each object in {array}");
        let is_little = used as f64 <= USED_PART * all as f64;
        return is_little
            .then(|| finding(LocalityCause::ArrayOfObjects, what))
            .flatten();
    }
    let links = shape?.fields.iter().filter(|(_, of)| of == owner);
    let mut links = links.map(|(link, _)| link).filter(|link| {
        loads(&|target| matches!(target, AccessTarget::Field { owner: read, name } if read == owner && name == *link))
    });
    let link = links.next()?;
    finding(
        LocalityCause::PointerChasing,
        format!(" of objects that {owner}.{link} links"),
    )
}

/// Whether a class has one field, which is a primitive value.
fn is_box(shape: Option<&ClassShape>, class: &str) -> bool {
    let has_one_value = shape.is_some_and(|shape| {
        let [(_, only)] = &shape.fields[..] else {
            return false;
        };
        shape.is_whole && primitive_bytes(only).is_some()
    });
    has_one_value || BOXES.contains(&class)
}

/// The bytes of the fields that the method accesses, and of all fields of the class.
fn used_bytes(window: &LocalityWindow, shape: &ClassShape) -> Option<(u64, u64)> {
    let accessed: BTreeSet<&str> = window
        .sites
        .iter()
        .filter_map(|site| match &site.target {
            AccessTarget::Field { owner, name } if *owner == shape.name => Some(name.as_str()),
            _ => None,
        })
        .collect();
    let bytes = |of: &str| primitive_bytes(of).unwrap_or(REFERENCE_BYTES);
    let fields = || shape.fields.iter();
    let used = fields().filter(|(name, _)| accessed.contains(name.as_str()));
    let used: u64 = used.map(|(_, of)| bytes(of)).sum();
    let all: u64 = fields().map(|(_, of)| bytes(of)).sum();
    (all > 0).then_some((used, all))
}

/// The bytes of a compressed reference.
const REFERENCE_BYTES: u64 = 4;

fn primitive_bytes(name: &str) -> Option<u64> {
    Some(match name {
        "boolean" | "byte" => 1,
        "char" | "short" => 2,
        "int" | "float" => 4,
        "long" | "double" => 8,
        _ => return None,
    })
}

fn stride(
    window: &LocalityWindow,
    index: usize,
    site: &AccessedSite,
    array: &str,
) -> Option<LocalityFinding> {
    let mut strides = window.strides.iter();
    let stride = strides.find(|stride| stride.site == index)?;
    let element = array.strip_suffix("[]")?;
    let bytes = primitive_bytes(element).unwrap_or(REFERENCE_BYTES);
    let distance = stride.elements.unsigned_abs().saturating_mul(bytes);
    (distance >= window.line_bytes && stride.share >= PART_WITH_STRIDE).then(|| LocalityFinding {
        cause: LocalityCause::Stride,
        line: site.line,
        text: format!(
            "a long stride: {} accesses elements of {array} that are {distance} bytes apart ({:.0} % of the accesses); \
             {:.2} misses of L1 for each access",
            line_text(site.line),
            100.0 * stride.share,
            site.ratio()
        ),
    })
}

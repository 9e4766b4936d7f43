//! Names of the runtime classes that armed bodies, anchors and versions call (`executor/java`), in one place.
//!
//! They live in `java.lang.invoke`, so that every class loader finds them and no module graph has to be changed.

#![allow(missing_docs)]

use veneer_probes::step::Owner;

pub const CELL: &str = "java/lang/invoke/VeneerCell";
pub const CELL_DESCRIPTOR: &str = "Ljava/lang/invoke/VeneerCell;";
pub const FRAME: &str = "java/lang/invoke/VeneerFrame";
pub const FRAME_DESCRIPTOR: &str = "Ljava/lang/invoke/VeneerFrame;";
/// Descriptor of the body for activations that come from elsewhere: it takes a frame. The type is erased, so that nobody asks the
/// host's loader for the class of frames.
pub const RESUME_DESCRIPTOR: &str = "(Ljava/lang/Object;)Ljava/lang/Object;";
pub const RUNTIME: &str = "java/lang/invoke/VeneerRuntime";
pub const PROBE: &str = "java/lang/invoke/VeneerProbe";
pub const TABLES: &str = "java/lang/invoke/VeneerTables";
pub const THREADS: &str = "java/lang/invoke/VeneerThreads";
/// What ends a probe that calls methods of the application.
pub const LEAVE: &str = "leave";
pub const HANDLE_DESCRIPTOR: &str = "Ljava/lang/invoke/MethodHandle;";
pub const LOOKUP: &str = "java/lang/invoke/MethodHandles$Lookup";

/// The classes that probes call.
pub const CALLED: [&str; 3] = [PROBE, TABLES, THREADS];

/// The name of one of them.
pub fn owner(of: Owner) -> &'static str {
    match of {
        Owner::Probe => PROBE,
        Owner::Tables => TABLES,
        Owner::Threads => THREADS,
    }
}

/// Name of the field that holds a method's cell in its anchor.
pub fn cell_field(id: u32) -> String {
    format!("c{id}")
}

/// Name of the field that holds a version's token.
pub fn token_field(id: u32) -> String {
    format!("t{id}")
}

/// Name of the body for new activations of a method: what it stands for, for tools that show frames, and its id.
pub fn enter_method(method: &str, id: u32) -> String {
    format!("{}$e{id}", shown(method))
}

/// Name of the body for activations that come from elsewhere.
pub fn resume_method(method: &str, id: u32) -> String {
    format!("{}$r{id}", shown(method))
}

/// Name of the method of a compiled probe, by its number in the version class.
pub fn probe_method(n: usize) -> String {
    format!("run{n}")
}

/// The id in the name of a body; `None` for other methods.
pub fn method_of(body: &str) -> Option<u32> {
    let (_, id) = body.rsplit_once('$')?;
    id.strip_prefix(['e', 'r'])?.parse().ok()
}

/// A method's name as part of another's: without what a name may not have (`<init>`), and without what is not the same in all
/// the encodings that it passes.
fn shown(method: &str) -> String {
    let plain = |c: char| {
        if u32::from(c) < 0x1_0000 && c.is_alphanumeric() || "_$-".contains(c) {
            c
        } else {
            '_'
        }
    };
    method
        .trim_matches(['<', '>'])
        .chars()
        .take(200)
        .map(plain)
        .collect()
}

/// Name of the method of an anchor that gives the current version of a method, as an instance of the anchor.
pub const ANCHOR_VERSION: &str = "version";

/// Descriptor of [`ANCHOR_VERSION`] in an anchor.
pub fn anchor_version_descriptor(anchor: &str) -> String {
    format!("({CELL_DESCRIPTOR})L{anchor};")
}

//! Names of the runtime classes that armed bodies, anchors and versions call (`executor/java`), in one place.
//!
//! They live in `java.lang.invoke`, so that every class loader finds them and no module graph has to be changed.

#![allow(missing_docs)]

pub const CELL: &str = "java/lang/invoke/VeneerCell";
pub const CELL_DESCRIPTOR: &str = "Ljava/lang/invoke/VeneerCell;";
pub const FRAME: &str = "java/lang/invoke/VeneerFrame";
pub const FRAME_DESCRIPTOR: &str = "Ljava/lang/invoke/VeneerFrame;";
pub const RUNTIME: &str = "java/lang/invoke/VeneerRuntime";
pub const HANDLE_DESCRIPTOR: &str = "Ljava/lang/invoke/MethodHandle;";
pub const LOOKUP: &str = "java/lang/invoke/MethodHandles$Lookup";

/// Name of the field that holds a method's cell in its anchor.
pub fn cell_field(id: u32) -> String {
    format!("c{id}")
}

/// Name of the field that holds a version's token, and of its two bodies and packers.
pub fn token_field(id: u32) -> String {
    format!("t{id}")
}
pub fn enter_method(id: u32) -> String {
    format!("e{id}")
}
pub fn resume_method(id: u32) -> String {
    format!("r{id}")
}
/// Name of an armed body's call site, and of the packer that it is linked to (`point` > 0).
pub fn site(id: u32, point: u16) -> String {
    format!("v{id}p{point}")
}

//! The classes of the application, and how they are armed. To *arm* a method is to insert a
//! switchable check at each of its capture points, so that a running activation can leave its code
//! there.
//!
//! [`load_hook`] arms classes on their way into the JVM; [`arming_filter`] decides which.
//! [`cached_arming`] finds a class that an earlier run has armed, and [`class_files`] keeps the original
//! class files. [`plan_pattern`] tells which patterns of plans concern a class, and [`retransform`]
//! sends loaded classes through the hook again. [`registry`] has the armed classes, and [`selection`]
//! decides which of their methods a pattern selects.

pub mod armed_file;
pub mod arming_filter;
mod build_id;
pub mod cached_arming;
pub mod call_counting;
pub mod class_facts_log;
pub mod class_files;
pub mod class_names;
pub mod hooked_again;
pub mod inherited_members;
pub mod later_agents;
pub mod lazy_class_file;
pub mod load_hook;
pub mod method_analysis;
pub mod method_ids;
pub mod method_table;
pub mod obsolete_frames;
pub mod pending_classes;
pub mod plan_pattern;
pub mod prepared;
pub mod queries;
pub mod registry;
pub mod retransform;
pub mod runtime_access;
pub mod selection;
pub mod unarmed_classes;

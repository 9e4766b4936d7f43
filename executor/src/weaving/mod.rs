//! Instruments and edits in the code of methods: planning of probes, versions, and the switches of
//! call-site targets.
//!
//! [`weaver`] attaches instruments to a class: [`planner`] finds the points, [`versions`] makes a
//! version for each changed method, and [`target_switch`] installs the versions. [`woven_methods`]
//! is the state of all methods.

pub mod changed_classes;
pub mod counter_allocation;
pub mod counter_block;
pub mod guard_points;
pub mod heap_points;
pub mod inline_caches;
pub mod instruction_sites;
pub mod loop_exits;
pub mod memory_points;
pub mod osr_entry_release;
pub mod planned_probe;
pub mod planner;
pub mod prepared_classes;
pub mod probe_scope;
pub mod release_schedule;
pub mod stale_activations;
pub mod target_switch;
#[cfg(test)]
mod test_methods;
pub mod version_hosts;
pub mod versions;
pub mod weaver;
pub mod woven_methods;

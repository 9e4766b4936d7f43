//! The data model shared by plans, the agent and the console: instruments, points and results.
//!
//! This crate contains plain data types, the pattern matcher, a table renderer and one trait
//! ([`Runtime`]). The crate depends neither on a JVM nor on a script language.
//!
//! ```text
//!   MethodPattern ──selects──► methods ──Place──► points ──When + Kind──► Spec
//!                                                                          │ Runtime::attach
//!                                                                          ▼
//!   Table ◄──renders── Row, Event ◄──Runtime::rows, events── InstrumentId `i7`
//! ```
//!
//! | here | aspect orientation | JUDI's instrumentation strategy |
//! | --- | --- | --- |
//! | [`MethodPattern`] with a [`PointSelector`] | pointcut | targets |
//! | [`InstrumentKind`] with an [`AdviceKind`] | advice | strategy and instrument |
//! | [`Measurement`] | – | data class |
//! | [`table`] | – | analyser |

mod armed;
mod call_event;
mod completion;
mod edit;
mod event;
mod kind;
mod pattern;
mod place;
mod row;
mod runtime;
mod spec;
mod speedup;
mod suggest;
pub mod table;
mod tally;
mod vm_event;

pub use armed::{
    ArmedClass, ArmedMethod, Block, DescribedMethod, EditedGraph, Graph, GraphDump, Parameter,
    RandomSample, VirtualCallSite,
};
pub use call_event::CallEventKind;
pub use completion::complete_class_name;
pub use edit::{EditSpec, EditSummary, MethodPasses, PatchSummary};
pub use event::LogEvent;
pub use kind::{InstrumentKind, RecorderSpec, RecordingForm};
pub use pattern::{
    CLASS_INITIALISER, ClassMatch, ClassMetadata, MethodMetadata, MethodPattern, PatternBreadth,
    PatternError, PatternFault, class_flag_words, flag_words,
};
pub use place::{AdviceKind, InstructionKind, PointSelector};
pub use row::InstrumentSummary;
pub use runtime::{AttachError, AttachSummary, RecordingSummary, Runtime};
pub use spec::{DEFAULT_MAX_POINTS, HitQuota, InstrumentSpec};
pub use speedup::{MAX_SPEEDUP_SECONDS, MAX_SPEEDUP_SHARE, SpeedupId, SpeedupSpec, SpeedupWindow};
pub use suggest::{MeantMethod, nearest, nearest_words};
pub use tally::{
    DEFAULT_TABLE_ENTRIES, LinearBuckets, LinearError, MAX_LINEAR_BUCKETS, MergeError, Occurrence,
    PER_OBJECT_USAGE, RATE_RING_SECONDS, RATE_WINDOW_SECONDS, Rate, TOP_GROUP_SLOTS,
    TableUsageError, Tally, TallyEntry, TallyKey, TallyKind, merge_tables,
};
pub use veneer_measurements::{
    EditKind, EntryMetrics, EventValue, HISTOGRAM_BUCKETS, IdError, InstrumentId, Measurement,
    PatchId, PlanInstanceId, PointRow, RefusalRow, bucket_start,
};
pub use vm_event::{UNAVAILABLE_VM_EVENTS, VmEvent, VmEventKind, VmEventKinds};

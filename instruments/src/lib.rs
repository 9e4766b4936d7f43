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
//! | [`MethodPattern`] with a [`Place`] | pointcut | targets |
//! | [`Kind`] with a [`When`] | advice | strategy and instrument |
//! | [`Data`] | – | data class |
//! | [`table`] | – | analyser |

mod armed;
mod completion;
mod edit;
mod event;
mod id;
mod kind;
mod pattern;
mod place;
mod row;
mod runtime;
mod spec;
mod suggest;
pub mod table;
mod tally;

pub use armed::{ArmedClass, ArmedMethod, Block, DescribedMethod, Graph, Sample};
pub use completion::completed;
pub use edit::{EditKind, EditSpec};
pub use event::{Event, Value};
pub use id::{IdError, InstrumentId, PatchId};
pub use kind::Kind;
pub use pattern::{
    ClassFacts, INITIALISER, MethodFacts, MethodPattern, PatternError, PatternFault, Verdict,
    class_flag_words, flag_words,
};
pub use place::{Place, When, Which};
pub use row::{Data, RefusalRow, Row, Summary};
pub use runtime::{AttachError, Attached, Runtime};
pub use spec::{LIMIT, Spec, Times};
pub use suggest::{nearest, nearest_words};
pub use tally::{
    BUCKETS, Entry, GROUP, Key, Linear, LinearError, MOST_BUCKETS, MergeError, Moment, RING, Rate,
    Tally, TallyKind, WINDOW, bucket_start, merged,
};

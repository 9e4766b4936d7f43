//! What a plan can say about a running program, and what it gets back.
//!
//! This crate holds the vocabulary that plans, the agent and the tables share. It knows no JVM and no
//! script language: it is plain data, a pattern matcher, a table renderer and one trait.
//!
//! ```text
//!   MethodPattern ──selects──► methods ──Place──► points ──When + Kind──► Spec
//!                                                                          │ Runtime::attach
//!                                                                          ▼
//!   Table ◄──renders── Row, Event ◄──Runtime::rows, events── InstrumentId `i7`
//! ```
//!
//! In the terms of aspect orientation a [`MethodPattern`] with a [`Place`] is the *pointcut*, a [`Kind`]
//! with a [`When`] is the *advice*; in those of JUDI's instrumentation strategy they are the targets,
//! the strategy and the instrument, [`Data`] is the data class and [`table`] the analyser.

mod armed;
mod completion;
mod edit;
mod event;
mod id;
mod kind;
mod nearest;
mod pattern;
mod place;
mod row;
mod runtime;
mod spec;
pub mod table;
mod tally;

pub use armed::{ArmedClass, ArmedMethod, Block, DescribedMethod, Graph, Sample};
pub use completion::completed;
pub use edit::{EditKind, EditSpec};
pub use event::{Event, Value};
pub use id::{IdError, InstrumentId, PatchId};
pub use kind::Kind;
pub use nearest::{nearest, nearest_words};
pub use pattern::{
    ClassFacts, INITIALISER, MethodFacts, MethodPattern, PatternError, PatternFault, Verdict,
    class_flag_words, flag_words,
};
pub use place::{Place, When, Which};
pub use row::{Data, RefusalRow, Row, Summary};
pub use runtime::{AttachError, Attached, Runtime};
pub use spec::{LIMIT, Spec, Times};
pub use tally::{
    BUCKETS, Entry, GROUP, Key, Linear, LinearError, MOST_BUCKETS, MergeError, Moment, RING, Rate,
    Tally, TallyKind, WINDOW, bucket_start, merged,
};

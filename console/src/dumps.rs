//! Thread dumps as samples of stacks, for `veneer search` and `veneer top`.
//!
//! | file | content |
//! | --- | --- |
//! | `library.rs` | which frames belong to libraries, and which threads wait for work |
//! | `pauses.rs` | for how long a dump has stopped the JVM |

pub mod library;
pub mod pauses;

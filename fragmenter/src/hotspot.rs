//! Facts about HotSpot that emitted code respects: the size limits of its JIT compilers, in bytes of
//! bytecode, and its analysis for the messages of null pointers ([`null_message`]).
//!
//! Arming and emission keep a method on its side of each limit, because instrumented code that
//! crosses a limit runs much slower than the original.

pub mod null_message;

/// The default of HotSpot's flag `FreqInlineSize`: larger methods are not inlined, however hot
/// they are.
pub const MAX_INLINE_BYTES: usize = 325;

/// HotSpot's `HugeMethodLimit`: larger methods are not compiled.
pub const MAX_COMPILED_BYTES: usize = 8_000;

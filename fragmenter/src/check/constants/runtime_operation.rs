//! Runtime operations: instructions that name exactly a member that Veneer provides.

use crate::runtime;
use veneer_names::MethodId;

/// A runtime operation. Kinds are descriptor characters; a list of kinds has one byte per value,
/// the last value in the lowest byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum RuntimeOperation {
    /// Reads the cell of a method from the anchor.
    Cell(MethodId),
    /// Reads the token of a method from the version.
    Token(MethodId),
    /// Reads the offset of the host's final field with this index.
    FinalOffset(u16),
    /// Reads the method handle for an operation on a member of the host.
    BoundHandle(u8, u16),
    /// Reads the token IDLE.
    Idle,
    /// Asks the cell for the version that a new activation enters.
    VersionOrNull,
    /// Asks the cell whether the current version can take the activation of an armed body.
    Leave,
    /// Asks the cell whether another version can take the activation of a version.
    Stale,
    /// Finds the shard of the current thread.
    Shard,
    /// Finds the shard of the current thread, if a window of a sampled recording is open.
    ShardInWindow,
    /// Adds 1 to a counter, or subtracts 1 from it.
    Count,
    /// Counts unless a cell has reached its limit.
    CountFirst,
    /// Adds 1 to a counter during a window of a sampled recording.
    CountInWindow,
    /// Adds a value to a counter.
    Add,
    /// Reads the time of a timer that starts.
    Now,
    /// Records the time of a timer that stops.
    Stop,
    /// Records the time of a timer and starts it again.
    Lap,
    /// Counts an allocation at a calling context.
    Allocation,
    /// Begins a log event.
    Begin,
    /// Begins a log event unless a cell has reached its limit.
    BeginFirst,
    /// Adds a value of this kind to a log event.
    Log(u8),
    /// Ends a log event.
    End,
    /// Calls a probe of the version, with the kinds of its parameters.
    Run(u128),
    /// Records the position of a probe that reads objects.
    Locate,
    /// Calls the anchor's method that casts a version to the anchor.
    CastVersion,
    /// Calls a version's `enter` body at the entry of an armed body.
    Enter(MethodId),
    /// Creates a frame with its first values, given by their kinds.
    Frame(u64),
    /// Adds values to a frame, given by their kinds.
    Fill(u64),
    /// Calls the trampoline, with the kind of its result.
    Go(u8),
    /// Calls the trampoline for an activation at a return, with the kind of its result.
    Exit(u8),
    /// Clears a frame after an activation has read its values.
    Clear,
    /// Reads the capture point of a frame.
    Point,
    /// Reads the saved state of a timer from a frame.
    Kept,
    /// Reads the saved state of a timer, or the start time in a cell if no state was saved.
    Since,
    /// Saves the state of a timer in a frame.
    Keep,
    /// Reads a value of this kind from a frame.
    Get(u8),
}

/// Returns the kinds of a probe's parameters.
pub(super) fn probe(descriptor: &str) -> Option<u128> {
    let mut rest = descriptor.strip_prefix('(')?.strip_suffix(")V")?;
    let mut kinds = 0u128;
    let mut count = 0;
    while let Some(kind) = rest.bytes().next() {
        rest = match kind {
            b'I' | b'J' | b'F' | b'D' => &rest[1..],
            b'L' => rest.strip_prefix("Ljava/lang/Object;")?,
            _ => return None,
        };
        (kinds, count) = (kinds << 8 | u128::from(kind), count + 1);
    }
    (count <= veneer_probes::compile::MAX_READ_VARIABLES).then_some(kinds)
}

/// Returns the kinds of the values that an overload of `VeneerFrame.of` takes, without the point.
pub(super) fn first(name: &str, d: &str) -> Option<u64> {
    let values = d.strip_suffix("I)Ljava/lang/invoke/VeneerFrame;")?;
    match (name, values) {
        ("of", "(") => Some(0),
        ("of", _) => added("add", &format!("{values})Ljava/lang/invoke/VeneerFrame;")),
        _ => None,
    }
}

/// Returns the kinds of the values that an overload of `VeneerFrame.add` takes.
pub(super) fn added(name: &str, d: &str) -> Option<u64> {
    let mut rest = d
        .strip_prefix('(')?
        .strip_suffix(")Ljava/lang/invoke/VeneerFrame;")?;
    let mut kinds = 0u64;
    let mut count = 0;
    while let Some(kind) = rest.bytes().next() {
        rest = match kind {
            b'I' | b'J' | b'F' | b'D' => &rest[1..],
            b'L' => rest.strip_prefix("Ljava/lang/Object;")?,
            _ => return None,
        };
        (kinds, count) = (kinds << 8 | u64::from(kind), count + 1);
    }
    (name == "add" && (1..=6).contains(&count)).then_some(kinds)
}

/// Recognises the trampoline.
pub(super) fn loop_member(name: &str, d: &str) -> Option<RuntimeOperation> {
    let (of, kind) = name.split_at_checked(name.len().checked_sub(1)?)?;
    let text = match kind {
        "L" => "Ljava/lang/Object;",
        "V" | "I" | "J" | "F" | "D" => kind,
        _ => return None,
    };
    let value = if kind == "V" { "" } else { text };
    let byte = kind.as_bytes()[0];
    match of {
        "go" if d
            == format!(
                "({}{}){text}",
                runtime::FRAME_DESCRIPTOR,
                runtime::CELL_DESCRIPTOR
            ) =>
        {
            Some(RuntimeOperation::Go(byte))
        }
        "exit" if d == format!("({value}I{}){text}", runtime::CELL_DESCRIPTOR) => {
            Some(RuntimeOperation::Exit(byte))
        }
        _ => None,
    }
}

pub(super) fn static_member(name: &str, d: &str) -> Option<RuntimeOperation> {
    Some(match (name, d) {
        ("shard", "()J") => RuntimeOperation::Shard,
        ("count" | "discount", "(JI)V") => RuntimeOperation::Count,
        ("countFirst", "(JIJJ)V") => RuntimeOperation::CountFirst,
        ("add", "(JIJ)V") => RuntimeOperation::Add,
        ("shardInWindow", "()J") => RuntimeOperation::ShardInWindow,
        ("now", "()J") => RuntimeOperation::Now,
        ("countInWindow", "(JI)V") => RuntimeOperation::CountInWindow,
        ("stop" | "until", "(JIJ)V") => RuntimeOperation::Stop,
        ("since", "(JJ)J") => RuntimeOperation::Since,
        ("lap", "(JIJ)J") => RuntimeOperation::Lap,
        ("begin", "(II)J") => RuntimeOperation::Begin,
        ("beginFirst", "(IIJJ)J") => RuntimeOperation::BeginFirst,
        ("put", "(JI)J") => RuntimeOperation::Log(b'I'),
        ("put", "(JJ)J") => RuntimeOperation::Log(b'J'),
        ("put", "(JF)J") => RuntimeOperation::Log(b'F'),
        ("put", "(JD)J") => RuntimeOperation::Log(b'D'),
        ("put", "(JLjava/lang/Object;)J") => RuntimeOperation::Log(b'L'),
        ("end", "(J)V") => RuntimeOperation::End,
        ("locate", "(Ljava/lang/Object;IZLjava/lang/invoke/VeneerCell;)V") => {
            RuntimeOperation::Locate
        }
        _ => return None,
    })
}

/// Recognises a call that writes to the thread's event trace or to its calling contexts. The entry and
/// the end of a call take and return what a timer does.
pub(super) fn trace_member(name: &str, d: &str) -> Option<RuntimeOperation> {
    match (name, d) {
        ("entry", "(JIJ)J") => Some(RuntimeOperation::Lap),
        ("exit" | "unwind", "(JIJ)V") => Some(RuntimeOperation::Stop),
        ("allocation", "(J)V") => Some(RuntimeOperation::Allocation),
        _ => None,
    }
}

pub(super) fn frame_member(name: &str, d: &str) -> Option<RuntimeOperation> {
    Some(match (name, d) {
        ("point", "()I") => RuntimeOperation::Point,
        ("kept", "(I)J") => RuntimeOperation::Kept,
        ("keep", "(IJ)Ljava/lang/invoke/VeneerFrame;") => RuntimeOperation::Keep,
        ("clear", "()V") => RuntimeOperation::Clear,
        ("getInt", "(I)I") => RuntimeOperation::Get(b'I'),
        ("getLong", "(I)J") => RuntimeOperation::Get(b'J'),
        ("getFloat", "(I)F") => RuntimeOperation::Get(b'F'),
        ("getDouble", "(I)D") => RuntimeOperation::Get(b'D'),
        ("getObject", "(I)Ljava/lang/Object;") => RuntimeOperation::Get(b'L'),
        _ => return None,
    })
}

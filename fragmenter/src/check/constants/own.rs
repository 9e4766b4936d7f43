//! Veneer's own instructions: those that name exactly the members that Veneer has for them.

use super::{Constants, Meaning, Role};
use crate::bytecode::opcode::*;
use crate::runtime;

/// An instruction of Veneer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(in crate::check) enum Own {
    Cell(u32),
    Token(u32),
    Idle,
    On,
    Leave,
    Stale,
    Shard,
    Count,
    /// Counts as long as a cell has not come to its limit.
    CountFirst,
    Add,
    Now,
    Stop,
    Lap,
    Begin,
    /// Begins an event as long as a cell has not come to its limit.
    BeginFirst,
    Log(u8),
    End,
    /// A probe of the version, by the kinds of what it takes: a byte each, the last in the lowest.
    Run(u128),
    Locate,
    /// The anchor's method that gives the current version.
    Version,
    /// The call of a version's body at an armed body's entry.
    Enter(u32),
    /// A frame with its first values, by their kinds as in `Fill`.
    Frame(u64),
    /// Values that a frame takes, by their kinds: a byte each, the last in the lowest.
    Fill(u64),
    /// The executor loop, by the kind of its result.
    Go(u8),
    /// The executor loop for an activation before a return, by the kind of its result.
    Exit(u8),
    /// An activation has taken its values out of its frame.
    Clear,
    Point,
    Kept,
    /// The state of a timer, or what a cell says where there is none.
    Since,
    Keep,
    Get(u8),
}

impl Constants<'_> {
    /// What the instruction is if Veneer's own.
    pub(super) fn own(&self, op: u8, class: &[u8], name: &[u8], d: &[u8]) -> Option<Meaning> {
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        let (class, name, d) = (text(class), text(name), text(d));
        let version = self.role == Role::Version;
        let number = |head: char| -> Option<u32> { name.strip_prefix(head)?.parse().ok() };
        let found = if class == self.anchor {
            match (op, number('c'), &*d) {
                (GETSTATIC, Some(id), runtime::CELL_DESCRIPTOR) => Some(Own::Cell(id)),
                (INVOKESTATIC, _, d)
                    if !version
                        && name == runtime::ANCHOR_VERSION
                        && d == runtime::anchor_version_descriptor(&class) =>
                {
                    Some(Own::Version)
                }
                (INVOKEVIRTUAL, ..) if !version => runtime::method_of(&name).map(Own::Enter),
                _ => None,
            }
        } else if version && class == self.own {
            match (op, number('t'), &*d) {
                (GETSTATIC, Some(id), runtime::HANDLE_DESCRIPTOR) => Some(Own::Token(id)),
                (INVOKESTATIC, ..) if name.starts_with("run") => probe(&d).map(Own::Run),
                _ => None,
            }
        } else if class == runtime::CELL {
            match (op, &*name, &*d) {
                (INVOKEVIRTUAL, "on", "()Z") => Some(Own::On),
                (INVOKEVIRTUAL, "leave", "()Z") => Some(Own::Leave),
                (INVOKEVIRTUAL, "stale", "(Ljava/lang/invoke/MethodHandle;)Z") if version => {
                    Some(Own::Stale)
                }
                (GETSTATIC, "IDLE", runtime::HANDLE_DESCRIPTOR) if version => Some(Own::Idle),
                _ => None,
            }
        } else if class == runtime::RUNTIME && op == INVOKESTATIC {
            let found = loop_member(&name, &d);
            found.or_else(|| version.then(|| static_member(&name, &d)).flatten())
        } else if class == runtime::FRAME && op == INVOKESTATIC {
            first(&name, &d).map(Own::Frame)
        } else if class == runtime::FRAME && op == INVOKEVIRTUAL {
            let found = added(&name, &d).map(Own::Fill);
            found.or_else(|| version.then(|| frame_member(&name, &d)).flatten())
        } else if [runtime::RUNTIME, runtime::FRAME].contains(&&*class) {
            None
        } else {
            return None;
        };
        Some(found.map_or(
            Meaning::Not("a member of Veneer's classes that has no place here"),
            Meaning::Own,
        ))
    }
}

/// The kinds of what a probe takes.
fn probe(descriptor: &str) -> Option<u128> {
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
    (count <= veneer_probes::compile::READS).then_some(kinds)
}

/// The kinds of the first values that a form of `VeneerFrame.of` takes, its point aside.
fn first(name: &str, d: &str) -> Option<u64> {
    let values = d.strip_suffix("I)Ljava/lang/invoke/VeneerFrame;")?;
    match (name, values) {
        ("of", "(") => Some(0),
        ("of", _) => added("add", &format!("{values})Ljava/lang/invoke/VeneerFrame;")),
        _ => None,
    }
}

/// The kinds of what a form of `VeneerFrame.add` takes.
fn added(name: &str, d: &str) -> Option<u64> {
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

/// The executor loop.
fn loop_member(name: &str, d: &str) -> Option<Own> {
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
            Some(Own::Go(byte))
        }
        "exit" if d == format!("({value}I{}){text}", runtime::CELL_DESCRIPTOR) => {
            Some(Own::Exit(byte))
        }
        _ => None,
    }
}

fn static_member(name: &str, d: &str) -> Option<Own> {
    Some(match (name, d) {
        ("shard", "()J") => Own::Shard,
        ("count" | "discount", "(JI)V") => Own::Count,
        ("countFirst", "(JIJJ)V") => Own::CountFirst,
        ("add", "(JIJ)V") => Own::Add,
        ("now", "()J") => Own::Now,
        ("stop" | "until", "(JIJ)V") => Own::Stop,
        ("since", "(JJ)J") => Own::Since,
        ("lap", "(JIJ)J") => Own::Lap,
        ("begin", "(II)J") => Own::Begin,
        ("beginFirst", "(IIJJ)J") => Own::BeginFirst,
        ("put", "(JI)J") => Own::Log(b'I'),
        ("put", "(JJ)J") => Own::Log(b'J'),
        ("put", "(JF)J") => Own::Log(b'F'),
        ("put", "(JD)J") => Own::Log(b'D'),
        ("put", "(JLjava/lang/Object;)J") => Own::Log(b'L'),
        ("end", "(J)V") => Own::End,
        ("locate", "(Ljava/lang/Throwable;IZLjava/lang/invoke/VeneerCell;)V") => Own::Locate,
        _ => return None,
    })
}

fn frame_member(name: &str, d: &str) -> Option<Own> {
    Some(match (name, d) {
        ("point", "()I") => Own::Point,
        ("kept", "(I)J") => Own::Kept,
        ("keep", "(IJ)Ljava/lang/invoke/VeneerFrame;") => Own::Keep,
        ("clear", "()V") => Own::Clear,
        ("getInt", "(I)I") => Own::Get(b'I'),
        ("getLong", "(I)J") => Own::Get(b'J'),
        ("getFloat", "(I)F") => Own::Get(b'F'),
        ("getDouble", "(I)D") => Own::Get(b'D'),
        ("getObject", "(I)Ljava/lang/Object;") => Own::Get(b'L'),
        _ => return None,
    })
}

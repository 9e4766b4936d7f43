//! The description of caches and TLBs, in one line of text.
//!
//! ```text
//!   L1:32K/8/64,L2:1M/8/64/wt/na,L1I:32K/8/64,TLB:64/4/4K,rules:cachegrind
//!      │   │ │         │  │                       │ │ │
//!      │   │ bytes     │  no allocation at a      │ │ bytes of a page
//!      │   │ of a line │  write that misses       │ ways
//!      │   ways        write-through              entries
//!      bytes
//! ```
//!
//! Grammar:
//!
//! ```text
//!   description = part { "," part }
//!   part        = level | tlb | rules
//!   level       = ( "L1" | "L2" | "L3" | "L4" | "L1I" ) ":" size "/" ways "/" size { "/" policy }
//!   tlb         = ( "TLB" | "TLB2" ) ":" number "/" ways "/" size
//!   rules       = "rules:" ( "lines" | "cachegrind" )
//!   size        = number [ "K" | "M" | "G" ]                  units of 1024 bytes
//!   ways        = number | "full"
//!   policy      = "wb" | "wt" | "wa" | "na" | "lru"
//! ```
//!
//! Without a policy, a level writes back (`wb`) and allocates a line at a write that misses (`wa`).
//! Every level replaces the least recently used line of a set (`lru`).

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The most levels of data caches in a description.
pub const MAX_LEVELS: usize = 4;
/// The most levels of TLBs in a description.
pub const MAX_TLB_LEVELS: usize = 2;
/// The most ways of a cache. A lookup compares the ways one after the other.
pub const MAX_WAYS: u64 = 4096;
/// The most lines (and TLB entries) of all levels together. The simulator keeps 8 bytes for each.
pub const MAX_LINES: u64 = 1 << 26;
/// The smallest line of a cache in bytes.
pub const MIN_LINE_BYTES: u64 = 8;
/// The largest line of a cache in bytes.
pub const MAX_LINE_BYTES: u64 = 4096;
/// The largest page of a TLB in bytes.
pub const MAX_PAGE_BYTES: u64 = 1 << 30;
/// The most characters of a description.
pub const MAX_DESCRIPTION_CHARS: usize = 1000;

/// Why a text does not describe caches.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DescriptionError {
    /// The text is empty, or it describes no level of data caches.
    #[error("the cache description is empty; write for example L1:32K/8/64,L2:1M/8/64")]
    Empty,
    /// The text is longer than 1,000 characters. The value is its length in characters.
    #[error("the cache description has {0} characters; the limit is {MAX_DESCRIPTION_CHARS}")]
    TooLong(usize),
    /// A part has no colon, or the name before its colon is unknown. The value is the text of the
    /// part.
    #[error(
        "`{0}` is no part of a cache description; the parts are L1, L2, L3, L4, L1I, TLB, TLB2 and rules"
    )]
    UnknownPart(String),
    /// A part has a known name, but its value does not have the form that the grammar requires.
    #[error("`{part}` is malformed; write {expected}")]
    Malformed {
        /// The text of the malformed part.
        part: String,
        /// The form that the part must have, for the error message.
        expected: &'static str,
    },
    /// A size, a number of ways or a number of entries is zero, too large for 64 bits, or not a
    /// number.
    #[error("`{part}`: `{number}` is no positive number, optionally with K, M or G")]
    NotANumber {
        /// The text of the part that contains the number.
        part: String,
        /// The text at the position of the number, with its unit if it has one.
        number: String,
    },
    /// A level names a policy that is not in the grammar.
    #[error("`{part}`: the policy `{policy}` is unknown; the policies are wb, wt, wa, na and lru")]
    UnknownPolicy {
        /// The text of the part that names the policy.
        part: String,
        /// The policy as the text spells it.
        policy: String,
    },
    /// A level names a replacement policy other than `lru`, for example `fifo`. The simulator
    /// supports only `lru`.
    #[error("`{part}`: only `lru` is simulated, and not `{policy}`")]
    UnsupportedReplacement {
        /// The text of the part that names the policy.
        part: String,
        /// The name of the replacement policy that is not supported.
        policy: String,
    },
    /// A level names two write policies (`wb`, `wt`) or two allocation policies (`wa`, `na`). The
    /// same policy named twice is also an error.
    #[error("`{part}`: two policies contradict each other")]
    ContradictoryPolicies {
        /// The text of the part that names the policies.
        part: String,
    },
    /// A level, a TLB or the rules are described more than once. The value is the name of the part,
    /// for example `L2`.
    #[error("{0} is described twice")]
    Twice(String),
    /// A level is described, but a level with a smaller number is not: for example L3 without L2,
    /// or TLB2 without TLB.
    #[error("{missing} is missing below {level}")]
    LevelMissing {
        /// The name of the described level, for example `L3`.
        level: String,
        /// The name of the first level that the text does not describe, for example `L2`.
        missing: String,
    },
    /// The line of a cache or the page of a TLB is not a power of two, or it is outside the
    /// permitted range.
    #[error(
        "{level}: {bytes} bytes of a line or page; it must be a power of two from {min} to {max}"
    )]
    LineSize {
        /// The name of the level that has the error, for example `L1` or `TLB`.
        level: String,
        /// The length of the line or page in bytes, as described.
        bytes: u64,
        /// The shortest permitted line or page in bytes.
        min: u64,
        /// The longest permitted line or page in bytes.
        max: u64,
    },
    /// A set of a cache or TLB has more than [`MAX_WAYS`] ways.
    #[error("{level}: {ways} ways; the limit is {MAX_WAYS}")]
    TooManyWays {
        /// The name of the level that has the error, for example `L1` or `TLB`.
        level: String,
        /// The number of ways, as described. For `full`, it is the number of lines.
        ways: u64,
    },
    /// The size of a level is not a positive multiple of the size of one set.
    #[error("{level}: the size must be a multiple of ways times line, which is {unit} bytes")]
    SizeNotMultiple {
        /// The name of the level that has the error, for example `L1` or `TLB`.
        level: String,
        /// The size of one set in bytes: the number of ways times the line length.
        unit: u64,
    },
    /// All caches and TLBs together have more than [`MAX_LINES`] lines and entries. The value is
    /// their number.
    #[error("all levels have {0} lines together; the limit is {MAX_LINES}")]
    TooManyLines(u64),
    /// A cache holds fewer bytes than the level before it, or TLB2 has fewer entries than TLB.
    #[error("{level} is smaller than the level before it")]
    LevelShrinks {
        /// The name of the smaller level, for example `L2` or `TLB2`.
        level: String,
    },
    /// A cache has shorter lines than a level that sends its misses to it, or TLB2 has smaller
    /// pages than TLB.
    #[error("the lines of {level} are shorter than those of the level before it")]
    LineShrinks {
        /// The name of the level with the shorter lines or pages, for example `L2` or `TLB2`.
        level: String,
    },
}

impl DescriptionError {
    /// Returns the stable name of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            DescriptionError::Empty => "CacheEmpty",
            DescriptionError::TooLong(_) => "CacheTooLong",
            DescriptionError::UnknownPart(_) => "CacheUnknownPart",
            DescriptionError::Malformed { .. } => "CacheMalformed",
            DescriptionError::NotANumber { .. } => "CacheNotANumber",
            DescriptionError::UnknownPolicy { .. } => "CacheUnknownPolicy",
            DescriptionError::UnsupportedReplacement { .. } => "CacheUnsupportedReplacement",
            DescriptionError::ContradictoryPolicies { .. } => "CacheContradictoryPolicies",
            DescriptionError::Twice(_) => "CacheTwice",
            DescriptionError::LevelMissing { .. } => "CacheLevelMissing",
            DescriptionError::LineSize { .. } => "CacheLineSize",
            DescriptionError::TooManyWays { .. } => "CacheTooManyWays",
            DescriptionError::SizeNotMultiple { .. } => "CacheSizeNotMultiple",
            DescriptionError::TooManyLines(_) => "CacheTooManyLines",
            DescriptionError::LevelShrinks { .. } => "CacheLevelShrinks",
            DescriptionError::LineShrinks { .. } => "CacheLineShrinks",
        }
    }
}

/// The shape of a set-associative memory: of a cache, or of a TLB whose lines are pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Number of sets. Line `n` belongs to the set `n % sets`.
    pub sets: u64,
    /// Number of lines in a set.
    pub ways: u32,
    /// Bytes of a line or page, a power of two.
    pub line_bytes: u64,
}

impl Geometry {
    /// Returns the number of lines.
    pub fn lines(&self) -> u64 {
        self.sets.saturating_mul(u64::from(self.ways))
    }

    /// Returns the number of bytes that the lines hold.
    pub fn bytes(&self) -> u64 {
        self.lines().saturating_mul(self.line_bytes)
    }

    /// Returns the base-2 logarithm of [`Geometry::line_bytes`].
    pub fn line_shift(&self) -> u32 {
        self.line_bytes.trailing_zeros()
    }
}

/// The effect of a write on a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritePolicy {
    /// The line becomes dirty. It is written to the next level when it is replaced.
    Back,
    /// Every write is passed to the next level, and no line is dirty.
    Through,
}

/// One level of caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The number of sets, the ways of a set, and the line length in bytes.
    pub geometry: Geometry,
    /// The effect of a write on this level: write-back or write-through.
    pub write: WritePolicy,
    /// Whether a write that misses allocates a line. Otherwise the write is passed to the next
    /// level.
    pub write_allocate: bool,
}

/// How an access that touches several lines is counted, and what writes do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Each touched line is one lookup, and each missing line is requested from the next level.
    /// Dirty lines are written to the next level when they are replaced.
    #[default]
    Lines,
    /// The rules of Cachegrind (`cachegrind/cg_sim.c` of Valgrind 3.19). An access is one lookup in
    /// each level. The lookup misses if any of its lines is missing. The next level is then looked
    /// up for the whole access. A write is treated as a read: nothing is dirty. Accesses longer
    /// than the shortest line are cut to that length.
    Cachegrind,
}

/// The caches and TLBs of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheDescription {
    /// The levels for data, from L1 on. There are 1 to [`MAX_LEVELS`] levels.
    pub levels: Vec<Level>,
    /// The first level for instructions. Its misses go to the second level of `levels`.
    pub instructions: Option<Level>,
    /// The TLBs for data, with pages as lines. There are at most [`MAX_TLB_LEVELS`].
    pub tlbs: Vec<Geometry>,
    /// The rules for accesses that touch several lines, and for writes.
    pub rules: Rules,
}

impl CacheDescription {
    /// Checks the limits and the relations between the levels.
    pub fn validate(&self) -> Result<(), DescriptionError> {
        if self.levels.is_empty() {
            return Err(DescriptionError::Empty);
        }
        let mut total = 0u64;
        for (index, level) in self.levels.iter().enumerate() {
            let name = format!("L{}", index + 1);
            check_geometry(&name, &level.geometry, MIN_LINE_BYTES, MAX_LINE_BYTES)?;
            total = total.saturating_add(level.geometry.lines());
            let Some(before) = index.checked_sub(1).and_then(|i| self.levels.get(i)) else {
                continue;
            };
            if level.geometry.line_bytes < before.geometry.line_bytes {
                return Err(DescriptionError::LineShrinks { level: name });
            }
            if level.geometry.bytes() < before.geometry.bytes() {
                return Err(DescriptionError::LevelShrinks { level: name });
            }
        }
        if let Some(level) = &self.instructions {
            check_geometry("L1I", &level.geometry, MIN_LINE_BYTES, MAX_LINE_BYTES)?;
            total = total.saturating_add(level.geometry.lines());
            let below = self.levels.get(1).map(|l| l.geometry.line_bytes);
            if below.is_some_and(|bytes| bytes < level.geometry.line_bytes) {
                return Err(DescriptionError::LineShrinks { level: "L2".into() });
            }
        }
        for (index, tlb) in self.tlbs.iter().enumerate() {
            check_geometry(tlb_name(index), tlb, MIN_LINE_BYTES, MAX_PAGE_BYTES)?;
            total = total.saturating_add(tlb.lines());
        }
        if let [first, second] = self.tlbs[..] {
            if second.line_bytes < first.line_bytes {
                return Err(DescriptionError::LineShrinks {
                    level: tlb_name(1).into(),
                });
            }
            if second.lines() < first.lines() {
                return Err(DescriptionError::LevelShrinks {
                    level: tlb_name(1).into(),
                });
            }
        }
        match total <= MAX_LINES {
            true => Ok(()),
            false => Err(DescriptionError::TooManyLines(total)),
        }
    }

    /// Returns the length of the shortest line of all cache levels, in bytes.
    pub fn shortest_line(&self) -> u64 {
        let levels = self.levels.iter().chain(&self.instructions);
        let shortest = levels.map(|level| level.geometry.line_bytes).min();
        shortest.unwrap_or(MIN_LINE_BYTES)
    }
}

fn tlb_name(index: usize) -> &'static str {
    match index {
        0 => "TLB",
        _ => "TLB2",
    }
}

fn check_geometry(
    level: &str,
    geometry: &Geometry,
    min: u64,
    max: u64,
) -> Result<(), DescriptionError> {
    let bytes = geometry.line_bytes;
    if !bytes.is_power_of_two() || !(min..=max).contains(&bytes) {
        return Err(DescriptionError::LineSize {
            level: level.to_owned(),
            bytes,
            min,
            max,
        });
    }
    let ways = u64::from(geometry.ways);
    if ways > MAX_WAYS {
        return Err(DescriptionError::TooManyWays {
            level: level.to_owned(),
            ways,
        });
    }
    if geometry.sets == 0 || ways == 0 {
        return Err(DescriptionError::SizeNotMultiple {
            level: level.to_owned(),
            unit: ways.max(1).saturating_mul(bytes),
        });
    }
    Ok(())
}

const LEVEL_FORM: &str = "LEVEL:SIZE/WAYS/LINE, as in L1:32K/8/64, and optionally /wt/na";
const TLB_FORM: &str = "TLB:ENTRIES/WAYS/PAGE, as in TLB:64/4/4K";

impl FromStr for CacheDescription {
    type Err = DescriptionError;

    fn from_str(text: &str) -> Result<CacheDescription, DescriptionError> {
        let length = text.chars().count();
        if length > MAX_DESCRIPTION_CHARS {
            return Err(DescriptionError::TooLong(length));
        }
        if text.trim().is_empty() {
            return Err(DescriptionError::Empty);
        }
        let mut parts = Parts::default();
        for part in text.split(',').map(str::trim) {
            parts.add(part)?;
        }
        let description = CacheDescription {
            levels: in_order(parts.levels, |i| format!("L{}", i + 1))?,
            instructions: parts.instructions,
            tlbs: in_order(parts.tlbs, |i| tlb_name(i).to_owned())?,
            rules: parts.rules.unwrap_or_default(),
        };
        description.validate()?;
        Ok(description)
    }
}

/// The parts of a description by their names.
#[derive(Default)]
struct Parts {
    levels: [Option<Level>; MAX_LEVELS],
    instructions: Option<Level>,
    tlbs: [Option<Geometry>; MAX_TLB_LEVELS],
    rules: Option<Rules>,
}

impl Parts {
    fn add(&mut self, part: &str) -> Result<(), DescriptionError> {
        let unknown = || DescriptionError::UnknownPart(part.to_owned());
        let (name, value) = part.split_once(':').ok_or_else(unknown)?;
        let is_new = match name {
            "L1" | "L2" | "L3" | "L4" => {
                let number: usize = name[1..].parse().map_err(|_| unknown())?;
                let slot = self.levels.get_mut(number - 1).ok_or_else(unknown)?;
                slot.replace(level(part, value)?).is_none()
            }
            "L1I" => self.instructions.replace(level(part, value)?).is_none(),
            "TLB" => self.tlbs[0].replace(tlb(part, value)?).is_none(),
            "TLB2" => self.tlbs[1].replace(tlb(part, value)?).is_none(),
            "rules" => {
                let rules = match value {
                    "lines" => Rules::Lines,
                    "cachegrind" => Rules::Cachegrind,
                    _ => {
                        return Err(DescriptionError::Malformed {
                            part: part.to_owned(),
                            expected: "rules:lines or rules:cachegrind",
                        });
                    }
                };
                self.rules.replace(rules).is_none()
            }
            _ => return Err(unknown()),
        };
        match is_new {
            true => Ok(()),
            false => Err(DescriptionError::Twice(name.to_owned())),
        }
    }
}

/// Returns the parts up to the first missing one. Fails if a later part exists.
fn in_order<T: Copy, const N: usize>(
    parts: [Option<T>; N],
    name: impl Fn(usize) -> String,
) -> Result<Vec<T>, DescriptionError> {
    let present: Vec<T> = parts.iter().map_while(|part| *part).collect();
    let later = (present.len()..N).find(|i| parts[*i].is_some());
    match later {
        None => Ok(present),
        Some(later) => Err(DescriptionError::LevelMissing {
            level: name(later),
            missing: name(present.len()),
        }),
    }
}

fn level(part: &str, value: &str) -> Result<Level, DescriptionError> {
    let mut fields = value.split('/');
    let (Some(size), Some(ways), Some(line)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(DescriptionError::Malformed {
            part: part.to_owned(),
            expected: LEVEL_FORM,
        });
    };
    let (size, line) = (number(part, size)?, number(part, line)?);
    let geometry = geometry(part, size / line, size, ways, line)?;
    let (mut write, mut write_allocate) = (None, None);
    for policy in fields {
        let contradiction = match policy {
            "wb" => write.replace(WritePolicy::Back).is_some(),
            "wt" => write.replace(WritePolicy::Through).is_some(),
            "wa" => write_allocate.replace(true).is_some(),
            "na" => write_allocate.replace(false).is_some(),
            "lru" => false,
            "fifo" | "random" | "plru" | "lfu" | "mru" => {
                return Err(DescriptionError::UnsupportedReplacement {
                    part: part.to_owned(),
                    policy: policy.to_owned(),
                });
            }
            _ => {
                return Err(DescriptionError::UnknownPolicy {
                    part: part.to_owned(),
                    policy: policy.to_owned(),
                });
            }
        };
        if contradiction {
            return Err(DescriptionError::ContradictoryPolicies {
                part: part.to_owned(),
            });
        }
    }
    Ok(Level {
        geometry,
        write: write.unwrap_or(WritePolicy::Back),
        write_allocate: write_allocate.unwrap_or(true),
    })
}

fn tlb(part: &str, value: &str) -> Result<Geometry, DescriptionError> {
    let fields: Vec<&str> = value.split('/').collect();
    let [entries, ways, page] = fields[..] else {
        return Err(DescriptionError::Malformed {
            part: part.to_owned(),
            expected: TLB_FORM,
        });
    };
    let (entries, page) = (number(part, entries)?, number(part, page)?);
    geometry(part, entries, entries.saturating_mul(page), ways, page)
}

/// Returns the geometry of `lines` lines with `size` bytes together.
fn geometry(
    part: &str,
    lines: u64,
    size: u64,
    ways: &str,
    line_bytes: u64,
) -> Result<Geometry, DescriptionError> {
    let level = part.split(':').next().unwrap_or(part).to_owned();
    let ways = match ways {
        "full" => lines.max(1),
        ways => number(part, ways)?,
    };
    if ways > MAX_WAYS {
        return Err(DescriptionError::TooManyWays { level, ways });
    }
    let unit = ways.saturating_mul(line_bytes);
    if size < unit || !size.is_multiple_of(unit) {
        return Err(DescriptionError::SizeNotMultiple { level, unit });
    }
    Ok(Geometry {
        sets: size / unit,
        ways: ways as u32,
        line_bytes,
    })
}

/// Parses a positive number with an optional unit.
fn number(part: &str, text: &str) -> Result<u64, DescriptionError> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1u64),
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let parsed = is_number.then(|| digits.parse::<u64>().ok()).flatten();
    parsed
        .and_then(|n| n.checked_mul(unit))
        .filter(|n| *n > 0)
        .ok_or_else(|| DescriptionError::NotANumber {
            part: part.to_owned(),
            number: text.to_owned(),
        })
}

/// Writes a number of bytes with the largest unit that divides it.
fn write_bytes(f: &mut fmt::Formatter<'_>, bytes: u64) -> fmt::Result {
    let units = [(1u64 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
    match units.iter().find(|(unit, _)| bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => write!(f, "{}{name}", bytes / unit),
        None => write!(f, "{bytes}"),
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_bytes(f, self.geometry.bytes())?;
        write!(f, "/{}/{}", self.geometry.ways, self.geometry.line_bytes)?;
        if self.write == WritePolicy::Through {
            f.write_str("/wt")?;
        }
        if !self.write_allocate {
            f.write_str("/na")?;
        }
        Ok(())
    }
}

impl fmt::Display for CacheDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, level) in self.levels.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}L{}:{level}", index + 1)?;
        }
        if let Some(level) = &self.instructions {
            write!(f, ",L1I:{level}")?;
        }
        for (index, tlb) in self.tlbs.iter().enumerate() {
            write!(f, ",{}:{}/{}/", tlb_name(index), tlb.lines(), tlb.ways)?;
            write_bytes(f, tlb.line_bytes)?;
        }
        match self.rules {
            Rules::Lines => Ok(()),
            Rules::Cachegrind => f.write_str(",rules:cachegrind"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<CacheDescription, DescriptionError> {
        text.parse()
    }

    fn code(text: &str) -> &'static str {
        parse(text).expect_err(text).code()
    }

    #[test]
    fn a_description_is_written_as_it_is_read() {
        for text in [
            "L1:32K/8/64",
            "L1:48K/12/64,L2:2M/16/64,L3:260M/20/64",
            "L1:16K/4/32/wt/na,L2:1M/8/128,L1I:32K/8/64,TLB:64/4/4K,TLB2:1536/12/4K,rules:cachegrind",
            "L1:4K/64/64,TLB:16/16/2M",
        ] {
            assert_eq!(parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn defaults_and_synonyms_have_one_meaning() {
        let short = parse("L1:32768/8/64").expect("parses");
        assert_eq!(parse("L1:32K/8/64/wb/wa/lru"), Ok(short.clone()));
        assert_eq!(short.levels[0].geometry.sets, 64);
        let full = parse("L1:4K/full/64").expect("parses");
        assert_eq!(
            (full.levels[0].geometry.sets, full.levels[0].geometry.ways),
            (1, 64)
        );
        let three_quarters = parse("L1:48K/8/64").expect("96 sets are allowed");
        assert_eq!(three_quarters.levels[0].geometry.sets, 96);
    }

    #[test]
    fn absurd_descriptions_are_refused_by_name() {
        for (text, expected) in [
            ("", "CacheEmpty"),
            ("TLB:64/4/4K", "CacheEmpty"),
            ("L5:1M/8/64", "CacheUnknownPart"),
            ("32K/8/64", "CacheUnknownPart"),
            ("L1", "CacheUnknownPart"),
            ("L1:32K/8", "CacheMalformed"),
            ("rules:none,L1:32K/8/64", "CacheMalformed"),
            ("L1:0/8/64", "CacheNotANumber"),
            ("L1:32K/0/64", "CacheNotANumber"),
            ("L1:32K/8/0", "CacheNotANumber"),
            ("L1:-1/8/64", "CacheNotANumber"),
            ("L1:32Q/8/64", "CacheNotANumber"),
            ("L1:99999999999999999999/8/64", "CacheNotANumber"),
            ("L1:99999999999999G/8/64", "CacheNotANumber"),
            ("L1:32K/8/64/xx", "CacheUnknownPolicy"),
            ("L1:32K/8/64/fifo", "CacheUnsupportedReplacement"),
            ("L1:32K/8/64/wb/wt", "CacheContradictoryPolicies"),
            ("L1:32K/8/64,L1:32K/8/64", "CacheTwice"),
            ("L1:32K/8/64,L3:1M/8/64", "CacheLevelMissing"),
            ("L1:32K/8/64,TLB2:64/4/4K", "CacheLevelMissing"),
            ("L1:32K/8/48", "CacheSizeNotMultiple"),
            ("L1:3K/8/96", "CacheLineSize"),
            ("L1:32K/8/4", "CacheLineSize"),
            ("L1:1M/1/8K", "CacheLineSize"),
            ("L1:32K/8192/1", "CacheTooManyWays"),
            ("L1:1G/full/64", "CacheTooManyWays"),
            ("L1:32900/8/64", "CacheSizeNotMultiple"),
            ("L1:64/8/64", "CacheSizeNotMultiple"),
            ("L1:1024G/16/64", "CacheTooManyLines"),
            ("L1:32K/8/64,L2:16K/8/64", "CacheLevelShrinks"),
            ("L1:32K/8/64,L2:1M/8/32", "CacheLineShrinks"),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
        assert_eq!(code(&"L1:32K/8/64,".repeat(200)), "CacheTooLong");
    }
}

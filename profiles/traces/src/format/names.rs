//! The names file: one line per record, in UTF-8.
//!
//! ```text
//!   5f0e88c1 frame⇥12⇥method⇥shop.Desk⇥serve⇥(I)V⇥41⇥1⏎
//! ```
//!
//! The first word is the CRC-32 of the text after the space, in hexadecimal. Fields are separated
//! by tabs; `\t`, `\n`, `\r` and `\\` stand for these characters within a field. A reader ignores
//! records of unknown kinds and fields after those that it knows.

use std::fmt;

/// The first field of the first record.
const TRACE: &str = "trace";

/// The relation between ticks, nanoseconds and the real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRecord {
    /// A time in ticks.
    pub ticks: u64,
    /// The same time in nanoseconds since 1970.
    pub unix_ns: u64,
    /// A tick lasts `numerator / denominator` nanoseconds. Neither is 0.
    pub numerator: u32,
    /// See `numerator`.
    pub denominator: u32,
}

impl Default for ClockRecord {
    /// A tick of one nanosecond since 1970.
    fn default() -> ClockRecord {
        ClockRecord {
            ticks: 0,
            unix_ns: 0,
            numerator: 1,
            denominator: 1,
        }
    }
}

impl ClockRecord {
    /// A duration in ticks, rounded down.
    pub fn ticks_of(&self, nanoseconds: u64) -> u64 {
        let (n, d) = (
            u128::from(self.numerator.max(1)),
            u128::from(self.denominator),
        );
        let ticks = u128::from(nanoseconds) * d / n;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// A duration in nanoseconds, rounded down.
    #[inline]
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        if self.numerator == self.denominator {
            return ticks;
        }
        let (n, d) = (
            u64::from(self.numerator),
            u64::from(self.denominator.max(1)),
        );
        match ticks.checked_mul(n) {
            // The recorder's denominator is a power of two. A shift is much faster than a division, and an
            // analysis needs up to eight of them for each call.
            Some(product) if d.is_power_of_two() => product >> d.trailing_zeros(),
            Some(product) => product / d,
            None => {
                let product = u128::from(ticks) * u128::from(n) / u128::from(d);
                u64::try_from(product).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The part of a program that a frame names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A whole method.
    Method,
    /// A loop of a method.
    Loop,
    /// A fragment of a method.
    Fragment,
    /// A frame kind of a later version.
    Other,
}

impl FrameKind {
    fn parse(text: &str) -> FrameKind {
        match text {
            "method" => FrameKind::Method,
            "loop" => FrameKind::Loop,
            "fragment" => FrameKind::Fragment,
            _ => FrameKind::Other,
        }
    }
}

impl fmt::Display for FrameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FrameKind::Method => "method",
            FrameKind::Loop => "loop",
            FrameKind::Fragment => "fragment",
            FrameKind::Other => "other",
        })
    }
}

/// A method, loop or fragment that events name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameRecord {
    /// The id in event words.
    pub id: u64,
    /// The part of the program.
    pub kind: FrameKind,
    /// The class, dotted: `shop.Desk`.
    pub class: String,
    /// The method's name; a loop or fragment appends its own: `serve f3`.
    pub name: String,
    /// The method's descriptor as in the class file.
    pub descriptor: String,
    /// The source line; 0 if unknown.
    pub line: u32,
    /// The probe form of its probes; 0 if its cost is unknown.
    pub probe: u32,
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteRecord {
    /// The id in arguments.
    pub id: u64,
    /// The frame that contains the site.
    pub frame: u64,
    /// The source line; 0 if unknown.
    pub line: u32,
    /// The index of the instruction in the bytecode.
    pub bci: u32,
}

/// A thread. A later record of the same number replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRecord {
    /// The number in this trace.
    pub id: u32,
    /// `Thread.threadId()`.
    pub java_id: u64,
    /// The id of the operating system; 0 if unknown.
    pub os_id: u64,
    /// The thread's name.
    pub name: String,
    /// The thread's group.
    pub group: String,
    /// The number of the thread that started this one; 0 if unknown.
    pub parent: u32,
}

/// The cost of one form of probe, measured when the probe was attached. Picoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeRecord {
    /// The number in frames.
    pub id: u32,
    /// The name of the form.
    pub name: String,
    /// The cost between the two time stamps of a call. The call itself seems longer by this time.
    pub inside_ps: u64,
    /// The cost outside the two time stamps. The caller seems longer by this time.
    pub outside_ps: u64,
    /// Half the width of the 95 % confidence interval of the sum of both costs.
    pub spread_ps: u64,
}

/// A record of the names file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameRecord {
    /// The first record: the version of the format, and the JVM.
    Trace {
        /// The version of the format.
        version: (u16, u16),
        /// The process id.
        pid: u32,
        /// `java.vm.name`.
        jvm: String,
        /// `java.vm.version`.
        jvm_version: String,
    },
    /// The origin of the clock, or a later correction of its rate.
    Clock(ClockRecord),
    /// A string with its id.
    Text {
        /// The id in events and arguments.
        id: u64,
        /// The characters of the string.
        text: String,
    },
    /// A method, loop or fragment.
    Frame(FrameRecord),
    /// A call site.
    Site(SiteRecord),
    /// The name of a thread.
    Thread(ThreadRecord),
    /// A probe form.
    Probe(ProbeRecord),
    /// A line of the filter that the recorder applied.
    Filter(String),
    /// The source of processor times: `rseq`, `clock` or `none`.
    ProcessorTime(String),
    /// A record of a kind that this version does not know.
    Unknown,
}

impl NameRecord {
    /// The record as a line of the file, with checksum and line feed.
    pub fn line(&self) -> String {
        let mut text = String::new();
        for (n, field) in self.fields().iter().enumerate() {
            if n > 0 {
                text.push('\t');
            }
            escape(field, &mut text);
        }
        format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()))
    }

    fn fields(&self) -> Vec<String> {
        let own = |text: &str| text.to_string();
        match self {
            NameRecord::Trace {
                version,
                pid,
                jvm,
                jvm_version,
            } => vec![
                own(TRACE),
                version.0.to_string(),
                version.1.to_string(),
                pid.to_string(),
                own(jvm),
                own(jvm_version),
            ],
            NameRecord::Clock(clock) => vec![
                own("clock"),
                clock.ticks.to_string(),
                clock.unix_ns.to_string(),
                clock.numerator.to_string(),
                clock.denominator.to_string(),
            ],
            NameRecord::Text { id, text } => vec![own("string"), id.to_string(), own(text)],
            NameRecord::Frame(frame) => vec![
                own("frame"),
                frame.id.to_string(),
                frame.kind.to_string(),
                own(&frame.class),
                own(&frame.name),
                own(&frame.descriptor),
                frame.line.to_string(),
                frame.probe.to_string(),
            ],
            NameRecord::Site(site) => vec![
                own("site"),
                site.id.to_string(),
                site.frame.to_string(),
                site.line.to_string(),
                site.bci.to_string(),
            ],
            NameRecord::Thread(thread) => vec![
                own("thread"),
                thread.id.to_string(),
                thread.java_id.to_string(),
                thread.os_id.to_string(),
                own(&thread.name),
                own(&thread.group),
                thread.parent.to_string(),
            ],
            NameRecord::Probe(probe) => vec![
                own("probe"),
                probe.id.to_string(),
                own(&probe.name),
                probe.inside_ps.to_string(),
                probe.outside_ps.to_string(),
                probe.spread_ps.to_string(),
            ],
            NameRecord::Filter(text) => vec![own("filter"), own(text)],
            NameRecord::ProcessorTime(source) => vec![own("processor-time"), own(source)],
            NameRecord::Unknown => Vec::new(),
        }
    }

    /// Parses a line without its line feed. `None` if the checksum is wrong or a field is missing
    /// or malformed.
    pub fn parse(line: &[u8]) -> Option<NameRecord> {
        let line = std::str::from_utf8(line).ok()?;
        let (sum, text) = line.split_at_checked(8)?;
        let text = text.strip_prefix(' ')?;
        if u32::from_str_radix(sum, 16).ok()? != crc32fast::hash(text.as_bytes()) {
            return None;
        }
        let fields: Vec<String> = text.split('\t').map(unescape).collect();
        NameRecord::of_fields(&fields)
    }

    fn of_fields(fields: &[String]) -> Option<NameRecord> {
        let text = |n: usize| fields.get(n).cloned();
        let long = |n: usize| fields.get(n)?.parse::<u64>().ok();
        let int = |n: usize| fields.get(n)?.parse::<u32>().ok();
        let version = |n: usize| fields.get(n)?.parse::<u16>().ok();
        Some(match fields.first()?.as_str() {
            TRACE => NameRecord::Trace {
                version: (version(1)?, version(2)?),
                pid: int(3)?,
                jvm: text(4)?,
                jvm_version: text(5)?,
            },
            "clock" => NameRecord::Clock(ClockRecord {
                ticks: long(1)?,
                unix_ns: long(2)?,
                numerator: int(3).filter(|n| *n > 0)?,
                denominator: int(4).filter(|n| *n > 0)?,
            }),
            "string" => NameRecord::Text {
                id: long(1)?,
                text: text(2)?,
            },
            "frame" => NameRecord::Frame(FrameRecord {
                id: long(1)?,
                kind: FrameKind::parse(&text(2)?),
                class: text(3)?,
                name: text(4)?,
                descriptor: text(5)?,
                line: int(6)?,
                probe: int(7)?,
            }),
            "site" => NameRecord::Site(SiteRecord {
                id: long(1)?,
                frame: long(2)?,
                line: int(3)?,
                bci: int(4)?,
            }),
            "thread" => NameRecord::Thread(ThreadRecord {
                id: int(1)?,
                java_id: long(2)?,
                os_id: long(3)?,
                name: text(4)?,
                group: text(5)?,
                parent: int(6)?,
            }),
            "probe" => NameRecord::Probe(ProbeRecord {
                id: int(1)?,
                name: text(2)?,
                inside_ps: long(3)?,
                outside_ps: long(4)?,
                spread_ps: long(5)?,
            }),
            "filter" => NameRecord::Filter(text(1)?),
            "processor-time" => NameRecord::ProcessorTime(text(1)?),
            _ => NameRecord::Unknown,
        })
    }
}

fn escape(field: &str, to: &mut String) {
    for c in field.chars() {
        match c {
            '\t' => to.push_str("\\t"),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\\' => to.push_str("\\\\"),
            c => to.push(c),
        }
    }
}

fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(c) = characters.next() {
        text.push(match c {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            c => c,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> NameRecord {
        NameRecord::Frame(FrameRecord {
            id: 12,
            kind: FrameKind::Method,
            class: "shop.Desk".into(),
            name: "serve\t\\n\n\r".into(),
            descriptor: "(I)V".into(),
            line: 41,
            probe: 1,
        })
    }

    fn parse(line: &str) -> Option<NameRecord> {
        NameRecord::parse(line.strip_suffix('\n')?.as_bytes())
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let line = frame().line();
        assert_eq!(line.matches('\n').count(), 1);
        assert_eq!(parse(&line), Some(frame()));
    }

    #[test]
    fn each_damaged_byte_is_noticed() {
        let line = frame().line();
        for at in 0..line.len() - 1 {
            let mut bad = line.clone().into_bytes();
            bad[at] ^= 1;
            assert_eq!(NameRecord::parse(&bad[..line.len() - 1]), None, "{at}");
        }
    }

    #[test]
    fn unknown_kinds_and_later_fields_are_accepted() {
        let line = |text: &str| format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
        assert_eq!(parse(&line("galaxy\t1")), Some(NameRecord::Unknown));
        let longer = parse(&line("string\t7\ta text\tand more"));
        let text = "a text".to_string();
        assert_eq!(longer, Some(NameRecord::Text { id: 7, text }));
        assert_eq!(parse(&line("string\tseven\ta text")), None);
        assert_eq!(parse(&line("clock\t1\t1\t1\t0")), None);
    }

    #[test]
    fn ticks_become_nanoseconds_without_overflow() {
        let clock = ClockRecord {
            numerator: 1000,
            denominator: 2400,
            ..ClockRecord::default()
        };
        assert_eq!(clock.nanoseconds(24), 10);
        let shifted = ClockRecord {
            numerator: 53_687_136,
            denominator: 1 << 27,
            ..ClockRecord::default()
        };
        for ticks in [0, 1, 2, 3, 12_345_678_901, 343_597_383_680, u64::MAX] {
            let exact = u128::from(ticks) * 53_687_136 / (1 << 27);
            assert_eq!(u128::from(shifted.nanoseconds(ticks)), exact, "{ticks}");
        }
        assert_eq!(clock.nanoseconds(u64::MAX), 7686143364045646506);
    }
}

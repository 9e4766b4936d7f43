//! Address traces of Valgrind's tool Lackey.
//!
//! ```text
//!   valgrind --tool=lackey --trace-mem=yes --log-file=TRACE PROGRAM
//!
//!   I  04016cc0,3          an instruction of 3 bytes
//!    L 1ffefff8e8,8        a load of 8 bytes by the instruction before
//!    S 1ffefff8e0,8        a store
//!    M 0402c270,4          a load and a store of the same bytes
//! ```
//!
//! The addresses are hexadecimal. Valgrind's own lines begin with `==` or `--`. Lines of any other
//! form are skipped and counted: output of the program can be between the lines of the trace.

use std::io::{self, BufRead, Read};

use crate::access::{Access, AccessKind};

/// The longest line in bytes. A longer line is read as several lines.
const MAX_LINE_BYTES: u64 = 4096;

/// An access of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedAccess {
    /// The address, the length in bytes and the kind of the access, as the trace states them.
    pub access: Access,
    /// The address of the instruction; 0 before the first one.
    pub instruction: u64,
}

/// Reads a trace, access by access.
#[derive(Debug)]
pub struct LackeyReader<R> {
    source: R,
    line: Vec<u8>,
    instruction: u64,
    skipped: u64,
}

impl<R: BufRead> LackeyReader<R> {
    /// Reads from the beginning of a trace.
    pub fn new(source: R) -> LackeyReader<R> {
        LackeyReader {
            source,
            line: Vec::new(),
            instruction: 0,
            skipped: 0,
        }
    }

    /// Returns the next access, or `None` at the end.
    pub fn next_access(&mut self) -> io::Result<Option<TracedAccess>> {
        loop {
            self.line.clear();
            let mut limited = self.source.by_ref().take(MAX_LINE_BYTES);
            if limited.read_until(b'\n', &mut self.line)? == 0 {
                return Ok(None);
            }
            let line = self.line.trim_ascii_end();
            if line.is_empty() || line.starts_with(b"==") || line.starts_with(b"--") {
                continue;
            }
            let Some(access) = parse_line(line) else {
                self.skipped += 1;
                continue;
            };
            if access.kind == AccessKind::Fetch {
                self.instruction = access.address;
            }
            return Ok(Some(TracedAccess {
                access,
                instruction: self.instruction,
            }));
        }
    }

    /// Returns the number of lines that have no known form.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}

fn parse_line(line: &[u8]) -> Option<Access> {
    let (kind, rest) = match line {
        [b'I', b' ', b' ', rest @ ..] => (AccessKind::Fetch, rest),
        [b' ', b'L', b' ', rest @ ..] => (AccessKind::Read, rest),
        [b' ', b'S', b' ', rest @ ..] => (AccessKind::Write, rest),
        [b' ', b'M', b' ', rest @ ..] => (AccessKind::Modify, rest),
        _ => return None,
    };
    let comma = rest.iter().position(|byte| *byte == b',')?;
    let address = number(&rest[..comma], 16)?;
    let bytes = number(&rest[comma + 1..], 10)?;
    Some(Access {
        address,
        bytes: u32::try_from(bytes).ok().filter(|n| *n > 0)?,
        kind,
    })
}

fn number(digits: &[u8], radix: u32) -> Option<u64> {
    let all_digits = digits.iter().all(u8::is_ascii_alphanumeric);
    let text = std::str::from_utf8(digits).ok().filter(|_| all_digits)?;
    u64::from_str_radix(text, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<TracedAccess>, u64) {
        let mut reader = LackeyReader::new(text.as_bytes());
        let mut all = Vec::new();
        while let Ok(Some(access)) = reader.next_access() {
            all.push(access);
        }
        (all, reader.skipped())
    }

    #[test]
    fn accesses_belong_to_the_instruction_before_them() {
        let (all, skipped) = read(
            "==1== Lackey\n L 10,4\nI  04016cc0,3\n S 1ffefff8e0,8\n M 0402c270,4\n--1-- note\n",
        );
        let seen: Vec<_> = all
            .iter()
            .map(|a| {
                (
                    a.access.kind,
                    a.access.address,
                    a.access.bytes,
                    a.instruction,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (AccessKind::Read, 0x10, 4, 0),
                (AccessKind::Fetch, 0x0401_6cc0, 3, 0x0401_6cc0),
                (AccessKind::Write, 0x1f_feff_f8e0, 8, 0x0401_6cc0),
                (AccessKind::Modify, 0x0402_c270, 4, 0x0401_6cc0),
            ]
        );
        assert_eq!(skipped, 0);
    }

    #[test]
    fn lines_of_other_forms_are_skipped_and_counted() {
        let text = "hello\n L 10\n L ,4\n L 10,0\n L +10,4\n L 10,99999999999\n L fffffffffffffffff,1\nI 10,4\n X 1,1\n L 10,4";
        let (all, skipped) = read(text);
        assert_eq!((all.len(), skipped), (1, 9));
        let (all, skipped) = read(&"x".repeat(10_000));
        assert_eq!((all.len(), skipped), (0, 3));
    }
}

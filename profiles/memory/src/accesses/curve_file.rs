//! The file with the miss-ratio curves of one thread.
//!
//! ```text
//!   file  = "VNRCRV\r\n"  version  curves  { line bytes  references  points { lines  misses  margin } }
//! ```
//!
//! All numbers are little-endian and have 8 bytes.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::table::TableError;
use crate::miss_curve::{CurvePoint, MAX_CURVE_POINTS, MissCurve};

const MAGIC: [u8; 8] = *b"VNRCRV\r\n";
const VERSION: u64 = 1;
/// The most curves of a thread: one for each length of lines.
pub const MAX_CURVES: usize = 4;
/// The end of the name of a file: `thread-7.curve`.
pub const CURVE_SUFFIX: &str = ".curve";

/// The name of the file of a thread.
pub fn curve_file(thread: u32) -> String {
    format!("thread-{thread}{CURVE_SUFFIX}")
}

/// Writes the curves of a thread.
///
/// # Errors
/// The file cannot be written.
pub fn write_curves(path: &Path, curves: &[MissCurve]) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(&MAGIC)?;
    let mut write = |number: u64| out.write_all(&number.to_le_bytes());
    write(VERSION)?;
    write(curves.len() as u64)?;
    for curve in curves {
        write(curve.line_bytes)?;
        write(curve.references)?;
        write(curve.points.len() as u64)?;
        for point in &curve.points {
            write(point.lines)?;
            write(point.misses)?;
            write(point.margin)?;
        }
    }
    out.flush()
}

/// Reads the curves of a thread.
///
/// # Errors
/// The file cannot be read, ends early or has another format.
pub fn read_curves(path: &Path) -> Result<Vec<MissCurve>, TableError> {
    parse_curves(BufReader::new(File::open(path)?))
}

/// Reads the bytes of a file.
///
/// # Errors
/// As for [`read_curves`].
pub fn parse_curves(mut from: impl Read) -> Result<Vec<MissCurve>, TableError> {
    let mut magic = [0; 8];
    from.read_exact(&mut magic)?;
    let mut number = || -> Result<u64, TableError> {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    };
    if magic != MAGIC || number()? != VERSION {
        return Err(TableError::Foreign);
    }
    let count = number()?;
    if count > MAX_CURVES as u64 {
        return Err(TableError::Foreign);
    }
    let mut curves = Vec::new();
    for _ in 0..count {
        let (line_bytes, references, count) = (number()?, number()?, number()?);
        if count >= MAX_CURVE_POINTS as u64 {
            return Err(TableError::Foreign);
        }
        let mut points = Vec::new();
        for _ in 0..count {
            points.push(CurvePoint {
                lines: number()?,
                misses: number()?,
                margin: number()?,
            });
        }
        let curve = MissCurve {
            line_bytes,
            references,
            points,
        };
        if !curve.is_valid() {
            return Err(TableError::Foreign);
        }
        curves.push(curve);
    }
    Ok(curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_read_as_they_were_written_and_damaged_ones_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(curve_file(3));
        let point = |lines, misses, margin| CurvePoint {
            lines,
            misses,
            margin,
        };
        let curve = |line_bytes| MissCurve {
            line_bytes,
            references: 100,
            points: vec![point(1, 90, 3), point(2, 50, u64::MAX)],
        };
        let curves = [curve(32), curve(128)];
        write_curves(&path, &curves).expect("a file");
        assert_eq!(read_curves(&path).expect("curves"), curves);
        let bytes = std::fs::read(&path).expect("the bytes");
        for end in 0..bytes.len() {
            assert!(parse_curves(&bytes[..end]).is_err(), "{end}");
        }
        // Magic, version, number of curves, length of lines, number of points, size.
        for (at, value) in [(0, 0), (8, 9), (16, 5), (24, 33), (45, 255), (48, 7)] {
            let mut bytes = bytes.clone();
            bytes[at] = value;
            assert!(parse_curves(&bytes[..]).is_err(), "{at}");
        }
    }
}

//! Checked big-endian reading. No function of this module panics, whatever the input is.

use super::error::ClassFileError;

/// A position in a byte slice. Each read advances the position, or fails with the current offset.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// Offset of the next byte.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Number of remaining bytes.
    pub(super) fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    /// Returns all remaining bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    #[inline]
    pub(super) fn read_bytes(
        &mut self,
        length: usize,
        what: &'static str,
    ) -> Result<&'a [u8], ClassFileError> {
        let taken = self
            .at
            .checked_add(length)
            .and_then(|end| self.bytes.get(self.at..end));
        match taken {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(ClassFileError::Truncated {
                what,
                offset: self.at,
            }),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ClassFileError> {
        match self
            .bytes
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<N>())
        {
            Some(array) => {
                self.at += N;
                Ok(*array)
            }
            None => Err(ClassFileError::Truncated {
                what,
                offset: self.at,
            }),
        }
    }

    #[inline]
    pub(super) fn u8(&mut self, what: &'static str) -> Result<u8, ClassFileError> {
        Ok(u8::from_be_bytes(self.array(what)?))
    }

    #[inline]
    pub(super) fn u16(&mut self, what: &'static str) -> Result<u16, ClassFileError> {
        Ok(u16::from_be_bytes(self.array(what)?))
    }

    #[inline]
    pub(super) fn u32(&mut self, what: &'static str) -> Result<u32, ClassFileError> {
        Ok(u32::from_be_bytes(self.array(what)?))
    }

    #[inline]
    pub(super) fn u64(&mut self, what: &'static str) -> Result<u64, ClassFileError> {
        Ok(u64::from_be_bytes(self.array(what)?))
    }

    /// Returns a vector for `count` items of at least `size` bytes each. A count in the file never
    /// reserves more items than the remaining bytes can hold.
    pub(super) fn vec_for<T>(&self, count: u16, size: usize) -> Vec<T> {
        Vec::with_capacity(usize::from(count).min(self.remaining() / size.max(1)))
    }

    /// Fails unless all bytes were read.
    pub(super) fn finish(&self, what: &'static str) -> Result<(), ClassFileError> {
        match self.remaining() {
            0 => Ok(()),
            count => Err(ClassFileError::TrailingBytes { what, count }),
        }
    }
}

/// Writes a 16-bit count, or returns an error that names the list.
pub(super) fn put_count(
    out: &mut Vec<u8>,
    count: usize,
    what: &'static str,
) -> Result<(), ClassFileError> {
    let short = u16::try_from(count).map_err(|_| ClassFileError::TooLong {
        what,
        length: count,
        limit: usize::from(u16::MAX),
    })?;
    put_u16(out, short);
    Ok(())
}

pub(super) fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(super) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}

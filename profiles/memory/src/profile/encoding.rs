//! Numbers, texts and sections as bytes.

use super::error::ProfileError;

/// Appends a number as LEB128: 7 bits per byte, the lowest first; the top bit marks a next byte.
pub(super) fn write_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Appends a length and the bytes of a text.
pub(super) fn write_text(to: &mut Vec<u8>, text: &str) {
    write_number(to, text.len() as u64);
    to.extend_from_slice(text.as_bytes());
}

/// Appends 0 for `None`, otherwise the number plus 1.
pub(super) fn write_optional(to: &mut Vec<u8>, number: Option<u64>) {
    write_number(to, number.map_or(0, |n| n.saturating_add(1)));
}

/// The bytes of a section that are not read yet.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) rest: &'a [u8],
    /// The tag of the section, for errors.
    pub(super) section: [u8; 4],
}

impl<'a> Bytes<'a> {
    fn damaged(&self) -> ProfileError {
        ProfileError::Damaged {
            section: String::from_utf8_lossy(&self.section).into_owned(),
        }
    }

    pub(super) fn number(&mut self) -> Result<u64, ProfileError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or_else(|| self.damaged())?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return Err(self.damaged());
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.damaged())
    }

    pub(super) fn optional(&mut self) -> Result<Option<u64>, ProfileError> {
        Ok(self.number()?.checked_sub(1))
    }

    /// Reads an optional number that older files do not have.
    pub(super) fn appended(&mut self) -> Result<Option<u64>, ProfileError> {
        match self.rest.is_empty() {
            true => Ok(None),
            false => self.optional(),
        }
    }

    /// Reads an index into a table that has `limit` elements.
    pub(super) fn index(&mut self, limit: usize) -> Result<u32, ProfileError> {
        let number = self.number()?;
        let index = u32::try_from(number).ok();
        index
            .filter(|index| (*index as usize) < limit)
            .ok_or_else(|| self.damaged())
    }

    pub(super) fn optional_index(&mut self, limit: usize) -> Result<Option<u32>, ProfileError> {
        let Some(number) = self.optional()? else {
            return Ok(None);
        };
        let index = u32::try_from(number).ok();
        match index.filter(|index| (*index as usize) < limit) {
            Some(index) => Ok(Some(index)),
            None => Err(self.damaged()),
        }
    }

    /// Reads the number of elements that follow. Each element has at least one byte, so a larger
    /// number than the remaining bytes is damage, and no memory is reserved for it.
    pub(super) fn count(&mut self) -> Result<usize, ProfileError> {
        let number = self.number()?;
        match number <= self.rest.len() as u64 {
            true => Ok(number as usize),
            false => Err(self.damaged()),
        }
    }

    pub(super) fn slice(&mut self, length: usize) -> Result<&'a [u8], ProfileError> {
        let split = self.rest.split_at_checked(length);
        let (slice, rest) = split.ok_or_else(|| self.damaged())?;
        self.rest = rest;
        Ok(slice)
    }

    pub(super) fn text(&mut self) -> Result<String, ProfileError> {
        let length = self.count()?;
        let bytes = self.slice(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.damaged())?;
        Ok(text.to_owned())
    }

    /// Returns an error for a value that contradicts another one.
    pub(super) fn contradiction(&self) -> ProfileError {
        self.damaged()
    }
}

//! Variable-length numbers (LEB128, unsigned) for index files.

/// Writes numbers to a buffer.
#[derive(Debug, Default)]
pub struct Encoder {
    pub bytes: Vec<u8>,
}

impl Encoder {
    /// Appends a number.
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Appends a number that may be absent.
    pub fn optional(&mut self, value: Option<u64>) {
        match value {
            None => self.number(0),
            Some(value) => {
                self.number(1);
                self.number(value);
            }
        }
    }

    /// Appends numbers, after their count.
    pub fn numbers(&mut self, values: &[u64]) {
        self.number(values.len() as u64);
        for value in values {
            self.number(*value);
        }
    }
}

/// Reads numbers from a buffer. Each method returns `None` at the end of the bytes or at a malformed number.
#[derive(Debug)]
pub struct Decoder<'b> {
    pub bytes: &'b [u8],
}

impl Decoder<'_> {
    /// The next number.
    pub fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (first, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            value |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// The next number, if it fits into 32 bits.
    pub fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A number that may be absent.
    pub fn optional(&mut self) -> Option<Option<u64>> {
        match self.number()? {
            0 => Some(None),
            _ => Some(Some(self.number()?)),
        }
    }

    /// A count of elements that follow. Each takes at least one byte, so a larger count than bytes
    /// is malformed.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    /// Numbers, after their count.
    pub fn numbers(&mut self) -> Option<Vec<u64>> {
        let count = self.count()?;
        (0..count).map(|_| self.number()).collect()
    }
}

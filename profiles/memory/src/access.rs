//! A memory access, and the code and object that it is charged to.

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// The instruction reads the bytes and does not write them.
    Read,
    /// The instruction writes the bytes and does not read them.
    Write,
    /// A read and a write of the same bytes by one instruction. It is counted as one read, as in
    /// Cachegrind, and makes the line dirty.
    Modify,
    /// The fetch of an instruction.
    Fetch,
}

/// A contiguous range of memory that one instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The address of the first byte.
    pub address: u64,
    /// The length in bytes. A length of 0 is treated as 1.
    pub bytes: u32,
    /// The direction of the access: a read, a write, a modification or an instruction fetch.
    pub kind: AccessKind,
}

impl Access {
    /// Returns the address of the last byte. A range that passes the end of the address space is
    /// cut there.
    pub fn last(&self) -> u64 {
        self.address
            .saturating_add(u64::from(self.bytes.max(1)) - 1)
    }

    /// Returns the first and the last block of `1 << shift` bytes that the access touches.
    pub fn blocks(&self, shift: u32) -> std::ops::RangeInclusive<u64> {
        self.address >> shift..=self.last() >> shift
    }
}

/// The code and the object that an access is charged to. Each number is an index into a table of
/// the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Origin {
    /// The instruction. Its method, source line and field follow from it.
    pub site: u32,
    /// The dynamic type of the object.
    pub type_id: u32,
    /// The object group, for example the allocation site of the object.
    pub group: u32,
}

impl Origin {
    /// The origin of accesses that exceed the limit of origins.
    pub const OTHER: Origin = Origin {
        site: u32::MAX,
        type_id: u32::MAX,
        group: u32::MAX,
    };
}

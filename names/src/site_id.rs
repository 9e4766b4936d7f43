//! Numbers for instructions of methods.

/// The start value of FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923 §5).
const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
/// The multiplier of FNV-1a with 64 bits.
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A number for an instruction: a hash of its method and its bytecode index. `class` is the name
/// with dots, `method` the name with the descriptor: `run(I)V`. The result is not negative.
///
/// The agent and the commands compute the same number, so that a table with the number among its
/// keys can be joined with the rows of an instrument. Methods of equal class name in different class
/// loaders have the same numbers.
pub fn site_id(class: &str, method: &str, bytecode_index: u16) -> i64 {
    let parts = [
        class.as_bytes(),
        b"\0",
        method.as_bytes(),
        b"\0",
        &bytecode_index.to_be_bytes(),
    ];
    let hash = parts.concat().iter().fold(FNV_OFFSET_BASIS, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME)
    });
    // The sign bit is dropped.
    (hash >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_changes_the_number() {
        let numbers = [
            site_id("a.B", "m(I)I", 3),
            site_id("a.B", "m(I)I", 4),
            site_id("a.B", "m(J)I", 3),
            site_id("a.C", "m(I)I", 3),
            site_id("a.Bm", "(I)I", 3),
        ];
        for (index, number) in numbers.iter().enumerate() {
            assert!(*number >= 0);
            assert!(!numbers[..index].contains(number));
        }
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        // FNV-1a of four zero bytes is four multiplications of the start value.
        let expected = (0..4).fold(FNV_OFFSET_BASIS, |hash, _| hash.wrapping_mul(FNV_PRIME));
        assert_eq!(site_id("", "", 0), (expected >> 1) as i64);
    }
}

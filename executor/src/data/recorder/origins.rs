//! The numbers of instructions as origins of the objects that they allocate (`VeneerOrigins`).

use crate::jvm::runtime_table;
use std::collections::HashMap;

/// The numbers of sites as origins of objects.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Those of the current recording.
    numbers: HashMap<i64, i32>,
    /// The number of origins of all recordings. Objects keep the origin that they have from an earlier
    /// recording, so a number is used once.
    count: i32,
}

impl Origins {
    /// The number of a site in the current recording; 0 if there are no more numbers.
    pub(super) fn number(&mut self, site: i64) -> i32 {
        if let Some(number) = self.numbers.get(&site) {
            return *number;
        }
        let number = runtime_table::ORIGIN_LOCKED + 1 + self.count;
        if number > runtime_table::MAX_ORIGIN {
            return 0;
        }
        self.count += 1;
        self.numbers.insert(site, number);
        number
    }

    /// A recording begins: no site has a number.
    pub(super) fn begin(&mut self) {
        self.numbers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_used_in_one_recording() {
        let mut origins = Origins::default();
        assert_eq!([5, 9, 5].map(|site| origins.number(site)), [2, 3, 2]);
        origins.begin();
        assert_eq!(origins.number(5), 4);
        origins.count = runtime_table::MAX_ORIGIN - 1;
        assert_eq!(origins.number(6), 0);
        assert_eq!(origins.number(5), 4);
    }
}

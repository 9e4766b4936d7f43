//! The file `release` in the home directory of a JDK, which says what version it is.

use std::fs;
use std::path::Path;

/// The oldest JDK on which the agent works.
pub const OLDEST: u32 = 17;

/// The feature release that the file `release` in this home directory states.
pub fn release_feature(home: &Path) -> Option<u32> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    let value = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("JAVA_VERSION="))?;
    feature(value.trim_matches('"'))
}

/// `17.0.15` → 17, `1.8.0_392` → 8, `25-ea` → 25.
pub fn feature(version: &str) -> Option<u32> {
    let mut numbers = version.split(|character: char| !character.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        feature => Some(feature),
    }
}

//! The version of a JDK, read from the file `release` in its home directory.

use std::fs;
use std::path::Path;

/// The oldest feature release of the JDK on which the agent works.
pub const MIN_JAVA_VERSION: u32 = 17;

/// The feature release in the file `release` of the JDK with this home directory. `None` if the
/// file is missing or has no `JAVA_VERSION`.
pub fn installed_feature_version(home: &Path) -> Option<u32> {
    let text = fs::read_to_string(home.join("release")).ok()?;
    let value = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("JAVA_VERSION="))?;
    feature_version(value.trim_matches('"'))
}

/// The feature release of a version: `17.0.15` → 17, `1.8.0_392` → 8, `25-ea` → 25.
pub fn feature_version(version: &str) -> Option<u32> {
    let mut numbers = version.split(|character: char| !character.is_ascii_digit());
    match numbers.next()?.parse().ok()? {
        1 => numbers.next()?.parse().ok(),
        feature => Some(feature),
    }
}

//! Reads the JVM's native memory tracking, category by category.

use std::collections::BTreeMap;

/// The memory of one category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Category {
    /// Committed memory in KiB.
    pub committed: i64,
    /// Number of `malloc` blocks, or 0 if the JVM does not report it.
    pub pieces: i64,
}

/// A summary of the tracking.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracking {
    /// Total of the committed memory in KiB.
    pub total: i64,
    /// The categories by the name that the JVM prints.
    pub categories: BTreeMap<String, Category>,
}

impl Tracking {
    /// Parses the output of `jcmd PID VM.native_memory summary scale=KB`. Returns `None` if the
    /// text has another format.
    pub fn parse(text: &str) -> Option<Self> {
        let mut tracking = Self::default();
        let mut current: Option<String> = None;
        let mut seen = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("Total:") {
                tracking.total = after(line, "committed=")?;
                seen = true;
            } else if let Some((name, figures)) =
                line.strip_prefix('-').and_then(|l| l.split_once('('))
            {
                let name = name.trim().to_string();
                let category = Category {
                    committed: after(figures, "committed=").unwrap_or(0),
                    pieces: 0,
                };
                tracking.categories.insert(name.clone(), category);
                current = Some(name);
            } else if line.starts_with("(malloc=")
                && let Some(name) = &current
                && let Some(category) = tracking.categories.get_mut(name)
                && category.pieces == 0
            {
                category.pieces = after(line, "#").unwrap_or(0);
            }
        }
        seen.then_some(tracking)
    }

    /// Returns the memory of a category. The JVM does not list a category without memory.
    pub fn category(&self, name: &str) -> Category {
        self.categories.get(name).copied().unwrap_or_default()
    }
}

/// Returns the number after `word`.
pub fn after(line: &str, word: &str) -> Option<i64> {
    let rest = &line[line.find(word)? + word.len()..];
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_the_summary_are_read() {
        let old = "4711:\n\nNative Memory Tracking:\n\nTotal: reserved=2860KB, committed=1500KB\n\
                   -                 Class (reserved=1048642KB, committed=1691KB)\n\
                   \x20               (classes #1098)\n\
                   \x20               (malloc=66KB #748) \n\
                   \x20               (mmap: reserved=1048576KB, committed=1625KB) \n";
        let new = "4711:\n\nNative Memory Tracking:\n\n(Omitting categories weighting less than 1KB)\n\n\
                   Total: reserved=2860KB, committed=1500KB\n       malloc: 20392KB #38020, peak=25343KB #68616\n\
                   -       Synchronization (reserved=839KB, committed=839KB)\n\
                   \x20               (malloc=839KB tag=Synchronization #8250) (peak=851KB #8311) \n\
                   -             Safepoint (reserved=8KB, committed=8KB)\n\
                   \x20               (mmap: reserved=8KB, committed=8KB, at peak) \n";
        let old = Tracking::parse(old).unwrap_or_default();
        assert_eq!(old.total, 1500);
        let class = Category {
            committed: 1691,
            pieces: 748,
        };
        assert_eq!(old.category("Class"), class);
        let new = Tracking::parse(new).unwrap_or_default();
        assert_eq!(
            (new.total, new.category("Synchronization").pieces),
            (1500, 8250)
        );
        assert_eq!(
            (
                new.category("Safepoint").committed,
                new.category("Safepoint").pieces
            ),
            (8, 0)
        );
        assert_eq!(
            Tracking::parse("Native memory tracking is not enabled"),
            None
        );
    }
}

//! Selects the JVMs that a command applies to, by process ids or by a pattern of main classes.

use anyhow::{Result, bail};
use veneer_client::machine::{RunningJvm, running_jvms};
use veneer_client::{Client, Target};
use veneer_text::matches_wildcard;

/// Whether a name matches a pattern, in which `*` matches any text. A class also matches by its
/// simple name, without the package.
pub fn matches(pattern: &str, name: &str) -> bool {
    let simple = name.rsplit(['.', '/']).next().unwrap_or(name);
    matches_wildcard(pattern, name) || matches_wildcard(pattern, simple)
}

/// The JVMs that this user may attach to and whose main class matches.
pub fn jvms_matching(pattern: &str) -> Vec<RunningJvm> {
    let mut all = running_jvms();
    all.retain(|jvm| jvm.target.is_ok() && matches(pattern, &jvm.main));
    all
}

/// Returns the given process ids and those of the JVMs that match the pattern, sorted and without
/// duplicates.
///
/// # Errors Fails if there is a pattern and no JVM matches.
pub fn pids(pids: &[u32], pattern: Option<&str>) -> Result<Vec<u32>> {
    let mut all = pids.to_vec();
    if let Some(pattern) = pattern {
        let found = jvms_matching(pattern);
        if found.is_empty() {
            bail!(
                "no JVM that you may attach to runs a main class that matches `{pattern}`; `veneer ps` shows them"
            );
        }
        all.extend(found.iter().map(|jvm| jvm.pid));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Connects to the agent of a JVM, without loading it.
///
/// # Errors Fails if the JVM has no agent, or if the agent does not answer.
pub fn connect_agent(pid: u32) -> Result<Client> {
    let target = Target::inspect(pid)?;
    match Client::connect(&target)? {
        Some(client) => Ok(client),
        None => bail!(
            "there is no agent in process {pid}; load it with `veneer attach {pid}`, or start the application under `veneer run`"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn main_classes_are_matched_with_and_without_their_package() {
        for (pattern, name, hit) in [
            ("Desk", "shop.Desk", true),
            ("shop.*", "shop.Desk", true),
            ("*esk", "shop.Desk", true),
            ("D*k", "shop/shop.Desk", true),
            ("*", "app.jar", true),
            ("app*", "app.jar", true),
            ("Des", "shop.Desk", false),
            ("*x*", "shop.Desk", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), hit, "{pattern} {name}");
        }
    }
}

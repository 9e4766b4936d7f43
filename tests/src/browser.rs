//! Chromium, and scenarios of `tests/receivers/page` that run in it.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::downloads::{DownloadError, MissingTool, chromium, node, npm, receiver};
use crate::folder::workspace;
use crate::java_programs::{Outcome, Programs, on_a_jdk_with};
use crate::live::{Live, LiveError};
use crate::page_server::Server;
use crate::process::{Process, event_timeout};
use crate::skip::skip;

/// The number of attached instruments, in a plan.
const ATTACHED: &str = "instruments().filter(|i| i.attached).len()";
/// The time limit of a scenario in the browser.
const SCENARIO_TIMEOUT: Duration = Duration::from_secs(600);

/// Ten seconds, longer on a busy machine: the time after which nothing of a closed tab may be attached.
fn detached_within() -> Duration {
    event_timeout() / 6
}

/// A browser with the packages that drive it.
pub struct Browser {
    node: PathBuf,
    chromium: PathBuf,
    playwright: PathBuf,
    axe: PathBuf,
}

impl Browser {
    /// Finds or fetches Node.js, Chromium and the packages.
    ///
    /// # Errors
    /// A download fails.
    pub fn find() -> Result<Result<Browser, MissingTool>, DownloadError> {
        let parts = (
            node()?,
            chromium()?,
            npm("playwright-core")?,
            npm("axe-core")?,
        );
        Ok(match parts {
            (Ok(node), Ok(chromium), Ok(playwright), Ok(axe)) => Ok(Browser {
                node,
                chromium,
                playwright,
                axe,
            }),
            (Err(missing), ..)
            | (_, Err(missing), ..)
            | (.., Err(missing), _)
            | (.., Err(missing)) => Err(missing),
        })
    }

    /// Runs a scenario of `tests/receivers/page`, and returns its result.
    ///
    /// # Errors
    /// The scenario fails.
    pub fn run(
        &self,
        scenario: &str,
        server: &Server,
        mut more: Value,
    ) -> Result<Value, Box<dyn std::error::Error>> {
        let screenshots = workspace().join("target/page-screenshots");
        more["address"] = json!(server.address);
        more["playwright"] = json!(self.playwright);
        more["axe"] = json!(self.axe);
        more["chromium"] = json!(self.chromium);
        more["screenshots"] = json!(screenshots);
        more["timeout"] = json!(event_timeout().as_millis() as u64);
        let output = Process::new(&self.node)
            .arg(receiver("page/run.mjs"))
            .args([scenario, &more.to_string()])
            .limit(SCENARIO_TIMEOUT)
            .run()?;
        if output.code != 0 {
            return Err(format!("{scenario}: {}{}", output.out, output.err).into());
        }
        let line = output.out.lines().last().unwrap_or_default();
        Ok(serde_json::from_str(line)?)
    }
}

/// Runs a test with a browser on a JDK, or reports that it is skipped.
///
/// # Errors
/// Those of the test.
pub fn in_browser(folder: &str, test: impl Fn(&Programs, &Browser) -> Outcome) -> Outcome {
    match Browser::find()? {
        Ok(browser) => on_a_jdk_with(folder, |programs| test(programs, &browser)),
        Err(missing) => Ok(skip(missing)?),
    }
}

/// Waits until nothing is attached in the JVM.
///
/// # Errors
/// The JVM does not answer.
pub fn until_nothing_is_attached(live: &Live) -> Outcome {
    let attached = || -> Result<bool, LiveError> { Ok(live.value(ATTACHED)? != "0") };
    let begun = Instant::now();
    while attached()? {
        assert!(
            begun.elapsed() < detached_within(),
            "something is still attached"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Checks that axe found nothing serious in any view.
///
/// # Errors
/// The scenario did not run axe.
pub fn check_accessibility(result: &Value) -> Outcome {
    for (view, problems) in result["axe"].as_object().ok_or("axe did not run")? {
        assert_eq!(problems, &json!([]), "{view}");
    }
    Ok(())
}

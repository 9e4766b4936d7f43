//! Dead objects stay collectable. An activation that moved into a version, or started in one, keeps
//! only those objects alive that it would keep alive in the original method
//! (`tests/java/hostile/references`).

use std::time::Duration;

use super::compiled::sources;
use super::settings::Setting;
use crate::command;
use crate::folder::Folder;
use crate::jdk::Jdk;
use crate::live::{Live, LiveError, until};
use crate::process::Process;
use crate::trust::TrustError;

/// A kind of instrument, with what happens to it later.
struct Kind {
    /// The name of the copy of the scenarios that it uses.
    class: &'static str,
    /// The expression that attaches it. `M` is replaced by the methods of the class.
    attach: &'static str,
    then: FollowUp,
}

/// The fate of the instrument after activations have moved into versions.
#[derive(PartialEq, Eq)]
enum FollowUp {
    /// The instrument stays attached.
    Stays,
    /// The instrument is detached.
    Detached,
    /// Another instrument is attached, and this one is detached.
    Swapped,
}

const fn kind(class: &'static str, attach: &'static str) -> Kind {
    Kind {
        class,
        attach,
        then: FollowUp::Stays,
    }
}

const KINDS: &[Kind] = &[
    kind("Entries", "M.before(counter())"),
    kind("Exits", "M.exits().before(counter())"),
    kind("Blocks", "M.blocks().before(counter())"),
    kind("Each", "M.blocks().after(counter().each())"),
    kind("Edges", "M.edges().before(counter())"),
    kind("Loops", "M.loops().before(counter())"),
    kind("Calls", "M.calls().before(counter())"),
    kind("Timers", "M.around(timer())"),
    kind("LateTimers", "M.around(timer().late())"),
    kind("Laps", "M.loops().around(timer())"),
    kind("BlockTimers", "M.blocks().around(timer())"),
    kind("Logs", "M.loops().before(log(\"big\"))"),
    kind("Code", "M.loops().before(|p| values.put(p.big))"),
    kind("PerObject", "M.loops().before(|p| ages.set(p.big, 1))"),
    Kind {
        class: "Detached",
        attach: "M.blocks().before(counter())",
        then: FollowUp::Detached,
    },
    Kind {
        class: "Swapped",
        attach: "M.loops().before(counter())",
        then: FollowUp::Swapped,
    },
    Kind {
        class: "Restarted",
        attach: "M.around(timer().late())",
        then: FollowUp::Detached,
    },
];

/// The result of a run.
#[derive(Debug, Default)]
pub struct CollectionResult {
    /// Number of objects that the scenarios dropped.
    pub dropped: u64,
    /// The classes, scenarios and groups whose objects were not collected, and the scenarios that
    /// failed.
    pub kept: Vec<String>,
}

/// The compiled scenarios for one JDK, with one copy for each kind.
pub struct Scenarios {
    jdk: Jdk,
    folder: Folder,
}

impl Scenarios {
    pub fn jdk(&self) -> &Jdk {
        &self.jdk
    }

    /// Compiles the scenarios.
    pub fn new(jdk: &Jdk) -> Result<Self, TrustError> {
        let folder = Folder::new("references")?;
        let text = std::fs::read_to_string(sources().join("references/Scenarios.java.txt"))?;
        let mut files = vec![sources().join("references/References.java")];
        for kind in KINDS {
            let file = folder.join(&format!("{}.java", kind.class));
            std::fs::write(
                &file,
                text.replace("class Scenarios ", &format!("class {} ", kind.class)),
            )?;
            files.push(file);
        }
        jdk.compile(&files, folder.path())?;
        Ok(Self {
            jdk: jdk.clone(),
            folder,
        })
    }

    fn java(&self, setting: Setting) -> Process {
        Process::new(self.jdk.tool("java"))
            .args(setting.options)
            .args(["-Xmx256m", "-cp"])
            .arg(self.folder.path())
            .arg("References")
            .args(KINDS.iter().map(|kind| kind.class))
    }

    /// Runs the scenarios without Veneer.
    pub fn plain(&self, setting: Setting) -> Result<CollectionResult, TrustError> {
        let mut live = Live::start(&self.java(setting))?;
        live.line("ready")?;
        for line in ["start early", "start late"] {
            live.say(line)?;
            live.line("started ")?;
        }
        std::thread::sleep(Duration::from_millis(300));
        Ok(drop_and_check(live)?)
    }

    /// Runs the scenarios with instruments of every kind, which are attached while activations run.
    pub fn observed(&self, setting: Setting) -> Result<CollectionResult, TrustError> {
        Ok(self.observe(setting)?)
    }

    fn observe(&self, setting: Setting) -> Result<CollectionResult, LiveError> {
        let mut live = Live::start(&command::run(&[], &self.java(setting)))?;
        live.line("ready")?;
        live.say("start early")?;
        live.line("started ")?;
        std::thread::sleep(Duration::from_millis(300));
        let mut ids = Vec::new();
        for kind in KINDS {
            let methods = format!("methods(\"{}\")", kind.class);
            let code = format!(
                "let values = last(1000); let ages = per_object(0); {}",
                kind.attach.replace('M', &methods)
            );
            ids.push(live.value(&code)?);
        }
        // Wait until the activations that started earlier are in versions. Then the counters of
        // loop headers count in them.
        for (kind, id) in KINDS.iter().zip(&ids) {
            if matches!(kind.class, "Loops" | "Swapped" | "Blocks" | "Detached") {
                until(kind.class, || live.sum(id), |hits| *hits > 1000)?;
            }
        }
        for (kind, id) in KINDS.iter().zip(&ids) {
            if kind.then == FollowUp::Swapped {
                live.value(&format!(
                    "methods(\"{}\").blocks().before(counter())",
                    kind.class
                ))?;
            }
            if kind.then != FollowUp::Stays {
                live.value(&format!("detach(\"{id}\")"))?;
            }
        }
        live.say("start late")?;
        live.line("started ")?;
        std::thread::sleep(Duration::from_millis(700));
        drop_and_check(live)
    }
}

/// Lets the scenarios drop their objects, and reads which of them were not collected.
fn drop_and_check(mut live: Live) -> Result<CollectionResult, LiveError> {
    live.say("drop")?;
    live.line("told")?;
    live.say("check")?;
    let checked = live.line("checked ")?;
    let output = live.stop()?;
    let bad = ["kept ", "failed ", "not dropped "];
    let mut kept: Vec<String> = output
        .out
        .lines()
        .filter(|line| bad.iter().any(|word| line.starts_with(word)))
        .map(str::to_string)
        .collect();
    if output.code != 0 {
        kept.push(format!("exit code {}: {}", output.code, output.err));
    }
    Ok(CollectionResult {
        dropped: checked.parse().map_err(|_| LiveError::Answer(checked))?,
        kept,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An `M` in the name of an instrument would be replaced in the expression as well.
    #[test]
    fn each_expression_has_one_placeholder() {
        for kind in KINDS {
            assert_eq!(kind.attach.matches('M').count(), 1, "{}", kind.attach);
        }
    }
}

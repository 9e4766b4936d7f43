//! Other agents in the same JVM. Each program must print the same as under the other agent alone,
//! whichever agent is loaded first, with the storm from the start.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::compiled::{Plan, difference, run_under_plan, run_with_thread_dump, sources};
use super::settings::{DEFAULT, Setting};
use crate::folder::{Folder, files};
use crate::jars::{jar, jars};
use crate::jdk::Jdk;
use crate::process::{Output, Process};
use crate::trust::TrustError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// JaCoCo, which measures the coverage of all classes.
    Jacoco,
    /// AspectJ's load-time weaver.
    AspectJ,
    /// Byteman, with rules that count, change results and throw.
    Byteman,
    /// Mockito with inline mocks; the jar `mockito-core` is the agent.
    Mockito,
    /// OpenTelemetry's automatic instrumentation of the JDK's web server and client, executors and
    /// futures.
    OpenTelemetry,
}

pub const AGENTS: [Agent; 5] = [
    Agent::Jacoco,
    Agent::AspectJ,
    Agent::Byteman,
    Agent::Mockito,
    Agent::OpenTelemetry,
];

/// The order in which the two agents are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Veneer's agent is loaded before the other one.
    VeneerFirst,
    /// Veneer's agent is loaded after the other one.
    VeneerLast,
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Order::VeneerFirst => "Veneer first",
            Order::VeneerLast => "Veneer last",
        })
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Agent::Jacoco => "JaCoCo",
            Agent::AspectJ => "AspectJ's load-time weaver",
            Agent::Byteman => "Byteman",
            Agent::Mockito => "Mockito inline",
            Agent::OpenTelemetry => "OpenTelemetry",
        })
    }
}

impl Agent {
    /// The folder of the agent's program, the main class, and the jars on the class path.
    fn program(self) -> (&'static str, &'static str, &'static [&'static str]) {
        match self {
            Agent::Jacoco | Agent::OpenTelemetry => ("served", "Served", &[]),
            Agent::AspectJ => ("aspectj", "Woven", &["aspectjweaver"]),
            Agent::Byteman => ("byteman", "Ruled", &[]),
            Agent::Mockito => (
                "mockito",
                "Mocked",
                &["mockito-core", "byte-buddy", "objenesis"],
            ),
        }
    }
}

/// A program that runs with another agent, compiled on a JDK, with the output of its run without
/// Veneer.
pub struct ProgramWithAgent {
    agent: Agent,
    jdk: Jdk,
    folder: Folder,
    class_path: std::ffi::OsString,
    plain: Output,
    limit: Duration,
}

impl ProgramWithAgent {
    /// Compiles the program, and runs it under the other agent alone.
    pub fn prepare(jdk: &Jdk, agent: Agent) -> Result<Self, TrustError> {
        let folder = Folder::new("beside")?;
        let (name, _, needs) = agent.program();
        let source = sources().join("beside").join(name);
        let mut path: Vec<PathBuf> = vec![folder.path().to_path_buf()];
        path.extend(jars(needs)?);
        let class_path = std::env::join_paths(&path)?;
        Process::new(jdk.tool("javac"))
            .args(["-g", "-nowarn", "-Xlint:-options", "-proc:none", "-cp"])
            .arg(&class_path)
            .arg("-d")
            .arg(folder.path())
            .args(files(&source, "java")?)
            .run()?
            .succeeded("javac")?;
        if agent == Agent::AspectJ {
            let into = folder.join("META-INF");
            std::fs::create_dir_all(&into)?;
            std::fs::copy(source.join("META-INF/aop.xml"), into.join("aop.xml"))?;
        }
        let mut beside = Self {
            agent,
            jdk: jdk.clone(),
            folder,
            class_path,
            plain: Output {
                code: 0,
                out: String::new(),
                err: String::new(),
            },
            limit: Duration::from_secs(120),
        };
        let begun = Instant::now();
        let java = beside.java(Order::VeneerFirst, DEFAULT)?;
        beside.plain =
            run_with_thread_dump(jdk, &java, beside.limit)?.succeeded("the plain run")?;
        // Other processes may use both processors while the limit applies.
        beside.limit = Duration::from_secs(20) + begun.elapsed() * 15;
        Ok(beside)
    }

    /// The option that loads the other agent.
    fn option(&self) -> Result<String, TrustError> {
        let text = |path: &Path| path.display().to_string();
        let rules = sources().join("beside/byteman/rules.btm");
        Ok(match self.agent {
            Agent::Jacoco => format!(
                "-javaagent:{}=output=none,includes=*",
                text(&jar("jacoco-agent")?)
            ),
            Agent::AspectJ => format!("-javaagent:{}", text(&jar("aspectjweaver")?)),
            Agent::Byteman => format!(
                "-javaagent:{}=script:{}",
                text(&jar("byteman")?),
                text(&rules)
            ),
            Agent::Mockito => format!("-javaagent:{}", text(&jar("mockito-core")?)),
            Agent::OpenTelemetry => {
                format!("-javaagent:{}", text(&jar("opentelemetry-javaagent")?))
            }
        })
    }

    fn java(&self, order: Order, setting: Setting) -> Result<Process, TrustError> {
        let java = Process::new(self.jdk.tool("java")).args(["-Xmx256m", "-Xshare:auto"]);
        let mut java = java.args(setting.options);
        let option = self.option()?;
        match order {
            // The command puts Veneer's agent before the other options. The JVM reads this variable
            // before all options.
            Order::VeneerLast => java = java.env("JAVA_TOOL_OPTIONS", &option),
            Order::VeneerFirst => java = java.arg(option),
        }
        if self.agent == Agent::Mockito {
            java = java.arg("-Dnet.bytebuddy.experimental=true");
        }
        if self.agent == Agent::OpenTelemetry {
            java = java.args([
                "-Dotel.traces.exporter=none",
                "-Dotel.metrics.exporter=none",
                "-Dotel.logs.exporter=none",
                "-Dotel.javaagent.logging=none",
                // Without most of its instrumentations, the agent starts in a fraction of the time.
                "-Dotel.instrumentation.common.default-enabled=false",
                "-Dotel.instrumentation.opentelemetry-api.enabled=true",
                "-Dotel.instrumentation.java-http-server.enabled=true",
                "-Dotel.instrumentation.java-http-client.enabled=true",
                "-Dotel.instrumentation.executors.enabled=true",
            ]);
        }
        let (_, main, _) = self.agent.program();
        Ok(java
            .arg("-cp")
            .arg(&self.class_path)
            .arg(main)
            .folder(self.folder.path()))
    }

    /// Starts the program once, with the storm from the first class on. Returns the difference to
    /// the output without Veneer, or `None` if there is none.
    pub fn start(
        &self,
        order: Order,
        setting: Setting,
        seed: u32,
    ) -> Result<Option<String>, TrustError> {
        let java = self.java(order, setting)?;
        let output = run_under_plan(&self.jdk, Plan::Storm(seed), &java, self.limit)?;
        Ok(difference(&self.plain, &output))
    }
}

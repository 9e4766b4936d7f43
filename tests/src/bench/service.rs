//! Measures an attachment to a service under load: the delay that the service's clients observe.

use std::time::{Duration, Instant};

use super::jvm_options::OPTIONS;
use super::prepare::Compiled;
use super::record::Record;
use super::record::shown;
use crate::command::veneer;
use crate::jdk::Jdk;
use crate::live::{Live, number};
use crate::process::Process;
use crate::trust::part::Table;
use crate::trust::part::{Scope, TrustError};

/// Number of clients that send requests without a pause.
const CLIENTS: &str = "4";

/// The plan that is attached while the service works: a counter on every block of the servlet, the
/// values of a variable, and a timer in the database.
pub const PLAN: &str = "
    methods(\"Service::*(..)\").blocks().before(counter());
    let ids = tally(2000);
    methods(\"Service::total(..)\").before(|p| ids.count(p[\"id\"]));
    methods(\"org.h2.command.CommandContainer::query(..)\").around(timer());
    instruments().len()";

/// A service and its clients, each in a JVM of its own.
pub struct Service {
    pub live: Live,
    clients: Live,
    _compiled: Compiled,
}

/// The observations of the clients in one phase.
#[derive(Clone, Copy, Debug, Default)]
pub struct Phase {
    /// Number of requests.
    pub requests: i64,
    /// Number of requests without an answer or with a wrong one.
    pub failed: i64,
    /// Median response time in microseconds.
    pub median: f64,
    /// 99th percentile of the response time in microseconds.
    pub p99: f64,
    /// Longest response time in microseconds.
    pub slowest: f64,
}

impl Service {
    /// Starts the service and its clients on a JDK.
    pub fn start(jdk: &Jdk) -> Result<Service, TrustError> {
        let compiled = Compiled::new(
            jdk,
            &["tests/bench/Service.java", "tests/bench/Clients.java"],
            &["tomcat-embed-core", "tomcat-annotations-api", "h2"],
        )?;
        let java = |name: &str| {
            Process::new(jdk.tool("java"))
                .args(OPTIONS)
                .arg("-cp")
                .arg(compiled.class_path(&[]))
                .arg(name)
        };
        let mut live = Live::start(&java("Service").arg(compiled.join("work")))?;
        let port = live.line("port ")?;
        let clients = Live::start(&java("Clients").args([&port, CLIENTS, "0"]))?;
        Ok(Service {
            live,
            clients,
            _compiled: compiled,
        })
    }

    /// The process id of the service.
    pub fn pid(&self) -> String {
        self.live.pid().to_string()
    }

    /// Returns what the clients observed since the previous phase ended.
    pub fn phase(&mut self, name: &str) -> Result<Phase, TrustError> {
        self.clients.say(name)?;
        let line = self.clients.line(&format!("phase {name} "))?;
        let read = |word| {
            number(&line, word).ok_or_else(|| TrustError::Missing {
                wanted: word,
                found: line.clone(),
            })
        };
        Ok(Phase {
            requests: read("requests")?,
            failed: read("failed")?,
            median: read("median")? as f64,
            p99: read("p99")? as f64,
            slowest: read("slowest")? as f64,
        })
    }

    /// Sleeps for `time`, and then returns what the clients observed since the previous phase
    /// ended.
    pub fn phase_after(&mut self, name: &str, time: Duration) -> Result<Phase, TrustError> {
        std::thread::sleep(time);
        self.phase(name)
    }

    /// Runs `veneer` with these words, which must succeed, and returns its standard output.
    pub fn veneer(&self, words: &[&str]) -> Result<String, TrustError> {
        let output = veneer().args(words).run()?;
        Ok(output.succeeded(&words.join(" "))?.out)
    }

    /// Stops both JVMs, and returns the failures that the clients reported, one per line.
    pub fn stop(self) -> Result<String, TrustError> {
        let said = self.clients.stop()?;
        self.live.stop()?.succeeded("the service")?;
        let bad = said
            .out
            .lines()
            .filter(|line| line.starts_with("bad") || line.starts_with("no answer"));
        Ok(bad.collect::<Vec<_>>().join("\n"))
    }
}

/// Runs the part `service`.
pub fn run(scope: &Scope) -> Result<Record, TrustError> {
    let begun = Instant::now();
    let mut record = Record::new("service", "Attaching to a service under load", scope)?;
    record.part.words = vec![
        "Tomcat in front of H2, in one JVM. In another JVM, four clients each send a request, \
         wait for the answer, check it, and repeat, so that the machine has no spare capacity. \
         The phases are: nothing; `veneer attach`; a plan that counts every block of the servlet, \
         the values of one of its variables, and the time of each query in the database; `veneer \
         detach --unload`. *Slowest*: the longest response time in each phase, as the median of \
         the rounds with the lowest and the highest value. The phases have the same length, so \
         their longest times can be compared."
            .into(),
    ];
    let jdk = scope.jdks.first().ok_or(TrustError::NoJdk)?;
    let (rounds, time) = match scope.quick {
        true => (1, Duration::from_millis(500)),
        false => (5, Duration::from_secs(3)),
    };
    let mut service = Service::start(jdk)?;
    // Warm-up.
    service.phase_after("warm", time * 3)?;
    let pid = service.pid();
    let names = [
        "nothing",
        "attach",
        "plan begins",
        "plan",
        "unload",
        "nothing again",
    ];
    let mut phases: Vec<Vec<Phase>> = vec![Vec::new(); names.len()];
    for _ in 0..rounds {
        for (name, seen) in names.iter().zip(&mut phases) {
            let started = Instant::now();
            match *name {
                "attach" => drop(service.veneer(&["attach", &pid])?),
                "plan begins" => drop(service.veneer(&["exec", &pid, "-e", PLAN])?),
                "unload" => drop(service.veneer(&["detach", &pid, "--unload"])?),
                _ => {}
            }
            let rest = time.saturating_sub(started.elapsed());
            seen.push(service.phase_after(&name.replace(' ', "-"), rest)?);
        }
    }
    let bad = service.stop()?;
    let mut table = Table::new(
        "",
        &[
            "phase",
            "requests a second",
            "failed",
            "median, ms",
            "99 %, ms",
            "slowest, ms",
        ],
    );
    for (name, seen) in names.iter().zip(&phases) {
        let values = |of: fn(&Phase) -> f64| seen.iter().map(of).collect::<Vec<f64>>();
        let slowest = values(|p| p.slowest / 1e3);
        let median = values(|p| p.median / 1e3);
        let p99 = values(|p| p.p99 / 1e3);
        let rate: Vec<f64> = seen
            .iter()
            .map(|p| p.requests as f64 / time.as_secs_f64())
            .collect();
        let failed: i64 = seen.iter().map(|p| p.failed).sum();
        record.figure("slowest request", "service", name, "ms", &slowest);
        record.figure("requests", "service", name, "/s", &rate);
        eprintln!("bench: service, {name}: {seen:?}");
        if failed > 0 {
            record.part.failures.push(format!(
                "{failed} requests failed in the phase `{name}`: {bad}"
            ));
        }
        table.rows.push(vec![
            (*name).into(),
            shown(&rate, 0),
            failed.to_string(),
            shown(&median, 2),
            shown(&p99, 2),
            shown(&slowest, 1),
        ]);
    }
    record.part.tables.push(table);
    record.part = record.part.with_duration_since(begun);
    Ok(record)
}

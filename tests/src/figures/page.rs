//! Writes the figures as JSON and as the tables of `docs/core-figures.md`.

use std::fmt::Write as _;

use serde::Serialize;

use super::machine::Machine;
use super::statistics::Spread;
use super::workload::{Mode, OPTIONS};

/// All figures of a full run.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The version of this format.
    pub schema: u32,
    /// The machine on which they were made.
    pub machine: Machine,
    /// Options of every JVM.
    pub options: Vec<&'static str>,
    /// The series of each program on each JDK.
    pub series: Vec<Series>,
}

/// The figures of one program on one JDK.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The name that the JDK prints for itself.
    pub jdk: String,
    pub workload: &'static str,
    /// Number of rounds in a run.
    pub rounds: usize,
    /// Milliseconds of a plain round.
    pub plain_ms: Spread,
    /// One row for each mode except `plain`.
    pub rows: Vec<Row>,
    /// Every run with its group and its mode.
    pub runs: Vec<(usize, Mode, super::run::Run)>,
}

/// A mode compared with `plain`.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub mode: Mode,
    /// Number of groups in which the mode ran.
    pub groups: usize,
    /// Ratio of the median round times.
    pub time: Spread,
    /// Ratio of the processor times of the main thread.
    pub processor: Option<Spread>,
    /// Sum of all counters at the end of the first run.
    pub hits: Option<u64>,
}

impl Row {
    /// The ratio to which the goal applies: processor time if the kernel reports it, otherwise
    /// time.
    pub fn ratio(&self) -> f64 {
        self.processor.unwrap_or(self.time).median
    }

    /// Returns whether the goal was met, or `None` if the mode has no goal. The comparison uses the
    /// printed precision: a ratio that is printed as 1.05 meets a goal of 1.05.
    pub fn met(&self) -> Option<bool> {
        let goal = self.mode.goal()?;
        Some(self.ratio() < goal + 0.005)
    }
}

impl Series {
    /// Calculates the ratios of the runs. Returns `None` if there is no plain run.
    pub fn new(
        jdk: String,
        workload: &'static str,
        rounds: usize,
        runs: Vec<(usize, Mode, super::run::Run)>,
    ) -> Option<Self> {
        let of = |mode: Mode| runs.iter().filter(move |(_, m, _)| *m == mode);
        let plain: Vec<f64> = of(Mode::Plain)
            .filter_map(|(_, _, run)| run.round_time())
            .collect();
        let mut rows = Vec::new();
        for mode in Mode::USUAL.into_iter().chain(Mode::WIDE) {
            let (mut time, mut processor, mut hits) = (Vec::new(), Vec::new(), None);
            for (group, _, run) in of(mode).filter(|_| mode != Mode::Plain) {
                let Some((_, _, alone)) = of(Mode::Plain).find(|(g, _, _)| g == group) else {
                    continue;
                };
                let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b?);
                time.extend(ratio(run.round_time(), alone.round_time()));
                processor.extend(ratio(run.processor_time(), alone.processor_time()));
                hits = hits.or(run.hits);
            }
            rows.extend(Spread::from_values(&time).map(|spread| Row {
                mode,
                groups: time.len(),
                time: spread,
                processor:
                    Spread::from_values(&processor).filter(|_| processor.len() == time.len()),
                hits,
            }));
        }
        Some(Self {
            jdk,
            workload,
            rounds,
            plain_ms: Spread::from_values(&plain)?,
            rows,
            runs,
        })
    }
}

const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";

impl Figures {
    /// The version of the JSON.
    pub const SCHEMA: u32 = 1;

    /// Returns the generated part of the page.
    pub fn markdown(&self) -> String {
        let m = &self.machine;
        let mut text = format!(
            "Made on {} with {}: {}, {} cores, {}; load averages {} before the first run. Each JVM: `{}`.\n",
            m.date,
            m.veneer,
            m.cpu,
            m.cores,
            m.kernel,
            m.load,
            OPTIONS.join(" ")
        );
        for series in &self.series {
            // Writing to a string does not fail.
            let _ = write!(text, "\n{}", table(series));
        }
        let _ = write!(text, "\n{}", self.verdict());
        text
    }

    /// Lists the missed goals with their figures, and the number of goals that were met.
    fn verdict(&self) -> String {
        let mut missed = Vec::new();
        let mut met = 0;
        for series in &self.series {
            for row in &series.rows {
                match (row.met(), row.mode.goal()) {
                    (Some(false), Some(goal)) => missed.push(format!(
                        "* **missed**: {}, {}, {}: {}, goal {goal:.2}; by the clock {}.\n",
                        series.workload,
                        series.jdk,
                        row.mode,
                        row.processor.unwrap_or(row.time),
                        row.time
                    )),
                    (Some(true), _) => met += 1,
                    _ => {}
                }
            }
        }
        let all = met + missed.len();
        if missed.is_empty() {
            return format!("All {all} goals were met.\n");
        }
        format!(
            "{met} of {all} goals were met, {} missed:\n\n{}",
            missed.len(),
            missed.concat()
        )
    }

    /// Returns the page with a new generated part, or `None` if the page has no markers.
    pub fn into_page(&self, page: &str) -> Option<String> {
        let (head, rest) = page.split_once(BEGIN)?;
        let (_, tail) = rest.split_once(END)?;
        Some(format!("{head}{BEGIN}\n{}{END}{tail}", self.markdown()))
    }
}

fn table(series: &Series) -> String {
    let mut text = format!(
        "**{}, {}**; a plain round takes {} ms; {} rounds in a run.\n\n\
         | mode | processor time | time | groups | goal | |\n| --- | --- | --- | --- | --- | --- |\n",
        series.workload, series.jdk, series.plain_ms, series.rounds
    );
    for row in &series.rows {
        let goal = row
            .mode
            .goal()
            .map_or(String::new(), |g| format!("≤ {g:.2}"));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {goal} | {} |",
            row.mode,
            row.processor.map_or("unknown".into(), |s| s.to_string()),
            row.time,
            row.groups,
            match row.met() {
                Some(true) => "met",
                Some(false) => "**missed**",
                None => "",
            }
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::run::Run;

    fn run(time: f64) -> Run {
        Run {
            rounds: vec![time; 6],
            processor: (1..=6).map(|n| Some(time * f64::from(n))).collect(),
            left_after: None,
            hits: None,
            out: String::new(),
        }
    }

    fn figures() -> Option<Figures> {
        let runs = [
            (0, Mode::Plain, 100.0),
            (0, Mode::Armed, 104.0),
            (0, Mode::Detached, 130.0),
            (1, Mode::Plain, 200.0),
            (1, Mode::Armed, 202.0),
            (1, Mode::Detached, 220.0),
        ];
        let runs = runs.map(|(group, mode, time)| (group, mode, run(time)));
        Some(Figures {
            schema: Figures::SCHEMA,
            machine: Machine {
                cpu: "a".into(),
                cores: 2,
                kernel: "b".into(),
                date: "c".into(),
                veneer: "d".into(),
                load: "e".into(),
            },
            options: OPTIONS.to_vec(),
            series: vec![Series::new("JDK 17".into(), "route", 6, runs.into())?],
        })
    }

    #[test]
    fn compares_within_a_group_and_names_what_is_missed() -> Result<(), &'static str> {
        let figures = figures().ok_or("no series")?;
        let text = figures.markdown();
        assert!(
            text.contains("| armed | 1.02 (1.01–1.04) | 1.02 (1.01–1.04) | 2 | ≤ 1.05 | met |"),
            "{text}"
        );
        assert!(text.contains("1 of 2 goals were met, 1 missed:"), "{text}");
        assert!(
            text.contains("* **missed**: route, JDK 17, detached: 1.20 (1.10–1.30), goal 1.05"),
            "{text}"
        );
        Ok(())
    }

    #[test]
    fn text_outside_the_markers_is_kept() -> Result<(), &'static str> {
        let figures = figures().ok_or("no series")?;
        let page = format!("before\n{BEGIN}\nold\n{END}\nafter\n");
        let once = figures.into_page(&page).ok_or("no markers")?;
        assert!(
            once.starts_with("before\n") && once.ends_with("\nafter\n") && !once.contains("old")
        );
        assert_eq!(figures.into_page(&once), Some(once));
        assert_eq!(figures.into_page("no markers"), None);
        Ok(())
    }
}

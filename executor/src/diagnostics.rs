//! The messages of the agent about itself: refusals, problems, and the records of the metadata
//! journal.
//!
//! A *refusal* says that a class or method was left as it was, with a public code and a detail. A
//! *problem* is an error of a plan or of the agent. All threads of the agent record both; the
//! report and the plan functions read them. Each mutex is held for one operation on its collection
//! only, and never while a file is written.
//!
//! A problem is also appended to the *metadata journal*, a file of the data directory, so that
//! `veneer report` shows the problem if the JVM is killed.

use crate::data::metadata_journal::MetadataJournal;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use veneer_instruments::RefusalRow;
use veneer_protocol::Problem;
use veneer_protocol::data::Record;

/// The largest number of problems that are kept. A callback that fails every second for an hour is
/// within this limit.
const MAX_PROBLEMS: usize = 10_000;

/// The identity of a refusal. The order of the fields is the order of refusals in the report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RefusalKey {
    /// The dotted class name.
    class: String,
    /// The method's name and descriptor; empty if the refusal concerns the whole class.
    method: String,
    /// The public code, for instance `MethodTooLarge`.
    code: String,
}

impl RefusalKey {
    fn new(class: &str, method: &str, code: &str) -> RefusalKey {
        RefusalKey {
            class: class.into(),
            method: method.into(),
            code: code.into(),
        }
    }
}

/// Refusals, problems, and the metadata journal. See the module documentation.
pub struct Diagnostics {
    /// The detail of each refusal.
    refusals: Mutex<BTreeMap<RefusalKey, String>>,
    /// In the order of their occurrence, with repetitions; at most [`MAX_PROBLEMS`] and one that
    /// says that there were more.
    problems: Mutex<Vec<Problem>>,
    /// Messages that were printed to the standard error stream. Each message is printed once.
    printed: Mutex<HashSet<String>>,
    journal: MetadataJournal,
    /// Whether the data directory has been removed, so that no record is appended any more.
    journal_removed: AtomicBool,
    /// The data directory, for messages.
    data_directory: PathBuf,
}

impl Diagnostics {
    /// Makes an empty collection that appends records to the journal of a data directory.
    pub fn new(journal: MetadataJournal, data_directory: PathBuf) -> Diagnostics {
        Diagnostics {
            refusals: Mutex::default(),
            problems: Mutex::default(),
            printed: Mutex::default(),
            journal,
            journal_removed: AtomicBool::new(false),
            data_directory,
        }
    }

    fn refusal_map(&self) -> MutexGuard<'_, BTreeMap<RefusalKey, String>> {
        self.refusals.lock()
    }

    /// Records that a method was left as it was; an empty `method` means the whole class. A
    /// further refusal with the same code replaces the detail.
    pub fn refuse(&self, class: &str, method: &str, code: &str, detail: &str) {
        self.refusal_map()
            .insert(RefusalKey::new(class, method, code), detail.into());
    }

    /// Removes a refusal, because its cause no longer exists.
    pub fn withdraw_refusal(&self, class: &str, method: &str, code: &str) {
        self.refusal_map()
            .remove(&RefusalKey::new(class, method, code));
    }

    /// Removes the refusals with these details. The caller reports them in another way.
    pub fn withdraw_details(&self, details: &HashSet<String>) {
        self.refusal_map()
            .retain(|_, detail| !details.contains(detail));
    }

    /// Returns all refusals, sorted by class, method and code.
    pub fn refusals(&self) -> Vec<RefusalRow> {
        let refusals = self.refusal_map();
        let row = |(key, detail): (&RefusalKey, &String)| RefusalRow {
            class: key.class.clone(),
            method: key.method.clone(),
            reason: key.code.clone(),
            detail: detail.clone(),
        };
        refusals.iter().map(row).collect()
    }

    /// Records a problem for the report. If the message is new, this function also prints it to
    /// the standard error stream and appends it to the metadata journal. An empty `plan` means the
    /// agent itself.
    pub fn report_problem(&self, plan: &str, message: &str) {
        let problem = Problem {
            plan: plan.into(),
            message: message.into(),
        };
        if self.print_once(problem.clone()) {
            self.append_records(&[Record::Problem(problem)]);
        }
    }

    /// Records a problem for the report, and prints its message if the message is new. Returns
    /// whether the message is new.
    fn print_once(&self, problem: Problem) -> bool {
        let mut message = problem.message.clone();
        {
            let mut problems = self.problems.lock();
            if problems.len() > MAX_PROBLEMS {
                return false;
            }
            if problems.len() < MAX_PROBLEMS {
                problems.push(problem);
            } else {
                message = format!(
                    "{MAX_PROBLEMS} problems were reported; further ones are neither printed nor kept"
                );
                problems.push(Problem {
                    plan: String::new(),
                    message: message.clone(),
                });
            }
        }
        let is_new = self.printed.lock().insert(message.clone());
        if is_new {
            eprintln!("veneer: {message}");
        }
        is_new
    }

    /// Returns all problems in the order of their occurrence.
    pub fn problems(&self) -> Vec<Problem> {
        self.problems.lock().clone()
    }

    /// Returns the messages of the agent's own problems in the order of their first occurrence.
    pub fn agent_problems(&self) -> Vec<String> {
        let problems = self.problems.lock();
        let mut seen = HashSet::new();
        let messages = problems
            .iter()
            .filter(|problem| problem.plan.is_empty())
            .map(|problem| &problem.message);
        messages
            .filter(|message| seen.insert(*message))
            .cloned()
            .collect()
    }

    /// Appends records to the metadata journal. An empty slice retries the records that found no
    /// room before. A failure is reported as a problem: the counts in the running JVM stay right,
    /// but the report of a killed JVM would be incomplete.
    pub fn append_records(&self, records: &[Record]) {
        if self.journal_removed.load(Ordering::Relaxed) {
            return;
        }
        if let Err(e) = self.journal.append(records) {
            let place = self.data_directory.display();
            // This problem is not appended to the journal, because appending has just failed.
            self.print_once(Problem {
                plan: String::new(),
                message: format!("the catalogue in {place} cannot be written ({e}): if the JVM is killed now, figures of what is attached from here on are lost; make room"),
            });
        }
    }

    /// Ends the metadata journal. The agent calls this function when it is loaded again, because it
    /// has removed its data directory when it was unloaded.
    pub fn end_journal(&self) {
        self.journal_removed.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use veneer_protocol::data::JOURNAL_FILE;

    fn diagnostics(directory: &Path) -> Diagnostics {
        let journal = MetadataJournal::create(directory, &problem("", "first record")).unwrap();
        Diagnostics::new(journal, directory.into())
    }

    fn problem(plan: &str, message: &str) -> Record {
        Record::Problem(Problem {
            plan: plan.into(),
            message: message.into(),
        })
    }

    fn journal_text(directory: &Path) -> String {
        std::fs::read_to_string(directory.join(JOURNAL_FILE)).unwrap()
    }

    #[test]
    fn refusals_are_sorted_and_a_second_one_replaces_the_detail() {
        let directory = tempfile::tempdir().unwrap();
        let diagnostics = diagnostics(directory.path());
        diagnostics.refuse("b.B", "run()V", "MethodTooLarge", "old");
        diagnostics.refuse("b.B", "", "BrokenClass", "whole class");
        diagnostics.refuse("a.A", "run()V", "MethodTooLarge", "other");
        diagnostics.refuse("b.B", "run()V", "MethodTooLarge", "new");
        diagnostics.refuse("b.B", "stop()V", "NotCompiled", "an error of a plan");
        diagnostics.withdraw_details(&HashSet::from(["an error of a plan".to_string()]));
        let rows = diagnostics.refusals();
        let rows: Vec<_> = rows
            .iter()
            .map(|r| (r.class.as_str(), r.method.as_str(), r.detail.as_str()))
            .collect();
        let expected = [
            ("a.A", "run()V", "other"),
            ("b.B", "", "whole class"),
            ("b.B", "run()V", "new"),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn withdrawing_removes_the_refusal_with_this_code_only() {
        let directory = tempfile::tempdir().unwrap();
        let diagnostics = diagnostics(directory.path());
        diagnostics.refuse("a.A", "run()V", "MethodTooLarge", "");
        diagnostics.refuse("a.A", "run()V", "Internal", "");
        diagnostics.withdraw_refusal("a.A", "run()V", "MethodTooLarge");
        diagnostics.withdraw_refusal("a.A", "other()V", "Internal");
        let rows = diagnostics.refusals();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].reason, "Internal");
    }

    #[test]
    fn a_repeated_problem_is_kept_twice_but_recorded_once() {
        let directory = tempfile::tempdir().unwrap();
        let diagnostics = diagnostics(directory.path());
        diagnostics.report_problem("p.rhai", "no such method");
        diagnostics.report_problem("q.rhai", "no such method");
        let plans: Vec<_> = diagnostics.problems().into_iter().map(|p| p.plan).collect();
        assert_eq!(plans, ["p.rhai", "q.rhai"]);
        let journal = journal_text(directory.path());
        assert_eq!(journal.matches("no such method").count(), 1);
        assert!(journal.contains("p.rhai") && !journal.contains("q.rhai"));
    }

    #[test]
    fn problems_beyond_the_limit_are_counted_as_one() {
        let directory = tempfile::tempdir().unwrap();
        let diagnostics = diagnostics(directory.path());
        for _ in 0..MAX_PROBLEMS + 5 {
            diagnostics.report_problem("p.rhai", "the same again");
        }
        let problems = diagnostics.problems();
        assert_eq!(problems.len(), MAX_PROBLEMS + 1);
        let last = &problems[MAX_PROBLEMS].message;
        assert!(last.contains("neither printed nor kept"), "{last}");
    }

    #[test]
    fn problems_of_the_agent_are_those_without_a_plan_and_each_once() {
        let directory = tempfile::tempdir().unwrap();
        let diagnostics = diagnostics(directory.path());
        diagnostics.report_problem("", "no room");
        diagnostics.report_problem("p.rhai", "no such method");
        diagnostics.report_problem("", "a thread failed");
        diagnostics.report_problem("", "no room");
        assert_eq!(diagnostics.agent_problems(), ["no room", "a thread failed"]);
    }

    #[test]
    fn nothing_is_appended_after_the_end_of_the_journal() {
        let directory = tempfile::tempdir().unwrap();
        let diagnostics = diagnostics(directory.path());
        let before = journal_text(directory.path());
        diagnostics.end_journal();
        diagnostics.report_problem("", "after the end");
        diagnostics.append_records(&[problem("", "another one")]);
        assert_eq!(journal_text(directory.path()), before);
        assert_eq!(diagnostics.problems().len(), 1);
    }
}

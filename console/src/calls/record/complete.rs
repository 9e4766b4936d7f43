//! `veneer run --call-graph OUT`, with counters in the code of the methods: from the start of a program to
//! its end. With `--complete`, all classes have counters, also those that are never armed.
//!
//! ```text
//!   agent ─▶ ‹data›/‹process›-complete-calls ─▶ readings ─▶ assemble ─▶ CallProfile ─▶ OUT
//! ```
//!
//! The files are complete at each moment, so a JVM that was killed has the same graph.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use veneer_calls::{CallKind, CallProfile, UnseenClass, file};
use veneer_client::plan_text::literal;
use veneer_client::{ControlError, Target};
use veneer_instruments::{Measurement, MethodPattern, PointRow, RefusalRow};
use veneer_instruments::{class_flag_words, flag_words};
use veneer_names::{java_form, site_id};
use veneer_protocol::data::{
    ClassFacts, CompleteCalls, CountedClassRecord, CountedMethodRecord, MethodFacts,
    ReceiverRecord, complete_calls_path, directories_with_complete_calls, read_complete_calls,
};
use veneer_protocol::{
    CountedClasses, DetachTarget, EntryMetrics, Report, TableEntry, path_of_process,
};

use super::assemble::{self, Readings};
use super::hierarchy::Hierarchy;
use super::run_recording::summarise;
use super::site::CallSite;
use super::{EVERY_METHOD, take_recorder, write};
use crate::cli::CallsRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::interruption::Interruption;
use crate::output::print_error;
use crate::recorded_jvm::{check_folder, process_id, read_report};
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use crate::replaced_file::replace_file;
use crate::trace::TraceDirectory;

/// The access flag of native methods (JVMS table 4.6-A).
const ACC_NATIVE: u16 = 0x0100;

/// The character that the descriptors of hidden classes have before their address.
const HIDDEN_MARK: char = '.';

/// The superclass of arrays, which inherit all their methods.
const OBJECT: &str = "java.lang.Object";

/// Interval between two looks at whether the JVM still runs.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Classes whose code the JVM shows to no agent.
const HIDDEN_CLASSES: &str = "[hidden classes]";

const HIDDEN_REASON: &str =
    "the JVM shows the code of hidden classes, such as those of lambdas, to no agent";

/// A recording of all JVMs of a command.
pub struct CompleteRun {
    /// The file that the user named.
    place: PathBuf,
    /// The patterns of the recorded classes; `None`: all classes are recorded.
    patterns: Option<Vec<String>>,
}

impl CompleteRun {
    /// Checks the file before the program starts. Without patterns, the calls of all classes are
    /// recorded.
    ///
    /// # Errors
    /// The folder of the file cannot be written.
    pub fn prepare(place: &Path, patterns: Option<Vec<String>>) -> Result<CompleteRun> {
        check_folder(place)?;
        Ok(CompleteRun {
            place: place.to_path_buf(),
            patterns,
        })
    }

    /// The classes that the agent counts.
    pub fn classes(&self) -> CountedClasses {
        match self.patterns {
            None => CountedClasses::All,
            Some(_) => CountedClasses::Selected,
        }
    }

    /// The data directories of the JVMs that recorded.
    pub fn recorded(data: &Path) -> BTreeSet<PathBuf> {
        directories_with_complete_calls(data).into_iter().collect()
    }

    /// Writes the graphs of the JVMs that recorded in the data directory and that are not in
    /// `before`. `report` is the path of the report of a process.
    pub fn finish(
        &self,
        data: &Path,
        before: &BTreeSet<PathBuf>,
        report: impl Fn(u32) -> Option<PathBuf>,
    ) -> Result<()> {
        let recorded = CompleteRun::recorded(data);
        let recorded: Vec<&PathBuf> = recorded.difference(before).collect();
        if recorded.is_empty() {
            print_error(&"no JVM recorded its calls");
        }
        for own in &recorded {
            let Some(pid) = process_id(own) else { continue };
            let place = match recorded.len() {
                1 => self.place.clone(),
                _ => path_of_process(&self.place, pid),
            };
            let directory = complete_calls_path(own);
            let counts = read_complete_calls(&directory)
                .with_context(|| format!("{} cannot be read", directory.display()))?;
            let report = report(pid).and_then(|path| read_report(&path, pid));
            let profile = self.profile(&counts, report.as_ref())?;
            replace_file(&place, |out| {
                file::write(&profile, out)?;
                Ok(())
            })?;
            summarise(&mut std::io::stderr().lock(), &place, &profile)?;
            // The profile has everything that is in the files.
            let _ = fs::remove_dir_all(directory);
        }
        Ok(())
    }

    /// Makes the profile of a JVM. Without a report, the JVM was killed.
    fn profile(&self, counts: &CompleteCalls, report: Option<&Report>) -> Result<CallProfile> {
        let every = [EVERY_METHOD.to_owned()];
        let patterns = self.patterns.as_deref();
        let mut profile = assemble_profile(counts, patterns.unwrap_or(&every))?;
        if let Some(report) = report {
            let jvm = format!("{} {}", report.jvm.name, report.jvm.version);
            profile.add_info("jvm", &jvm);
        }
        let recorded = match patterns {
            Some(_) => "from the start of the program",
            None => "all classes, from the start of the program",
        };
        profile.add_info("recorded", recorded);
        for pattern in patterns.unwrap_or_default() {
            profile.add_info("methods", pattern);
        }
        if report.is_none() {
            profile.add_info("incomplete", "the JVM was killed, or runs on");
        }
        Ok(profile)
    }
}

/// Records the calls of all classes of a running JVM, and returns the exit code.
///
/// # Errors
/// The JVM cannot be reached, or its files cannot be read.
pub fn record_running(arguments: &CallsRecordArguments) -> Result<u8> {
    let target = Target::inspect(arguments.pid)?;
    let mut holder = veneer_client::connect(arguments.pid)?;
    let program = format!(
        "let c = methods(\"*\").around(complete_calls().named({}));\n\
         print(#{{ ids: [c.id()], directory: c.recording().directory }}.to_json());\n",
        literal(&format!("veneer calls {}: all calls", std::process::id()))
    );
    let mut prints = match holder.execute("calls", program, Some(LEASE_MILLIS)) {
        Ok(prints) => prints,
        Err(ControlError::Refused(message)) => {
            print_error(&message);
            return Ok(EXIT_PROGRAM_FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    let recorder = take_recorder(&mut prints);
    prints.iter().for_each(|line| print_error(line));
    let recorder = recorder.context("the agent did not say where it counts")?;
    holder.keep_renewing(RENEWAL_INTERVAL)?;
    let directory = TraceDirectory::of_jvm(&target, &recorder.directory);
    print_error(&format_args!(
        "recording the calls of all classes in process {} for {} s",
        arguments.pid, arguments.seconds
    ));
    let interruption = Interruption::catch()?;
    let end = Instant::now() + Duration::from_secs_f64(arguments.seconds);
    let mut runs = true;
    while runs && !interruption.is_requested() && Instant::now() < end {
        let left = end.saturating_duration_since(Instant::now());
        interruption.sleep(left.min(LOOK_INTERVAL));
        runs = target.is_alive();
    }
    let mut client = veneer_client::connect(arguments.pid).ok().filter(|_| runs);
    // The classes lose their counters one after the other, so the counts are read before.
    let counts = read_complete_calls(directory.path())
        .with_context(|| format!("{} cannot be read", directory.path().display()))?;
    let is_whole = match &mut client {
        Some(client) => client.detach(DetachTarget::Ids(recorder.ids)).is_ok(),
        None => false,
    };
    drop(holder);
    let mut profile = assemble_profile(&counts, &[EVERY_METHOD.to_owned()])?;
    profile.add_info("recorded", "all classes, in a running JVM");
    if !is_whole {
        let text = "the JVM ended during the recording";
        print_error(&format_args!("process {}: {text}", arguments.pid));
        profile.add_info("incomplete", text);
        // The agent left the files to this command.
        let _ = fs::remove_dir_all(directory.path());
    }
    write(&profile, arguments)?;
    Ok(0)
}

/// Makes the profile from the counts. The patterns select the recorded classes.
fn assemble_profile(counts: &CompleteCalls, patterns: &[String]) -> Result<CallProfile> {
    let readings = readings(counts);
    let mut hierarchy = hierarchy(&counts.classes);
    for receiver in &counts.receivers {
        if receiver.class.contains(HIDDEN_MARK) {
            hierarchy.add(hidden_class(receiver));
        } else {
            let supertypes = receiver.supertypes.iter().cloned();
            hierarchy.add_supertypes(&class_name(&receiver.class), supertypes);
        }
    }
    let patterns = patterns.iter().map(|text| MethodPattern::parse(text));
    let patterns: Vec<MethodPattern> = patterns.collect::<Result<_, _>>()?;
    let mut profile = assemble::profile(&readings, &hierarchy, &patterns);
    profile.add_unseen(UnseenClass {
        class: HIDDEN_CLASSES.into(),
        reason: HIDDEN_REASON.into(),
    });
    let lost = counts.counts.first().copied().unwrap_or(0);
    if lost > 0 {
        let text = format!("the receivers of {lost} virtual calls are not known");
        profile.add_info("incomplete", &text);
    }
    Ok(profile)
}

/// The counts as rows.
fn readings(counts: &CompleteCalls) -> Readings {
    let count = |counter: u32| counts.counts.get(counter as usize).copied().unwrap_or(0);
    let names = counts.receivers.iter();
    let names: HashMap<u32, String> = names
        .map(|one| (one.number, class_name(&one.class)))
        .collect();
    let mut pairs: HashMap<u32, Vec<(u32, u64)>> = HashMap::new();
    for pair in &counts.pairs {
        let of_site = pairs.entry(pair.site).or_default();
        of_site.push((pair.class, count(pair.counter)));
    }
    let mut readings = Readings {
        are_receivers_whole: true,
        ..Readings::default()
    };
    for class in &counts.classes {
        for method in &class.methods {
            let row = |what: Option<&str>, line: Option<u16>, hits: u64| PointRow {
                class: class.name.clone(),
                method: method.method.clone(),
                fragment: None,
                to: None,
                what: what.map(String::from),
                line,
                data: Measurement::Count { hits },
            };
            if let Some(counter) = method.entry {
                readings.add_point(row(None, None, count(counter)));
            }
            for site in &method.sites {
                let mut hits = count(site.counter);
                if let Some(call) = CallSite::parse(&site.what) {
                    let id = site_id(&class.name, &method.method, call.bci);
                    let mut add = |receiver: &str, count: u64| {
                        readings.receivers.push(TableEntry {
                            keys: vec![id.into(), receiver.into()],
                            figures: EntryMetrics::Count { count },
                        });
                    };
                    if site.by_receiver {
                        let receivers = pairs.get(&site.counter).map_or(&[][..], Vec::as_slice);
                        hits = receivers.iter().map(|(_, hits)| hits).sum();
                        for (number, count) in receivers {
                            if let Some(name) = names.get(number) {
                                add(name, *count);
                            }
                        }
                    } else if call.kind == CallKind::Virtual {
                        // No class overrides the method.
                        add(call.class, hits);
                    }
                }
                if hits > 0 {
                    readings.add_point(row(Some(&site.what), site.line, hits));
                }
            }
            if let Some((reason, detail)) = &method.refusal {
                readings.refusals.push(RefusalRow {
                    class: class.name.clone(),
                    method: method.method.clone(),
                    reason: reason.clone(),
                    detail: detail.clone(),
                });
            }
        }
    }
    readings
}

/// The name of a class of receivers, from its field descriptor: `La/B;`. The name of a hidden class
/// has its address: `La/B.0x01;`.
fn class_name(descriptor: &str) -> String {
    match descriptor.strip_prefix('L') {
        Some(name) => {
            let name = name.strip_suffix(';').unwrap_or(name);
            match name.split_once('.') {
                Some((class, address)) => format!("{}/{address}", java_form(class)),
                None => java_form(name),
            }
        }
        None => OBJECT.into(),
    }
}

/// The classes with all their supertypes.
fn hierarchy(classes: &[CountedClassRecord]) -> Hierarchy {
    let by_name: HashMap<&str, &CountedClassRecord> = classes
        .iter()
        .map(|class| (class.name.as_str(), class))
        .collect();
    let mut hierarchy = Hierarchy::default();
    for class in by_name.values() {
        let mut supertypes = BTreeSet::new();
        let mut open = vec![*class];
        while let Some(class) = open.pop() {
            let direct = class.interfaces.iter().chain([&class.superclass]);
            for name in direct.filter(|name| !name.is_empty()) {
                if supertypes.insert(name.clone())
                    && let Some(above) = by_name.get(name.as_str())
                {
                    open.push(above);
                }
            }
        }
        hierarchy.add(ClassFacts {
            name: class.name.clone(),
            supertypes,
            flags: class_flag_words(class.access).map(String::from).collect(),
            methods: class.methods.iter().map(method_facts).collect(),
        });
    }
    hierarchy
}

/// A class of receivers whose class file no agent has seen.
fn hidden_class(receiver: &ReceiverRecord) -> ClassFacts {
    let methods = receiver.methods.iter().map(|method| MethodFacts {
        method: method.clone(),
        ..MethodFacts::default()
    });
    ClassFacts {
        name: class_name(&receiver.class),
        supertypes: receiver.supertypes.iter().cloned().collect(),
        methods: methods.collect(),
        ..ClassFacts::default()
    }
}

fn method_facts(method: &CountedMethodRecord) -> MethodFacts {
    MethodFacts {
        method: method.method.clone(),
        size: method.size,
        flags: flag_words(method.access).map(String::from).collect(),
        native: method.access & ACC_NATIVE != 0,
    }
}

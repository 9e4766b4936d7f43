//! `veneer lifetimes PID TYPE`: records lifetimes in a running JVM.
//!
//! The plan is held: the agent detaches its instruments when this command ends. The agent writes the
//! lifetimes when the last instrument is detached, or when the JVM ends. A second connection asks for
//! this, because replies on the first one would mix with the prints of the plan.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;
use thiserror::Error;
use veneer_client::{Client, ControlError, Target};
use veneer_memory::profile::MemoryProfile;
use veneer_protocol::DetachTarget;

use super::followed_type::FollowedType;
use super::lives_file::LivesFile;
use super::show;
use crate::cli::LifetimesRecordArguments;
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::interruption::Interruption;
use crate::output::print_error;
use crate::remote::{LEASE_MILLIS, RENEWAL_INTERVAL};
use crate::trace::TraceDirectory;

/// The name of the plan in messages.
const PLAN_NAME: &str = "lifetimes";
/// Interval between two looks at whether the JVM has ended.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The longest time in which a JVM that ends writes the lifetimes.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// Why nothing was recorded.
#[derive(Debug, Error)]
enum RecordError {
    #[error("the agent did not say where the lifetimes are")]
    NoDirectory,
}

/// The line that the plan prints.
#[derive(Debug, Deserialize)]
struct Begun {
    /// The directory of the recording, in the file system of the JVM.
    recording: PathBuf,
}

/// Records, and returns the exit code.
pub fn run(arguments: &LifetimesRecordArguments) -> Result<u8> {
    let interruption = Interruption::catch()?;
    let target = Target::inspect(arguments.pid)?;
    let mut holder = veneer_client::connect(arguments.pid)?;
    let program = format!(
        "{}at_exit(|| {{ for h in handles {{ h.detach(); }} }});\n\
         print(#{{ recording: recording }}.to_json());\n",
        arguments.followed.plan(&arguments.within)
    );
    let mut prints = match holder.execute(PLAN_NAME, program, Some(LEASE_MILLIS)) {
        Ok(prints) => prints,
        Err(ControlError::Refused(message)) => {
            print_error(&message);
            return Ok(EXIT_PROGRAM_FAILED);
        }
        Err(error) => return Err(error.into()),
    };
    let begun = take_begun(&mut prints).ok_or(RecordError::NoDirectory)?;
    for warning in warnings(prints, arguments.followed.text()) {
        print_error(&format_args!("warning: {warning}"));
    }
    holder.keep_renewing(RENEWAL_INTERVAL)?;
    let directory = TraceDirectory::of_jvm(&target, &begun.recording);
    let file = LivesFile::new(directory.path().to_path_buf());
    print_error(&format_args!(
        "following the objects of {} in process {} for {} s",
        arguments.followed.text(),
        arguments.pid,
        arguments.seconds
    ));
    let mut client = veneer_client::connect(arguments.pid)?;
    let time = Duration::from_secs_f64(arguments.seconds);
    let has_ended = !wait(&mut client, time, &interruption)? || !detach(&mut client)?;
    drop(holder);
    if has_ended {
        print_error(&format_args!(
            "process {} has ended; its lifetimes are those up to its end",
            arguments.pid
        ));
        file.wait(WRITE_LIMIT);
    }
    let mut profile = file.take()?;
    if has_ended && let Some(root) = directory.path().parent() {
        // The directory is that of the JVM, and may have files of other commands.
        let _ = fs::remove_dir(root);
    }
    describe(&mut profile, arguments);
    show::write_or_print(
        &profile,
        arguments.output.as_deref(),
        arguments.view(),
        arguments.json,
    )?;
    Ok(0)
}

/// Takes the line with the directory out of the lines that the plan has printed.
fn take_begun(prints: &mut Vec<String>) -> Option<Begun> {
    let at = prints.iter().position(|line| line.starts_with('{'))?;
    let begun = serde_json::from_str(&prints[at]).ok()?;
    prints.remove(at);
    Some(begun)
}

/// The warnings of the plan about the followed type, and about activations of old code, without the lines of
/// the plan and each one once. Superclasses may have no method, and a class may have no field.
fn warnings(prints: Vec<String>, followed: &str) -> Vec<String> {
    let unmatched = format!("`{followed}::<init>(..)` matches no method");
    let mut known = BTreeSet::new();
    let texts = prints
        .into_iter()
        .filter_map(|line| Some(line.split_once("warning: ")?.1.to_owned()));
    texts
        .filter(|text| text.starts_with(&unmatched) || text.contains("began before"))
        .filter(|text| known.insert(text.clone()))
        .collect()
}

/// Waits until the time is over, or until Ctrl-C. Returns false if the JVM has ended.
fn wait(client: &mut Client, time: Duration, interruption: &Interruption) -> Result<bool> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        interruption.sleep(left.min(LOOK_INTERVAL));
        match client.status() {
            Err(error) if error.is_closed() => return Ok(false),
            result => drop(result?),
        }
        if interruption.is_requested() || Instant::now() >= end {
            return Ok(true);
        }
    }
}

/// Detaches the instruments of this command. Returns false if the JVM has ended.
fn detach(client: &mut Client) -> Result<bool> {
    let name = FollowedType::instrument_name();
    let detached = client.report().and_then(|report| {
        let instruments = report.instruments.into_iter();
        let own = instruments.filter(|one| one.attached && one.name == name);
        client.detach(DetachTarget::Ids(own.map(|one| one.id).collect()))
    });
    match detached {
        Err(error) if error.is_closed() => Ok(false),
        result => Ok(result.map(|_| true)?),
    }
}

/// Says in the profile what was recorded.
fn describe(profile: &mut MemoryProfile, arguments: &LifetimesRecordArguments) {
    profile.program = format!(
        "objects of {} in process {}",
        arguments.followed.text(),
        arguments.pid
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_shown_once_and_without_its_line() {
        let missing = "lifetimes:9:3: warning: `a.B::<init>(..)` matches no method that is loaded";
        let above = "lifetimes:7:3: warning: `a.Above::*(..)` matches no method that is loaded";
        let other = "lifetimes:8:3: warning: no class that `*..*` selects names a method like `x`";
        let prints = [missing, missing, above, other].map(String::from).to_vec();
        assert_eq!(
            warnings(prints, "a.B"),
            ["`a.B::<init>(..)` matches no method that is loaded"]
        );
        let mut prints = vec!["a".to_owned(), r#"{"recording":"/tmp/x"}"#.to_owned()];
        assert_eq!(
            take_begun(&mut prints).unwrap().recording,
            PathBuf::from("/tmp/x")
        );
        assert_eq!(prints, ["a"]);
    }
}

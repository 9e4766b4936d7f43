//! `veneer run`: checks everything that can be checked before the application starts. Then the
//! application runs as if it had been started without Veneer.

mod recordings;

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use veneer_protocol::{AgentConfig, PlanSource};

use crate::cli::{RunArguments, settings};
use crate::command_line::{TOOL_OPTIONS, archives_classes_at_exit, plan_command};
use crate::disk_check::ReportFile;
use crate::java::Jdk;
use crate::output::print_error;
use crate::reports::ReportFiles;
use crate::search::run_search::{RunSearch, finish_and_report};
use crate::{child, plans, post_mortem};
use recordings::Recordings;
use veneer_client::cache_folder::cache_folder;
use veneer_client::{agent, token};

/// Subdirectory of the temporary directory for the data of JVMs. The configuration `agent.json` is
/// beside it, because JVMs that start later also read the configuration.
const DATA_SUBDIRECTORY: &str = "data";

/// Runs the application and returns its exit code.
pub fn run(arguments: RunArguments) -> Result<u8> {
    let program = arguments.command.first().context("no command after `--`")?;
    Jdk::of_command(program)?;
    let search = prepare_search(&arguments)?;
    if search.is_some() && !needs_agent(&arguments) {
        let mut command = Command::new(program);
        command.args(arguments.command.iter().skip(1));
        return Ok(child::exit_with_status(start(&mut command, search)?));
    }
    let library = agent::find()?;
    let mut plans = read_plans(&arguments)?;
    let mut recordings = Recordings::prepare(&arguments)?;
    plans.extend(recordings.plans());
    if arguments.strict {
        plans.iter().try_for_each(plans::check_plan)?;
    }
    let report = arguments
        .report
        .as_deref()
        .map(|path| ReportFile::check(path, "--report"))
        .transpose()?;

    ensure!(
        !arguments.children || arguments.listen.is_none_or(|address| address.port() == 0),
        "with --children each JVM needs a port of its own: write --listen 127.0.0.1:0, and each says which one it has"
    );
    let token_file = arguments
        .token_file
        .as_deref()
        .map(token::create_token_file)
        .transpose()?;

    let directory = temporary_directory()?;
    let kept = arguments.data.map(PathBuf::into_os_string);
    let kept = kept.or_else(|| env::var_os("VENEER_DATA_DIR").filter(|path| !path.is_empty()));
    let own_data = directory.path().join(DATA_SUBDIRECTORY);
    let mut config = AgentConfig {
        plans,
        arm: arguments.arm,
        arm_all: arguments.arm_all,
        skip: arguments.skip,
        policy: arguments.policy,
        calls: arguments.calls,
        report: report.as_ref().map(|report| report.path().to_owned()),
        children: arguments.children,
        strict: arguments.strict,
        check: arguments.check,
        listen: arguments.listen.map(|address| address.to_string()),
        token_file,
        keep_data: kept.is_some(),
        cache: (!arguments.no_cache).then(cache_folder).flatten(),
        ..AgentConfig::new(match kept {
            Some(path) => data_directory(Path::new(&path))?,
            None => own_data.clone(),
        })
    };
    let data = config.data_dir.clone();
    let entries_before = number_of_entries(&data);
    recordings.configure(&mut config, directory.path());
    let config_path = directory.path().join("agent.json");
    write_config(&config_path, &config)?;
    warn_about_archive(&arguments.command);
    let planned = plan_command(
        &arguments.command,
        &library,
        &config_path,
        env::var_os(TOOL_OPTIONS).as_deref(),
        arguments.children,
    )?;

    let reports = ReportFiles::begin(report, arguments.children)
        .context("the report cannot be emptied; choose another file for --report")?;
    let (program, rest) = planned
        .argv
        .split_first()
        .context("no command after `--`")?;
    let mut command = Command::new(program);
    command.args(rest).envs(planned.env);
    let status = start(&mut command, search)?;
    // Each agent makes a directory there. Of a directory that the user has not named, the agent
    // leaves the directory itself.
    if number_of_entries(&data) == entries_before {
        print_error(&describe_missing_jvm(&arguments.command));
    }

    let not_taken = recordings.finish(&config)?;
    if let Some(path) = reports.missing() {
        print_error(&format!(
            "no report was written to {}; the JVM was killed, never started, or said why above",
            path.display()
        ));
    }
    if let Ok(left) = post_mortem::directories(&own_data)
        && !left.is_empty()
    {
        print_error(&describe_remaining_data(&left, &directory.keep()));
        return Ok(child::exit_with_status(status));
    }
    if let (Some(recording), false) = (not_taken.first(), config.keep_data) {
        print_error(&format_args!(
            "a plan or another command has left an event trace; `veneer trace show {}` reads it",
            recording.display()
        ));
        let _ = directory.keep();
        return Ok(child::exit_with_status(status));
    }
    // The directory is closed explicitly, because no destructor runs if the next line ends this
    // process by a signal.
    if let Err(error) = directory.close() {
        print_error(&format!(
            "a temporary directory could not be removed: {error}"
        ));
    }
    Ok(child::exit_with_status(status))
}

/// Reads the plans that the options name, with their settings.
fn read_plans(arguments: &RunArguments) -> Result<Vec<PlanSource>> {
    let settings = settings(&arguments.settings);
    let mut plans = arguments
        .plans
        .iter()
        .map(|path| plans::read(path, &settings))
        .collect::<Result<Vec<_>, _>>()?;
    plans::assign_settings(&mut plans);
    Ok(plans)
}

fn warn_about_archive(command: &[OsString]) {
    if archives_classes_at_exit(command, env::var_os(TOOL_OPTIONS).as_deref()) {
        print_error(
            &"the command has -XX:ArchiveClassesAtExit: HotSpot writes no archive while an agent that changes classes is loaded, and \
             ends with exit code 1; leave the option out",
        );
    }
}

/// The message that no JVM has run.
fn describe_missing_jvm(command: &[OsString]) -> String {
    let program = command.first().map(|word| word.to_string_lossy());
    format!(
        "no JVM has run under Veneer: {} started none, or the JVM ended before it loaded the agent",
        program.unwrap_or_default()
    )
}

/// Checks the search that the options name.
fn prepare_search(arguments: &RunArguments) -> Result<Option<RunSearch>> {
    let options = &arguments.search_options;
    match &arguments.search {
        Some(result) => Ok(Some(RunSearch::prepare(result, options)?)),
        None if options.are_given() => {
            bail!(
                "--threshold, --why, --threads, --cost, --graph, --strategy and --record need --search OUT.json"
            )
        }
        None => Ok(None),
    }
}

/// Returns whether an option needs the agent. A search does not.
fn needs_agent(arguments: &RunArguments) -> bool {
    let lists = [&arguments.arm, &arguments.skip, &arguments.calls];
    let files = [
        &arguments.report,
        &arguments.data,
        &arguments.trace,
        &arguments.call_graph,
        &arguments.memory,
        &arguments.lifetimes,
    ];
    !arguments.plans.is_empty()
        || lists.iter().any(|list| !list.is_empty())
        || files.iter().any(|file| file.is_some())
        || arguments.listen.is_some()
        || arguments.children
        || arguments.strict
        || arguments.arm_all
        || arguments.check
}

/// Runs the command to its end, and searches it meanwhile if a search is given.
fn start(command: &mut Command, search: Option<RunSearch>) -> Result<ExitStatus> {
    let begin = |pid| search.map(|search| search.begin(pid));
    let (status, search) = child::run(command, begin).with_context(|| {
        let program = Path::new(command.get_program());
        format!("{} cannot be started", program.display())
    })?;
    if let Some(search) = search {
        finish_and_report(search);
    }
    Ok(status)
}

/// Creates a directory that only this user can access (mode 0700). The directory is deleted when
/// the result is dropped.
fn temporary_directory() -> Result<TempDir> {
    tempfile::Builder::new()
        .prefix("veneer-run-")
        .permissions(fs::Permissions::from_mode(0o700))
        .tempdir()
        .with_context(|| {
            format!(
                "no temporary directory can be made in {}; make room or set TMPDIR",
                env::temp_dir().display()
            )
        })
}

/// Number of files and directories in `directory`, or `None` if there is no such directory.
fn number_of_entries(directory: &Path) -> Option<usize> {
    fs::read_dir(directory).ok().map(Iterator::count)
}

fn data_directory(path: &Path) -> Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .and_then(|()| fs::canonicalize(path))
        .with_context(|| {
            format!(
                "the data directory {} cannot be made; correct --data or VENEER_DATA_DIR",
                path.display()
            )
        })
}

fn write_config(path: &Path, config: &AgentConfig) -> Result<()> {
    let text = config.to_json()?;
    let write = || -> io::Result<()> {
        let mut file = File::create_new(path)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()
    };
    write().with_context(|| {
        format!(
            "{} cannot be written; make room or set TMPDIR",
            path.display()
        )
    })
}

/// Describes the data directories that remain after the command's end.
fn describe_remaining_data(left: &[PathBuf], directory: &Path) -> String {
    let place = directory.display();
    let running = left
        .iter()
        .filter(|path| post_mortem::is_running(path))
        .count();
    let what = match (running, left.len() - running) {
        (1, 0) => "a JVM that COMMAND started runs on",
        (_, 0) => "JVMs that COMMAND started run on",
        (0, 1) => "a JVM ended without telling the agent (killed or crashed)",
        _ => "some JVMs ended without telling the agent (killed or crashed), or run on",
    };
    format!(
        "{what}; the measurements can be read with `veneer report {place}`, and `rm -r {place}` removes them"
    )
}

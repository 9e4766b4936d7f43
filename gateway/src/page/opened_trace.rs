//! Opens traces, and says in words why one cannot be read or what of it is missing.

use std::path::Path;

use veneer_traces::{ThreadTrace, Trace, TraceError};

use super::api_error::ApiError;

/// Opens a trace directory.
///
/// # Errors
/// The directory is no trace, a newer version wrote it, or it cannot be read.
pub fn open(directory: &Path) -> Result<Trace, ApiError> {
    Trace::open(directory).map_err(|error| unreadable(&error))
}

/// Why a trace cannot be read, and what to do.
pub fn unreadable(error: &TraceError) -> ApiError {
    let remedy = match error {
        TraceError::NotATrace(_) | TraceError::NotAContextTree(_) => {
            "name a directory that `veneer trace -o` or `veneer run --trace` wrote; without its file `names`, a trace cannot be read"
        }
        TraceError::FutureVersion { .. } => "use a newer veneer",
        TraceError::Io { .. } => "this user must be able to read all files of the trace",
        TraceError::NoThread(_) => "",
    };
    let error = ApiError::of_text("not-read", &error.to_string());
    ApiError {
        remedy: remedy.into(),
        ..error
    }
}

/// The parts of a trace that cannot be shown, one line each. Empty for a complete trace.
pub fn notes(trace: &Trace, threads: &[ThreadTrace]) -> Vec<String> {
    let findings = trace.findings(threads).list();
    let found = findings.iter().filter(|(_, count)| *count > 0);
    let found: Vec<String> = found
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    match found.as_slice() {
        [] => Vec::new(),
        found => vec![format!(
            "The trace has {}. Everything else is shown.",
            found.join(", ")
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_folder_that_is_no_trace_says_what_to_do() {
        let place = tempfile::tempdir().unwrap();
        let error = open(place.path()).unwrap_err();
        assert!(error.problem.contains("is not a trace"), "{error:?}");
        assert!(error.remedy.contains("veneer trace -o"), "{error:?}");
        fs::write(place.path().join("names"), "garbage\n").unwrap();
        assert!(!open(place.path()).unwrap_err().remedy.is_empty());
    }
}

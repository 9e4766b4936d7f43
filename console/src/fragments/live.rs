//! The fragments of methods in a running JVM: of the original code, of the armed bodies, and of the
//! versions.
//!
//! The agent sends class files. The analysis is in this process.

use std::io::Write;

use anyhow::{Result, anyhow};
use veneer_client::ControlError;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::listing::{self, MethodListing};
use veneer_fragmenter::policy::Policy;
use veneer_instruments::MethodPattern;
use veneer_protocol::{ClassCode, MethodCode, Reply, Request};

use super::counts;
use super::dump::Dump;
use super::output::Output;
use crate::cli::{BodyKind, FragmentsArguments};
use crate::exec::EXIT_PROGRAM_FAILED;
use crate::output::{print_error, print_note};

/// The text of a body in a listing.
const ARMED: &str = "armed body";
const ENTER: &str = "version for new calls";
const RESUME: &str = "version for running calls";

/// Shows or dumps the code of the methods that match the pattern, and returns the exit code.
pub(super) fn run(
    arguments: &FragmentsArguments,
    (pid, pattern): (u32, &str),
    policy: &Policy,
    mut out: Output<impl Write>,
) -> Result<u8> {
    // A malformed pattern is reported before the agent is loaded.
    MethodPattern::parse(pattern)?;
    if let Some(seconds) = arguments.counts {
        match counts::measure(pid, pattern, seconds)? {
            Some(counts) => out.counts = Some(counts),
            None => return Ok(EXIT_PROGRAM_FAILED),
        }
    }
    let mut client = veneer_client::connect(pid)?;
    client.send(&Request::ClassCode {
        patterns: vec![pattern.to_owned()],
    })?;
    let mut dump = arguments.dump.as_deref().map(Dump::new);
    let kind = arguments.body.unwrap_or_default();
    let mut shown = 0;
    loop {
        let code = match client.receive()? {
            Reply::ClassCode(code) => code,
            Reply::Done { .. } => break,
            Reply::Failed { message } => {
                print_error(&message);
                return Ok(EXIT_PROGRAM_FAILED);
            }
            _ => return Err(ControlError::Unexpected(client.pid()).into()),
        };
        match &mut dump {
            Some(dump) => dump.write(&code)?,
            None => {
                for listing in listings(&code, kind, policy)? {
                    shown += 1;
                    out.method(&listing)?;
                }
            }
        }
    }
    if let (Some(dump), Some(directory)) = (&dump, &arguments.dump) {
        print_note(&format_args!(
            "{} class files in {}",
            dump.count(),
            directory.display()
        ));
        return Ok(0);
    }
    out.finish()?;
    if shown == 0 {
        print_error(
            &"no method that matches has a version: it has one while an instrument or an edit is attached",
        );
        return Ok(EXIT_PROGRAM_FAILED);
    }
    Ok(0)
}

/// The listings of the selected methods of a class.
fn listings(code: &ClassCode, kind: BodyKind, policy: &Policy) -> Result<Vec<MethodListing>> {
    let mut all = Vec::new();
    match kind {
        BodyKind::Original | BodyKind::Armed => {
            let (bytes, body) = match kind {
                BodyKind::Armed => (&code.armed, Some(ARMED)),
                _ => (&code.original, None),
            };
            let file = ClassFile::parse(bytes)?;
            for method in &code.methods {
                let index = method_index(&file, |name, descriptor| {
                    method.method.strip_prefix(name) == Some(descriptor)
                });
                all.push(listed(&file, index, code, method, policy, body)?);
            }
        }
        BodyKind::Version => {
            for method in &code.methods {
                for (version, body) in [(&method.enter, ENTER), (&method.resume, RESUME)] {
                    let Some(version) = version else {
                        continue;
                    };
                    let file = ClassFile::parse(&version.bytes)?;
                    let index = method_index(&file, |name, _| name == version.body);
                    all.push(listed(&file, index, code, method, policy, Some(body))?);
                }
            }
        }
    }
    Ok(all)
}

fn method_index(file: &ClassFile, is_wanted: impl Fn(&str, &str) -> bool) -> Option<usize> {
    file.methods.iter().position(|member| {
        let texts = (
            file.pool.text(member.name),
            file.pool.text(member.descriptor),
        );
        matches!(texts, (Ok(name), Ok(descriptor)) if is_wanted(&name, &descriptor))
    })
}

/// Lists a method under the name that it has in the application.
fn listed(
    file: &ClassFile,
    index: Option<usize>,
    code: &ClassCode,
    method: &MethodCode,
    policy: &Policy,
    body: Option<&str>,
) -> Result<MethodListing> {
    let index = index.ok_or_else(|| {
        anyhow!(
            "the class file of {} has no method {}",
            code.class,
            method.method
        )
    })?;
    let mut listing = listing::from_class_file(file, index, policy);
    listing.class.clone_from(&code.class);
    listing.method.clone_from(&method.method);
    if let Some(body) = body {
        listing.body = Some(body.to_owned());
        // The code is armed already: neither its size after another arming nor a refusal of that
        // arming means anything.
        listing.armed_bytes = None;
        if !listing.fragments.is_empty() {
            listing.refusal = None;
        }
    }
    Ok(listing)
}

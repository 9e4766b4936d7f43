//! Runs the checker before any bytes are handed to the JVM. A failure becomes a refusal
//! ([`Refusal::CheckFailed`]), and the class or method stays as it was.

use super::{Expected, Failure, armed_class, version_class};
use crate::arming::{self, Armed, ArmedMethod, Request};
use crate::classfile::ClassFile;
use crate::refusal::Refusal;
use crate::verify;
use crate::version::{VersionClass, VersionPlan};
use std::collections::HashSet;

/// Arms a parsed modern class ([`arming::arm_class_file`]) and checks the result, including its types
/// ([`verify::guard`]).
///
/// Methods that fail the check are left unarmed and are added to the refusals. Returns an error if
/// the class as a whole fails.
pub fn arm(original: &ClassFile, request: &Request) -> Result<Armed, Refusal> {
    let mut refused: Vec<(String, Refusal)> = Vec::new();
    // The second attempt leaves out the methods that failed in the first.
    for _ in 0..2 {
        let out: HashSet<&str> = refused.iter().map(|r| &*r.0).collect();
        let wanted = |name: &str, descriptor: &str| {
            (request.wanted)(name, descriptor) && !out.contains(&*format!("{name}{descriptor}"))
        };
        let mut armed = arming::arm_class_file(
            original,
            &Request {
                wanted: &wanted,
                ..*request
            },
        )?;
        if armed.methods.is_empty() {
            armed.refusals.extend(refused);
            return Ok(armed);
        }
        let emitted = ClassFile::parse(&armed.bytes)?;
        let checked = armed_class(original, &emitted, &armed.anchor, &armed.methods);
        if checked.passed() {
            verify::guard::armed(original, &emitted)?;
            armed.refusals.extend(refused);
            return Ok(armed);
        }
        for (method, failure) in checked.failures {
            if method.is_empty() {
                return Err(Refusal::CheckFailed(failure.to_string()));
            }
            refused.push((method, Refusal::CheckFailed(failure.to_string())));
        }
    }
    let all: Vec<String> = refused
        .iter()
        .map(|r| format!("{}: {}", r.0, r.1))
        .collect();
    Err(Refusal::CheckFailed(all.join("; ")))
}

/// Checks a version class that was emitted for these plans. `armed` is the list of armed methods
/// that [`arm`] returned.
///
/// Returns an error if one of the bodies fails, or if a plan's points differ from the points of the
/// armed body.
pub fn version(
    host: &ClassFile,
    anchor: &str,
    armed: &[ArmedMethod],
    plans: &[VersionPlan],
    version: &VersionClass,
) -> Result<(), Refusal> {
    if version.methods.is_empty() {
        return Ok(());
    }
    for plan in plans.iter().filter(|p| version.methods.contains(&p.id)) {
        let known = armed.iter().find(|m| m.id == plan.id);
        let same =
            known.is_some_and(|m| m.index == plan.method.index && m.points == plan.armed.points);
        if !same {
            let failure = Failure::Points {
                point: 0,
                why: "the armed body has others, or is not known".into(),
            };
            let label = format!("{}{}", plan.method.name, plan.method.descriptor);
            return Err(Refusal::CheckFailed(format!("{label}: {failure}")));
        }
    }
    let emitted = ClassFile::parse(&version.bytes)?;
    let expected: Vec<Expected> = plans
        .iter()
        .filter(|p| version.methods.contains(&p.id))
        .map(Expected::version_contents)
        .collect();
    match version_class(host, &emitted, anchor, &expected)
        .failures
        .first()
    {
        None => Ok(()),
        Some((method, failure)) => Err(Refusal::CheckFailed(format!("{method}: {failure}"))),
    }
}

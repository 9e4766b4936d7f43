//! `veneer fragments`: shows the fragments of methods in class files, or in a running JVM.
//!
//! ```text
//!   inputs ─▶ class bytes ─┬─▶ veneer_fragmenter::listing ─┬─▶ text or DOT, written class by class
//!   agent  ─▶ class bytes ─┤                               └─▶ a JSON array, written class by class
//!                          └─▶ files                           --dump
//! ```

mod counts;
mod dump;
mod live;
mod output;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use thiserror::Error;
use veneer_fragmenter::classfile::ClassFile;
use veneer_fragmenter::inference;
use veneer_fragmenter::listing::{self, ClassListing, TypeNames};
use veneer_fragmenter::policy::Policy;
use veneer_instruments::MethodPattern;
use veneer_names::{internal_form, java_form};

use crate::cli::{FragmentsArguments, ListSource};
use crate::output::print_error;
use crate::{inputs, matching};
use output::Output;

/// Why there is nothing to show.
#[derive(Debug, Error)]
enum FragmentsError {
    /// The argument does not name a method.
    #[error(
        "`{0}` names no method; write CLASS::METHOD, as java.util.ArrayList::add or a.B::m(I)I, or a pattern as in plans"
    )]
    Malformed(String),
    /// The path does not contain the class.
    #[error("there is no class {class} in {path}")]
    ClassMissing {
        /// The class as the user wrote it.
        class: String,
        /// The path that was searched.
        path: String,
    },
    /// The class has no such method.
    #[error("{class} has no method {method}; its methods: {known}")]
    MethodMissing {
        class: String,
        /// The method as the user wrote it.
        method: String,
        /// The names of all methods of the class.
        known: String,
    },
    /// Without a method, all classes of the JVM would be armed.
    #[error("name the methods of the JVM: veneer fragments PID 'a.b.C::m(..)'")]
    NoPattern,
    /// Class files have neither armed bodies nor versions.
    #[error("{0} is for a running JVM: name its process id instead of a path")]
    OnlyLive(&'static str),
    /// The text of a listing has no place for counts.
    #[error("--counts needs --dot or --json")]
    CountsNeedFormat,
    /// The agent counts basic blocks.
    #[error("--counts is for basic blocks: leave --policy away")]
    CountsNeedBlocks,
}

/// The class and method that the user named.
struct RequestedMethod {
    class: String,
    method: String,
}

impl RequestedMethod {
    fn parse(text: &str) -> Result<RequestedMethod, FragmentsError> {
        let parts = text
            .split_once("::")
            .filter(|(class, method)| !class.is_empty() && !method.is_empty());
        let (class, method) = parts.ok_or_else(|| FragmentsError::Malformed(text.to_owned()))?;
        // `(..)` means any arguments, as in plans.
        let method = method.strip_suffix("(..)").unwrap_or(method);
        Ok(RequestedMethod {
            class: java_form(class),
            method: method.to_owned(),
        })
    }

    fn is_class(&self, dotted: &str) -> bool {
        // The package may be omitted.
        let rest = dotted.strip_suffix(&self.class);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// Whether the user named this method, as `name`, `name(I)` or `name(I)V`.
    fn is_method(&self, name: &str, descriptor: &str) -> bool {
        let rest = self.method.strip_prefix(name);
        rest.is_some_and(|rest| {
            rest.is_empty()
                || rest == descriptor
                || (rest.ends_with(')') && descriptor.starts_with(rest))
        })
    }
}

/// Prints the fragments and returns the exit code.
pub fn run(arguments: FragmentsArguments) -> Result<u8> {
    if arguments.counts.is_some() {
        if !arguments.dot && !arguments.json {
            return Err(FragmentsError::CountsNeedFormat.into());
        }
        if arguments.policy != veneer_protocol::Policy::Block {
            return Err(FragmentsError::CountsNeedBlocks.into());
        }
    }
    let names = match arguments.simple {
        true => TypeNames::Simple,
        false => TypeNames::Full,
    };
    let out = Output {
        out: io::BufWriter::new(io::stdout().lock()),
        json: arguments.json,
        dot: arguments.dot.then_some(names),
        counts: None,
        printed: 0,
    };
    match &arguments.source {
        ListSource::Process(pid) => {
            let pattern = arguments.method.as_deref();
            let pattern = pattern.ok_or(FragmentsError::NoPattern)?;
            let policy = policy(arguments.policy);
            live::run(&arguments, (*pid, pattern), &policy, out)
        }
        ListSource::Files(_) if arguments.dump.is_some() => {
            Err(FragmentsError::OnlyLive("--dump").into())
        }
        ListSource::Files(_) if arguments.counts.is_some() => {
            Err(FragmentsError::OnlyLive("--counts").into())
        }
        ListSource::Files(_) if arguments.body.is_some() => {
            Err(FragmentsError::OnlyLive("--body").into())
        }
        ListSource::Files(path) => files(&arguments, path, out),
    }
}

/// Lists methods of class files.
fn files(arguments: &FragmentsArguments, path: &Path, mut out: Output<impl Write>) -> Result<u8> {
    let policy = policy(arguments.policy);
    let text = arguments.method.as_deref();
    if let Some(text) = text.filter(|text| matching::is_pattern(text)) {
        let pattern = MethodPattern::parse(text)?;
        let code = matching::methods(path, &pattern, |file, index| {
            out.method(&listing::from_class_file(file, index, &policy))
        })?;
        out.finish()?;
        return Ok(code);
    }
    let wanted = text.map(RequestedMethod::parse).transpose()?;
    let only = wanted.as_ref().map(|w| internal_form(&w.class));
    let mut code = 0;
    let mut found = false;
    for class in inputs::class_bytes(path, only.as_deref())? {
        let (place, bytes) = match class {
            Ok(class) => class,
            Err(error) => {
                print_error(&error);
                code = crate::exit_code::EXIT_FAILED;
                continue;
            }
        };
        let modern = match inference::upgrade_class_file(&bytes) {
            Ok(modern) => modern,
            Err(refusal) => {
                print_error(&format_args!("{place}: {refusal}"));
                code = crate::exit_code::EXIT_FAILED;
                continue;
            }
        };
        let file = match ClassFile::parse(&modern) {
            Ok(file) => file,
            Err(error) => {
                print_error(&format_args!("{place}: {error}"));
                code = crate::exit_code::EXIT_FAILED;
                continue;
            }
        };
        match &wanted {
            None => out.class(&ClassListing::from_class_file(&file, &policy))?,
            Some(wanted) => {
                let name = file.name().map(|n| java_form(&n)).unwrap_or(place);
                if wanted.is_class(&name) {
                    found = true;
                    methods(&mut out, &file, &name, wanted, &policy)?;
                }
            }
        }
    }
    if let Some(wanted) = wanted
        && !found
        && code == 0
    {
        let path = path.display().to_string();
        let class = wanted.class;
        return Err(FragmentsError::ClassMissing { class, path }.into());
    }
    out.finish()?;
    Ok(code)
}

/// Converts the policy of the command line to that of the fragmenter. Under `call`, every call
/// begins a fragment.
pub fn policy(policy: veneer_protocol::Policy) -> Policy {
    match policy {
        veneer_protocol::Policy::Method => Policy::Method,
        veneer_protocol::Policy::Loop => Policy::Loop,
        // Without a running application, there is no pattern that selects calls.
        veneer_protocol::Policy::Call => Policy::Call(Arc::new(|_: &str, _: &str, _: &str| true)),
        veneer_protocol::Policy::Block => Policy::Block,
    }
}

fn methods(
    out: &mut Output<impl Write>,
    file: &ClassFile,
    class: &str,
    wanted: &RequestedMethod,
    policy: &Policy,
) -> Result<()> {
    let mut known: Vec<String> = Vec::new();
    let mut found = false;
    for (index, member) in file.methods.iter().enumerate() {
        let (Ok(name), Ok(descriptor)) = (
            file.pool.text(member.name),
            file.pool.text(member.descriptor),
        ) else {
            continue;
        };
        if wanted.is_method(&name, &descriptor) {
            found = true;
            out.method(&listing::from_class_file(file, index, policy))?;
        } else if !known.iter().any(|k| *k == name) {
            known.push(name.into_owned());
        }
    }
    if found {
        return Ok(());
    }
    Err(FragmentsError::MethodMissing {
        class: class.to_owned(),
        method: wanted.method.clone(),
        known: known.join(", "),
    }
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_named_as_in_plans_and_by_descriptor() {
        let any = RequestedMethod::parse("a.B::m(..)").unwrap();
        assert!(any.is_class("a.B") && !any.is_class("x.aa.B"));
        assert!(any.is_method("m", "(I)V") && !any.is_method("me", "()V"));
        let one = RequestedMethod::parse("B::m(I)").unwrap();
        assert!(one.is_class("a.B"));
        assert!(one.is_method("m", "(I)V") && !one.is_method("m", "(IJ)V"));
        assert!(
            RequestedMethod::parse("B::m(I)V")
                .unwrap()
                .is_method("m", "(I)V")
        );
        for nonsense in ["main", "::m", "B::"] {
            assert!(RequestedMethod::parse(nonsense).is_err(), "{nonsense}");
        }
    }
}

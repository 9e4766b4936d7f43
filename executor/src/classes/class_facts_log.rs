//! Writes the facts about armed classes, for a recording of calls from the start of a program.
//!
//! A class is written when it is prepared, so the file also has classes that are unloaded later, and
//! the classes of a JVM that is killed. Classes that were prepared before the agent armed them are
//! written when the JVM ends. No thread calls the JVM while it holds a lock of the file.

use crate::agent::Agent;
use crate::classes::registry::Class;
use crate::classes::selection;
use crate::jvm::jni::Env;
use veneer_instruments::{MethodMetadata, class_flag_words, flag_words};
use veneer_protocol::data::{ClassFacts, MethodFacts};

/// The access flag of native methods (JVMS table 4.6-A).
const ACC_NATIVE: u16 = 0x0100;

/// Writes a class, if the command wants facts about classes. A class that is written already, or not
/// prepared yet, is left out.
pub fn write_class(agent: &Agent, env: Env, class: &Class) {
    let Some(file) = &agent.class_facts else {
        return;
    };
    if file.has(class.first_id) {
        return;
    }
    let Some(facts) = class_facts(agent, env, class) else {
        return;
    };
    if let Err(error) = file.append(class.first_id, &facts) {
        // Equal problems are printed once.
        let problem = format!("facts about classes could not be written: {error}");
        agent.report_problem("", &problem);
    }
}

/// Writes all armed classes that are not written yet.
pub fn write_rest(agent: &Agent, env: Env) {
    if agent.class_facts.is_some() {
        for class in agent.registry.all() {
            write_class(agent, env, &class);
        }
    }
}

fn class_facts(agent: &Agent, env: Env, class: &Class) -> Option<ClassFacts> {
    let known = selection::class_metadata(agent.tool, env, class)?;
    Some(ClassFacts {
        name: class.dotted.to_string(),
        supertypes: known.supertypes.iter().cloned().collect(),
        flags: class_flag_words(known.flags).map(String::from).collect(),
        methods: known.methods.iter().filter_map(method_facts).collect(),
    })
}

/// The facts about a method that a call can run; `None` for an abstract method.
fn method_facts(method: &MethodMetadata) -> Option<MethodFacts> {
    let is_native = method.flags & ACC_NATIVE != 0;
    if method.size.is_none() && !is_native {
        return None;
    }
    Some(MethodFacts {
        method: format!("{}{}", method.name, method.descriptor),
        size: method.size.unwrap_or(0),
        flags: flag_words(method.flags).map(String::from).collect(),
        native: is_native,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_methods_are_facts_and_abstract_ones_are_not() {
        let method = |flags, size| MethodMetadata {
            name: "m".into(),
            descriptor: "(I)V".into(),
            flags,
            size,
            ..MethodMetadata::default()
        };
        let native = method_facts(&method(ACC_NATIVE | 8, None)).expect("a native method");
        assert!(native.native && native.flags.contains("static"));
        assert_eq!((native.method.as_str(), native.size), ("m(I)V", 0));
        let plain = method_facts(&method(2, Some(7))).expect("a method");
        assert_eq!((plain.native, plain.size), (false, 7));
        assert_eq!(method_facts(&method(0x0400, None)), None);
    }
}

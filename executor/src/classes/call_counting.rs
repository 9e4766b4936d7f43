//! Counts the calls of all classes for a complete call graph: gives each class counters in its own
//! code when it is loaded, and the classes that are loaded already by retransformation.
//!
//! The classes that are never armed have these counters too. No class is armed meanwhile, and no
//! plan can attach anything.

use crate::agent::Agent;
use crate::classes::later_agents::{self, MAX_CLASSES_PER_PAUSE};
use crate::classes::load_hook::{self, ClassLoadEvent, HookedFile};
use crate::data::complete_calls::CompleteCallCounts;
use crate::jvm::jni::{Env, JvmError, Reference, jclass};
use crate::jvm::runtime_table::PACKAGE;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::Ordering;
use thiserror::Error;
use veneer_fragmenter::Refusal;
use veneer_fragmenter::bytecode::opcode::mnemonic;
use veneer_fragmenter::call_counters::{self, CountedMethod, Event, Place, Target};
use veneer_fragmenter::classfile::{ClassFile, Code};
use veneer_instruments::{InstrumentId, RecordingSummary};
use veneer_names::java_form;
use veneer_protocol::CountedClasses;
use veneer_protocol::data::{
    COMPLETE_CALL_SLOTS, CountedClassRecord, CountedMethodRecord, CountedSiteRecord,
    ReceiverRecord, complete_calls_path,
};

/// The access flag of native methods (JVMS table 4.6-A).
const ACC_NATIVE: u16 = 0x0100;

/// The character that the descriptors of hidden classes have before their address.
const HIDDEN_MARK: char = '.';

/// The beginning of the names of the runtime classes, without their package.
const RUNTIME_PREFIX: &str = "Veneer";

/// Why the calls cannot be counted.
#[derive(Debug, Error)]
pub enum CallCountingError {
    /// The files of the counts cannot be created.
    #[error("the files for the call graph cannot be made: {0}")]
    Files(#[from] std::io::Error),
    /// A Java call of the agent has failed.
    #[error(transparent)]
    Java(#[from] JvmError),
    /// Classes with cells cannot have counters in their own code.
    #[error(
        "classes are armed in this JVM, {class} for one; unload the agent first (`veneer detach PID --unload`)"
    )]
    Armed {
        /// An armed class with dots.
        class: String,
    },
    /// There is one set of counters.
    #[error("another recording counts the calls of all classes; wait until it ends")]
    Busy,
}

/// Counts from the start of the JVM to its end, if the configuration asks for it.
pub fn start(agent: &Agent, env: Env) -> Result<(), CallCountingError> {
    let counts = prepare(agent, env)?;
    counts.activate(None);
    retransform_all(agent, env);
    Ok(())
}

/// Whether the calls of a class are counted while any are.
pub fn is_counted(agent: &Agent, env: Env, event: &ClassLoadEvent) -> bool {
    match agent.config.counted_calls {
        Some(CountedClasses::Selected) => load_hook::is_selected(agent, env, event),
        Some(CountedClasses::All) | None => true,
    }
}

/// Begins to count for an instrument. Called by the plan thread only.
///
/// # Errors
/// A class is armed, another instrument counts, or the files cannot be created.
pub fn begin(agent: &Agent, env: Env, owner: InstrumentId) -> Result<(), CallCountingError> {
    let armed = agent.registry.all();
    if let Some(class) = armed.iter().find(|class| !class.state().restored) {
        return Err(CallCountingError::Armed {
            class: class.dotted.to_string(),
        });
    }
    let counts = prepare(agent, env)?;
    if !counts.activate(Some(owner)) {
        return Err(CallCountingError::Busy);
    }
    retransform_all(agent, env);
    // Calls from a class with counters to one without have no entry. All have counters from here on.
    counts.shards.clear_all();
    Ok(())
}

/// Ends the counting of an instrument, if it counts: all classes get their own code back.
pub fn end(agent: &Agent, env: Env, owner: InstrumentId) {
    let counts = agent.complete_calls.get();
    if counts.is_some_and(|counts| counts.deactivate(owner)) {
        retransform_all(agent, env);
    }
}

/// Ends any counting, because the agent leaves the JVM.
pub fn end_any(agent: &Agent, env: Env) {
    let counts = agent.complete_calls.get();
    if counts.is_some_and(CompleteCallCounts::deactivate_any) {
        retransform_all(agent, env);
    }
}

/// Whether the calls of all classes are counted.
pub fn is_counting(agent: &Agent) -> bool {
    let counts = agent.complete_calls.get();
    counts.is_some_and(CompleteCallCounts::is_active)
}

/// The recording of an instrument that counts, or was the last one that did.
pub fn summary(agent: &Agent, id: InstrumentId) -> Option<RecordingSummary> {
    let counts = agent.complete_calls.get()?;
    counts.is_owner(id).then(|| RecordingSummary {
        directory: complete_calls_path(&agent.config.data_dir)
            .display()
            .to_string(),
        threads: 0,
        methods: 0,
        excluded_methods: 0,
        problem: None,
    })
}

/// Removes the files of a recording that has ended, when the agent or the JVM ends. Those of a recording
/// that goes on belong to the command that reads them.
pub fn remove_files(agent: &Agent) {
    let counts = agent.complete_calls.get();
    if counts.is_some_and(|counts| !counts.is_active()) {
        let _ = std::fs::remove_dir_all(complete_calls_path(&agent.config.data_dir));
    }
}

/// Makes the counters at the first recording.
fn prepare(agent: &Agent, env: Env) -> Result<&CompleteCallCounts, CallCountingError> {
    if let Some(counts) = agent.complete_calls.get() {
        return Ok(counts);
    }
    let counts = CompleteCallCounts::create(&agent.config.data_dir)?;
    let virtual_threads = agent.virtual_threads.as_ref();
    let virtual_threads = virtual_threads.map_or(Reference::NULL, |class| class.raw());
    // SAFETY: the agent keeps the counters, and is never dropped.
    let own = unsafe {
        agent
            .library
            .start_calls(env, counts.addresses(), virtual_threads)
    }?;
    let _ = counts.own.set(own);
    Ok(agent.complete_calls.get_or_init(|| counts))
}

/// Sends all loaded classes through the class hook.
fn retransform_all(agent: &Agent, env: Env) {
    let loaded = agent.tool.loaded(env);
    let (wanted, others): (Vec<jclass>, Vec<jclass>) = loaded
        .into_iter()
        .partition(|class| is_countable(agent, *class));
    for some in wanted.chunks(MAX_CLASSES_PER_PAUSE) {
        if later_agents::retransform(agent, some).is_ok() {
            continue;
        }
        // One class that the JVM refuses must not keep the others from being counted.
        for class in some {
            if let Err(e) = later_agents::retransform(agent, &[*class]) {
                let name = agent.tool.class_name(*class).unwrap_or_default();
                agent.refuse(&java_form(&name), "", "VersionRejected", &e.to_string());
            }
        }
    }
    for class in wanted.into_iter().chain(others) {
        // SAFETY: `loaded` has made the local references, which are not used again.
        unsafe { env.delete(class) };
    }
}

/// Whether a loaded class can be counted: the JVM retransforms it, it is not one of the agent's, and it
/// may be selected.
fn is_countable(agent: &Agent, class: jclass) -> bool {
    let Some(name) = agent.tool.class_name(class) else {
        return false;
    };
    let may_be_selected = match agent.config.counted_calls {
        Some(CountedClasses::Selected) => {
            let dotted = java_form(&name);
            let mut patterns = agent.filter.arm.iter();
            patterns.any(|pattern| pattern.matches_class(&dotted))
        }
        Some(CountedClasses::All) | None => true,
    };
    may_be_selected && !is_runtime_class(&name) && agent.tool.is_modifiable(class)
}

fn is_runtime_class(name: &str) -> bool {
    name.strip_prefix(PACKAGE)
        .is_some_and(|simple| simple.starts_with(RUNTIME_PREFIX))
}

/// Returns the class file with counters, and writes what they count. `None` if the class stays as it
/// is.
pub fn count_hooked_class(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    counts: &CompleteCallCounts,
) -> Option<HookedFile> {
    if is_runtime_class(event.name) || agent.left.load(Ordering::SeqCst) {
        return None;
    }
    match try_count(agent, env, event, counts) {
        Ok(bytes) => bytes.map(|bytes| HookedFile {
            bytes,
            class: None,
            is_redefined: false,
        }),
        Err(reason) => {
            let class = java_form(event.name);
            agent.refuse(&class, "", reason.name(), &reason.to_string());
            write_refused_class(agent, counts, event, &reason);
            None
        }
    }
}

/// The record of a class of receivers.
pub fn receiver_record(agent: &Agent, env: Env, number: i32, class: jclass) -> ReceiverRecord {
    let mut record = ReceiverRecord {
        number: number as u32,
        class: agent.tool.signature(class).unwrap_or_default(),
        ..ReceiverRecord::default()
    };
    let is_hidden = record.class.contains(HIDDEN_MARK);
    // The class files of superclasses that are not selected are not read.
    if is_hidden || agent.config.counted_calls == Some(CountedClasses::Selected) {
        record.supertypes = agent.tool.supertypes(env, class).unwrap_or_default();
    }
    if is_hidden {
        let methods = agent.tool.methods(class).into_iter();
        record.methods = methods
            .map(|(_, name, descriptor)| format!("{name}{descriptor}"))
            .collect();
    }
    record
}

fn try_count(
    agent: &Agent,
    env: Env,
    event: &ClassLoadEvent,
    counts: &CompleteCallCounts,
) -> Result<Option<Vec<u8>>, Refusal> {
    let file = event.file.parsed()?;
    let access = agent
        .runtime_access
        .check(env, event.loader, event.class.is_null());
    access.map_err(|why| Refusal::AnchorFailed(why.to_string()))?;
    let mut hasher = DefaultHasher::new();
    event.file.bytes().hash(&mut hasher);
    let hash = hasher.finish();
    let mut is_known = false;
    let mut allocate = |count: u32| {
        if let Some((slot, known)) = counts.known(event.name, hash)
            && known == count
        {
            is_known = true;
            return Ok(slot.0);
        }
        let slot = counts.shards.allocate(count);
        let slot = slot.ok_or(Refusal::CountersExhausted(COMPLETE_CALL_SLOTS as usize))?;
        let pages = agent.library.call_pages(env, slot.0, count);
        pages.map_err(|e| Refusal::AnchorFailed(e.to_string()))?;
        counts.remember(event.name, hash, (slot, count));
        Ok(slot.0)
    };
    let counted = call_counters::insert(file, &mut allocate)?;
    if is_known {
        return Ok(Some(counted.bytes));
    }
    let record = class_record(file, &counted.methods)?;
    let written = counts.add_class(&record);
    written.map_err(|e| Refusal::AnchorFailed(e.to_string()))?;
    Ok((!counted.bytes.is_empty()).then_some(counted.bytes))
}

/// Writes a class that has no counters, because a call can select its methods.
fn write_refused_class(
    agent: &Agent,
    counts: &CompleteCallCounts,
    event: &ClassLoadEvent,
    reason: &Refusal,
) {
    let Ok(file) = event.file.parsed() else {
        return;
    };
    let methods = call_counters::methods_without_counters(file, reason);
    let record = methods.and_then(|methods| class_record(file, &methods));
    let Ok(record) = record else { return };
    if let Err(error) = counts.add_class(&record) {
        // Equal problems are printed once.
        let problem = format!("facts about classes could not be written: {error}");
        agent.report_problem("", &problem);
    }
}

fn class_record(
    file: &ClassFile,
    methods: &[CountedMethod],
) -> Result<CountedClassRecord, Refusal> {
    let dotted =
        |index: u16| -> Result<String, Refusal> { Ok(java_form(&file.pool.class_name(index)?)) };
    let superclass = file.super_name()?;
    let interfaces = file.interfaces.iter().map(|index| dotted(*index));
    let mut records = Vec::with_capacity(methods.len());
    for (member, method) in file.methods.iter().zip(methods) {
        if method.size.is_none() && method.access & ACC_NATIVE == 0 {
            continue;
        }
        let code = member.code(&file.pool)?;
        records.push(method_record(file, method, code.as_ref()));
    }
    Ok(CountedClassRecord {
        name: dotted(file.this_class)?,
        superclass: superclass.map_or_else(String::new, |name| java_form(&name)),
        interfaces: interfaces.collect::<Result<_, _>>()?,
        access: file.access,
        methods: records,
    })
}

fn method_record(
    file: &ClassFile,
    method: &CountedMethod,
    code: Option<&Code>,
) -> CountedMethodRecord {
    let lines = code.map_or_else(Vec::new, |code| line_starts(file, code));
    let entry = method.places.iter().find(|p| p.event == Event::Entry);
    let refusal = method.refusal.as_ref();
    CountedMethodRecord {
        method: format!("{}{}", method.name, method.descriptor),
        access: method.access,
        size: method.size.unwrap_or(0),
        entry: entry.map(|place| place.counter),
        sites: method
            .places
            .iter()
            .filter_map(|place| site_record(place, &lines))
            .collect(),
        refusal: refusal.map(|reason| (reason.name().into(), reason.to_string())),
    }
}

fn site_record(place: &Place, lines: &[(u16, u16)]) -> Option<CountedSiteRecord> {
    let (what, by_receiver) = match &place.event {
        Event::Entry => return None,
        Event::New(class) => (format!("new {class}"), false),
        Event::Call {
            op,
            target,
            by_receiver,
        } => (call_text(*op, target), *by_receiver),
    };
    let line = lines.iter().take_while(|(pc, _)| *pc <= place.pc).last();
    Some(CountedSiteRecord {
        what: format!("{what} @{}", place.pc),
        line: line.map(|(_, line)| *line),
        counter: place.counter,
        by_receiver,
    })
}

/// A call as points of instruments show it.
fn call_text(op: u8, target: &Target) -> String {
    let Target {
        class,
        name,
        descriptor,
    } = target;
    let mnemonic = mnemonic(op);
    match class.as_str() {
        "" => format!("{mnemonic} {name}{descriptor}"),
        // Arrays inherit all their methods.
        array if array.starts_with('[') => {
            format!("{mnemonic} java.lang.Object::{name}{descriptor}")
        }
        class => format!("{mnemonic} {}::{name}{descriptor}", java_form(class)),
    }
}

/// The pcs at which source lines begin, with their lines, in ascending order (JVMS §4.7.12).
fn line_starts(file: &ClassFile, code: &Code) -> Vec<(u16, u16)> {
    let tables = code.attributes.iter();
    let tables = tables.filter(|a| a.is(&file.pool, "LineNumberTable"));
    let rows = tables.flat_map(|table| table.info.get(2..).unwrap_or_default().chunks_exact(4));
    let number = |bytes: &[u8]| u16::from_be_bytes([bytes[0], bytes[1]]);
    let mut lines: Vec<(u16, u16)> = rows.map(|row| (number(row), number(&row[2..]))).collect();
    lines.sort_by_key(|(pc, _)| *pc);
    lines
}

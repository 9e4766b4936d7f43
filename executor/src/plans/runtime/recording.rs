//! The recording of an instrument of the kind `Recorder`: its beginning and its end.
//!
//! ```text
//!   prepare_recording: files, cost of a call ─▶ install: names, versions ─▶ begin_recording: calls are recorded
//!   end_recording: calls are recorded no more, files are complete ─▶ the instrument is detached
//! ```
//!
//! No call is recorded before all versions are installed, and none after the first one is removed.
//! So the trees of all threads begin and end at one time each, and have no gaps.

use super::RuntimeHandle;
use crate::classes::call_counting;
use crate::data::coarse_clock::INTERVAL;
use crate::data::recorder::RecordingSpec;
use crate::data::recorder::recorded_caches::{
    RecordedCaches, RecordedWords, has_curve, has_objects, has_sample, has_sharing, l1_lines,
    parse_caches,
};
use crate::data::trace_clock::TraceClock;
use crate::jvm::collector::concurrent_collector;
use crate::jvm::jvm_name::jvm_name;
use crate::observation::callbacks::class_unloaded;
use crate::observation::subscriptions::Subscriber;
use crate::plans::heap_recording;
use crate::plans::journal_records;
use crate::plans::lifetimes;
use std::fmt::Display;
use veneer_instruments::{
    AttachError, AttachSummary, InstrumentId, InstrumentKind, RecorderSpec, RecordingForm,
    VmEventKind, VmEventKinds,
};
use veneer_memory::heap::sampling_interval as parse_interval;
use veneer_probes::follows_objects;
use veneer_traces::analysis::TraceFilter;

impl RuntimeHandle {
    /// Creates the files of a recording, measures what a call costs, and returns the recording's number.
    pub(super) fn prepare_recording(
        &self,
        id: InstrumentId,
        spec: &RecorderSpec,
    ) -> Result<i32, AttachError> {
        let agent = self.agent;
        let is_of_accesses = spec.form == RecordingForm::Accesses;
        if let Some(collector) = concurrent_collector().filter(|_| is_of_accesses) {
            return Err(AttachError::Unsupported {
                what: format!(
                    "a recording of memory accesses with {collector}, which moves objects while the program runs,"
                ),
                instead:
                    "start the program with -XX:+UseG1GC, -XX:+UseParallelGC or -XX:+UseSerialGC"
                        .into(),
            });
        }
        let sampling_interval = match spec.form {
            RecordingForm::Heap => Some(sampling_interval(&spec.filter)?),
            _ => None,
        };
        // The lines of a recording of accesses are caches.
        let lines = match is_of_accesses || sampling_interval.is_some() {
            true => String::new(),
            false => spec.filter.join("\n"),
        };
        let filter = TraceFilter::parse(&lines).map_err(|error| {
            let instead = "write `includemethod shop.* *`".into();
            let what = format!("the filter of a recorder, {error},");
            AttachError::Unsupported { what, instead }
        })?;
        agent
            .clock
            .choose_for_traces(agent.tool, &agent.library, self.env(), agent.is_running());
        let (name, version) = jvm_name();
        let caches = match is_of_accesses {
            true => Some(self.recorded_caches(&spec.filter)?),
            false => None,
        };
        let recorder = &self.agent.recorder;
        let data = &self.agent.config.data_dir;
        let spec = RecordingSpec {
            form: spec.form,
            filter,
            filter_lines: &spec.filter,
            is_late: self.agent.is_running(),
            clock: self.agent.clock.of_traces_with_latest_rate(),
            caches,
            sampling_interval,
        };
        agent.events.heap.clear();
        let begun = recorder.begin(id, data, (&name, &version), spec);
        let number = begun.map_err(|error| AttachError::Vm {
            action: "recording a trace".into(),
            detail: error.to_string(),
        })?;
        self.calibrate(id);
        Ok(number)
    }

    /// The caches that these lines describe, with counters for the slots of L1.
    fn recorded_caches(&self, lines: &[String]) -> Result<RecordedCaches, AttachError> {
        let unsupported = |error: &dyn Display| AttachError::Unsupported {
            what: format!("memory(…) with these caches: {error};"),
            instead: "write `L1:32K/8/64,L2:1M/16/64`".into(),
        };
        let descriptions = parse_caches(lines).map_err(|error| unsupported(&error))?;
        let agent = self.agent;
        let prepared = agent.library.prepare_accesses(self.env());
        prepared.map_err(|error| AttachError::Vm {
            action: "recording memory accesses".into(),
            detail: error.to_string(),
        })?;
        let has_sharing = has_sharing(lines);
        if has_sharing && has_sample(lines) {
            return Err(AttachError::Unsupported {
                what: "memory(…) with both `sharing` and `sample`".into(),
                instead: "record the lines that threads share without a sample".into(),
            });
        }
        if has_curve(lines) && has_sample(lines) {
            return Err(AttachError::Unsupported {
                what: "memory(…) with both `curve` and `sample`".into(),
                instead:
                    "record the miss-ratio curves of all accesses: they are from a sample of lines"
                        .into(),
            });
        }
        let has_origins = has_objects(lines);
        if has_origins {
            self.check_origins(lines)?;
        }
        // Without the fast path each access is seen.
        let is_fast = !has_sharing && !has_origins && !has_sample(lines) && !has_curve(lines);
        let l1 = l1_lines(&descriptions).filter(|_| is_fast);
        let l1 = l1.and_then(|lines| {
            let freed = {
                let mut tables = agent.table.lock();
                tables.free_by_width.get_mut(&lines).and_then(Vec::pop)
            };
            let slot = freed.or_else(|| agent.shards.allocate(lines))?;
            slot.block(lines).for_each(|slot| agent.shards.clear(slot));
            Some(slot)
        });
        let caches = RecordedCaches::new(
            &descriptions,
            l1,
            RecordedWords {
                collections: agent.recorder.collections_address(),
                shared_lines: match has_sharing {
                    true => agent.recorder.shared_lines(),
                    false => 0,
                },
                window: match has_sample(lines) {
                    true => agent.recorder.windows.address(),
                    false => 0,
                },
                has_origins,
                has_curve: has_curve(lines),
            },
        );
        caches.map_err(|error| unsupported(&error))
    }

    /// Checks that a recording can count accesses by the instruction that allocated the object.
    fn check_origins(&self, lines: &[String]) -> Result<(), AttachError> {
        if has_sample(lines) {
            return Err(AttachError::Unsupported {
                what: "memory(…) with both `objects` and `sample`, which sees few allocations,"
                    .into(),
                instead: "record all accesses, of fewer methods or for a shorter time".into(),
            });
        }
        let prepared = self.agent.library.prepare_origins(self.env());
        let is_possible = prepared.map_err(|error| AttachError::Vm {
            action: "recording memory accesses".into(),
            detail: error.to_string(),
        })?;
        match is_possible {
            true => Ok(()),
            false => Err(AttachError::Unsupported {
                what: "memory(…) with `objects` in a JVM whose object headers have no room".into(),
                instead: "start the program without -XX:+UseCompactObjectHeaders and -XX:+UseBiasedLocking"
                    .into(),
            }),
        }
    }

    /// Frees the counters of L1 of a recording that has ended.
    fn free_l1(&self, id: InstrumentId) {
        let agent = self.agent;
        let Some((first, count)) = agent.recorder.l1_counters(id) else {
            return;
        };
        first.block(count).for_each(|slot| agent.shards.clear(slot));
        let mut tables = agent.table.lock();
        tables.free_by_width.entry(count).or_default().push(first);
    }

    /// Marks an instrument as detached that never had a point.
    pub(super) fn forget_attachment(&self, id: InstrumentId) {
        if let Some(instrument) = self.agent.table.lock().instrument(id) {
            instrument.attached = false;
        }
    }

    /// Lets the threads record.
    pub(super) fn begin_recording(
        &self,
        id: InstrumentId,
        number: i32,
        form: RecordingForm,
    ) -> Result<(), AttachError> {
        let agent = self.agent;
        if form == RecordingForm::Heap {
            self.subscribe(Subscriber::Recorder, agent.recorder.observed(id))
                .unwrap_or_else(|error| agent.report_problem("", &error.to_string()));
            heap_recording::begin(agent);
            return Ok(());
        }
        let coarse = match form {
            RecordingForm::Contexts => {
                let clock = agent.clock.of_traces_with_latest_rate();
                // Without the thread, times are exact, and calls cost more.
                agent.coarse_clock.start(clock, INTERVAL).unwrap_or(0)
            }
            _ => 0,
        };
        let (mark, shortest) = (agent.recorder.mark(), agent.recorder.shortest());
        let caches = agent
            .recorder
            .caches_address()
            .filter(|_| form == RecordingForm::Accesses);
        // Accesses have a number of their own in `VeneerMemory`.
        let calls = if caches.is_some() { 0 } else { number };
        let addresses = (agent.recorder.address(), agent.shards.address());
        // SAFETY: the agent, and with it the tracks and the shards, are never dropped.
        let begun = unsafe {
            agent
                .library
                .begin_trace(self.env(), addresses, (calls, mark, shortest), coarse)
        };
        let begun = match caches {
            // SAFETY: the caches of a recording are never freed.
            Some(caches) => begun
                .and_then(|()| unsafe { agent.library.begin_accesses(self.env(), number, caches) }),
            None => begun,
        };
        if begun.is_ok() {
            if agent.recorder.access_form().is_sampled
                && let Err(error) = agent.recorder.windows.start()
            {
                agent.report_problem("", &format!("a sampled recording has no windows: {error}"));
            }
            let kinds = agent.recorder.observed(id);
            agent.recorder.open_jvm_tracks(kinds);
            // Calls are recorded all the same.
            if let Err(error) = self.subscribe(Subscriber::Recorder, kinds) {
                agent.report_problem("", &format!("a trace lacks events of the JVM: {error}"));
            }
        }
        begun.map_err(|error| {
            if let Err(detaching) = self.detach_instruments(&[id]) {
                agent.report_problem("", &detaching.to_string());
            }
            AttachError::Vm {
                action: "recording a trace".into(),
                detail: error.to_string(),
            }
        })
    }

    /// Attaches an instrument that counts the calls of all classes.
    pub(super) fn attach_complete_calls(
        &self,
        id: InstrumentId,
    ) -> Result<AttachSummary, AttachError> {
        let agent = self.agent;
        call_counting::begin(agent, self.env(), id).map_err(|error| {
            self.forget_attachment(id);
            AttachError::Vm {
                action: "counting the calls of all classes".into(),
                detail: error.to_string(),
            }
        })?;
        agent.append_records(&journal_records::attached(agent, id));
        Ok(AttachSummary {
            id,
            methods: 0,
            points: 0,
            refused: 0,
            warnings: Vec::new(),
        })
    }

    /// Fails while calls are counted in the code of the methods, because such a class cannot be armed.
    pub(super) fn refuse_while_counting_all(&self) -> Result<(), AttachError> {
        match call_counting::is_counting(self.agent) {
            true => Err(AttachError::Unsupported {
                what: "an instrument or an edit while calls are counted in the code of the methods".into(),
                instead: "wait until the recording ends, or detach it; a program that was started with --call-graph takes plans if it also has --listen, --plan or --skip".into(),
            }),
            false => Ok(()),
        }
    }

    /// Begins a recording of lifetimes, if the code of an instrument follows objects.
    pub(super) fn begin_lifetimes(
        &self,
        id: InstrumentId,
        kind: &InstrumentKind,
    ) -> Result<(), AttachError> {
        let InstrumentKind::Code(code) = kind else {
            return Ok(());
        };
        if !follows_objects(code) {
            return Ok(());
        }
        let mut kinds = VmEventKinds::NONE;
        kinds.insert(VmEventKind::Collection);
        let begun = self.subscribe(Subscriber::Lifetimes, kinds).and_then(|()| {
            lifetimes::begin(self.agent, self.env(), id).map_err(|error| AttachError::Vm {
                action: "following objects".into(),
                detail: error.to_string(),
            })
        });
        begun.inspect_err(|_| self.forget_attachment(id))
    }

    /// Ends the recording of lifetimes with the last instrument that follows objects. Returns whether
    /// the instrument is one of them.
    fn end_lifetimes(&self, id: InstrumentId) -> bool {
        let agent = self.agent;
        if lifetimes::end(agent, self.env(), id)
            && let Err(error) = self.subscribe(Subscriber::Lifetimes, VmEventKinds::NONE)
        {
            agent.report_problem("", &error.to_string());
        }
        lifetimes::summary(agent, id).is_some()
    }

    /// Ends the recording of an instrument, if it records. Returns whether it was a recording of events,
    /// of contexts or of lifetimes.
    pub(super) fn end_recording(&self, id: InstrumentId) -> bool {
        let agent = self.agent;
        call_counting::end(agent, self.env(), id);
        let had_lifetimes = self.end_lifetimes(id);
        if !agent.recorder.records(id) {
            return had_lifetimes;
        }
        if agent.recorder.heap_recording().is_some() {
            heap_recording::complete(agent, self.env());
            self.subscribe(Subscriber::Recorder, VmEventKinds::NONE)
                .unwrap_or_else(|error| agent.report_problem("", &error.to_string()));
            agent.recorder.end(id);
            return true;
        }
        if let Err(error) = self.subscribe(Subscriber::Recorder, VmEventKinds::NONE) {
            agent.report_problem("", &error.to_string());
        }
        if let Err(error) = agent.library.end_trace(self.env()) {
            agent.report_problem("", &error.to_string());
        }
        if agent.recorder.caches_address().is_some()
            && let Err(error) = agent.library.end_accesses(self.env())
        {
            agent.report_problem("", &error.to_string());
        }
        agent.coarse_clock.stop();
        agent.recorder.windows.stop();
        let clock = agent.clock.of_traces_with_latest_rate();
        if clock != TraceClock::Nanoseconds {
            agent.recorder.write_rate(id, clock);
        }
        agent.recorder.end(id);
        self.free_l1(id);
        true
    }

    /// Sets the kinds of events of the JVM that a subscriber asks for.
    pub(super) fn subscribe(
        &self,
        subscriber: Subscriber,
        kinds: VmEventKinds,
    ) -> Result<(), AttachError> {
        let agent = self.agent;
        let events = &agent.events;
        let subscribed = events.subscribe(agent.tool, class_unloaded, subscriber, kinds);
        subscribed.map_err(|error| AttachError::Vm {
            action: "observing events of the JVM".into(),
            detail: error.to_string(),
        })
    }
}

/// The interval that `heap("64K")` names.
fn sampling_interval(lines: &[String]) -> Result<u64, AttachError> {
    let text = lines.join("");
    parse_interval(&text).ok_or_else(|| AttachError::Unsupported {
        what: format!("heap(…) with the sampling interval `{text}`"),
        instead: "write a number of bytes from 1K to 1G, such as `64K`".into(),
    })
}

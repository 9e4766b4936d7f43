//! The state of the view and its transitions: `update` receives events and returns effects. The
//! model performs no input or output.
//!
//! ```text
//!   keys ──▶ Event::Key ──┐                    ┌──▶ Effect::CountInside, Attach, Close … ─▶ feed
//!   feed ──▶ Event::Feed ─┼─▶ Model::update ───┼──▶ Effect::Save                         ─▶ a file
//!   clock ─▶ Event::Tick ─┘                    └──▶ Effect::Quit
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use super::cost::{self, Cost};
use super::events::{Channel, FeedEvent, FeedMessage};
use super::keys::{PressedKey, UserAction};
use super::location::{MethodLocation, ProbeKind};
use super::measurements::{AttachCounts, InstrumentRole, MeasurementSample, TopPlanLine};
use super::methods::MethodTable;
use super::open_method::OpenMethod;
use super::picker::{Picker, PickerResult};
use super::probe::{ProbePanel, ProbeState};
use super::stack_times::{StackDump, StackTimes};
use crate::flow_counts::{Graph, Variable};

/// Maximum number of instruments attached by keys. Each needs a connection, and the agent accepts
/// 32 clients.
pub const MAX_PROBES: usize = 12;
/// How long a message is shown.
const MESSAGE_DURATION: Duration = Duration::from_secs(6);

/// An input of the model.
#[derive(Debug, Clone)]
pub enum ModelEvent {
    Key(PressedKey),
    /// A connection has sent a message.
    Feed(FeedEvent),
    /// The time since the view began.
    Tick(Duration),
    /// The processor time that the process has used so far, in nanoseconds.
    Processor(f64),
}

/// An action that the model requests from its caller.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelEffect {
    /// Ends the view.
    Quit,
    /// Count the blocks and edges of this method, on the connection with this number.
    CountInside(u64, MethodLocation),
    /// Attach an instrument, on the connection with this number.
    Attach(u64, MethodLocation, ProbeKind),
    /// Request the variables of this method, on the connection with this number.
    QueryVariables(u64, MethodLocation),
    /// Close this connection. The agent then detaches what it held.
    Close(Channel),
    /// Write the whole state to a file.
    Save {
        /// As text instead of JSON.
        text: bool,
    },
}

/// The part of the view that receives the keys.
#[derive(Debug, Clone, PartialEq)]
pub enum InputMode {
    View,
    /// The filter is being typed. Contains the previous filter, which Escape restores.
    Filter(String),
    /// The variables of a watch are being selected.
    Pick(Picker),
    /// The help is shown.
    Help,
}

/// Why the view ends without a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The JVM has ended.
    JvmEnded,
    /// The agent refused the counters.
    Refused(String),
    /// The JVM could not be reached, or the connection broke.
    ConnectionLost(String),
}

/// A message in the status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub text: String,
    /// Whether the message reports an error. Errors are shown until a key is pressed.
    pub bad: bool,
    since: Duration,
}

/// The state of the view.
#[derive(Debug, Clone)]
pub struct Model {
    pub pid: u32,
    /// A description of the counted methods.
    pub scope: String,
    pub methods: MethodTable,
    /// The method whose fragments are shown, or `None` if the table of methods is shown.
    pub open_method: Option<OpenMethod>,
    /// Instruments attached by keys, the oldest first.
    pub probes: Vec<ProbePanel>,
    /// The estimated cost of all instruments.
    pub cost: Cost,
    /// Whether the displayed measurements are frozen.
    pub paused: bool,
    pub mode: InputMode,
    /// Time since the view began.
    pub now: Duration,
    /// The number of methods and points with counters; `None` until the counters are attached.
    pub attached: Option<AttachCounts>,
    pub end: Option<EndReason>,
    /// Number of samples of the counters of all methods.
    pub samples: u64,
    /// The stack samples of the last seconds.
    times: StackTimes,
    /// The selection of the last watch, with the number of its connection. It opens again if the
    /// agent refuses the watch.
    last_picker: Option<(u64, Picker)>,
    message: Option<Message>,
    busy: BTreeMap<u64, (Channel, String, Duration)>,
    next: u64,
    /// Passes of each channel at its last sample, for the cost.
    passes: Vec<(Channel, u64)>,
}

impl Model {
    /// Creates the state before any event.
    pub fn new(pid: u32, scope: &str) -> Model {
        let mut model = Model {
            pid,
            scope: scope.into(),
            methods: MethodTable::default(),
            open_method: None,
            probes: Vec::new(),
            cost: Cost::default(),
            paused: false,
            mode: InputMode::View,
            now: Duration::ZERO,
            attached: None,
            end: None,
            samples: 0,
            times: StackTimes::default(),
            last_picker: None,
            message: None,
            busy: BTreeMap::new(),
            next: 1,
            passes: Vec::new(),
        };
        model.begin(Channel::Calls, "connecting");
        model
    }

    /// Processes an event and returns the effects that the caller must carry out.
    pub fn update(&mut self, event: ModelEvent) -> Vec<ModelEffect> {
        match event {
            ModelEvent::Tick(now) => {
                self.now = now;
                Vec::new()
            }
            ModelEvent::Processor(ns) => {
                self.cost.end_sample(ns);
                Vec::new()
            }
            ModelEvent::Feed(event) => {
                self.feed_event(event);
                Vec::new()
            }
            ModelEvent::Key(key) => self.key(key),
        }
    }

    /// Shows a message in the status line.
    pub fn show_message(&mut self, text: impl Into<String>, bad: bool) {
        self.message = Some(Message {
            text: text.into(),
            bad,
            since: self.now,
        });
    }

    /// The message to show. Errors are shown until a key is pressed, other messages for a limited
    /// time.
    pub fn message(&self) -> Option<&Message> {
        let message = self.message.as_ref()?;
        let is_new = self.now.saturating_sub(message.since) < MESSAGE_DURATION;
        (message.bad || is_new).then_some(message)
    }

    /// The operations that are not finished, and how long each has taken so far; the oldest first.
    pub fn busy(&self) -> impl Iterator<Item = (&str, Duration)> {
        let entries = self.busy.values();
        entries.map(|(_, what, since)| (what.as_str(), self.now.saturating_sub(*since)))
    }

    /// The location of the selected row.
    pub fn selected(&self) -> Option<MethodLocation> {
        match &self.open_method {
            Some(inside) => inside.selected_location(),
            None => self.methods.selected().map(|m| m.location.clone()),
        }
    }

    /// The instruments attached to this location by keys.
    pub fn probes_at<'a>(
        &'a self,
        location: &'a MethodLocation,
    ) -> impl Iterator<Item = &'a ProbePanel> {
        self.probes.iter().filter(move |p| p.location == *location)
    }

    fn number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    fn begin(&mut self, channel: Channel, what: impl Into<String>) {
        let number = self.number();
        self.busy.insert(number, (channel, what.into(), self.now));
    }

    fn done(&mut self, channel: Channel) {
        self.busy.retain(|_, (of, ..)| *of != channel);
    }

    fn feed_event(&mut self, event: FeedEvent) {
        let channel = event.channel;
        if !self.is_open(channel) {
            return;
        }
        match event.message {
            FeedMessage::Progress(stage) => {
                for (of, what, _) in self.busy.values_mut() {
                    if *of == channel && channel == Channel::Calls {
                        what.clone_from(&stage);
                    }
                }
            }
            FeedMessage::Scope(scope) => self.scope = scope,
            FeedMessage::Stacks(dump) => self.add_stacks(dump),
            FeedMessage::PlanOutput(output) => self.plan_output(channel, output),
            FeedMessage::Sample(sample) => self.add_sample(channel, &sample),
            FeedMessage::DetachedByOther => self.detached_by_other(channel),
            FeedMessage::Warning(text) => self.show_message(text, true),
            FeedMessage::Attached => self.done(channel),
            FeedMessage::Refused(message) => self.failed(channel, message, false),
            FeedMessage::ConnectionLost(message) => self.failed(channel, message, true),
            FeedMessage::JvmEnded => self.end = Some(EndReason::JvmEnded),
        }
    }

    fn is_open(&self, channel: Channel) -> bool {
        match channel {
            Channel::Calls | Channel::Stacks => true,
            Channel::Inside(n) => self.open_method.as_ref().is_some_and(|i| i.number == n),
            Channel::Probe(n) => self.probes.iter().any(|p| p.number == n),
            Channel::Question(_) => self.busy.values().any(|(of, ..)| *of == channel),
        }
    }

    fn failed(&mut self, channel: Channel, message: String, lost: bool) {
        self.done(channel);
        match channel {
            Channel::Calls if lost => self.end = Some(EndReason::ConnectionLost(message)),
            Channel::Calls => self.end = Some(EndReason::Refused(message)),
            Channel::Inside(_) => {
                self.open_method = None;
                self.show_message(message, true);
            }
            Channel::Probe(number) => {
                self.probes.retain(|p| p.number != number);
                self.show_message(message, true);
                self.reopen_picker(number);
            }
            Channel::Question(_) | Channel::Stacks => self.show_message(message, true),
        }
    }

    /// Opens the selection of a refused watch again, with the text that the user typed.
    fn reopen_picker(&mut self, number: u64) {
        if self.mode == InputMode::View
            && let Some((_, picker)) = self.last_picker.take_if(|(of, _)| *of == number)
        {
            self.mode = InputMode::Pick(picker.reopened());
        }
    }

    fn add_stacks(&mut self, dump: StackDump) {
        self.times.add(self.now.as_secs_f64(), dump);
    }

    fn plan_output(&mut self, channel: Channel, output: TopPlanLine) {
        match output {
            TopPlanLine::Attached(attached) => self.attached = Some(attached),
            // The ids are only needed by the feed.
            TopPlanLine::Ids(_) => {}
            TopPlanLine::Graph(graph) => self.graph(channel, graph),
            TopPlanLine::Watch(values) => {
                let Channel::Probe(number) = channel else {
                    return;
                };
                if let Some(probe) = self.probes.iter_mut().find(|p| p.number == number) {
                    probe.set_values(values);
                }
            }
        }
    }

    /// Adds a sample. While the view is paused, the sample is counted for the cost and stored, but
    /// not shown.
    fn add_sample(&mut self, channel: Channel, sample: &MeasurementSample) {
        let show = !self.paused;
        let (passes, ns) = match channel {
            Channel::Calls => {
                self.samples += 1;
                let first = self.samples == 1;
                self.methods.add_sample(
                    sample.at,
                    sample.rows_of(InstrumentRole::Calls),
                    show || first,
                );
                if show || first {
                    self.methods.set_shares(&self.times);
                }
                (self.methods.live(), cost::COUNTER_NS)
            }
            Channel::Inside(_) => {
                let Some(inside) = &mut self.open_method else {
                    return;
                };
                inside.add_sample(
                    sample.at,
                    &sample.rows_of(InstrumentRole::Blocks),
                    &sample.rows_of(InstrumentRole::Edges),
                    show,
                );
                // The edge counts are not added: the agent derives edges from blocks or blocks from
                // edges, so a counter would be counted twice.
                (inside.live(), cost::COUNTER_NS)
            }
            Channel::Probe(number) => {
                let Some(probe) = self.probes.iter_mut().find(|p| p.number == number) else {
                    return;
                };
                probe.add_sample(&sample.rows_of(InstrumentRole::Probe));
                if show || probe.state == ProbeState::Attaching {
                    probe.show(sample.at);
                }
                (probe.live(), cost::pass_ns(&probe.kind))
            }
            Channel::Question(_) | Channel::Stacks => return,
        };
        self.add_passes(channel, passes, ns);
    }

    fn detached_by_other(&mut self, channel: Channel) {
        let by = "was taken off by somebody else (`veneer detach`)";
        match channel {
            Channel::Calls => {
                let message = format!("the counter of each method {by}");
                self.end = Some(EndReason::ConnectionLost(message));
            }
            Channel::Inside(_) => {
                self.open_method = None;
                self.show_message(format!("what counted inside the method {by}"), true);
            }
            Channel::Probe(number) => {
                let of = |p: &ProbePanel| format!("the {} of {} {by}", p.kind.name(), p.location);
                let gone = self.probes.iter().find(|p| p.number == number).map(of);
                self.probes.retain(|p| p.number != number);
                if let Some(text) = gone {
                    self.show_message(text, true);
                }
            }
            Channel::Question(_) | Channel::Stacks => {}
        }
        self.passes.retain(|(of, _)| *of != channel);
    }

    fn graph(&mut self, channel: Channel, graph: Graph) {
        match channel {
            Channel::Question(_) => {
                let location = MethodLocation {
                    class: graph.class.clone(),
                    method: graph.method.clone(),
                    fragment: None,
                };
                let first = graph.blocks.into_iter().next();
                self.done(channel);
                if self.mode == InputMode::View {
                    self.pick(location, first.map(|b| b.variables).unwrap_or_default());
                }
            }
            _ => {
                if let Some(inside) = &mut self.open_method {
                    inside.set_graph(graph);
                }
            }
        }
    }

    /// Records the number of passes of a channel so far, and adds the new ones to the cost.
    fn add_passes(&mut self, channel: Channel, so_far: u64, ns: f64) {
        match self.passes.iter_mut().find(|(of, _)| *of == channel) {
            Some((_, before)) => {
                self.cost.add_passes(so_far.saturating_sub(*before), ns);
                *before = so_far;
            }
            None => {
                self.cost.add_passes(so_far, ns);
                self.passes.push((channel, so_far));
            }
        }
    }

    fn close(&mut self, channel: Channel) -> ModelEffect {
        self.done(channel);
        self.passes.retain(|(of, _)| *of != channel);
        ModelEffect::Close(channel)
    }

    fn key(&mut self, key: PressedKey) -> Vec<ModelEffect> {
        if key == PressedKey::Interrupt {
            return vec![ModelEffect::Quit];
        }
        // Pressing a key dismisses the message.
        self.message = None;
        match &mut self.mode {
            InputMode::Help => {
                self.mode = InputMode::View;
                Vec::new()
            }
            InputMode::Filter(before) => {
                let mut text = self.methods.filter().to_owned();
                match key {
                    PressedKey::Enter => self.mode = InputMode::View,
                    PressedKey::Escape => {
                        let before = std::mem::take(before);
                        self.methods.set_filter(&before);
                        self.mode = InputMode::View;
                    }
                    PressedKey::Backspace => {
                        text.pop();
                        self.methods.set_filter(&text);
                    }
                    PressedKey::Letter(letter) => {
                        text.push(letter);
                        self.methods.set_filter(&text);
                    }
                    _ => {}
                }
                Vec::new()
            }
            InputMode::Pick(picker) => match picker.key(key) {
                None => Vec::new(),
                Some(PickerResult::Nothing) => {
                    self.mode = InputMode::View;
                    Vec::new()
                }
                Some(PickerResult::Values(values)) => {
                    let picker = picker.clone();
                    self.mode = InputMode::View;
                    let effects = self.attach(picker.location.clone(), ProbeKind::Watch(values));
                    if let [ModelEffect::Attach(number, ..)] = effects.as_slice() {
                        self.last_picker = Some((*number, picker));
                    }
                    effects
                }
            },
            InputMode::View => self.perform(UserAction::for_key(key, self.open_method.is_some())),
        }
    }

    fn perform(&mut self, action: UserAction) -> Vec<ModelEffect> {
        match action {
            UserAction::None => {}
            UserAction::Quit => return vec![ModelEffect::Quit],
            UserAction::Help => self.mode = InputMode::Help,
            UserAction::Move(rows) => match &mut self.open_method {
                Some(inside) => inside.move_by(rows),
                None => self.methods.move_by(rows),
            },
            UserAction::Open => return self.open(),
            UserAction::Back => return self.back(),
            UserAction::Hottest => {
                if let Some(inside) = &mut self.open_method {
                    inside.move_to_hottest();
                }
            }
            UserAction::Sort => {
                let (column, _) = self.methods.order();
                self.methods.sort(column.next(), false);
            }
            UserAction::Reverse => {
                let (column, reversed) = self.methods.order();
                self.methods.sort(column, !reversed);
            }
            UserAction::Filter => self.mode = InputMode::Filter(self.methods.filter().to_owned()),
            UserAction::Pause => self.paused = !self.paused,
            UserAction::Save { text } => return vec![ModelEffect::Save { text }],
            UserAction::Counter => return self.toggle(ProbeKind::Counter),
            UserAction::Timer => return self.toggle(ProbeKind::Timer),
            UserAction::Watch => return self.toggle(ProbeKind::Watch(Vec::new())),
            UserAction::Detach => {
                if let Some(location) = self.selected() {
                    return self.detach(|p| p.location == location);
                }
            }
            UserAction::DetachAll => return self.detach(|_| true),
        }
        Vec::new()
    }

    fn open(&mut self) -> Vec<ModelEffect> {
        if self.open_method.is_some() {
            return Vec::new();
        }
        let Some(location) = self.selected() else {
            return Vec::new();
        };
        let number = self.number();
        self.begin(
            Channel::Inside(number),
            format!("counting inside {}", location.short_name()),
        );
        self.open_method = Some(OpenMethod::new(number, location.clone()));
        vec![ModelEffect::CountInside(number, location)]
    }

    fn back(&mut self) -> Vec<ModelEffect> {
        match self.open_method.take() {
            Some(inside) => vec![self.close(Channel::Inside(inside.number))],
            None => {
                self.methods.set_filter("");
                Vec::new()
            }
        }
    }

    /// Attaches an instrument to the selected row. If one of this kind is attached there, detaches
    /// it instead.
    fn toggle(&mut self, kind: ProbeKind) -> Vec<ModelEffect> {
        let Some(location) = self.selected() else {
            self.show_message("nothing is selected", true);
            return Vec::new();
        };
        if self
            .probes_at(&location)
            .any(|p| p.kind.is_same_kind(&kind))
        {
            return self.detach(|p| p.location == location && p.kind.is_same_kind(&kind));
        }
        if !matches!(kind, ProbeKind::Watch(_)) {
            return self.attach(location, kind);
        }
        match self.open_method.as_ref().map(OpenMethod::selected) {
            Some(Some(block)) => {
                let variables = block.variables.clone();
                self.pick(location, variables);
                Vec::new()
            }
            Some(None) => Vec::new(),
            None => {
                let number = self.number();
                self.begin(
                    Channel::Question(number),
                    format!("requesting the variables of {}", location.short_name()),
                );
                vec![ModelEffect::QueryVariables(number, location)]
            }
        }
    }

    fn pick(&mut self, location: MethodLocation, variables: Vec<Variable>) {
        self.mode = InputMode::Pick(Picker::new(location, variables));
    }

    fn attach(&mut self, location: MethodLocation, kind: ProbeKind) -> Vec<ModelEffect> {
        if self.probes.len() >= MAX_PROBES {
            self.show_message(
                format!("at most {MAX_PROBES} instruments can be attached; detach one with d, or all with D"),
                true,
            );
            return Vec::new();
        }
        let number = self.number();
        self.begin(
            Channel::Probe(number),
            format!("attaching a {} to {location}", kind.name()),
        );
        self.probes
            .push(ProbePanel::new(number, location.clone(), kind.clone()));
        vec![ModelEffect::Attach(number, location, kind)]
    }

    fn detach(&mut self, which: impl Fn(&ProbePanel) -> bool) -> Vec<ModelEffect> {
        let gone: Vec<(u64, String)> = self
            .probes
            .iter()
            .filter(|p| which(p))
            .map(|p| {
                (
                    p.number,
                    format!("the {} of {} is taken off", p.kind.name(), p.location),
                )
            })
            .collect();
        self.probes.retain(|p| !which(p));
        match gone.as_slice() {
            [] => self.show_message("nothing is attached here; c, t and w attach", false),
            [(_, text)] => self.show_message(text.clone(), false),
            more => self.show_message(format!("{} instruments are taken off", more.len()), false),
        }
        let close = |(number, _): &(u64, String)| self.close(Channel::Probe(*number));
        gone.iter().map(close).collect()
    }
}

#[cfg(test)]
mod tests;

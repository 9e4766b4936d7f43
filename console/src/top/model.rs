//! The state of the view, and how it changes: events in, wishes out. It draws nothing and talks to nobody.
//!
//! ```text
//!   keys ──▶ Event::Key ──┐                    ┌──▶ Wish::Inside, Attach, Close …  ─▶ feed
//!   feed ──▶ Event::News ─┼─▶ Model::update ───┼──▶ Wish::Save                     ─▶ a file
//!   clock ─▶ Event::Tick ─┘                    └──▶ Wish::Quit
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use super::cost::{self, Cost};
use super::figures::{Attached, Graph, Look, Role, Told};
use super::inside::Inside;
use super::keys::{Action, Key};
use super::methods::Methods;
use super::news::{Channel, News, What};
use super::picker::{Picked, Picker};
use super::place::{Kind, Place};
use super::probe::{Probe, State};

/// Instruments attached by keys at most: each has a connection, and the agent serves 32 clients.
pub const PROBES: usize = 12;
/// How long a message stays.
const STAYS: Duration = Duration::from_secs(6);

/// Something that happened.
#[derive(Debug, Clone)]
pub enum Event {
    /// A key was pressed.
    Key(Key),
    /// The feed brings something.
    News(News),
    /// So much time has passed since the beginning.
    Tick(Duration),
    /// The process has had so much processor time so far, in nanoseconds.
    Processor(f64),
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// End.
    Quit,
    /// Count inside this method.
    Inside(u64, Place),
    /// Attach this.
    Attach(u64, Place, Kind),
    /// Ask for the variables of this method.
    Ask(u64, Place),
    /// Close this connection: the agent takes off what it held.
    Close(Channel),
    /// Write everything to a file; as text, where it says so.
    Save {
        /// Text, and not JSON.
        text: bool,
    },
}

/// What takes the keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Mode {
    /// The view itself.
    View,
    /// The filter is being typed; what it was before.
    Filter(String),
    /// Variables are being chosen.
    Pick(Picker),
    /// The help is shown.
    Help,
}

/// Why it ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The JVM has ended.
    Jvm,
    /// The agent refused the counters.
    Refused(String),
    /// The JVM could not be reached, or the connection broke.
    Lost(String),
}

/// A message at the bottom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// What it says.
    pub text: String,
    /// Something went wrong.
    pub bad: bool,
    since: Duration,
}

/// See the module documentation.
#[derive(Debug, Clone)]
pub struct Model {
    /// The JVM.
    pub pid: u32,
    /// What is counted, in words.
    pub scope: String,
    /// The methods.
    pub methods: Methods,
    /// The method that is looked into.
    pub inside: Option<Inside>,
    /// What was attached by keys, the oldest first.
    pub probes: Vec<Probe>,
    /// What all that costs.
    pub cost: Cost,
    /// Figures stand still.
    pub paused: bool,
    /// What takes the keys.
    pub mode: Mode,
    /// Since the beginning.
    pub now: Duration,
    /// What the counters of the methods stand on, once they do.
    pub attached: Option<Attached>,
    /// Why it ends by itself.
    pub end: Option<End>,
    /// Looks at the methods that have come.
    pub looks: u64,
    message: Option<Message>,
    busy: BTreeMap<u64, (Channel, String, Duration)>,
    next: u64,
    /// Passes of each channel at its last look, for the cost.
    passes: Vec<(Channel, u64)>,
}

impl Model {
    /// Of this JVM, before anything has come.
    pub fn new(pid: u32, scope: &str) -> Model {
        let mut model = Model {
            pid,
            scope: scope.into(),
            methods: Methods::default(),
            inside: None,
            probes: Vec::new(),
            cost: Cost::default(),
            paused: false,
            mode: Mode::View,
            now: Duration::ZERO,
            attached: None,
            end: None,
            looks: 0,
            message: None,
            busy: BTreeMap::new(),
            next: 1,
            passes: Vec::new(),
        };
        model.begin(Channel::Calls, "connecting");
        model
    }

    /// Takes in an event.
    pub fn update(&mut self, event: Event) -> Vec<Wish> {
        match event {
            Event::Tick(now) => {
                self.now = now;
                Vec::new()
            }
            Event::Processor(ns) => {
                self.cost.look(ns);
                Vec::new()
            }
            Event::News(news) => {
                self.news(news);
                Vec::new()
            }
            Event::Key(key) => self.key(key),
        }
    }

    /// Says something at the bottom.
    pub fn say(&mut self, text: impl Into<String>, bad: bool) {
        self.message = Some(Message {
            text: text.into(),
            bad,
            since: self.now,
        });
    }

    /// What is to be said, as long as it is new; what went wrong, until a key is pressed.
    pub fn message(&self) -> Option<&Message> {
        let message = self.message.as_ref()?;
        let is_new = self.now.saturating_sub(message.since) < STAYS;
        (message.bad || is_new).then_some(message)
    }

    /// What takes long and is not done yet, and for how long it has taken; the oldest first.
    pub fn busy(&self) -> impl Iterator<Item = (&str, Duration)> {
        let entries = self.busy.values();
        entries.map(|(_, what, since)| (what.as_str(), self.now.saturating_sub(*since)))
    }

    /// What is selected.
    pub fn selected(&self) -> Option<Place> {
        match &self.inside {
            Some(inside) => inside.selected_place(),
            None => self.methods.selected().map(|m| m.place.clone()),
        }
    }

    /// What is attached by keys here.
    pub fn probes_at<'a>(&'a self, place: &'a Place) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(move |p| p.place == *place)
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

    fn news(&mut self, news: News) {
        let channel = news.channel;
        if !self.is_open(channel) {
            return;
        }
        match news.what {
            What::Stage(stage) => {
                for (of, what, _) in self.busy.values_mut() {
                    if *of == channel && channel == Channel::Calls {
                        what.clone_from(&stage);
                    }
                }
            }
            What::Told(told) => self.told(channel, told),
            What::Look(look) => self.look(channel, &look),
            What::TakenOff => self.taken_off(channel),
            What::Said(text) => self.say(text, true),
            What::Holds => self.done(channel),
            What::Failed(message) => self.failed(channel, message, false),
            What::Lost(message) => self.failed(channel, message, true),
            What::Ended => self.end = Some(End::Jvm),
        }
    }

    fn is_open(&self, channel: Channel) -> bool {
        match channel {
            Channel::Calls => true,
            Channel::Inside(n) => self.inside.as_ref().is_some_and(|i| i.number == n),
            Channel::Probe(n) => self.probes.iter().any(|p| p.number == n),
            Channel::Question(_) => self.busy.values().any(|(of, ..)| *of == channel),
        }
    }

    fn failed(&mut self, channel: Channel, message: String, lost: bool) {
        self.done(channel);
        match channel {
            Channel::Calls if lost => self.end = Some(End::Lost(message)),
            Channel::Calls => self.end = Some(End::Refused(message)),
            Channel::Inside(_) => {
                self.inside = None;
                self.say(message, true);
            }
            Channel::Probe(number) => {
                self.probes.retain(|p| p.number != number);
                self.say(message, true);
            }
            Channel::Question(_) => self.say(message, true),
        }
    }

    fn told(&mut self, channel: Channel, told: Told) {
        match told {
            Told::Attached(attached) => self.attached = Some(attached),
            // That is for the connection.
            Told::Ids(_) => {}
            Told::Graph(graph) => self.graph(channel, graph),
            Told::Watch(values) => {
                let Channel::Probe(number) = channel else {
                    return;
                };
                if let Some(probe) = self.probes.iter_mut().find(|p| p.number == number) {
                    probe.watch(values);
                }
            }
        }
    }

    /// Takes in figures. While there is a pause they are counted for the cost and kept, but not shown.
    fn look(&mut self, channel: Channel, look: &Look) {
        let show = !self.paused;
        let (passes, ns) = match channel {
            Channel::Calls => {
                self.looks += 1;
                let first = self.looks == 1;
                self.methods
                    .look(look.at, look.of(Role::Calls), show || first);
                (self.methods.live(), cost::COUNTER)
            }
            Channel::Inside(_) => {
                let Some(inside) = &mut self.inside else {
                    return;
                };
                inside.look(look.at, &look.of(Role::Blocks), &look.of(Role::Edges), show);
                // Edges follow from blocks, or blocks from edges: both together would be counted twice.
                (inside.live(), cost::COUNTER)
            }
            Channel::Probe(number) => {
                let Some(probe) = self.probes.iter_mut().find(|p| p.number == number) else {
                    return;
                };
                probe.look(&look.of(Role::Probe));
                if show || probe.state == State::Attaching {
                    probe.show(look.at);
                }
                (probe.live(), cost::of_pass(&probe.kind))
            }
            Channel::Question(_) => return,
        };
        self.passed(channel, passes, ns);
    }

    fn taken_off(&mut self, channel: Channel) {
        let by = "was taken off by somebody else (`veneer detach`)";
        match channel {
            Channel::Calls => {
                let message = format!("the counter of each method {by}");
                self.end = Some(End::Lost(message));
            }
            Channel::Inside(_) => {
                self.inside = None;
                self.say(format!("what counted inside the method {by}"), true);
            }
            Channel::Probe(number) => {
                let of = |p: &Probe| format!("the {} of {} {by}", p.kind.name(), p.place);
                let gone = self.probes.iter().find(|p| p.number == number).map(of);
                self.probes.retain(|p| p.number != number);
                if let Some(text) = gone {
                    self.say(text, true);
                }
            }
            Channel::Question(_) => {}
        }
        self.passes.retain(|(of, _)| *of != channel);
    }

    fn graph(&mut self, channel: Channel, graph: Graph) {
        match channel {
            Channel::Question(_) => {
                let place = Place {
                    class: graph.class.clone(),
                    method: graph.method.clone(),
                    fragment: None,
                };
                let first = graph.blocks.into_iter().next();
                self.done(channel);
                if self.mode == Mode::View {
                    self.pick(place, first.map(|b| b.variables).unwrap_or_default());
                }
            }
            _ => {
                if let Some(inside) = &mut self.inside {
                    inside.set_graph(graph);
                }
            }
        }
    }

    /// Notes how many passes a channel has had so far, for the cost.
    fn passed(&mut self, channel: Channel, so_far: u64, ns: f64) {
        match self.passes.iter_mut().find(|(of, _)| *of == channel) {
            Some((_, before)) => {
                self.cost.passed(so_far.saturating_sub(*before), ns);
                *before = so_far;
            }
            None => {
                self.cost.passed(so_far, ns);
                self.passes.push((channel, so_far));
            }
        }
    }

    fn close(&mut self, channel: Channel) -> Wish {
        self.done(channel);
        self.passes.retain(|(of, _)| *of != channel);
        Wish::Close(channel)
    }

    fn key(&mut self, key: Key) -> Vec<Wish> {
        if key == Key::Interrupt {
            return vec![Wish::Quit];
        }
        // Whoever presses a key has read what was said.
        self.message = None;
        match &mut self.mode {
            Mode::Help => {
                self.mode = Mode::View;
                Vec::new()
            }
            Mode::Filter(before) => {
                let mut text = self.methods.filter().to_owned();
                match key {
                    Key::Enter => self.mode = Mode::View,
                    Key::Escape => {
                        let before = std::mem::take(before);
                        self.methods.set_filter(&before);
                        self.mode = Mode::View;
                    }
                    Key::Backspace => {
                        text.pop();
                        self.methods.set_filter(&text);
                    }
                    Key::Letter(letter) => {
                        text.push(letter);
                        self.methods.set_filter(&text);
                    }
                    _ => {}
                }
                Vec::new()
            }
            Mode::Pick(picker) => match picker.key(key) {
                None => Vec::new(),
                Some(Picked::Nothing) => {
                    self.mode = Mode::View;
                    Vec::new()
                }
                Some(Picked::Values(values)) => {
                    let place = picker.place.clone();
                    self.mode = Mode::View;
                    self.attach(place, Kind::Watch(values))
                }
            },
            Mode::View => self.act(Action::of(key, self.inside.is_some())),
        }
    }

    fn act(&mut self, action: Action) -> Vec<Wish> {
        match action {
            Action::None => {}
            Action::Quit => return vec![Wish::Quit],
            Action::Help => self.mode = Mode::Help,
            Action::Move(rows) => match &mut self.inside {
                Some(inside) => inside.move_by(rows),
                None => self.methods.move_by(rows),
            },
            Action::Open => return self.open(),
            Action::Back => return self.back(),
            Action::Hottest => {
                if let Some(inside) = &mut self.inside {
                    inside.move_to_hottest();
                }
            }
            Action::Sort => {
                let (column, _) = self.methods.order();
                self.methods.sort(column.next(), false);
            }
            Action::Reverse => {
                let (column, reversed) = self.methods.order();
                self.methods.sort(column, !reversed);
            }
            Action::Filter => self.mode = Mode::Filter(self.methods.filter().to_owned()),
            Action::Pause => self.paused = !self.paused,
            Action::Save { text } => return vec![Wish::Save { text }],
            Action::Counter => return self.toggle(Kind::Counter),
            Action::Timer => return self.toggle(Kind::Timer),
            Action::Watch => return self.toggle(Kind::Watch(Vec::new())),
            Action::Detach => {
                if let Some(place) = self.selected() {
                    return self.detach(|p| p.place == place);
                }
            }
            Action::DetachAll => return self.detach(|_| true),
        }
        Vec::new()
    }

    fn open(&mut self) -> Vec<Wish> {
        if self.inside.is_some() {
            return Vec::new();
        }
        let Some(place) = self.selected() else {
            return Vec::new();
        };
        let number = self.number();
        self.begin(
            Channel::Inside(number),
            format!("counting inside {}", place.short_name()),
        );
        self.inside = Some(Inside::new(number, place.clone()));
        vec![Wish::Inside(number, place)]
    }

    fn back(&mut self) -> Vec<Wish> {
        match self.inside.take() {
            Some(inside) => vec![self.close(Channel::Inside(inside.number))],
            None => {
                self.methods.set_filter("");
                Vec::new()
            }
        }
    }

    /// Attaches to what is selected, or takes off what is there.
    fn toggle(&mut self, kind: Kind) -> Vec<Wish> {
        let Some(place) = self.selected() else {
            self.say("nothing is selected", true);
            return Vec::new();
        };
        if self.probes_at(&place).any(|p| p.kind.is_like(&kind)) {
            return self.detach(|p| p.place == place && p.kind.is_like(&kind));
        }
        if !matches!(kind, Kind::Watch(_)) {
            return self.attach(place, kind);
        }
        match self.inside.as_ref().map(Inside::selected) {
            Some(Some(block)) => {
                let variables = block.variables.clone();
                self.pick(place, variables);
                Vec::new()
            }
            Some(None) => Vec::new(),
            None => {
                let number = self.number();
                self.begin(
                    Channel::Question(number),
                    format!("asking for the variables of {}", place.short_name()),
                );
                vec![Wish::Ask(number, place)]
            }
        }
    }

    fn pick(&mut self, place: Place, variables: Vec<super::figures::Variable>) {
        self.mode = Mode::Pick(Picker::new(place, variables));
    }

    fn attach(&mut self, place: Place, kind: Kind) -> Vec<Wish> {
        if self.probes.len() >= PROBES {
            self.say(
                format!("{PROBES} instruments are the most; take one off with d, or all with D"),
                true,
            );
            return Vec::new();
        }
        let number = self.number();
        self.begin(
            Channel::Probe(number),
            format!("attaching a {} to {place}", kind.name()),
        );
        self.probes
            .push(Probe::new(number, place.clone(), kind.clone()));
        vec![Wish::Attach(number, place, kind)]
    }

    fn detach(&mut self, which: impl Fn(&Probe) -> bool) -> Vec<Wish> {
        let gone: Vec<(u64, String)> = self
            .probes
            .iter()
            .filter(|p| which(p))
            .map(|p| {
                (
                    p.number,
                    format!("the {} of {} is taken off", p.kind.name(), p.place),
                )
            })
            .collect();
        self.probes.retain(|p| !which(p));
        match gone.as_slice() {
            [] => self.say("nothing is attached here; c, t and w attach", false),
            [(_, text)] => self.say(text.clone(), false),
            more => self.say(format!("{} instruments are taken off", more.len()), false),
        }
        let close = |(number, _): &(u64, String)| self.close(Channel::Probe(*number));
        gone.iter().map(close).collect()
    }
}

#[cfg(test)]
mod tests;

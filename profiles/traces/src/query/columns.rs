//! The columns of a row, and their values.

use std::fmt;

use crate::format::names::FrameRecord;
use crate::format::word::kind;
use crate::reader::{Argument, Ending, Names, Node, OpenNode};

/// The meaning of a column's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time in nanoseconds.
    Nanoseconds,
    /// Memory in bytes.
    Bytes,
    /// A number without a unit.
    Number,
    /// The column has texts.
    Text,
}

/// The value of a column in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The trace does not know the value.
    Null,
    /// A whole number in the unit of the column.
    Number(u64),
    /// A number with a point: an average.
    Real(f64),
    /// A text of any length.
    Text(String),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Null => Ok(()),
            Cell::Number(number) => write!(f, "{number}"),
            Cell::Real(number) => write!(f, "{number:.1}"),
            Cell::Text(text) => f.write_str(text),
        }
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident $text:literal $unit:ident;)*) => {
        /// A column of a row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Column { $($(#[$doc])* $name,)* }

        impl Column {
            /// All columns in their usual order.
            pub const ALL: &'static [Column] = &[$(Column::$name,)*];

            /// The name in queries.
            pub fn name(self) -> &'static str {
                match self { $(Column::$name => $text,)* }
            }

            /// The unit of its numbers.
            pub fn unit(self) -> Unit {
                match self { $(Column::$name => Unit::$unit,)* }
            }
        }
    };
}

columns! {
    /// The thread's number in the trace.
    Thread "thread" Number;
    /// The thread's name.
    ThreadName "thread_name" Text;
    /// The position among all nodes of the thread.
    Node "node" Number;
    /// The number of the enclosing node.
    Parent "parent" Number;
    /// The number of enclosing nodes.
    Depth "depth" Number;
    /// The kind of the node: `call`, `wait`, …
    Kind "kind" Text;
    /// The class, dotted.
    Class "class" Text;
    /// The method as `class::name`, or the kind and its object.
    Method "method" Text;
    /// The method's descriptor.
    Descriptor "descriptor" Text;
    /// The enclosing method.
    Caller "caller" Text;
    /// The line of the call site in the caller.
    Site "site" Number;
    /// The line of the method.
    Line "line" Number;
    /// The beginning, since the origin of the trace.
    Start "start" Nanoseconds;
    /// The end, since the origin of the trace.
    End "end" Nanoseconds;
    /// The duration of the node.
    Wall "wall" Nanoseconds;
    /// The processor time.
    Cpu "cpu" Nanoseconds;
    /// The duration without children.
    SelfTime "self" Nanoseconds;
    /// The processor time without children.
    SelfCpu "self_cpu" Nanoseconds;
    /// The duration without the cost of observing.
    Corrected "corrected" Nanoseconds;
    /// The duration without children and without the cost of observing.
    CorrectedSelf "corrected_self" Nanoseconds;
    /// The uncertain part of the correction.
    Unexplained "unexplained" Nanoseconds;
    /// Bytes that the thread allocated.
    Allocated "allocated" Bytes;
    /// The number of children.
    Children "children" Number;
    /// The number of all nodes below.
    Below "below" Number;
    /// The calls directly inside that a filter left out.
    Omitted "omitted" Number;
    /// The thread that owned the monitor.
    Owner "owner" Text;
    /// The way in which the node ended: `exit`, `throw`, `cut` or `lost`.
    Ended "ended" Text;
    /// The values that the plan named.
    Values "values" Text;
}

impl Column {
    /// The column of this name.
    pub fn named(name: &str) -> Option<Column> {
        Column::ALL.iter().copied().find(|c| c.name() == name)
    }

    /// Whether rows can be grouped by the column.
    pub fn is_key(self) -> bool {
        matches!(
            self,
            Column::Thread
                | Column::ThreadName
                | Column::Depth
                | Column::Kind
                | Column::Class
                | Column::Method
                | Column::Caller
                | Column::Site
                | Column::Line
                | Column::Ended
        )
    }
}

/// A node with everything around it.
#[derive(Clone, Copy)]
pub struct RowView<'r> {
    /// The node of the row.
    pub node: &'r Node,
    /// The nodes around it, the outermost first.
    pub open: &'r [OpenNode],
    /// The thread's number.
    pub thread: u32,
    /// The names of the trace.
    pub names: &'r Names,
}

impl RowView<'_> {
    /// The value of a column of numbers; `None` if it is unknown or a text.
    pub fn number(&self, column: Column) -> Option<u64> {
        let (node, clock) = (self.node, &self.names.clock);
        Some(match column {
            Column::Thread => self.thread.into(),
            Column::Node => node.number,
            Column::Parent => node.parent?,
            Column::Depth => node.depth.into(),
            Column::Site => self.names.sites.get(&node.site()?)?.line.into(),
            Column::Line => self.frame()?.line.into(),
            Column::Start => self.names.since_origin(node.start),
            Column::End => self.names.since_origin(node.end),
            Column::Wall => clock.nanoseconds(node.ticks()),
            Column::Cpu => node.cpu_ns?,
            Column::SelfTime => clock.nanoseconds(node.self_ticks),
            Column::SelfCpu => node.self_cpu_ns?,
            Column::Corrected => node.corrected_ns(self.names),
            Column::CorrectedSelf => node.corrected_self_ns(self.names),
            Column::Unexplained => node.unexplained_ns(self.names),
            Column::Allocated => node.allocated?,
            Column::Children => node.children,
            Column::Below => node.below,
            Column::Omitted => node.omitted,
            _ => return None,
        })
    }

    /// The value of a column.
    pub fn cell(&self, column: Column) -> Cell {
        if column.unit() != Unit::Text {
            return self.number(column).map_or(Cell::Null, Cell::Number);
        }
        let text = match column {
            Column::ThreadName => Some(self.names.thread_name(self.thread)),
            Column::Kind => Some(kind_text(self.node.kind).to_string()),
            Column::Class => self.frame().map(|frame| frame.class.clone()),
            Column::Descriptor => self.frame().map(|frame| frame.descriptor.clone()),
            Column::Method => {
                let node = self.node;
                Some(method_text(self.names, node.kind, node.slot, node.id))
            }
            Column::Caller => self
                .open
                .last()
                .map(|n| method_text(self.names, n.kind, n.slot, n.id)),
            Column::Owner => {
                let owner = self.node.owner().and_then(|n| u32::try_from(n).ok());
                owner.map(|owner| self.names.thread_name(owner))
            }
            Column::Ended => Some(ending_text(self.node.ending).to_string()),
            _ => Some(values_text(self.names, &self.node.values())),
        };
        text.map_or(Cell::Null, Cell::Text)
    }

    fn frame(&self) -> Option<&FrameRecord> {
        (self.node.slot != 0).then(|| self.names.frame(self.node.slot))
    }

    /// A number that identifies the value of a key column within the trace. `None` for a value
    /// that the trace does not know. Rows with equal codes have equal cells.
    pub fn key(&self, column: Column) -> Option<u64> {
        let method = |kind: u8, slot: u32, id: u64| {
            let named = if slot != 0 { slot.into() } else { id };
            (u64::from(kind) << 56) | (u64::from(slot != 0) << 55) | (named & ((1 << 55) - 1))
        };
        Some(match column {
            Column::ThreadName => self.thread.into(),
            Column::Kind => self.node.kind.into(),
            Column::Class => self.names.class_number(self.node.slot).into(),
            Column::Method => method(self.node.kind, self.node.slot, self.node.id),
            Column::Caller => {
                let caller = self.open.last()?;
                method(caller.kind, caller.slot, caller.id)
            }
            Column::Ended => self.node.ending as u64,
            number => self.number(number)?,
        })
    }
}

/// The name of a kind of node.
pub fn kind_text(event: u8) -> &'static str {
    match event {
        0 => "unknown",
        kind::ENTRY => "call",
        kind::CONTENDED => "contended",
        kind::WAIT => "wait",
        kind::PARK => "park",
        kind::SLEEP => "sleep",
        kind::COLLECTION => "gc",
        kind::COMPILATION => "compile",
        kind::CLASS_LOAD => "class_load",
        kind::SPAN => "span",
        kind::MARK => "mark",
        kind::NOTIFY => "notify",
        kind::THREAD_START => "thread_start",
        kind::THREAD_END => "thread_end",
        kind::CLASS_UNLOAD => "class_unload",
        kind::DEOPTIMISATION => "deoptimise",
        kind::ALLOCATION => "allocate",
        kind::FREED => "free",
        kind::UNPARK => "unpark",
        kind::USER => "user",
        _ => "other",
    }
}

/// The name of an ending.
fn ending_text(ending: Ending) -> &'static str {
    match ending {
        Ending::Exit => "exit",
        Ending::Throw => "throw",
        Ending::Cut => "cut",
        Ending::Lost => "lost",
    }
}

/// The text of a node: `shop.Desk::serve` for a call, else the kind and its object, as in
/// `wait shop.Stock`.
pub fn method_text(names: &Names, event: u8, slot: u32, id: u64) -> String {
    if slot != 0 {
        let frame = names.frame(slot);
        let text = format!("{}::{}", frame.class, frame.name);
        return match event {
            kind::ENTRY => text,
            other => format!("{} {text}", kind_text(other)),
        };
    }
    match event {
        0 => "(before the trace)".into(),
        kind::ENTRY => format!("(frame {id})"),
        kind::THREAD_START | kind::THREAD_END | kind::UNPARK => {
            let thread = u32::try_from(id).unwrap_or(u32::MAX);
            format!("{} {}", kind_text(event), names.thread_name(thread))
        }
        other => match names.text(id) {
            Some(text) => format!("{} {text}", kind_text(other)),
            None => kind_text(other).into(),
        },
    }
}

/// The values of a plan, separated by spaces, as in `order.id=7 ann`.
pub fn values_text(names: &Names, values: &[Argument]) -> String {
    let mut out = String::new();
    for value in values {
        if !out.is_empty() && !out.ends_with('=') {
            out.push(' ');
        }
        match value {
            Argument::Int(number) => out.push_str(&number.to_string()),
            Argument::Double(number) => out.push_str(&number.to_string()),
            Argument::Text(text) => out.push_str(text),
            Argument::String(id) => out.push_str(names.text(*id).unwrap_or("?")),
            Argument::Object(class, hash) => {
                out.push_str(&format!("{}@{hash:x}", names.text(*class).unwrap_or("?")));
            }
            Argument::Label(id) => {
                out.push_str(names.text(*id).unwrap_or("?"));
                out.push('=');
            }
            _ => out.push_str("null"),
        }
    }
    out
}

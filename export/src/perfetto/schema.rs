//! The messages of Perfetto's trace format that this crate writes. The field numbers are those of
//! `protos/perfetto/trace/trace_packet.proto` and its imports.
//!
//! The complete format has hundreds of messages, and crates that contain it take longer to compile
//! than all of Veneer. Tests read the traces with Perfetto's own tools.

/// `perfetto.protos.Trace`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub packet: Vec<TracePacket>,
}

/// `perfetto.protos.TracePacket`
#[derive(Clone, PartialEq, prost::Message)]
pub struct TracePacket {
    /// Time in nanoseconds, by the clock [`BOOTTIME`].
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(oneof = "Data", tags = "6, 11, 60")]
    pub data: Option<Data>,
}

/// `TracePacket.data`
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Data {
    #[prost(message, tag = "6")]
    ClockSnapshot(ClockSnapshot),
    #[prost(message, tag = "11")]
    TrackEvent(TrackEvent),
    #[prost(message, tag = "60")]
    TrackDescriptor(TrackDescriptor),
}

/// `perfetto.protos.ClockSnapshot`: the values of several clocks at one instant.
#[derive(Clone, PartialEq, prost::Message)]
pub struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub clocks: Vec<Clock>,
}

/// `ClockSnapshot.Clock`
#[derive(Clone, PartialEq, prost::Message)]
pub struct Clock {
    #[prost(uint32, optional, tag = "1")]
    pub clock_id: Option<u32>,
    #[prost(uint64, optional, tag = "2")]
    pub timestamp: Option<u64>,
}

/// `BuiltinClock.BUILTIN_CLOCK_REALTIME`
pub const REALTIME: u32 = 1;
/// `BuiltinClock.BUILTIN_CLOCK_BOOTTIME`, the default clock of packets.
pub const BOOTTIME: u32 = 6;

/// `perfetto.protos.TrackDescriptor`
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub process: Option<ProcessDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
}

/// `perfetto.protos.ProcessDescriptor`
#[derive(Clone, PartialEq, prost::Message)]
pub struct ProcessDescriptor {
    #[prost(int32, optional, tag = "1")]
    pub pid: Option<i32>,
    #[prost(string, optional, tag = "6")]
    pub process_name: Option<String>,
}

/// `perfetto.protos.CounterDescriptor`
#[derive(Clone, PartialEq, prost::Message)]
pub struct CounterDescriptor {
    #[prost(enumeration = "Unit", optional, tag = "3")]
    pub unit: Option<i32>,
}

/// `CounterDescriptor.Unit`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum Unit {
    Unspecified = 0,
    TimeNs = 1,
    Count = 2,
}

/// `perfetto.protos.TrackEvent`
#[derive(Clone, PartialEq, prost::Message)]
pub struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub debug_annotations: Vec<DebugAnnotation>,
    #[prost(enumeration = "EventType", optional, tag = "9")]
    pub r#type: Option<i32>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(string, repeated, tag = "22")]
    pub categories: Vec<String>,
    #[prost(string, optional, tag = "23")]
    pub name: Option<String>,
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    #[prost(message, optional, tag = "33")]
    pub source_location: Option<SourceLocation>,
}

/// `TrackEvent.Type`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum EventType {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
    Counter = 4,
}

/// `perfetto.protos.SourceLocation`
#[derive(Clone, PartialEq, prost::Message)]
pub struct SourceLocation {
    #[prost(string, optional, tag = "3")]
    pub function_name: Option<String>,
    #[prost(uint32, optional, tag = "4")]
    pub line_number: Option<u32>,
}

/// `perfetto.protos.DebugAnnotation`
#[derive(Clone, PartialEq, prost::Message)]
pub struct DebugAnnotation {
    #[prost(string, optional, tag = "10")]
    pub name: Option<String>,
    #[prost(oneof = "Value", tags = "2, 3, 4, 5, 6")]
    pub value: Option<Value>,
}

/// `DebugAnnotation.value`
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(bool, tag = "2")]
    Bool(bool),
    #[prost(uint64, tag = "3")]
    Unsigned(u64),
    #[prost(int64, tag = "4")]
    Int(i64),
    #[prost(double, tag = "5")]
    Double(f64),
    #[prost(string, tag = "6")]
    Text(String),
}

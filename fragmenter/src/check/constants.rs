//! What an instruction means, by the content of the constants that it names, not by their numbers: two class files have two
//! pools. A version's call sites that stand for something that only the host may do are read back here, by a dictionary of
//! this module's own.

use super::value::{Map, Value};
use crate::bootstrap::{self, BootstrapMethod};
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::classfile::{ClassFile, Entry, Tag};
use crate::runtime;
use std::collections::HashMap;

/// An action that the world sees, or that may throw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    /// Number of its content.
    pub key: u32,
    /// Tag of the member reference; 0 where a handle stands for it.
    pub tag: u8,
    /// Words taken off the stack.
    pub pops: u16,
    /// Words put there.
    pub pushes: u8,
    /// What boxes or unboxes: the kind of primitive, as in a descriptor; 0 for none.
    pub boxes: u8,
}

/// An instruction of Veneer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(super) enum Own {
    Cell(u32),
    Token(u32),
    Idle,
    On,
    Leave,
    Stale,
    Shard,
    Count,
    Now,
    Stop,
    Lap,
    Begin,
    Log(u8),
    End,
    Locate,
    Frame,
    Go,
    Point,
    Kept,
    Keep,
    Get(u8),
    Put(u8),
    Site { id: u32, point: u16 },
}

/// What an instruction with a constant means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A number, as value and words.
    Int(i32),
    Float(u32),
    Wide(u8, u64),
    Event(Event),
    Own(Own),
    /// Something that emitted code may not do.
    Not(&'static str),
}

/// Which class an instruction stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Original,
    Armed,
    Version,
}

/// Numbers of contents, for both sides.
pub(super) struct Canon {
    numbers: HashMap<Vec<u8>, u32>,
}

/// Numbers below are opcodes and such.
const FIRST: u32 = 4096;
const BIND: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/Class;Ljava/lang/Class;)Ljava/lang/invoke/CallSite;";
const RELINK: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/Class;ILjava/lang/invoke/MethodHandle;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;";
const SITE: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;)Ljava/lang/invoke/CallSite;";

impl Canon {
    pub fn new() -> Canon {
        Canon {
            numbers: HashMap::new(),
        }
    }

    pub fn number(&mut self, content: Vec<u8>) -> u32 {
        let next = FIRST + self.numbers.len() as u32;
        *self.numbers.entry(content).or_insert(next)
    }

    /// The number of a class's name.
    pub fn class(&mut self, file: &ClassFile, index: u16) -> Result<u32, String> {
        let name = file.pool.class_name(index).map_err(|e| e.to_string())?;
        Ok(self.number(bytes(b'c', &[name.as_bytes()])))
    }

    /// The number of a class's name as text.
    pub fn class_named(&mut self, name: &str) -> u32 {
        self.number(bytes(b'c', &[name.as_bytes()]))
    }
}

fn bytes(head: u8, parts: &[&[u8]]) -> Vec<u8> {
    let mut out = vec![head];
    for p in parts {
        out.extend((p.len() as u32).to_be_bytes());
        out.extend_from_slice(p);
    }
    out
}

/// One class file, with what its constants were found to mean.
pub(super) struct Constants<'c> {
    pub file: &'c ClassFile<'c>,
    role: Role,
    /// Internal names: of the class that the code belongs to, of the class that holds it, of the anchor.
    host: String,
    own: String,
    anchor: String,
    /// Members of the host: private methods, and final fields with whether they are static.
    privates: Vec<(Vec<u8>, Vec<u8>)>,
    finals: Vec<(Vec<u8>, Vec<u8>, bool)>,
    bootstrap: Vec<BootstrapMethod>,
    memo: Map<(u8, u16), Meaning>,
    /// Whether privates go by one name, whichever instruction calls them: when original and version are compared.
    moved: bool,
}

type Read<T> = Result<T, String>;
/// A member reference: its tag, class, name and descriptor.
type Parts = (Tag, Vec<u8>, Vec<u8>, Vec<u8>);

impl<'c> Constants<'c> {
    /// `host` is the original class file, `moved` whether the emitted code is in another class.
    pub fn new(
        file: &'c ClassFile<'c>,
        role: Role,
        host: &ClassFile,
        anchor: &str,
        moved: bool,
    ) -> Read<Self> {
        let text = |e: crate::classfile::ClassFileError| e.to_string();
        let mut privates = Vec::new();
        let mut finals = Vec::new();
        for m in &host.methods {
            if m.access & 0x2 != 0 {
                privates.push((
                    host.pool.utf8(m.name).map_err(text)?.to_vec(),
                    host.pool.utf8(m.descriptor).map_err(text)?.to_vec(),
                ));
            }
        }
        for f in &host.fields {
            if f.access & 0x10 != 0 {
                finals.push((
                    host.pool.utf8(f.name).map_err(text)?.to_vec(),
                    host.pool.utf8(f.descriptor).map_err(text)?.to_vec(),
                    f.access & 0x8 != 0,
                ));
            }
        }
        Ok(Constants {
            file,
            role,
            host: host.name().map_err(text)?.into_owned(),
            own: file.name().map_err(text)?.into_owned(),
            anchor: anchor.to_string(),
            privates,
            finals,
            bootstrap: bootstrap::read(file).map_err(|e| e.to_string())?,
            memo: Map::default(),
            moved,
        })
    }

    /// What an instruction means that is neither silent, a store, a branch nor a return.
    pub fn meaning(&mut self, canon: &mut Canon, i: &Instruction) -> Read<Meaning> {
        let plain = |key: u32, pops: u16, pushes: u8| {
            Meaning::Event(Event {
                key,
                tag: 0,
                pops,
                pushes,
                boxes: 0,
            })
        };
        let (op, index) = match i {
            Instruction::Plain(op) => {
                let (pops, pushes) = match *op {
                    IALOAD | 48 | AALOAD..=SALOAD => (2, 1),
                    47 | 49 => (2, 2),
                    80 | 82 => (4, 0),
                    IASTORE..=SASTORE => (3, 0),
                    IDIV | IREM => (2, 1),
                    LDIV | LREM => (4, 2),
                    ARRAYLENGTH => (1, 1),
                    ATHROW | MONITORENTER | MONITOREXIT => (1, 0),
                    _ => return Err(format!("opcode {op}")),
                };
                return Ok(plain(*op as u32, pops, pushes));
            }
            Instruction::NewArray(t) => return Ok(plain(512 + *t as u32, 1, 1)),
            Instruction::Ldc { index, .. } => (LDC, *index),
            Instruction::Pool { op, index } => (*op, *index),
            Instruction::InvokeInterface { index, .. } => (INVOKEINTERFACE, *index),
            Instruction::InvokeDynamic { index } => (INVOKEDYNAMIC, *index),
            Instruction::MultiNewArray { index, dims } => {
                let class = canon.class(self.file, *index)?;
                let content = bytes(b'm', &[&class.to_be_bytes(), &[*dims]]);
                return Ok(plain(canon.number(content), *dims as u16, 1));
            }
            other => return Err(format!("opcode {}", other.op())),
        };
        if let Some(known) = self.memo.get(&(op, index)) {
            return Ok(*known);
        }
        let found = self.find(canon, op, index)?;
        self.memo.insert((op, index), found);
        Ok(found)
    }

    fn find(&mut self, canon: &mut Canon, op: u8, index: u16) -> Read<Meaning> {
        let event = |key, pops, pushes| {
            Meaning::Event(Event {
                key,
                tag: 0,
                pops,
                pushes,
                boxes: 0,
            })
        };
        Ok(match op {
            LDC => match self.entry(index)? {
                Entry::Integer(v) => Meaning::Int(v),
                Entry::Float(v) => Meaning::Float(v.to_bits()),
                Entry::Long(v) => Meaning::Wide(0, v as u64),
                Entry::Double(v) => Meaning::Wide(1, v.to_bits()),
                other => {
                    let words = match other {
                        Entry::Dynamic { .. } => {
                            let (_, _, d) = self.dynamic(index)?;
                            words_of(&d)
                        }
                        _ => 1,
                    };
                    let content = self.content(index, 0)?;
                    event(canon.number(bytes(b'l', &[&content])), 0, words)
                }
            },
            NEW => event(canon.class(self.file, index)? << 2 | 1 << 30, 0, 1),
            ANEWARRAY => event(canon.class(self.file, index)? << 2 | 1 | 1 << 30, 1, 1),
            CHECKCAST => event(canon.class(self.file, index)? << 2 | 2 | 1 << 30, 1, 1),
            INSTANCEOF => event(canon.class(self.file, index)? << 2 | 3 | 1 << 30, 1, 1),
            INVOKEDYNAMIC => self.call_site(canon, index)?,
            _ => self.member(canon, op, index)?,
        })
    }

    fn entry(&self, index: u16) -> Read<Entry<'_>> {
        self.file.pool.entry(index).map_err(|e| e.to_string())
    }

    fn utf8(&self, index: u16) -> Read<Vec<u8>> {
        let found = self.file.pool.utf8(index).map_err(|e| e.to_string())?;
        Ok(found.to_vec())
    }

    fn class_bytes(&self, index: u16) -> Read<Vec<u8>> {
        match self.entry(index)? {
            Entry::Class(name) => self.utf8(name),
            other => Err(format!("{other:?} where a class is needed")),
        }
    }

    /// Row, name and descriptor.
    fn dynamic(&self, index: u16) -> Read<(u16, Vec<u8>, Vec<u8>)> {
        let (row, name, descriptor) = self.file.pool.dynamic(index).map_err(|e| e.to_string())?;
        Ok((row, self.utf8(name)?, self.utf8(descriptor)?))
    }

    /// Tag, class, name, descriptor.
    fn parts(&self, index: u16) -> Read<Parts> {
        let m = self.file.pool.member(index).map_err(|e| e.to_string())?;
        Ok((
            m.tag,
            self.class_bytes(m.class)?,
            self.utf8(m.name)?,
            self.utf8(m.descriptor)?,
        ))
    }

    /// A constant with all that it refers to.
    fn content(&self, index: u16, depth: u8) -> Read<Vec<u8>> {
        if depth > 16 {
            return Err("constants that refer to each other in a circle".into());
        }
        Ok(match self.entry(index)? {
            Entry::Utf8(b) => bytes(b'u', &[b]),
            Entry::Integer(v) => bytes(b'i', &[&v.to_be_bytes()]),
            Entry::Float(v) => bytes(b'f', &[&v.to_bits().to_be_bytes()]),
            Entry::Long(v) => bytes(b'j', &[&v.to_be_bytes()]),
            Entry::Double(v) => bytes(b'd', &[&v.to_bits().to_be_bytes()]),
            Entry::Class(i) => bytes(b'c', &[&self.utf8(i)?]),
            Entry::String(i) => bytes(b's', &[&self.utf8(i)?]),
            Entry::MethodType(i) => bytes(b't', &[&self.utf8(i)?]),
            Entry::MethodHandle { kind, reference } => self.handle(kind, reference)?,
            Entry::Dynamic { .. } => {
                let (row, name, descriptor) = self.dynamic(index)?;
                bytes(b'y', &[&name, &descriptor, &self.row(row, depth)?])
            }
            other => return Err(format!("{other:?} is no constant to load")),
        })
    }

    fn handle(&self, kind: u8, reference: u16) -> Read<Vec<u8>> {
        let (tag, class, name, descriptor) = self.parts(reference)?;
        Ok(bytes(
            b'h',
            &[&[kind, tag as u8], &class, &name, &descriptor],
        ))
    }

    /// An argument of a relinked call site; `special`: the runtime makes it a handle of kind `invokeSpecial` again.
    fn relinked(&self, index: u16, special: bool) -> Read<Vec<u8>> {
        match self.entry(index)? {
            Entry::MethodHandle {
                kind: 5 | 9,
                reference,
            } if special => self.handle(7, reference),
            _ if special => Err("a special handle that is none".into()),
            _ => self.content(index, 1),
        }
    }

    /// A bootstrap method with its arguments.
    fn row(&self, row: u16, depth: u8) -> Read<Vec<u8>> {
        let b = self
            .bootstrap
            .get(row as usize)
            .ok_or("no such bootstrap method")?;
        let mut out = self.content(b.handle, depth + 1)?;
        for a in &b.arguments {
            out.extend(self.content(*a, depth + 1)?);
        }
        Ok(out)
    }

    /// Whether a row calls a bootstrap method of the runtime.
    fn calls(&self, row: u16, name: &str, descriptor: &str) -> Read<bool> {
        let Some(b) = self.bootstrap.get(row as usize) else {
            return Err("no such bootstrap method".into());
        };
        let Entry::MethodHandle { kind: 6, reference } = self.entry(b.handle)? else {
            return Ok(false);
        };
        let (_, c, n, d) = self.parts(reference)?;
        Ok(c == runtime::RUNTIME.as_bytes() && n == name.as_bytes() && d == descriptor.as_bytes())
    }

    fn indy(&self, canon: &mut Canon, site: u32, name: &[u8], d: &[u8], row: &[u8]) -> Meaning {
        // A version may not share another site of the host that looks alike, so the site's number counts.
        let site = if self.moved { site } else { 0 };
        let content = bytes(b'I', &[&site.to_be_bytes(), name, d, row]);
        let (pops, pushes) = shape(d);
        Meaning::Event(Event {
            key: canon.number(content),
            tag: 0,
            pops,
            pushes,
            boxes: 0,
        })
    }

    fn call_site(&mut self, canon: &mut Canon, index: u16) -> Read<Meaning> {
        let (row, name, descriptor) = self.dynamic(index)?;
        if self.role == Role::Armed && self.calls(row, "site", SITE)? {
            let text = String::from_utf8(name).unwrap_or_default();
            let parsed = text
                .strip_prefix('v')
                .and_then(|t| t.split_once('p'))
                .and_then(|(id, p)| Some((id.parse().ok()?, p.parse().ok()?)));
            let (id, point) = parsed.ok_or("a call site of no name that is known")?;
            return Ok(Meaning::Own(Own::Site { id, point }));
        }
        if self.role != Role::Version {
            let row = self.row(row, 0)?;
            return Ok(self.indy(canon, index as u32, &name, &descriptor, &row));
        }
        let arguments = match self.bootstrap.get(row as usize) {
            Some(b) => b.arguments.clone(),
            None => return Err("no such bootstrap method".into()),
        };
        if self.calls(row, "relink", RELINK)? {
            let [host, site, method, ref rest @ ..] = arguments[..] else {
                return Ok(Meaning::Not("a relinked call site without its site"));
            };
            let Entry::Integer(site) = self.entry(site)? else {
                return Ok(Meaning::Not("a relinked call site without a number"));
            };
            if self.class_bytes(host)? != self.host.as_bytes() {
                return Ok(Meaning::Not("a call site of another host"));
            }
            let (site, special) = (site as u32 & 0xFFFF, site as u32 >> 16);
            let mut row = self.content(method, 1)?;
            for (place, index) in rest.iter().enumerate() {
                let special = place < 16 && special >> place & 1 != 0;
                row.extend(self.relinked(*index, special)?);
            }
            return Ok(self.indy(canon, site, &name, &descriptor, &row));
        }
        if self.calls(row, "bind", BIND)? {
            let [kind, class, host] = arguments[..] else {
                return Ok(Meaning::Not("a bound call site without its member"));
            };
            let Entry::Integer(kind) = self.entry(kind)? else {
                return Ok(Meaning::Not("a bound call site of no kind"));
            };
            if self.class_bytes(host)? != self.host.as_bytes() {
                return Ok(Meaning::Not("a call site of another host"));
            }
            let class = self.class_bytes(class)?;
            return Ok(self.bound(canon, kind, &class, &name, &descriptor));
        }
        Ok(Meaning::Not("a call site that is not the host's"))
    }

    /// The dictionary of bound call sites, read backwards.
    fn bound(
        &mut self,
        canon: &mut Canon,
        kind: i32,
        class: &[u8],
        name: &[u8],
        d: &[u8],
    ) -> Meaning {
        let not = Meaning::Not("a bound call site whose type does not fit its member");
        let receiver = |of: &[u8]| bytes_receiver(of);
        let drop = |of: &[u8]| -> Option<Vec<u8>> {
            let first = receiver(of);
            d.strip_prefix(&first[..]).map(|rest| [b"(", rest].concat())
        };
        let value = |rest: Vec<u8>| -> Option<Vec<u8>> {
            Some(rest.strip_prefix(b"(")?.strip_suffix(b")V")?.to_vec())
        };
        let host = self.host.clone().into_bytes();
        let found = match kind {
            1 => drop(&host).map(|d| (INVOKESPECIAL, d)),
            2 => drop(class).map(|d| (INVOKEVIRTUAL, d)),
            3 => Some((INVOKESTATIC, d.to_vec())),
            4 => drop(class).and_then(|d| Some((GETFIELD, d.strip_prefix(b"()")?.to_vec()))),
            5 => drop(class).and_then(value).map(|d| (PUTFIELD, d)),
            6 => d.strip_prefix(b"()").map(|d| (GETSTATIC, d.to_vec())),
            7 => value(d.to_vec()).map(|d| (PUTSTATIC, d)),
            8 if class == host => drop(&host).and_then(value).map(|d| (PUTFIELD, d)),
            9 if class == b"java/lang/invoke/MethodHandles" && name == b"lookup" => {
                Some((INVOKESTATIC, d.to_vec()))
            }
            _ => None,
        };
        match found {
            Some((op, d)) => self.event(canon, op, 0, class, name, &d),
            None => not,
        }
    }

    fn event(
        &self,
        canon: &mut Canon,
        op: u8,
        tag: u8,
        class: &[u8],
        name: &[u8],
        d: &[u8],
    ) -> Meaning {
        let (pops, pushes) = match op {
            GETSTATIC => (0, words_of(d)),
            PUTSTATIC => (words_of(d) as u16, 0),
            GETFIELD => (1, words_of(d)),
            PUTFIELD => (1 + words_of(d) as u16, 0),
            INVOKESTATIC => shape(d),
            _ => {
                let (pops, pushes) = shape(d);
                (pops + 1, pushes)
            }
        };
        let boxes = match (op, class, name, d) {
            (INVOKESTATIC, b"java/lang/Integer", b"valueOf", b"(I)Ljava/lang/Integer;")
            | (INVOKEVIRTUAL, b"java/lang/Integer", b"intValue", b"()I") => b'I',
            (INVOKESTATIC, b"java/lang/Long", b"valueOf", b"(J)Ljava/lang/Long;")
            | (INVOKEVIRTUAL, b"java/lang/Long", b"longValue", b"()J") => b'J',
            (INVOKESTATIC, b"java/lang/Float", b"valueOf", b"(F)Ljava/lang/Float;")
            | (INVOKEVIRTUAL, b"java/lang/Float", b"floatValue", b"()F") => b'F',
            (INVOKESTATIC, b"java/lang/Double", b"valueOf", b"(D)Ljava/lang/Double;")
            | (INVOKEVIRTUAL, b"java/lang/Double", b"doubleValue", b"()D") => b'D',
            _ => 0,
        };
        let private = self.moved
            && matches!(op, INVOKESPECIAL | INVOKEVIRTUAL | INVOKEINTERFACE)
            && self.is_private(class, name, d);
        let op = if private { b'P' } else { op };
        Meaning::Event(Event {
            key: canon.number(bytes(op, &[class, name, d])),
            tag,
            pops,
            pushes,
            boxes,
        })
    }

    fn is_private(&self, class: &[u8], name: &[u8], d: &[u8]) -> bool {
        class == self.host.as_bytes()
            && name != b"<init>"
            && self.privates.iter().any(|(n, t)| n == name && t == d)
    }

    fn member(&mut self, canon: &mut Canon, op: u8, index: u16) -> Read<Meaning> {
        let (tag, class, name, d) = self.parts(index)?;
        if self.role != Role::Original
            && let Some(own) = self.own(op, &class, &name, &d)
        {
            return Ok(own);
        }
        if self.role == Role::Version {
            let own = class == self.host.as_bytes();
            let of_class = |s: bool| {
                own && self
                    .finals
                    .iter()
                    .any(|f| f.0 == name && f.1 == d && f.2 == s)
            };
            if op == INVOKESPECIAL && name != b"<init>" {
                return Ok(Meaning::Not("`invokespecial` of another class's method"));
            }
            if op == PUTFIELD && of_class(false) || op == PUTSTATIC && of_class(true) {
                return Ok(Meaning::Not("a store to a final field of another class"));
            }
            if class == b"java/lang/invoke/MethodHandles" && name == b"lookup" {
                return Ok(Meaning::Not("a lookup that is not the host's"));
            }
        }
        Ok(self.event(canon, op, tag as u8, &class, &name, &d))
    }

    /// What the instruction is if Veneer's own.
    fn own(&self, op: u8, class: &[u8], name: &[u8], d: &[u8]) -> Option<Meaning> {
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        let (class, name, d) = (text(class), text(name), text(d));
        let version = self.role == Role::Version;
        let number = |head: char| -> Option<u32> { name.strip_prefix(head)?.parse().ok() };
        let found = if class == self.anchor {
            match (op, number('c'), &*d) {
                (GETSTATIC, Some(id), runtime::CELL_DESCRIPTOR) => Some(Own::Cell(id)),
                _ => None,
            }
        } else if version && class == self.own {
            match (op, number('t'), &*d) {
                (GETSTATIC, Some(id), runtime::HANDLE_DESCRIPTOR) => Some(Own::Token(id)),
                _ => None,
            }
        } else if class == runtime::CELL {
            match (op, &*name, &*d) {
                (INVOKEVIRTUAL, "on", "()Z") => Some(Own::On),
                (INVOKEVIRTUAL, "leave", "()Z") => Some(Own::Leave),
                (INVOKEVIRTUAL, "stale", "(Ljava/lang/invoke/MethodHandle;)Z") if version => {
                    Some(Own::Stale)
                }
                (GETSTATIC, "IDLE", runtime::HANDLE_DESCRIPTOR) if version => Some(Own::Idle),
                _ => None,
            }
        } else if class == runtime::RUNTIME && op == INVOKESTATIC && version {
            static_member(&name, &d)
        } else if class == runtime::FRAME && op == INVOKEVIRTUAL && version {
            frame_member(&name, &d)
        } else if [runtime::RUNTIME, runtime::FRAME].contains(&&*class) {
            None
        } else {
            return None;
        };
        Some(found.map_or(
            Meaning::Not("a member of Veneer's classes that has no place here"),
            Meaning::Own,
        ))
    }
}

fn static_member(name: &str, d: &str) -> Option<Own> {
    Some(match (name, d) {
        ("shard", "()J") => Own::Shard,
        ("count", "(JI)V") => Own::Count,
        ("now", "()J") => Own::Now,
        ("stop", "(JIJ)V") => Own::Stop,
        ("lap", "(JIJ)J") => Own::Lap,
        ("begin", "(II)J") => Own::Begin,
        ("put", "(JI)J") => Own::Log(b'I'),
        ("put", "(JJ)J") => Own::Log(b'J'),
        ("put", "(JF)J") => Own::Log(b'F'),
        ("put", "(JD)J") => Own::Log(b'D'),
        ("put", "(JLjava/lang/Object;)J") => Own::Log(b'L'),
        ("end", "(J)V") => Own::End,
        ("locate", "(Ljava/lang/Throwable;IZLjava/lang/invoke/VeneerCell;)V") => Own::Locate,
        ("frame", "(II)Ljava/lang/invoke/VeneerFrame;") => Own::Frame,
        (
            "go",
            "(Ljava/lang/invoke/VeneerFrame;Ljava/lang/invoke/VeneerCell;)Ljava/lang/Object;",
        ) => Own::Go,
        _ => return None,
    })
}

fn frame_member(name: &str, d: &str) -> Option<Own> {
    Some(match (name, d) {
        ("point", "()I") => Own::Point,
        ("kept", "(I)J") => Own::Kept,
        ("keep", "(IJ)V") => Own::Keep,
        ("getInt", "(I)I") => Own::Get(b'I'),
        ("getLong", "(I)J") => Own::Get(b'J'),
        ("getFloat", "(I)F") => Own::Get(b'F'),
        ("getDouble", "(I)D") => Own::Get(b'D'),
        ("getObject", "(I)Ljava/lang/Object;") => Own::Get(b'L'),
        ("put", "(II)V") => Own::Put(b'I'),
        ("put", "(IJ)V") => Own::Put(b'J'),
        ("put", "(IF)V") => Own::Put(b'F'),
        ("put", "(ID)V") => Own::Put(b'D'),
        ("put", "(ILjava/lang/Object;)V") => Own::Put(b'L'),
        _ => return None,
    })
}

fn bytes_receiver(class: &[u8]) -> Vec<u8> {
    if class.first() == Some(&b'[') {
        [b"(", class].concat()
    } else {
        [b"(L", class, b";"].concat()
    }
}

/// Words of a field descriptor.
pub(super) fn words_of(d: &[u8]) -> u8 {
    match d.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        _ => 1,
    }
}

/// Words of a method descriptor's parameters and result.
pub(super) fn shape(d: &[u8]) -> (u16, u8) {
    let words = parameters(d).iter().map(|p| words_of(p) as u16).sum();
    (words, words_of(result_of(d)))
}

/// The result's part of a method descriptor. The first `)` need not be the end of the parameters: names may hold one.
pub(super) fn result_of(d: &[u8]) -> &[u8] {
    let parameters: usize = parameters(d).iter().map(|p| p.len()).sum();
    d.get(parameters + 2..).unwrap_or(&[])
}

/// The parameters of a method descriptor, each one's text.
pub(super) fn parameters(d: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    let mut rest = d.strip_prefix(b"(").unwrap_or(d);
    while let Some(first) = rest.first() {
        if *first == b')' {
            break;
        }
        let base = rest.iter().take_while(|b| **b == b'[').count();
        let n = match rest.get(base) {
            Some(b'L') => rest
                .iter()
                .position(|b| *b == b';')
                .map_or(rest.len(), |i| i + 1),
            _ => (base + 1).min(rest.len()),
        };
        out.push(&rest[..n]);
        rest = &rest[n..];
    }
    out
}

/// The value of a constant that needs no resolution.
pub(super) fn constant(m: Meaning, values: &mut super::value::Values) -> Option<(Value, u8)> {
    match m {
        Meaning::Int(v) => Some((Value::int(v), 1)),
        Meaning::Float(v) => Some((Value::float(v), 1)),
        Meaning::Wide(kind, bits) => {
            Some((values.term(LDC2_W, Value(kind as u64), Value(bits)), 2))
        }
        _ => None,
    }
}

//! Emitting an executor version: a hidden nestmate class that holds methods as fragments along their edited graphs.
//!
//! ```text
//!   final class a/b/C$V extends a/b/C$Veneer {          one class for all methods of a host patched together
//!     static final MethodHandle t17;                    the token that the cell's target is compared with
//!     int search$e17(C this, int n) { … }               enter: new activations of `search`
//!     static Object search$r17(Object frame) { … }      resume: activations that come from elsewhere
//!     static void run0(int i) { … }                     compiled probes
//!   }
//! ```
//!
//! The class has no initialiser: the agent fills the tokens. An initialiser would look up its classes through the host's loader, in a
//! thread of the agent.
//!
//! `enter` has one way in, so its loops stay reducible. It overrides the method that the host's anchor declares, so all its locals
//! lie one slot above those of the host. `resume` is emitted for the first activation that transfers into the
//! version: it goes in through the outermost loop header, where a guard that is false ever after leads it to its place.

mod body;
mod gather;
mod probe;
mod relocate;
mod resume;
mod weave;

use self::body::Emitted;
use crate::advice::Probe;
use crate::arming::ArmedCode;
use crate::bootstrap::{self, BootstrapMethod};
use crate::bytecode::Assembler;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::capture;
use crate::classfile::{Attribute, ClassFile, Code, ConstantPool, Member};
use crate::flowgraph::FragmentId;
use crate::method::Method;
use crate::patch::{self, Edit};
use crate::refusal::Refusal;
use crate::runtime;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Members that hosts inherit as `protected` from classes of other packages, by name and descriptor: a hidden nestmate
/// is no subclass, so it reaches them through handles made by the host's own lookup.
pub type ProtectedMembers = HashSet<(String, String)>;

/// One method to emit.
pub struct Plan<'p> {
    /// The analysed method.
    pub method: &'p Method<'p>,
    /// The id of its cell.
    pub id: u32,
    /// The armed body that activations come from.
    pub armed: &'p ArmedCode,
    /// Edits of its graph, in order.
    pub edits: &'p [Edit],
    /// Fragments at which earlier versions have an edit point ([`crate::edit_points`]): activations may come from there.
    pub kept: &'p [FragmentId],
    /// What is woven in.
    pub probes: &'p [Probe],
    /// Without probes and edits, for activations that stay after everything was detached.
    pub clean: bool,
}

/// Which bodies to emit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bodies {
    /// For new activations.
    Enter,
    /// For activations that come from elsewhere.
    Resume,
}

/// The annotation that makes methods which ask who calls them (`Class.forName`, `Method.invoke` …) look through a body, and see
/// the host. HotSpot honours it in classes that are defined so; see `VeneerRuntime.define`.
const COMPILED: &str = "Ljava/lang/invoke/LambdaForm$Compiled;";

pub use crate::runtime::method_of;

/// Whether a class's signature is that of a version: a hidden class beside its host.
pub fn is_version(signature: &str) -> bool {
    signature.rsplit_once("$V.").is_some()
}

/// How exactly a body keeps account of where it is, for the stack traces of exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Track {
    /// Not at all: the host's frame shows the line of the capture point.
    No,
    /// By source line.
    Line,
    /// By instruction: the JVM's messages for null pointers are right too.
    Instruction,
}

/// An emitted class.
pub struct VersionClass {
    /// Its internal name; the JVM appends to it.
    pub name: String,
    /// The class file, to be defined as a hidden nestmate of the host.
    pub bytes: Vec<u8>,
    /// The methods in it; their tokens are expected as class data in this order.
    pub methods: Vec<u32>,
    /// The names of their bodies, in the same order.
    pub bodies: Vec<String>,
    /// Methods that could not be emitted.
    pub refused: Vec<(u32, Refusal)>,
    /// Where in the armed bodies the code stands, for stack traces. For each body: the method, the number of pairs, and pairs of
    /// a pc here (high half) and there, rising.
    pub places: Vec<i32>,
    /// Which fragments the bodies that count by flow are in, in the order of `bodies`: by rising pcs.
    pub spans: Vec<Vec<Span>>,
}

/// Where an activation of a body is counted to be, from a pc to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first pc.
    pub pc: u16,
    /// The fragment that it was counted into, if any.
    pub fragment: Option<FragmentId>,
    /// In a loop whose counters are locals meanwhile; it calls nothing.
    pub gathers: bool,
}

/// State shared by the bodies of one class.
pub(crate) struct Emitter<'e> {
    pub host: &'e ClassFile<'e>,
    pub host_name: String,
    pub anchor: &'e str,
    pub self_name: String,
    pub pool: ConstantPool<'static>,
    pub memo: HashMap<u16, u16>,
    pub host_bootstrap: Vec<BootstrapMethod>,
    pub bootstrap: Vec<BootstrapMethod>,
    pub protected: &'e ProtectedMembers,
    pub places: Vec<i32>,
    /// Compiled probes that bodies call.
    pub probes: Vec<Arc<veneer_probes::Method>>,
}

/// Emits a version class of `host` with these methods.
pub fn emit(
    host: &ClassFile,
    anchor: &str,
    plans: &[Plan],
    bodies: Bodies,
    protected: &ProtectedMembers,
) -> Result<VersionClass, Refusal> {
    host.check_names()?;
    let host_name = host.name()?.into_owned();
    let self_name = format!("{host_name}$V");
    let mut e = Emitter {
        host,
        host_name,
        anchor,
        self_name: self_name.clone(),
        pool: ConstantPool::new(),
        memo: HashMap::new(),
        host_bootstrap: bootstrap::read(host)?,
        bootstrap: Vec::new(),
        protected,
        places: Vec::new(),
        probes: Vec::new(),
    };
    let this_class = e.pool.add_class(&self_name)?;
    let super_class = e.pool.add_class(anchor)?;
    let (mut fields, mut methods, mut done, mut refused) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut spans) = (Vec::new(), Vec::new());
    for plan in plans {
        match emit_method(&mut e, plan, bodies) {
            Ok((member, of_body)) => {
                methods.push(member);
                spans.push(of_body);
                done.push(plan.id);
                names.push(body_name(plan, bodies));
                let (name, descriptor) = (
                    e.pool.add_utf8(&runtime::token_field(plan.id))?,
                    e.pool.add_utf8(runtime::HANDLE_DESCRIPTOR)?,
                );
                fields.push(Member {
                    access: 0x1018,
                    name,
                    descriptor,
                    attributes: Vec::new(),
                });
            }
            Err(reason) => refused.push((plan.id, reason)),
        }
    }
    for (n, one) in std::mem::take(&mut e.probes).iter().enumerate() {
        let code = probe::emit(&mut e, one)?;
        let name = runtime::probe_method(n);
        methods.push(member(&mut e, &name, &one.descriptor(), STATIC, &code)?);
    }
    let mut attributes = Vec::new();
    if let Some(source) = host
        .attributes
        .iter()
        .find(|a| a.is(&host.pool, "SourceFile"))
        && let Some(index) = source.info.first_chunk().map(|b| u16::from_be_bytes(*b))
    {
        let index = e.pool.import(&host.pool, index, &mut e.memo)?;
        attributes.push(Attribute {
            name: e.pool.add_utf8("SourceFile")?,
            info: index.to_be_bytes().to_vec().into(),
        });
    }
    if !e.bootstrap.is_empty() {
        let name = e.pool.add_utf8("BootstrapMethods")?;
        attributes.push(Attribute {
            name,
            info: bootstrap::write(&e.bootstrap).into(),
        });
    }
    let major = host.major.max(61);
    let minor = if major == host.major { host.minor } else { 0 };
    let file = ClassFile {
        minor,
        major,
        pool: e.pool,
        access: 0x1030,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields,
        methods,
        attributes,
    };
    let places = e.places;
    let bytes = if done.is_empty() {
        Vec::new()
    } else {
        file.to_bytes()?
    };
    Ok(VersionClass {
        name: self_name,
        bytes,
        methods: done,
        bodies: names,
        refused,
        places,
        spans,
    })
}

fn body_name(plan: &Plan, bodies: Bodies) -> String {
    match bodies {
        Bodies::Enter => runtime::enter_method(&plan.method.name, plan.id),
        Bodies::Resume => runtime::resume_method(&plan.method.name, plan.id),
    }
}

fn emit_method(
    e: &mut Emitter,
    plan: &Plan,
    bodies: Bodies,
) -> Result<(Member<'static>, Vec<Span>), Refusal> {
    let entry = plan
        .armed
        .points
        .first()
        .ok_or_else(|| Refusal::Internal("a method without points".into()))?;
    let patched = patch::apply_keeping(plan.method, plan.edits, &plan.armed.points, plan.kept)?;
    let before = plan.method.code.code.len();
    let small = before <= crate::arming::INLINE_LIMIT;
    let mut body: Emitted = body::emit(e, plan, &patched, bodies, Track::Instruction)?;
    // Exact places are the first thing to give up for a body that the JIT will inline, or take at all.
    if small && body.code.code.len() > crate::arming::INLINE_LIMIT {
        let by_line = body::emit(e, plan, &patched, bodies, Track::Line)?;
        if by_line.code.code.len() <= crate::arming::INLINE_LIMIT {
            body = by_line;
        }
    }
    if before <= crate::arming::COMPILE_LIMIT {
        for track in [Track::Line, Track::No] {
            if body.code.code.len() > crate::arming::COMPILE_LIMIT {
                body = body::emit(e, plan, &patched, bodies, track)?;
            }
        }
        if body.code.code.len() > crate::arming::COMPILE_LIMIT {
            return Err(Refusal::CompileLimit(before, body.code.code.len()));
        }
    }
    e.places.extend([plan.id as i32, body.places.len() as i32]);
    e.places.extend(
        body.places
            .iter()
            .map(|(pc, at)| (*pc as i32) << 16 | *at as i32),
    );
    let (name, descriptor, access) = match bodies {
        Bodies::Enter => (
            runtime::enter_method(&plan.method.name, plan.id),
            capture::entry_descriptor(entry, plan.method)?,
            FINAL,
        ),
        Bodies::Resume => (
            runtime::resume_method(&plan.method.name, plan.id),
            runtime::RESUME_DESCRIPTOR.to_string(),
            STATIC,
        ),
    };
    let body_member = member(e, &name, &descriptor, access, &body.code)?;
    Ok((body_member, body.spans))
}

const STATIC: u16 = 0x1008;
const FINAL: u16 = 0x1010;

fn member(
    e: &mut Emitter,
    name: &str,
    descriptor: &str,
    access: u16,
    code: &Code,
) -> Result<Member<'static>, Refusal> {
    let mut attributes = vec![Attribute {
        name: e.pool.add_utf8("Code")?,
        info: code.to_bytes()?.into(),
    }];
    // One annotation without elements.
    let mut info = 1u16.to_be_bytes().to_vec();
    info.extend(e.pool.add_utf8(COMPILED)?.to_be_bytes());
    info.extend([0, 0]);
    attributes.push(Attribute {
        name: e.pool.add_utf8("RuntimeVisibleAnnotations")?,
        info: info.into(),
    });
    Ok(Member {
        access,
        name: e.pool.add_utf8(name)?,
        descriptor: e.pool.add_utf8(descriptor)?,
        attributes,
    })
}

impl Emitter<'_> {
    /// Pushes an int constant in its smallest form.
    pub fn push_int(&mut self, a: &mut Assembler, value: i32) -> Result<(), Refusal> {
        match i16::try_from(value) {
            Ok(v) => a.push(Instruction::Push(v)),
            Err(_) => a.push(Instruction::Ldc {
                index: self.pool.add_integer(value)?,
                wide: false,
            }),
        }
        Ok(())
    }

    /// A call of a static method of the runtime.
    pub fn call(&mut self, a: &mut Assembler, name: &str, descriptor: &str) -> Result<(), Refusal> {
        a.pool(
            INVOKESTATIC,
            self.pool.add_method(runtime::RUNTIME, name, descriptor)?,
        );
        Ok(())
    }

    /// A call of a method of the frame class on a frame.
    pub fn frame_call(
        &mut self,
        a: &mut Assembler,
        name: &str,
        descriptor: &str,
    ) -> Result<(), Refusal> {
        a.pool(
            INVOKEVIRTUAL,
            self.pool.add_method(runtime::FRAME, name, descriptor)?,
        );
        Ok(())
    }

    /// Pushes the cell of a method.
    pub fn push_cell(&mut self, a: &mut Assembler, id: u32) -> Result<(), Refusal> {
        a.pool(
            GETSTATIC,
            self.pool.add_field(
                self.anchor,
                &runtime::cell_field(id),
                runtime::CELL_DESCRIPTOR,
            )?,
        );
        Ok(())
    }

    /// A cast to a class, unless every object is one.
    pub fn cast(&mut self, a: &mut Assembler, class: &str) -> Result<(), Refusal> {
        if class != "java/lang/Object" {
            a.pool(CHECKCAST, self.pool.add_class(class)?);
        }
        Ok(())
    }

    /// The index of a bootstrap method, added where it is not there yet.
    pub fn bootstrap(&mut self, method: BootstrapMethod) -> Result<u16, Refusal> {
        if let Some(i) = self.bootstrap.iter().position(|b| *b == method) {
            return Ok(i as u16);
        }
        self.bootstrap.push(method);
        u16::try_from(self.bootstrap.len() - 1).map_err(|_| Refusal::PoolFull)
    }
}

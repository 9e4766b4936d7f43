//! Emits a *version*: a hidden class that holds methods along their edited graphs, with instruments
//! inlined. The class is a nestmate of the application's class, its *host*.
//!
//! ```text
//!   final class a/b/C$V extends a/b/C$Veneer {      one class for all methods of a host
//!     static final MethodHandle t17;                the token that identifies the version
//!     int search$e17(C this, int n) { … }           enter: new activations of `search`
//!     static Object search$r17(Object frame) { … }  resume: activations from other code
//!     static void run0(int i) { … }                 compiled probes
//!   }
//! ```
//!
//! The class has no initialiser; the agent stores the tokens. An initialiser would look up its
//! classes through the host's loader, in a thread of the agent.
//!
//! The body `enter` has a single entry, so its loops stay reducible. It overrides the method that
//! the host's anchor declares. Because `enter` is called on an instance of the version class, all
//! its locals are one slot above those of the host's method.
//!
//! A split method ([`crate::split`]) has one body `resume` for each part, and `resume` itself only calls
//! the part in which the activation continues. Its body `enter` is the part in which activations begin.
//!
//! The body `resume` is emitted when the first activation transfers into the version (OSR entry).
//! Control enters through the outermost loop header. A guard there leads to the activation's
//! position, and is false from then on.

mod body;
mod counter_promotion;
mod emitter;
mod member_access;
mod method_body;
mod osr_entry;
mod plan;
mod probe;
mod promoted_loops;
mod split_method;
mod version_class;
mod weave;
mod window;

pub use crate::runtime::method_id;
pub use plan::{Bodies, ProtectedMembers, VersionPlan};
pub use version_class::{BoundMember, FinalField, Span, VersionClass};

use self::emitter::Emitter;
use self::method_body::{EmittedMethod, FINAL, STATIC, emit_body, member, places};
use crate::bootstrap;
use crate::classfile::{Attribute, ClassFile, ConstantPool, ImportMemo, Member};
use crate::osr_exit;
use crate::patch;
use crate::refusal::Refusal;
use crate::runtime;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a class signature is that of a version, which is the host's name with `$V.` and a suffix
/// from the JVM.
pub fn is_version(signature: &str) -> bool {
    signature.rsplit_once("$V.").is_some()
}

/// Emits a version class of `host` with these methods. A method that cannot be emitted is reported
/// in [`VersionClass::refused`].
///
/// # Errors
/// If the host has malformed names or the constant pool overflows.
pub fn emit(
    host: &ClassFile,
    anchor: &str,
    plans: &[VersionPlan],
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
        memo: ImportMemo::default(),
        host_bootstrap: bootstrap::read(host)?,
        bootstrap: Vec::new(),
        protected,
        final_fields: BTreeSet::new(),
        bound: BTreeMap::new(),
        scratch: 0,
        scratch_words: 0,
        places: Vec::new(),
        part_places: Vec::new(),
        part_count: 0,
        largest_body: 0,
        probes: Vec::new(),
    };
    let this_class = e.pool.add_class(&self_name)?;
    let super_class = e.pool.add_class(anchor)?;
    let (mut fields, mut methods, mut done, mut refused) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut names, mut spans) = (Vec::new(), Vec::new());
    for plan in plans {
        match emit_method(&mut e, plan, bodies) {
            Ok(emitted) => {
                methods.extend(emitted.members);
                spans.push(emitted.spans);
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
    let (bound, final_fields) = host_members(&mut e, &mut fields)?;
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
    let mut places = e.places;
    places.extend(e.part_places);
    let bytes = if done.is_empty() {
        Vec::new()
    } else {
        file.to_bytes()?
    };
    Ok(VersionClass {
        name: self_name,
        largest_body: e.largest_body,
        bytes,
        methods: done,
        bodies: names,
        refused,
        places,
        spans,
        final_fields,
        bound,
    })
}

/// Declares the fields of the version that the agent fills in: the method handles and the offsets
/// for members of the host. Returns these members.
fn host_members(
    e: &mut Emitter,
    fields: &mut Vec<Member<'static>>,
) -> Result<(Vec<BoundMember>, Vec<FinalField>), Refusal> {
    let bound: Vec<BoundMember> = std::mem::take(&mut e.bound).into_values().collect();
    for one in &bound {
        fields.push(Member {
            access: 0x1018,
            name: e
                .pool
                .add_utf8(&runtime::bound_field(one.operation, one.index))?,
            descriptor: e.pool.add_utf8(runtime::HANDLE_DESCRIPTOR)?,
            attributes: Vec::new(),
        });
    }
    let mut final_fields = Vec::new();
    for index in std::mem::take(&mut e.final_fields) {
        fields.push(Member {
            access: 0x1018,
            name: e.pool.add_utf8(&runtime::final_offset_field(index))?,
            descriptor: e.pool.add_utf8("J")?,
            attributes: Vec::new(),
        });
        if let Some(field) = e.host.fields.get(usize::from(index)) {
            final_fields.push(FinalField {
                index,
                name: e.host.pool.text(field.name)?.into_owned(),
                descriptor: e.host.pool.text(field.descriptor)?.into_owned(),
            });
        }
    }
    Ok((bound, final_fields))
}

fn body_name(plan: &VersionPlan, bodies: Bodies) -> String {
    match bodies {
        Bodies::Enter => runtime::enter_method(&plan.method.name, plan.id),
        Bodies::Resume => runtime::resume_method(&plan.method.name, plan.id),
    }
}

fn emit_method(
    e: &mut Emitter,
    plan: &VersionPlan,
    bodies: Bodies,
) -> Result<EmittedMethod, Refusal> {
    let patched = patch::apply_keeping(plan.method, plan.edits, &plan.armed.points, plan.kept)?;
    if let (Bodies::Resume, Some(parts)) = (bodies, &patched.parts) {
        return split_method::emit(e, plan, &patched, parts);
    }
    let entry = plan
        .armed
        .points
        .first()
        .ok_or_else(|| Refusal::Internal("a method without points".into()))?;
    let body = emit_body(e, plan, &patched, (bodies, patched.entry_part()))?;
    let key = plan.id.as_java();
    e.places.extend(places(key, &body)?);
    let (name, descriptor, access) = match bodies {
        Bodies::Enter => (
            runtime::enter_method(&plan.method.name, plan.id),
            osr_exit::entry_call_descriptor(entry, plan.method)?,
            FINAL,
        ),
        Bodies::Resume => (
            runtime::resume_method(&plan.method.name, plan.id),
            runtime::RESUME_DESCRIPTOR.to_string(),
            STATIC,
        ),
    };
    let member = member(e, &name, &descriptor, access, &body.code)?;
    Ok(EmittedMethod {
        members: vec![member],
        spans: body.spans,
    })
}

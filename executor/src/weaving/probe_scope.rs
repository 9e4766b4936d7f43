//! The scope of plan code at a site: the variables, fields, casts and methods that the code can use
//! there.
//!
//! A compiled probe reads a field by its offset in the object, so the class of the object must be
//! right in every case. These rules decide which class a name means:
//!
//! * A variable has the verification type that the verifier has proved. Its name means the class
//!   that the loader of the nest host has defined or resolved under it.
//! * A field has the type of its descriptor. The name means the class that the loader of the
//!   declaring class resolves.
//! * A cast (`as_a`) means the class that the host's loader has under the name, or else the only
//!   loaded class of that name.
//!
//! No class is loaded for this. Code that reads fields of a class which is not loaded yet waits for
//! it; see `classes/pending_classes.rs`.
//!
//! A probe calls a method through a class to which the host itself could be linked. The loaders of
//! both classes must resolve every type in the method's descriptor to the same class. So the call
//! adds no loading constraint that could make the JVM reject a class of the application later.
//!
//! The weaver creates a [`SiteScope`] inside one [`Env::frame`], which releases the local
//! references that the scope holds.

use crate::agent::Agent;
use crate::jvm::jni::{Env, JvmError, WeakGlobal, jclass};
use crate::weaving::instruction_sites::{Operand, value_kind};
use crate::weaving::loop_exits::TRIP_COUNT_NAME;
use crate::weaving::planned_probe::VisibleValues;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;
use thiserror::Error;
use veneer_fragmenter::advice::ProbeArgument;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::Type;
use veneer_instruments::InstrumentId;
use veneer_names::{
    CounterSlot, FieldDescriptor, FieldKind, LocalSlot, MethodDescriptor, OBJECT,
    OBJECT_DESCRIPTOR, java_form, type_descriptor,
};
use veneer_probes::compile::invoke;
use veneer_probes::error::Reason;
use veneer_probes::scope::{Field, Scope};
use veneer_probes::step::{Callee, ComputationalType};
use veneer_probes::ty::Ty;

/// Why a probe cannot call a method that exists.
#[derive(Debug, Error)]
enum LinkError {
    #[error("its class has no name that could be written")]
    UnnamedClass,
    #[error("its descriptor cannot be read")]
    MalformedDescriptor,
    /// The JVM would not link the host to a class. The text is the reason that the Java runtime gives.
    #[error("{0}")]
    Unreachable(String),
    /// The Java runtime could not answer.
    #[error(transparent)]
    Jvm(#[from] JvmError),
}

const ACC_PUBLIC: i32 = 0x0001;
const ACC_STATIC: i32 = 0x0008;
const ACC_BRIDGE: i32 = 0x0040;
const ACC_SYNTHETIC: i32 = 0x1000;

/// The maximum number of method names in an error message.
const MAX_NAMES_IN_MESSAGE: usize = 40;

/// The maximum length of the text of `here()`, in characters. Tables distinguish strings by their
/// first characters only.
const MAX_HERE_CHARS: usize = 64;

/// The cost of passing an object as a parameter of its own class. An overload with lower costs is
/// preferred.
const COST_SAME_CLASS: u8 = 0;
/// The cost of passing an object as a parameter of a supertype.
const COST_SUPERTYPE: u8 = 1;
/// The cost of passing an object as a parameter of type `Object`.
const COST_OBJECT: u8 = 9;

/// The results of searches for the only loaded class of a name, by internal name. If there is not
/// exactly one class, the number of classes is stored instead. The results are kept while one class
/// is woven, because a search takes milliseconds.
#[derive(Default)]
pub struct UniqueClasses(RefCell<HashMap<String, Result<WeakGlobal, usize>>>);

/// A public instance method that an object has.
struct DeclaredMethod {
    /// The class that declares the method.
    class: jclass,
    descriptor: String,
}

impl DeclaredMethod {
    /// The parameter part of the descriptor. Methods with equal names and parameters override each
    /// other.
    fn parameters(&self) -> &str {
        MethodDescriptor::parse(&self.descriptor)
            .map_or(&self.descriptor, MethodDescriptor::parameter_text)
    }
}

/// A method of an object that accepts the arguments of a call.
struct Overload<'a> {
    method: &'a DeclaredMethod,
    /// The cost of each argument.
    costs: Vec<u8>,
}

/// The methods of one name that an object has.
struct MethodCandidates {
    /// Methods with the wanted name. Methods of subclasses are before those of supertypes.
    declared: Vec<DeclaredMethod>,
    /// The names of all methods of the object.
    names: BTreeSet<String>,
}

/// The name by which code at an exit reads the exception that leaves the method.
const EXCEPTION_NAME: &str = "exception";

/// The type of the exception.
static EXCEPTION_TYPE: LazyLock<Type> = LazyLock::new(|| Type::object("java/lang/Throwable"));

/// The location of a value.
enum Location<'a> {
    Slot(LocalSlot),
    Operand(&'a Operand),
    Iterations,
    Exception,
}

/// The scope at one site of a method. See the module documentation.
pub struct SiteScope<'a> {
    agent: &'a Agent,
    env: Env,
    /// A local reference to the class of the method.
    host: jclass,
    method: &'a Method<'a>,
    values: VisibleValues,
    unique: &'a UniqueClasses,
    /// The instrument to which the code belongs.
    instrument: InstrumentId,
    /// The classes that names have been resolved to, by internal name. `None` if a name was
    /// resolved to two classes.
    resolved: RefCell<HashMap<String, Option<jclass>>>,
}

impl<'a> SiteScope<'a> {
    pub fn new(
        agent: &'a Agent,
        env: Env,
        host: jclass,
        method: &'a Method<'a>,
        values: VisibleValues,
        unique: &'a UniqueClasses,
        instrument: InstrumentId,
    ) -> SiteScope<'a> {
        SiteScope {
            agent,
            env,
            host,
            method,
            values,
            unique,
            instrument,
            resolved: RefCell::default(),
        }
    }

    /// The sources of the values that a compiled probe reads, and the kinds of the operand-stack
    /// values down to the deepest one that it reads, the top value first.
    pub fn sources(
        &self,
        probe: &veneer_probes::ProbeMethod,
    ) -> (Vec<ProbeArgument>, Vec<ComputationalType>) {
        let source = |name: &str| match self.find(name) {
            Some((_, Type::Null)) | None => ProbeArgument::Null,
            Some((Location::Slot(slot), _)) => ProbeArgument::Slot(slot),
            Some((Location::Operand(operand), _)) => ProbeArgument::Operand(operand.depth),
            Some((Location::Exception, _)) => ProbeArgument::Exception,
            // The slot of the loop is allocated later; see `CompiledProbe::action`.
            Some((Location::Iterations, _)) => ProbeArgument::TripCount(CounterSlot(0)),
        };
        let sources: Vec<ProbeArgument> = probe
            .parameters
            .iter()
            .map(|(name, _)| source(name))
            .collect();
        let depth = |read: &ProbeArgument| match read {
            ProbeArgument::Operand(depth) => usize::from(*depth) + 1,
            _ => 0,
        };
        let count = sources.iter().map(depth).max().unwrap_or(0);
        let top_values = self.values.state.stack.iter().rev().take(count);
        (sources, top_values.filter_map(value_kind).collect())
    }

    fn find(&self, name: &str) -> Option<(Location<'_>, &Type)> {
        if self.values.has_iterations && name == TRIP_COUNT_NAME {
            return Some((Location::Iterations, &Type::Long));
        }
        if self.values.has_exception && name == EXCEPTION_NAME {
            return Some((Location::Exception, &EXCEPTION_TYPE));
        }
        // A named operand of the instruction hides a local variable of the same name.
        if let Some((operand, ty)) = self.operands().find(|(operand, _)| operand.name == name) {
            return Some((Location::Operand(operand), ty));
        }
        let found = self.variables().find(|(slot, _)| {
            let known = self.method.variable_name(*slot, self.values.pc);
            // `this` is a keyword of Rhai, so plans write `self`.
            known == name || format!("local{slot}") == name || known == "this" && name == "self"
        });
        found.map(|(slot, ty)| (Location::Slot(slot), ty))
    }

    /// The named operands that hold initialised values.
    fn operands(&self) -> impl Iterator<Item = (&Operand, &Type)> {
        let stack = &self.values.state.stack;
        self.values.operands.iter().filter_map(|operand| {
            let index = stack.len().checked_sub(1 + usize::from(operand.depth))?;
            let ty = stack.get(index).filter(|ty| !ty.is_uninitialized())?;
            Some((operand, ty))
        })
    }

    /// The local variables that hold initialised values.
    fn variables(&self) -> impl Iterator<Item = (LocalSlot, &Type)> {
        let all = self.values.state.numbered_locals();
        all.filter(|(_, ty)| **ty != Type::Top && !ty.is_uninitialized())
    }

    /// Resolves a name as the loader of `by` does, if the class is loaded.
    fn resolve(&self, by: jclass, name: &str) {
        let found = self.agent.library.loaded(self.env, by, name);
        if let Some(class) = found.ok().filter(|class| !class.is_null()) {
            // SAFETY: `loaded` has made the local reference, which is not used again.
            unsafe { self.add_resolved(name, class) };
        }
    }

    /// Records that a name means a class. Returns whether it means this class only.
    ///
    /// # Safety
    /// `class` must be a local reference that the caller does not use afterwards.
    unsafe fn add_resolved(&self, name: &str, class: jclass) -> bool {
        let mut resolved = self.resolved.borrow_mut();
        match resolved.get(name) {
            // SAFETY: given by the caller; the recorded reference is another one.
            Some(Some(other)) if self.env.same(*other, class) => unsafe { self.env.delete(class) },
            Some(_) => {
                resolved.insert(name.into(), None);
                return false;
            }
            None => drop(resolved.insert(name.into(), Some(class))),
        }
        true
    }

    /// The class to which a name has been resolved.
    fn class(&self, name: &str) -> Option<jclass> {
        self.resolved.borrow().get(name).copied().flatten()
    }

    /// The class that the loader of `by` has under a name, if it is loaded.
    fn loaded_class(&self, by: jclass, name: &str) -> Option<jclass> {
        self.env.ensure(8);
        let found = self.agent.library.loaded(self.env, by, name);
        found.ok().filter(|class| !class.is_null())
    }

    /// The only loaded class of a name, in any loader.
    ///
    /// # Errors
    /// The number of loaded classes of this name, if it is not 1.
    fn unique_class(&self, name: &str) -> Result<jclass, usize> {
        let mut unique = self.unique.0.borrow_mut();
        let found = unique.entry(name.into()).or_insert_with(|| {
            let mut all = Vec::new();
            for class in self.agent.tool.loaded(self.env) {
                match self.agent.tool.class_name(class) {
                    Some(loaded) if loaded == name => all.push(class),
                    // SAFETY: `loaded` has made the local reference, which is not used again.
                    _ => unsafe { self.env.delete(class) },
                }
            }
            match all[..] {
                [class] => Ok(self.env.weak(class)),
                _ => Err(all.len()),
            }
        });
        match found {
            Ok(weak) => {
                let class = self.env.local(weak);
                if class.is_null() { Err(0) } else { Ok(class) }
            }
            Err(count) => Err(*count),
        }
    }

    /// A class, its superclasses, and all their interfaces. For an interface also `Object`, whose
    /// methods it has.
    fn with_supertypes(&self, class: jclass) -> Vec<jclass> {
        let mut all = self.with_superclasses(class);
        let mut next = 0;
        while let Some(one) = all.get(next).copied() {
            for interface in self.agent.tool.interfaces(self.env, one) {
                if !all.iter().any(|known| self.env.same(*known, interface)) {
                    all.push(interface);
                }
            }
            next += 1;
        }
        if self.agent.tool.is_interface(class) {
            all.extend(self.loaded_class(class, OBJECT));
        }
        all
    }

    /// A class and its superclasses.
    fn with_superclasses(&self, class: jclass) -> Vec<jclass> {
        let mut all = Vec::new();
        let mut next = class;
        while !next.is_null() {
            self.env.ensure(8);
            all.push(next);
            next = self.env.superclass(next);
        }
        all
    }

    /// The resolved class of a name and its superclasses; empty if the name is not resolved.
    fn superclass_chain(&self, name: &str) -> Vec<jclass> {
        let class = self.class(name);
        class.map_or_else(Vec::new, |class| self.with_superclasses(class))
    }

    /// The cost of passing a value as a parameter of a method that `declaring` declares; `None` if
    /// it cannot be passed.
    fn argument_cost(&self, declaring: jclass, ty: &Ty, parameter: FieldDescriptor) -> Option<u8> {
        match ty {
            Ty::Object(class) => {
                let wanted = parameter.class()?;
                if wanted == class {
                    return Some(COST_SAME_CLASS);
                }
                if wanted == OBJECT {
                    return Some(COST_OBJECT);
                }
                let (from, to) = (self.class(class)?, self.loaded_class(declaring, wanted)?);
                let is_supertype = self.env.is_assignable(from, to);
                is_supertype.then_some(COST_SUPERTYPE)
            }
            Ty::Array(of) => match parameter.kind() {
                FieldKind::Array(component) if component.as_str() == of => Some(COST_SAME_CLASS),
                FieldKind::Class(OBJECT) => Some(COST_OBJECT),
                _ => None,
            },
            other => invoke::conversion_cost(other, parameter.as_str()),
        }
    }

    /// The public instance methods of a class, those of the wanted name with their descriptors.
    fn method_candidates(&self, class: jclass, name: &str) -> MethodCandidates {
        let mut found = MethodCandidates {
            declared: Vec::new(),
            names: BTreeSet::new(),
        };
        for class in self.with_supertypes(class) {
            for (flags, declared, descriptor) in self.agent.tool.methods(class) {
                if !is_callable(flags) || declared.starts_with('<') {
                    continue;
                }
                if declared == name {
                    found.declared.push(DeclaredMethod { class, descriptor });
                }
                found.names.insert(declared);
            }
        }
        found
    }

    /// The methods that accept these arguments. A method of a supertype that an earlier method
    /// overrides is left out.
    fn overloads<'m>(&self, declared: &'m [DeclaredMethod], arguments: &[Ty]) -> Vec<Overload<'m>> {
        let mut overloads: Vec<Overload> = Vec::new();
        for method in declared {
            let is_overridden = overloads
                .iter()
                .any(|other| other.method.parameters() == method.parameters());
            let Ok(descriptor) = MethodDescriptor::parse(&method.descriptor) else {
                continue;
            };
            if descriptor.parameters().count() != arguments.len() || is_overridden {
                continue;
            }
            let arguments = descriptor.parameters().zip(arguments);
            let costs: Option<Vec<u8>> = arguments
                .map(|(parameter, ty)| self.argument_cost(method.class, ty, parameter))
                .collect();
            overloads.extend(costs.map(|costs| Overload { method, costs }));
        }
        overloads
    }

    /// The callee for a method, if the host can be linked to the declaring class and to every class
    /// of the descriptor.
    fn linkable_callee(&self, name: &str, method: &DeclaredMethod) -> Result<Callee, Reason> {
        let callee = Callee {
            is_interface: self.agent.tool.is_interface(method.class),
            owner: self.agent.tool.class_name(method.class).unwrap_or_default(),
            name: name.into(),
            descriptor: method.descriptor.clone(),
        };
        let refused = |why: LinkError| Reason::NotReachable {
            method: invoke::format_callee(&callee),
            why: why.to_string(),
        };
        if callee.owner.is_empty() {
            return Err(refused(LinkError::UnnamedClass));
        }
        self.check_linkable(method.class, true).map_err(refused)?;
        let descriptor = MethodDescriptor::parse(&callee.descriptor)
            .map_err(|_| refused(LinkError::MalformedDescriptor))?;
        let result = descriptor.result();
        let parameters = descriptor.parameters().map(|p| (p, true));
        for (descriptor, is_accessed) in parameters.chain(result.map(|result| (result, false))) {
            let Some(name) = descriptor.element().class() else {
                continue;
            };
            let Some(class) = self.loaded_class(method.class, name) else {
                let class = java_form(name);
                return Err(Reason::NotLoaded { class });
            };
            self.check_linkable(class, is_accessed).map_err(refused)?;
        }
        if let Some(name) = result.and_then(|result| result.element().class()) {
            self.resolve(method.class, name);
        }
        Ok(callee)
    }

    /// Checks that the host can be linked to a class, and, if `is_accessed` is true, that the host
    /// may access it.
    fn check_linkable(&self, class: jclass, is_accessed: bool) -> Result<(), LinkError> {
        self.env.ensure(8);
        let library = &self.agent.library;
        match library.unreachable(self.env, self.host, class, is_accessed)? {
            None => Ok(()),
            Some(why) => Err(LinkError::Unreachable(why)),
        }
    }

    /// The class on which a method is called.
    fn receiver_class(&self, class: &str) -> Result<jclass, Reason> {
        let dotted = java_form(class);
        match self.resolved.borrow().get(class) {
            Some(Some(found)) if self.agent.tool.is_prepared(*found) => Ok(*found),
            Some(None) => Err(Reason::SeveralClasses {
                class: dotted,
                count: 2,
            }),
            Some(Some(_)) | None => Err(Reason::NotLoaded { class: dotted }),
        }
    }
}

/// Whether a probe may call a method with these access flags.
fn is_callable(flags: i32) -> bool {
    flags & ACC_PUBLIC != 0 && flags & (ACC_STATIC | ACC_BRIDGE | ACC_SYNTHETIC) == 0
}

/// The internal name of the class in a descriptor. For an array, the class of the elements.
fn class_in(descriptor: &str) -> Option<&str> {
    FieldDescriptor::parse(descriptor).ok()?.element().class()
}

/// The index of the overload that is at least as good as every other one for each argument. `None`
/// if there is no such overload, or several with equal costs.
fn best_overload<'c>(costs: impl Iterator<Item = &'c [u8]> + Clone) -> Option<usize> {
    let is_no_worse = |a: &[u8], b: &[u8]| a.iter().zip(b).all(|(a, b)| a <= b);
    let (index, best) = costs
        .clone()
        .enumerate()
        .find(|(_, one)| costs.clone().all(|other| is_no_worse(one, other)))?;
    let equal = costs.filter(|other| *other == best).count();
    (equal == 1).then_some(index)
}

/// The last characters of a text, at most `limit`.
fn last_chars(text: &str, limit: usize) -> String {
    let surplus = text.chars().count().saturating_sub(limit);
    text.chars().skip(surplus).collect()
}

/// The texts of methods for a message, sorted and without duplicates.
fn shown_methods<'m>(
    class: &str,
    name: &str,
    methods: impl Iterator<Item = &'m DeclaredMethod>,
) -> Vec<String> {
    let texts: BTreeSet<String> = methods
        .map(|method| {
            invoke::format_callee(&Callee {
                owner: class.into(),
                is_interface: false,
                name: name.into(),
                descriptor: method.descriptor.clone(),
            })
        })
        .collect();
    texts.into_iter().collect()
}

impl Scope for SiteScope<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let (location, ty) = self.find(name)?;
        Some(match ty {
            Type::Int => {
                let is_boolean = match location {
                    Location::Operand(operand) => operand.is_boolean,
                    Location::Iterations | Location::Exception => false,
                    Location::Slot(slot) => {
                        let variable = self.method.variable(slot, self.values.pc);
                        variable.is_some_and(|v| v.descriptor == "Z")
                    }
                };
                if is_boolean { "Z" } else { "I" }.into()
            }
            Type::Long => "J".into(),
            Type::Float => "F".into(),
            Type::Double => "D".into(),
            Type::Object(class) => {
                let descriptor = type_descriptor(class);
                if let Some(class) = class_in(&descriptor) {
                    self.resolve(self.host, class);
                }
                descriptor
            }
            _ => OBJECT_DESCRIPTOR.into(),
        })
    }

    fn parameters(&self) -> Vec<String> {
        let method = self.method;
        let parsed = MethodDescriptor::parse(&method.descriptor);
        let parameters = parsed.iter().flat_map(|d| d.parameters());
        let mut slot = u16::from(!method.is_static());
        let mut names = Vec::new();
        if slot == 1 {
            names.push("this".to_owned());
        }
        for parameter in parameters {
            names.push(method.variable_name(LocalSlot(slot), 0));
            slot += parameter.slots();
        }
        names
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let method = self.method;
        let is_named = |slot: u16| {
            let known = method.variable_name(LocalSlot(slot), 0);
            known == name || format!("local{slot}") == name || known == "this" && name == "self"
        };
        let mut slot = 0;
        let mut descriptor = None;
        if !method.is_static() {
            descriptor = is_named(0).then(|| type_descriptor(&method.class));
            slot = 1;
        }
        for parameter in MethodDescriptor::parse(&method.descriptor)
            .ok()?
            .parameters()
        {
            if is_named(slot) {
                descriptor = Some(parameter.as_str().to_owned());
            }
            slot += parameter.slots();
        }
        if let Some(class) = descriptor.as_deref().and_then(class_in) {
            self.resolve(self.host, class);
        }
        descriptor
    }

    fn method_label(&self) -> String {
        let method = self.method;
        let class = java_form(&method.class);
        format!("{class}::{}{}", method.name, method.descriptor)
    }

    fn live(&self) -> Vec<String> {
        let operands = self.operands().map(|(operand, _)| operand.name.clone());
        let variables = self.variables();
        let variables = variables.map(|(slot, _)| self.method.variable_name(slot, self.values.pc));
        let iterations = self
            .values
            .has_iterations
            .then(|| TRIP_COUNT_NAME.to_string());
        let exception = self
            .values
            .has_exception
            .then(|| EXCEPTION_NAME.to_string());
        iterations
            .into_iter()
            .chain(exception)
            .chain(operands)
            .chain(variables)
            .collect()
    }

    fn is_loaded(&self, class: &str) -> bool {
        match self.resolved.borrow().get(class) {
            Some(Some(class)) => self.agent.tool.is_prepared(*class),
            // The name means two classes, and waiting for a class would not change that.
            Some(None) => true,
            None => false,
        }
    }

    fn here(&self) -> String {
        let class = java_form(&self.method.class);
        let line = self.method.line(self.values.pc);
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        let text = format!("{class}.{}{line}", self.method.name);
        // The end of the text distinguishes points better than its beginning.
        last_chars(&text, MAX_HERE_CHARS)
    }

    fn site_id(&self) -> i64 {
        let class = java_form(&self.method.class);
        let method = format!("{}{}", self.method.name, self.method.descriptor);
        veneer_names::site_id(&class, &method, self.values.pc)
    }

    fn site(&self) -> String {
        let (method, class) = (self.method, java_form(&self.method.class));
        let line = method.line(self.values.pc);
        let line = line.map_or(String::new(), |line| line.to_string());
        format!("{class}\n{}{}\n{line}", method.name, method.descriptor)
    }

    fn inline_cache(&self) -> i64 {
        let add = |page| self.agent.library.add_inline_caches(self.env, page).is_ok();
        self.agent.inline_caches.cell(self.instrument, add)
    }

    fn field(&self, class: &str, name: &str) -> Option<Field> {
        for class in self.superclass_chain(class) {
            let mut declared = self.agent.tool.fields(class).into_iter();
            let found = declared.find(|(flags, field, _)| flags & ACC_STATIC == 0 && field == name);
            let Some((_, _, descriptor)) = found else {
                continue;
            };
            if let Some(of) = class_in(&descriptor) {
                self.env.ensure(8);
                self.resolve(class, of);
            }
            let library = &self.agent.library;
            let offset = library.offset(self.env, class, name, &descriptor).ok()?;
            return Some(Field { descriptor, offset });
        }
        None
    }

    fn fields(&self, class: &str) -> Vec<String> {
        let chain = self.superclass_chain(class).into_iter();
        let declared = chain.flat_map(|class| self.agent.tool.fields(class));
        let of_instances = declared.filter(|(flags, ..)| flags & ACC_STATIC == 0);
        of_instances.map(|(_, name, _)| name).collect()
    }

    fn cast(&self, class: &str) -> Result<i64, Reason> {
        let dotted = || java_form(class);
        let several = |count| Reason::SeveralClasses {
            class: dotted(),
            count,
        };
        let not_loaded = || Reason::NotLoaded { class: dotted() };
        let found = match self.loaded_class(self.host, class) {
            Some(class) => class,
            None => self.unique_class(class).map_err(|count| match count {
                0 => not_loaded(),
                count => several(count),
            })?,
        };
        if !self.agent.tool.is_prepared(found) {
            return Err(not_loaded());
        }
        let what = match self.agent.library.type_number(self.env, found) {
            // SAFETY: `loaded_class` or `unique_class` has made the local reference, which is not used
            // again.
            Ok(Some(number)) if unsafe { self.add_resolved(class, found) } => return Ok(number),
            Ok(Some(_)) => return Err(several(2)),
            Ok(None) => "no further class can be given to as_a in this JVM".into(),
            Err(e) => e.to_string(),
        };
        Err(Reason::TooLarge { what })
    }

    fn method(&self, class: &str, name: &str, arguments: &[Ty]) -> Result<Callee, Reason> {
        let receiver = self.receiver_class(class)?;
        let MethodCandidates { declared, names } = self.method_candidates(receiver, name);
        let overloads = self.overloads(&declared, arguments);
        let of = Ty::Object(class.into());
        if overloads.is_empty() {
            let candidates = match &declared[..] {
                [] => names.into_iter().take(MAX_NAMES_IN_MESSAGE).collect(),
                some => shown_methods(class, name, some.iter()),
            };
            return Err(Reason::NoMethod {
                of,
                name: name.into(),
                arguments: invoke::format_types(arguments),
                candidates,
            });
        }
        let best = best_overload(overloads.iter().map(|overload| &overload.costs[..]));
        let Some(best) = best.and_then(|index| overloads.get(index)) else {
            return Err(Reason::Ambiguous {
                of,
                name: name.into(),
                arguments: invoke::format_types(arguments),
                candidates: shown_methods(class, name, overloads.iter().map(|o| o.method)),
            });
        };
        // The call names the object's own class, or else a class that also declares the method.
        let own = DeclaredMethod {
            class: receiver,
            descriptor: best.method.descriptor.clone(),
        };
        let others = declared
            .iter()
            .filter(|method| method.parameters() == best.method.parameters());
        let mut first = None;
        for method in std::iter::once(&own).chain(others) {
            match self.linkable_callee(name, method) {
                Ok(callee) => return Ok(callee),
                Err(reason) => drop(first.get_or_insert(reason)),
            }
        }
        Err(first.unwrap_or(Reason::NotLoaded {
            class: java_form(class),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(costs: &[&[u8]]) -> Option<usize> {
        best_overload(costs.iter().copied())
    }

    #[test]
    fn the_overload_that_is_best_for_every_argument_is_called() {
        assert_eq!(best(&[&[9, 9], &[1, 0], &[1, 9]]), Some(1));
        assert_eq!(best(&[&[3]]), Some(0));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn a_call_is_ambiguous_if_no_overload_is_best_or_two_are_equal() {
        assert_eq!(best(&[&[0, 1], &[1, 0]]), None);
        assert_eq!(best(&[&[0, 1], &[0, 1], &[9, 9]]), None);
        assert_eq!(best(&[&[0, 1], &[9, 9], &[9, 9]]), Some(0));
    }

    #[test]
    fn overloads_without_parameters_are_equal() {
        assert_eq!(best(&[&[]]), Some(0));
        assert_eq!(best(&[&[], &[]]), None);
    }

    #[test]
    fn the_class_of_a_descriptor_is_that_of_the_elements() {
        assert_eq!(class_in("Lshop/Desk;"), Some("shop/Desk"));
        assert_eq!(class_in("[[Lshop/Desk;"), Some("shop/Desk"));
        assert_eq!(class_in("[I"), None);
        assert_eq!(class_in("J"), None);
    }

    #[test]
    fn only_public_instance_methods_that_the_source_declares_are_callable() {
        assert!(is_callable(ACC_PUBLIC) && is_callable(ACC_PUBLIC | 0x0400));
        for flag in [ACC_STATIC, ACC_BRIDGE, ACC_SYNTHETIC] {
            assert!(!is_callable(ACC_PUBLIC | flag));
        }
        assert!(!is_callable(0));
    }

    #[test]
    fn a_long_name_of_a_point_keeps_its_end() {
        assert_eq!(last_chars("a.b.C.run:7", 64), "a.b.C.run:7");
        assert_eq!(last_chars("äöü:12", 4), "ü:12");
        assert_eq!(last_chars("", 4), "");
    }
}

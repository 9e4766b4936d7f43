//! What a compiled probe can see at a point.
//!
//! A probe reads fields by their place in the object, so their classes must be the right ones, always. A variable has the type that the
//! verifier proves of it; its class is the one that the host's own loader has defined or asked for under that name. A field has the
//! type of its descriptor, and that names a class for the loader of the class that declares it. No class is loaded for this: code
//! that reads fields of a class which is not there yet waits for it (`awaited.rs`).
//!
//! A cast goes to the class that the host's loader has under the name, or else to the only loaded class of that name: what passes it is one of that very class.
//! A method is called by a class to which the host could be linked itself, and whose loader means the same as the host's by every type in
//! the method's descriptor; so the JVM learns nothing new about loaders from it, which could get in the application's way later.

use crate::agent::Agent;
use crate::jvm::jni::{Env, Global, jclass};
use crate::weaving::instruction_sites::{Operand, kind};
use crate::weaving::loop_exits::TURNS;
use crate::weaving::planned_probe::View;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use veneer_fragmenter::advice::Read;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::Type;
use veneer_probes::compile::invoke;
use veneer_probes::error::Reason;
use veneer_probes::scope::{Field, Scope};
use veneer_probes::step::{Callee, Kind};
use veneer_probes::ty::Ty;

/// `ACC_PUBLIC`.
const PUBLIC: i32 = 1;
/// `ACC_STATIC`.
const STATIC: i32 = 8;
/// `ACC_BRIDGE` and `ACC_SYNTHETIC`.
const MADE: i32 = 0x1040;
/// Names of methods in a message at most.
const NAMES: usize = 40;
const OBJECT: &str = "java/lang/Object";
/// How well an object fits a parameter of its own class, of one above it, and of `Object`.
const FITS: [u8; 3] = [0, 1, 9];

/// The classes of names that were looked for among all that are loaded; where there is not one alone, how many there are. For as long as a class is
/// woven: the search takes milliseconds.
#[derive(Default)]
pub struct Found(RefCell<HashMap<String, Result<Global, usize>>>);

/// A method that an object has.
struct Declared {
    by: jclass,
    descriptor: String,
}

impl Declared {
    /// The parameters, as the descriptor has them.
    fn parameters(&self) -> &str {
        self.descriptor.split(')').next().unwrap_or_default()
    }
}

/// Where a value lies.
enum Place<'a> {
    Slot(u16),
    Operand(&'a Operand),
    Turns,
}

/// See the module documentation. Lives inside one [`Env::frame`].
pub struct Sight<'a> {
    agent: &'a Agent,
    env: Env,
    host: jclass,
    method: &'a Method<'a>,
    view: View,
    found: &'a Found,
    /// Classes by the names that lead to them; none where two classes have one name.
    known: RefCell<HashMap<String, Option<jclass>>>,
}

impl<'a> Sight<'a> {
    /// At a place of a method of the class.
    pub fn new(
        agent: &'a Agent,
        env: Env,
        host: jclass,
        method: &'a Method<'a>,
        view: View,
        found: &'a Found,
    ) -> Sight<'a> {
        Sight {
            agent,
            env,
            host,
            method,
            view,
            found,
            known: RefCell::default(),
        }
    }

    /// Where what a probe reads lies, and the kinds of the operands that have to be looked at for that.
    pub fn reads(&self, probe: &veneer_probes::Method) -> (Vec<Read>, Vec<Kind>) {
        let read = |name: &str| match self.find(name) {
            Some((_, Type::Null)) | None => Read::Null,
            Some((Place::Slot(slot), _)) => Read::Slot(slot),
            Some((Place::Operand(operand), _)) => Read::Operand(operand.depth),
            // Its number is not known yet.
            Some((Place::Turns, _)) => Read::Turns(0),
        };
        let reads: Vec<Read> = probe.reads.iter().map(|(name, _)| read(name)).collect();
        let depth = |read: &Read| match read {
            Read::Operand(depth) => usize::from(*depth) + 1,
            _ => 0,
        };
        let count = reads.iter().map(depth).max().unwrap_or(0);
        let above = self.view.state.stack.iter().rev().take(count);
        (reads, above.filter_map(kind).collect())
    }

    fn find(&self, name: &str) -> Option<(Place<'_>, &Type)> {
        if self.view.turns && name == TURNS {
            return Some((Place::Turns, &Type::Long));
        }
        // What has a name at the instruction hides a variable of that name.
        if let Some(found) = self.operands().find(|(operand, _)| operand.name == name) {
            return Some((Place::Operand(found.0), found.1));
        }
        let found = self.variables().find(|(slot, _)| {
            let known = self.method.variable_name(*slot, self.view.pc);
            // `this` is a word of Rhai.
            known == name || format!("local{slot}") == name || known == "this" && name == "self"
        });
        found.map(|(slot, t)| (Place::Slot(slot), t))
    }

    fn operands(&self) -> impl Iterator<Item = (&Operand, &Type)> {
        let stack = &self.view.state.stack;
        self.view.operands.iter().filter_map(|operand| {
            let at = stack.len().checked_sub(1 + usize::from(operand.depth))?;
            let t = stack.get(at).filter(|t| !t.is_uninitialized())?;
            Some((operand, t))
        })
    }

    fn variables(&self) -> impl Iterator<Item = (u16, &Type)> {
        let all = self.view.state.locals.iter().enumerate();
        all.map(|(slot, t)| (slot as u16, t))
            .filter(|(_, t)| **t != Type::Top && !t.is_uninitialized())
    }

    /// The class that `by` means by a name.
    fn resolve(&self, by: jclass, name: &str) {
        let found = self.agent.library.loaded(self.env, by, name);
        let Some(class) = found.ok().filter(|class| !class.is_null()) else {
            return;
        };
        self.know(name, class);
    }

    /// A name leads to a class. Whether it leads to this one alone.
    fn know(&self, name: &str, class: jclass) -> bool {
        let mut known = self.known.borrow_mut();
        match known.get(name) {
            Some(Some(other)) if self.env.same(*other, class) => self.env.delete(class),
            Some(_) => {
                known.insert(name.into(), None);
                return false;
            }
            None => drop(known.insert(name.into(), Some(class))),
        }
        true
    }

    /// The class that another one means by a name, where it is loaded.
    fn meant(&self, by: jclass, name: &str) -> Option<jclass> {
        self.env.ensure(8);
        let found = self.agent.library.loaded(self.env, by, name);
        found.ok().filter(|class| !class.is_null())
    }

    /// The one loaded class of a name, whatever its loader; else how many there are.
    fn only(&self, name: &str) -> Result<jclass, usize> {
        let mut found = self.found.0.borrow_mut();
        let one = found.entry(name.into()).or_insert_with(|| {
            let mut all = Vec::new();
            for class in self.agent.tool.loaded(self.env) {
                match self.agent.tool.class_name(class) {
                    Some(of) if of == name => all.push(class),
                    _ => self.env.delete(class),
                }
            }
            match all[..] {
                [class] => Ok(self.env.weak(class)),
                _ => Err(all.len()),
            }
        });
        match one {
            Ok(weak) => Some(self.env.local(weak)).filter(|c| !c.is_null()).ok_or(0),
            Err(count) => Err(*count),
        }
    }

    /// A class, those above it, and its interfaces; an interface has the methods of `Object` too.
    fn above(&self, class: jclass) -> Vec<jclass> {
        let mut all = vec![class];
        let mut next = self.env.superclass(class);
        while !next.is_null() {
            self.env.ensure(8);
            all.push(next);
            next = self.env.superclass(next);
        }
        let mut at = 0;
        while let Some(one) = all.get(at).copied() {
            for interface in self.agent.tool.interfaces(self.env, one) {
                if !all.iter().any(|known| self.env.same(*known, interface)) {
                    all.push(interface);
                }
            }
            at += 1;
        }
        if self.agent.tool.is_interface(class) {
            all.extend(self.meant(class, OBJECT));
        }
        all
    }

    /// How well a value fits a parameter of a method that a class declares: the less, the better.
    fn fits(&self, by: jclass, ty: &Ty, parameter: &str) -> Option<u8> {
        let [own, above, any] = FITS;
        match ty {
            Ty::Object(class) => {
                let wanted = class_in(parameter).filter(|_| !parameter.starts_with('['))?;
                if wanted == class {
                    return Some(own);
                }
                if wanted == OBJECT {
                    return Some(any);
                }
                let (from, to) = (self.class(class)?, self.meant(by, wanted)?);
                self.env.is_assignable(from, to).then_some(above)
            }
            Ty::Array(of) if parameter.strip_prefix('[') == Some(of.as_str()) => Some(own),
            Ty::Array(_) => {
                (class_in(parameter) == Some(OBJECT) && !parameter.starts_with('[')).then_some(any)
            }
            other => invoke::fit(other, parameter),
        }
    }

    /// A method as a class to which the host can be linked has it.
    fn reach(&self, name: &str, one: &Declared) -> Result<Callee, Reason> {
        let owner = self.agent.tool.class_name(one.by).unwrap_or_default();
        let callee = Callee {
            is_interface: self.agent.tool.is_interface(one.by),
            owner,
            name: name.into(),
            descriptor: one.descriptor.clone(),
        };
        let refused = |why: String| Reason::NotReachable {
            method: invoke::shown(&callee),
            why,
        };
        let asked = |class: jclass, accessed: bool| {
            self.env.ensure(8);
            let asked = self
                .agent
                .library
                .unreachable(self.env, self.host, class, accessed);
            match asked {
                Ok(None) => Ok(()),
                Ok(Some(why)) => Err(refused(why)),
                Err(e) => Err(refused(e.to_string())),
            }
        };
        if callee.owner.is_empty() {
            return Err(refused(
                "its class has no name that could be written".into(),
            ));
        }
        asked(one.by, true)?;
        let (parameters, result) = invoke::parts(&callee.descriptor)
            .ok_or_else(|| refused("its descriptor cannot be read".into()))?;
        let parameters = parameters.iter().map(|p| (*p, true));
        for (descriptor, accessed) in parameters.chain([(result, false)]) {
            let Some(of) = class_in(descriptor) else {
                continue;
            };
            let Some(class) = self.meant(one.by, of) else {
                let class = of.replace('/', ".");
                return Err(Reason::NotLoaded { class });
            };
            asked(class, accessed)?;
        }
        if let Some(of) = class_in(result) {
            self.resolve(one.by, of);
        }
        Ok(callee)
    }

    fn class(&self, name: &str) -> Option<jclass> {
        self.known.borrow().get(name).copied().flatten()
    }

    /// A class and those above it.
    fn chain(&self, name: &str) -> Vec<jclass> {
        let mut chain = Vec::new();
        let mut next = self.class(name);
        while let Some(class) = next.filter(|class| !class.is_null()) {
            self.env.ensure(8);
            chain.push(class);
            next = Some(self.env.superclass(class));
        }
        chain
    }
}

/// The internal name of the class in a descriptor, that of the elements of an array.
fn class_in(descriptor: &str) -> Option<&str> {
    let element = descriptor.trim_start_matches('[');
    element.strip_prefix('L')?.strip_suffix(';')
}

impl Scope for Sight<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        let (place, t) = self.find(name)?;
        Some(match t {
            Type::Int => {
                let is_boolean = match place {
                    Place::Operand(operand) => operand.boolean,
                    Place::Turns => false,
                    Place::Slot(slot) => {
                        let named = self.method.variable(slot, self.view.pc);
                        named.is_some_and(|v| v.descriptor == "Z")
                    }
                };
                if is_boolean { "Z" } else { "I" }.into()
            }
            Type::Long => "J".into(),
            Type::Float => "F".into(),
            Type::Double => "D".into(),
            Type::Object(class) => {
                let descriptor = match class.starts_with('[') {
                    true => class.to_string(),
                    false => format!("L{class};"),
                };
                if let Some(class) = class_in(&descriptor) {
                    self.resolve(self.host, class);
                }
                descriptor
            }
            _ => "Ljava/lang/Object;".into(),
        })
    }

    fn live(&self) -> Vec<String> {
        let operands = self.operands().map(|(operand, _)| operand.name.clone());
        let named = |(slot, _): (u16, &Type)| self.method.variable_name(slot, self.view.pc);
        let turns = self.view.turns.then(|| TURNS.to_string());
        let seen = operands.chain(self.variables().map(named));
        turns.into_iter().chain(seen).collect()
    }

    fn is_loaded(&self, class: &str) -> bool {
        match self.known.borrow().get(class) {
            Some(Some(class)) => self.agent.tool.is_prepared(*class),
            // Two classes have the name: that does not change.
            Some(None) => true,
            None => false,
        }
    }

    fn here(&self) -> String {
        let class = self.method.class.replace('/', ".");
        let line = self.method.line(self.view.pc);
        let line = line.map_or(String::new(), |line| format!(":{line}"));
        let text = format!("{class}.{}{line}", self.method.name);
        // Tables tell strings apart by their first characters; the last ones say more here.
        let long = text.chars().count().saturating_sub(64);
        text.chars().skip(long).collect()
    }

    fn field(&self, class: &str, name: &str) -> Option<Field> {
        for class in self.chain(class) {
            let declared = self.agent.tool.fields(class);
            let found = declared
                .into_iter()
                .find(|(flags, field, _)| flags & STATIC == 0 && field == name);
            let Some((_, _, descriptor)) = found else {
                continue;
            };
            if let Some(of) = class_in(&descriptor) {
                self.env.ensure(8);
                self.resolve(class, of);
            }
            let offset = self.agent.library.offset(self.env, class, name).ok()?;
            return Some(Field { descriptor, offset });
        }
        None
    }

    fn fields(&self, class: &str) -> Vec<String> {
        let all = self.chain(class).into_iter();
        let declared = all.flat_map(|class| self.agent.tool.fields(class));
        let of_objects = declared.filter(|(flags, ..)| flags & STATIC == 0);
        of_objects.map(|(_, name, _)| name).collect()
    }

    fn cast(&self, class: &str) -> Result<i64, Reason> {
        let dotted = || class.replace('/', ".");
        let several = |count| Reason::SeveralClasses {
            class: dotted(),
            count,
        };
        let not_loaded = || Reason::NotLoaded { class: dotted() };
        let found = match self.meant(self.host, class) {
            Some(class) => class,
            None => self.only(class).map_err(|count| match count {
                0 => not_loaded(),
                count => several(count),
            })?,
        };
        if !self.agent.tool.is_prepared(found) {
            return Err(not_loaded());
        }
        let number = self.agent.library.type_number(self.env, found);
        let what = match number {
            Ok(Some(number)) if self.know(class, found) => return Ok(number),
            Ok(Some(_)) => return Err(several(2)),
            Ok(None) => "no further class can be given to as_a in this JVM".into(),
            Err(e) => e.to_string(),
        };
        Err(Reason::TooLarge { what })
    }

    fn method(&self, class: &str, name: &str, arguments: &[Ty]) -> Result<Callee, Reason> {
        let dotted = || class.replace('/', ".");
        let Some(start) = self.class(class) else {
            let known = self.known.borrow().contains_key(class);
            return Err(match known {
                true => Reason::SeveralClasses {
                    class: dotted(),
                    count: 2,
                },
                false => Reason::NotLoaded { class: dotted() },
            });
        };
        if !self.agent.tool.is_prepared(start) {
            return Err(Reason::NotLoaded { class: dotted() });
        }
        let mut names = BTreeSet::new();
        let mut declared: Vec<Declared> = Vec::new();
        for by in self.above(start) {
            for (flags, found, descriptor) in self.agent.tool.methods(by) {
                if flags & PUBLIC == 0 || flags & (STATIC | MADE) != 0 || found.starts_with('<') {
                    continue;
                }
                if found == name {
                    declared.push(Declared { by, descriptor });
                }
                names.insert(found);
            }
        }
        // What is declared first hides what is above it.
        let mut fitting: Vec<(&Declared, Vec<u8>)> = Vec::new();
        for one in &declared {
            let hidden = |(other, _): &(&Declared, _)| other.parameters() == one.parameters();
            let Some((parameters, _)) = invoke::parts(&one.descriptor) else {
                continue;
            };
            if parameters.len() != arguments.len() || fitting.iter().any(hidden) {
                continue;
            }
            let costs = parameters.iter().zip(arguments);
            let costs: Option<Vec<u8>> = costs.map(|(p, ty)| self.fits(one.by, ty, p)).collect();
            fitting.extend(costs.map(|costs| (one, costs)));
        }
        let shown = |all: &[&Declared]| {
            let texts: BTreeSet<String> = all
                .iter()
                .map(|one| {
                    invoke::shown(&Callee {
                        owner: class.into(),
                        is_interface: false,
                        name: name.into(),
                        descriptor: one.descriptor.clone(),
                    })
                })
                .collect();
            texts.into_iter().collect::<Vec<_>>()
        };
        let of = Ty::Object(class.into());
        let (name, arguments) = (name.to_string(), invoke::list(arguments));
        if fitting.is_empty() {
            let candidates = match &declared[..] {
                [] => names.into_iter().take(NAMES).collect(),
                some => shown(&some.iter().collect::<Vec<_>>()),
            };
            return Err(Reason::NoMethod {
                of,
                name,
                arguments,
                candidates,
            });
        }
        let best = fitting.iter().find(|(_, costs)| {
            let no_worse =
                |(_, others): &(_, Vec<u8>)| costs.iter().zip(others).all(|(a, b)| a <= b);
            fitting.iter().all(no_worse)
        });
        let ties = |best: &Vec<u8>| fitting.iter().filter(|(_, costs)| costs == best).count() > 1;
        let Some((best, _)) = best.filter(|(_, costs)| !ties(costs)) else {
            let all: Vec<&Declared> = fitting.iter().map(|(one, _)| *one).collect();
            return Err(Reason::Ambiguous {
                of,
                name,
                arguments,
                candidates: shown(&all),
            });
        };
        // By the object's own class, or by one that declares the method as well.
        let own = Declared {
            by: start,
            descriptor: best.descriptor.clone(),
        };
        let others = declared
            .iter()
            .filter(|one| one.parameters() == best.parameters());
        let mut first = None;
        for one in std::iter::once(&own).chain(others) {
            match self.reach(&name, one) {
                Ok(callee) => return Ok(callee),
                Err(reason) => drop(first.get_or_insert(reason)),
            }
        }
        Err(first.unwrap_or(Reason::NotLoaded { class: dotted() }))
    }
}

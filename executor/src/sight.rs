//! What a compiled probe can see at a point.
//!
//! A probe reads fields by their place in the object, so their classes must be the right ones, always. A variable has the type that the
//! verifier proves of it; its class is the one that the host's own loader has defined or asked for under that name. A field has the
//! type of its descriptor, and that names a class for the loader of the class that declares it. No class is loaded for this: code
//! that reads fields of a class which is not there yet waits for it (`awaited.rs`).

use crate::agent::Agent;
use crate::jni::{Env, jclass};
use crate::operations::{Operand, kind};
use crate::weave::{TURNS, View};
use std::cell::RefCell;
use std::collections::HashMap;
use veneer_fragmenter::advice::Read;
use veneer_fragmenter::method::Method;
use veneer_fragmenter::types::Type;
use veneer_probes::scope::{Field, Scope};
use veneer_probes::step::Kind;

/// `ACC_STATIC`.
const STATIC: i32 = 8;

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
    ) -> Sight<'a> {
        Sight {
            agent,
            env,
            host,
            method,
            view,
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
        let mut known = self.known.borrow_mut();
        match known.get(name) {
            Some(Some(other)) if self.env.same(*other, class) => self.env.delete(class),
            Some(_) => drop(known.insert(name.into(), None)),
            None => drop(known.insert(name.into(), Some(class))),
        }
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
}

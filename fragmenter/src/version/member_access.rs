//! Copies one instruction of the host into its nestmate, and adapts accesses that a nestmate must
//! not make.
//!
//! Most instructions are copied with their constants. JVMS §5.4.4 gives a nestmate the private
//! access of the host, but not that of a subclass. The other instructions therefore use method
//! handles that the agent makes with the host's own lookup before the version runs, or call sites
//! that are bound to this lookup:
//!
//! | in the host                                  | in the version                                |
//! |----------------------------------------------|-----------------------------------------------|
//! | `invokespecial` of a private method          | `invokevirtual` / `invokeinterface`           |
//! | `invokespecial` of `super.m()`, `I.super.m()`| `invokedynamic`, a `findSpecial` handle       |
//! | protected member of another package          | `invokedynamic`, a handle                     |
//! | store to an own final instance field (1)     | a runtime method that takes the field's offset |
//! | store to an own static final field (2)       | `invokedynamic`, a setter                     |
//! | `MethodHandles.lookup()`                     | `invokedynamic`, the host's lookup            |
//! | `invokedynamic`                              | the host's bootstrap method, with its lookup  |
//!
//! 1. In constructors, and in every method of a class file before version 53.
//! 2. In `<clinit>`. Other methods that contain such a store are refused.
//!
//! From version 53 on, the JVM throws at stores to final fields in all other methods. These methods are
//! refused too.

use super::emitter::Emitter;
use super::version_class::BoundMember;
use crate::bootstrap::{self, BootstrapMethod};
use crate::bytecode::opcode::*;
use crate::bytecode::{Assembler, Instruction};
use crate::classfile::{ConstantTag, MemberRef, PoolEntry};
use crate::method::{Method, access};
use crate::refusal::Refusal;
use crate::runtime;
use veneer_names::{FieldDescriptor, MethodDescriptor};

/// The access that a bound call site makes. `VeneerRuntime.bind` uses the same numbers.
#[derive(Clone, Copy)]
enum BoundAccess {
    Special = 1,
    Virtual = 2,
    Static = 3,
    GetField = 4,
    PutField = 5,
    GetStatic = 6,
    PutStatic = 7,
    Lookup = 9,
    PutStaticFinal = 10,
}

/// Kinds of method handles (JVMS table 5.4.3.5-A).
const INVOKE_VIRTUAL_KIND: u8 = 5;
const INVOKE_SPECIAL_KIND: u8 = 7;
const INVOKE_INTERFACE_KIND: u8 = 9;

/// Kinds of values, the instructions that load and store a local of these kinds, and the number of
/// words of such a local.
const LOCAL_KINDS: [(&[u8], u8, u8, u16); 5] = [
    (b"ZBCSI", ILOAD, ISTORE, 1),
    (b"J", LLOAD, LSTORE, 2),
    (b"F", FLOAD, FSTORE, 1),
    (b"D", DLOAD, DSTORE, 2),
    (b"L[", ALOAD, ASTORE, 1),
];

const BIND: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;ILjava/lang/Class;Ljava/lang/Class;Ljava/lang/String;)Ljava/lang/invoke/CallSite;";
const RELINK: &str = "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/invoke/MethodHandle;[Ljava/lang/Object;)Ljava/lang/invoke/CallSite;";

/// The refusal of a method that stores to a final field of its class although only constructors and
/// `<clinit>` may (JVMS §6.5, `putfield` and `putstatic`). The JVM throws an `IllegalAccessError` at
/// the store, and the error names the class that contains the store.
fn store_that_fails(method: &Method, field: &str) -> Refusal {
    Refusal::BrokenClass(format!(
        "{} stores to the final field {field}, which the JVM does not allow there",
        method.name
    ))
}

impl Emitter<'_> {
    /// Appends an instruction in the form that the version needs. The caller handles branches.
    pub fn copy_instruction(
        &mut self,
        a: &mut Assembler,
        method: &Method,
        instruction: &Instruction,
    ) -> Result<(), Refusal> {
        let moved = match instruction {
            Instruction::Ldc { index, wide } => Instruction::Ldc {
                index: self.loadable_constant(*index)?,
                wide: *wide,
            },
            Instruction::InvokeDynamic { index } => return self.copy_invoke_dynamic(a, *index),
            Instruction::InvokeInterface { index, count } => Instruction::InvokeInterface {
                index: self.import(*index)?,
                count: *count,
            },
            Instruction::MultiNewArray { index, dims } => Instruction::MultiNewArray {
                index: self.import(*index)?,
                dims: *dims,
            },
            Instruction::Pool {
                op: op @ (GETSTATIC..=INVOKESTATIC),
                index,
            } => return self.copy_member_access(a, method, *op, *index),
            Instruction::Pool { op, index } => Instruction::Pool {
                op: *op,
                index: self.import(*index)?,
            },
            other => other.clone(),
        };
        a.push(moved);
        Ok(())
    }

    fn import(&mut self, index: u16) -> Result<u16, Refusal> {
        Ok(self.pool.import(&self.host.pool, index, &mut self.memo)?)
    }

    /// Converts a method handle of kind `invokeSpecial`, which only the host may load, to one that
    /// the version may load too. Also returns whether both handles do the same: that is true for a
    /// private method of the host, because no method can override it.
    fn special_handle(&mut self, reference: u16) -> Result<(u16, bool), Refusal> {
        let MemberRef {
            tag,
            class,
            name,
            descriptor,
        } = self.host.pool.member(reference)?;
        let class = self.host.pool.class_name(class)?.into_owned();
        let name = self.host.pool.text(name)?.into_owned();
        let descriptor = self.host.pool.text(descriptor)?.into_owned();
        let private = class == self.host_name
            && self.declared_flag(&name, &descriptor, true) == Some(access::PRIVATE);
        let kind = if tag == ConstantTag::InterfaceMethod {
            INVOKE_INTERFACE_KIND
        } else {
            INVOKE_VIRTUAL_KIND
        };
        let reference = self.import(reference)?;
        Ok((self.pool.add_method_handle(kind, reference)?, private))
    }

    /// Converts a loadable constant. A dynamic constant also needs its bootstrap method.
    fn loadable_constant(&mut self, index: u16) -> Result<u16, Refusal> {
        match self.host.pool.entry(index)? {
            PoolEntry::Dynamic { .. } => {}
            PoolEntry::MethodHandle {
                kind: INVOKE_SPECIAL_KIND,
                reference,
            } => {
                let (handle, private) = self.special_handle(reference)?;
                return private.then_some(handle).ok_or(Refusal::SuperHandle);
            }
            _ => return self.import(index),
        }
        let (method, name, descriptor) = self.host.pool.dynamic(index)?;
        let (name, descriptor) = (
            self.host.pool.text(name)?.into_owned(),
            self.host.pool.text(descriptor)?.into_owned(),
        );
        let method = self
            .host_bootstrap
            .get(method as usize)
            .cloned()
            .ok_or_else(|| Refusal::BrokenClass("no such bootstrap method".into()))?;
        let handle = self.import(method.handle)?;
        let arguments = method
            .arguments
            .iter()
            .map(|i| self.loadable_constant(*i))
            .collect::<Result<_, _>>()?;
        let b = self.bootstrap(BootstrapMethod { handle, arguments })?;
        Ok(self.pool.add_dynamic(b, &name, &descriptor)?)
    }

    fn copy_invoke_dynamic(&mut self, a: &mut Assembler, index: u16) -> Result<(), Refusal> {
        let (method, name, descriptor) = self.host.pool.dynamic(index)?;
        let (name, descriptor) = (
            self.host.pool.text(name)?.into_owned(),
            self.host.pool.text(descriptor)?.into_owned(),
        );
        let method = self
            .host_bootstrap
            .get(method as usize)
            .cloned()
            .ok_or_else(|| Refusal::BrokenClass("no such bootstrap method".into()))?;
        let handle = bootstrap::runtime_handle(&mut self.pool, "relink", RELINK)?;
        let host = self.pool.add_class(&self.host_name)?;
        // The call site's number in the host: all versions of a host share the call site that the
        // host's bootstrap method creates. The number is followed by the positions of the arguments
        // that are handles of kind `invokeSpecial`. The runtime creates these handles again with
        // the host's lookup.
        let (mut number, mut loaded) = (index.to_string(), Vec::new());
        for (place, i) in method.arguments.iter().enumerate() {
            loaded.push(match self.host.pool.entry(*i)? {
                PoolEntry::MethodHandle {
                    kind: INVOKE_SPECIAL_KIND,
                    reference,
                } => {
                    number += &format!(" {place}");
                    self.special_handle(reference)?.0
                }
                _ => self.loadable_constant(*i)?,
            });
        }
        let mut arguments = vec![
            host,
            self.pool.add_string(&number)?,
            self.import(method.handle)?,
        ];
        arguments.extend(loaded);
        let b = self.bootstrap(BootstrapMethod { handle, arguments })?;
        let site = self.pool.add_invoke_dynamic(b, &name, &descriptor)?;
        a.push(Instruction::InvokeDynamic { index: site });
        Ok(())
    }

    fn copy_member_access(
        &mut self,
        a: &mut Assembler,
        method: &Method,
        op: u8,
        index: u16,
    ) -> Result<(), Refusal> {
        let MemberRef {
            tag,
            class,
            name,
            descriptor,
        } = self.host.pool.member(index)?;
        let class = self.host.pool.class_name(class)?.into_owned();
        let name = self.host.pool.text(name)?.into_owned();
        let descriptor = self.host.pool.text(descriptor)?.into_owned();
        let own = class == self.host_name;
        if op == INVOKESTATIC
            && class == "java/lang/invoke/MethodHandles"
            && name == "lookup"
            && descriptor == format!("()L{};", runtime::LOOKUP)
        {
            return self.call_bound_site(
                a,
                BoundAccess::Lookup,
                "lookup",
                &descriptor,
                "java/lang/invoke/MethodHandles",
            );
        }
        if op == INVOKESPECIAL && name != "<init>" {
            if own && self.declared_flag(&name, &descriptor, true) == Some(access::PRIVATE) {
                if self.host.access & access::INTERFACE != 0 {
                    let words = MethodDescriptor::parse(&descriptor).map_or(0, |d| d.slots()) + 1;
                    let index = self.import(index)?;
                    a.push(Instruction::InvokeInterface {
                        index,
                        count: words as u8,
                    });
                } else {
                    let index = self.import(index)?;
                    a.pool(INVOKEVIRTUAL, index);
                }
                return Ok(());
            }
            let receiver = format!("(L{};{}", self.host_name, &descriptor[1..]);
            let member = (index, &*class, &*name);
            return self.call_handle(a, BoundAccess::Special, member, receiver);
        }
        // Before class file version 53 (Java 9), the JVM lets every method of the class store to
        // the field, and not only constructors.
        let any_method_may_store = self.host.major < 53;
        if op == PUTSTATIC && own && self.is_static_final(&name, &descriptor) {
            if method.name == "<clinit>" {
                // No compiler treats the field as a constant while the class is being initialised.
                let setter = format!("({descriptor})V");
                return self.call_bound_site(
                    a,
                    BoundAccess::PutStaticFinal,
                    &name,
                    &setter,
                    &class,
                );
            }
            if any_method_may_store {
                return Err(Refusal::StaticFinal(name));
            }
            return Err(store_that_fails(method, &name));
        }
        if op == PUTFIELD
            && own
            && self.declared_flag(&name, &descriptor, false) == Some(access::FINAL)
        {
            if !method.is_constructor() && !any_method_may_store {
                return Err(store_that_fails(method, &name));
            }
            return self.put_final(a, &name, &descriptor);
        }
        let inherited = !(own
            && self
                .declared_flag(&name, &descriptor, tag != ConstantTag::Field)
                .is_some());
        if inherited
            && !class.starts_with('[')
            && name != "<init>"
            && self.protected.contains(&(name.clone(), descriptor.clone()))
        {
            let (bind, typed) = match op {
                GETFIELD => (BoundAccess::GetField, format!("(L{class};){descriptor}")),
                PUTFIELD => (BoundAccess::PutField, format!("(L{class};{descriptor})V")),
                GETSTATIC => (BoundAccess::GetStatic, format!("(){descriptor}")),
                PUTSTATIC => (BoundAccess::PutStatic, format!("({descriptor})V")),
                INVOKESTATIC => (BoundAccess::Static, descriptor),
                _ => (
                    BoundAccess::Virtual,
                    format!("(L{class};{}", &descriptor[1..]),
                ),
            };
            return self.call_handle(a, bind, (index, &*class, &*name), typed);
        }
        let index = self.import(index)?;
        a.pool(op, index);
        Ok(())
    }

    /// Emits a call of a method handle for a member of the host: its index in the host's constant
    /// pool, its class and its name. The operands are on the stack. `descriptor` is that of a method
    /// that takes them.
    ///
    /// The agent puts the handle into a field of the version before the version runs. A call site
    /// would be linked by the application's thread when it is executed for the first time, and
    /// linking runs methods of the JDK into which another agent may have put code that executes the
    /// same method again.
    fn call_handle(
        &mut self,
        a: &mut Assembler,
        access: BoundAccess,
        (index, class, name): (u16, &str, &str),
        descriptor: String,
    ) -> Result<(), Refusal> {
        let broken = || Refusal::BrokenClass(format!("{descriptor} is not a descriptor"));
        let parsed = MethodDescriptor::parse(&descriptor).map_err(|_| broken())?;
        // The handle must be below the operands, so these are kept in locals for a moment.
        let mut slot = self.scratch;
        let mut kept = Vec::new();
        for parameter in parsed.parameters() {
            let kind = LOCAL_KINDS
                .iter()
                .find(|(kinds, ..)| kinds.contains(&parameter.as_str().as_bytes()[0]));
            let (_, load, store, words) = kind.ok_or_else(broken)?;
            kept.push((*load, *store, slot));
            slot += words;
        }
        self.scratch_words = self.scratch_words.max(slot - self.scratch).max(1);
        for (_, store, slot) in kept.iter().rev() {
            a.local(*store, *slot);
        }
        let field = runtime::bound_field(access as u8, index);
        let field = self
            .pool
            .add_field(&self.self_name, &field, runtime::HANDLE_DESCRIPTOR)?;
        a.pool(GETSTATIC, field);
        for (load, _, slot) in &kept {
            a.local(*load, *slot);
        }
        let erased = parsed.erased();
        let exact =
            self.pool
                .add_method("java/lang/invoke/MethodHandle", "invokeExact", &erased)?;
        a.pool(INVOKEVIRTUAL, exact);
        if let Some(class) = parsed.result().and_then(FieldDescriptor::constant_name) {
            self.cast(a, class)?;
        }
        let member = BoundMember {
            operation: access as u8,
            index,
            class: class.to_string(),
            name: name.to_string(),
            descriptor,
        };
        self.bound.insert((member.operation, index), member);
        Ok(())
    }

    /// Emits a call site that is bound to the host's own lookup. The call site's type is erased,
    /// and the actual classes are in `descriptor`. To link a call site, the JVM looks up every
    /// class of its type through the host's loader. With the actual type, the JVM would load
    /// classes that the program never loads.
    fn call_bound_site(
        &mut self,
        a: &mut Assembler,
        bind: BoundAccess,
        name: &str,
        descriptor: &str,
        class: &str,
    ) -> Result<(), Refusal> {
        let handle = bootstrap::runtime_handle(&mut self.pool, "bind", BIND)?;
        let arguments = vec![
            self.pool.add_integer(bind as i32)?,
            self.pool.add_class(class)?,
            self.pool.add_class(&self.host_name)?,
            self.pool.add_string(descriptor)?,
        ];
        let b = self.bootstrap(BootstrapMethod { handle, arguments })?;
        let parsed = MethodDescriptor::parse(descriptor)
            .map_err(|_| Refusal::BrokenClass(format!("{descriptor} is not a descriptor")))?;
        let erased = match bind {
            BoundAccess::Lookup => descriptor.to_string(),
            _ => parsed.erased(),
        };
        let index = self.pool.add_invoke_dynamic(b, name, &erased)?;
        a.push(Instruction::InvokeDynamic { index });
        if !matches!(bind, BoundAccess::Lookup)
            && let Some(class) = parsed.result().and_then(FieldDescriptor::constant_name)
        {
            self.cast(a, class)?;
        }
        Ok(())
    }

    /// Emits a store to a final instance field of the host. The object and the value are on the
    /// stack. The agent puts the field's offset into a field of the version before the version
    /// runs, so nothing is linked when the store is executed for the first time. Linking would run
    /// methods of the JDK, and an agent may have put code into these that constructs the same class
    /// again.
    fn put_final(
        &mut self,
        a: &mut Assembler,
        name: &str,
        descriptor: &str,
    ) -> Result<(), Refusal> {
        let is = |i: u16, text: &str| {
            let found = self.host.pool.utf8(i);
            found.is_ok_and(|b| b == text.as_bytes())
        };
        let index = (0u16..)
            .zip(&self.host.fields)
            .find(|(_, f)| is(f.name, name) && is(f.descriptor, descriptor))
            .map(|(index, _)| index)
            .ok_or_else(|| Refusal::Internal(format!("the final field {name} is missing")))?;
        self.final_fields.insert(index);
        let offset = runtime::final_offset_field(index);
        let offset = self.pool.add_field(&self.self_name, &offset, "J")?;
        a.pool(GETSTATIC, offset);
        let kind = descriptor.as_bytes().first().copied().unwrap_or_default();
        self.call(
            a,
            &runtime::put_final(kind),
            &runtime::put_final_descriptor(kind),
        )
    }

    /// Whether the host itself declares a `static final` field of this name and descriptor.
    fn is_static_final(&self, name: &str, descriptor: &str) -> bool {
        let pool = &self.host.pool;
        let is = |i: u16, text: &str| pool.utf8(i).is_ok_and(|b| b == text.as_bytes());
        let both = access::STATIC | access::FINAL;
        self.host
            .fields
            .iter()
            .any(|f| f.access & both == both && is(f.name, name) && is(f.descriptor, descriptor))
    }

    /// The relevant access flag of a member that the host itself declares: `PRIVATE` of a method,
    /// `FINAL` of an instance field, otherwise 0. Returns `None` if the host does not declare the
    /// member.
    fn declared_flag(&self, name: &str, descriptor: &str, is_method: bool) -> Option<u16> {
        let pool = &self.host.pool;
        let list = if is_method {
            &self.host.methods
        } else {
            &self.host.fields
        };
        let is = |i: u16, text: &str| pool.utf8(i).is_ok_and(|b| b == text.as_bytes());
        let found = list
            .iter()
            .find(|m| is(m.name, name) && is(m.descriptor, descriptor))?;
        let flag = if is_method {
            access::PRIVATE
        } else {
            access::FINAL
        };
        let of_class = !is_method && found.access & access::STATIC != 0;
        Some(if of_class { 0 } else { found.access & flag })
    }
}

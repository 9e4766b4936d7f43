//! Field accesses and method calls (JVMS §4.10.1.8, §4.10.1.9).

use super::assumptions::AccessAssumption;
use super::class::ClassContext;
use super::failure::{Fault, Rule};
use super::method::MethodVerifier;
use super::names::NameId;
use super::vtype::SlotType;
use crate::bytecode::opcode::*;
use crate::classfile::{ConstantTag, MemberRef};

/// The first class-file version whose interfaces may have static and private methods: Java 8.
const MIN_VERSION_INTERFACE_METHODS: u16 = 52;

impl MethodVerifier<'_, '_, '_> {
    pub(super) fn field_access(&mut self, op: u8, index: u16) -> Result<(), Fault> {
        let member = self.member(index, &[ConstantTag::Field])?;
        let t = self.context.field(member.descriptor)?;
        let class = self.context.class(member.class)?;
        if matches!(op, PUTFIELD | PUTSTATIC) {
            self.pop(t)?;
        }
        if matches!(op, GETFIELD | PUTFIELD) {
            if self.context.is_array(class) {
                return Rule::Constant.fail("a field of an array");
            }
            let mut receiver = self.state.pop_slot()?;
            let own = op == PUTFIELD
                && receiver == SlotType::UninitializedThis
                && class == self.context.this
                && self.declares(&member);
            if own {
                receiver = SlotType::Object(class);
            }
            self.fits(receiver, SlotType::Object(class))?;
            self.protected(&member, class, receiver, false)?;
        }
        if matches!(op, GETFIELD | GETSTATIC) {
            self.state.push(t)?;
        }
        Ok(())
    }

    /// True if the class itself declares the field. A constructor may set such a field before
    /// `super(…)`.
    fn declares(&self, member: &MemberRef) -> bool {
        let pool = self.context.pool;
        let same = |a: u16, b: u16| a == b || pool.utf8(a).is_ok_and(|a| pool.utf8(b) == Ok(a));
        let mut fields = self.context.file.fields.iter();
        fields.any(|f| same(f.name, member.name) && same(f.descriptor, member.descriptor))
    }

    pub(super) fn invoke(&mut self, op: u8, index: u16) -> Result<(), Fault> {
        let pool = self.context.pool;
        if op == INVOKEDYNAMIC {
            if pool.tag(index)? != ConstantTag::InvokeDynamic {
                return Rule::Constant.fail(format!("constant {index} is no InvokeDynamic"));
            }
            let (_, name, descriptor) = pool.dynamic(index)?;
            if pool.utf8(name)?.first() == Some(&b'<') {
                return Rule::Constant.fail("a call of an initialiser by invokedynamic");
            }
            return self.call(descriptor, |_| Ok(()));
        }
        let tags: &[ConstantTag] = match op {
            INVOKEINTERFACE => &[ConstantTag::InterfaceMethod],
            INVOKEVIRTUAL => &[ConstantTag::Method],
            _ if self.context.file.major < MIN_VERSION_INTERFACE_METHODS => &[ConstantTag::Method],
            _ => &[ConstantTag::Method, ConstantTag::InterfaceMethod],
        };
        let member = self.member(index, tags)?;
        let class = self.context.class(member.class)?;
        let name = pool.utf8(member.name)?;
        let constructor = name == b"<init>";
        if name.first() == Some(&b'<') && !(constructor && op == INVOKESPECIAL) {
            return Rule::Constant.fail("a call of an initialiser");
        }
        if op == INVOKESPECIAL && !constructor {
            self.superclass_call(&member, class)?;
        }
        self.call(member.descriptor, |body| match op {
            INVOKESTATIC => Ok(()),
            INVOKESPECIAL if constructor => body.initialise(&member, class),
            INVOKESPECIAL => body.pop(SlotType::Object(body.context.this)),
            INVOKEINTERFACE => body.pop(SlotType::Object(class)),
            _ => {
                let receiver = body.state.pop_slot()?;
                body.fits(receiver, SlotType::Object(class))?;
                body.protected(&member, class, receiver, true)
            }
        })
    }

    /// Pops the arguments, calls `receiver` to pop the receiver, and pushes the result.
    fn call(
        &mut self,
        descriptor: u16,
        receiver: impl FnOnce(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let signature = self.context.signature(descriptor)?;
        for at in self.context.parameters(signature).rev() {
            let t = self.context.parameter(at);
            self.pop(t)?;
        }
        receiver(self)?;
        match signature.result {
            Some(t) => self.state.push(t),
            None => Ok(()),
        }
    }

    /// Checks `invokespecial` of a method. The current class must be assignable to the named class,
    /// and a named interface must be a direct superinterface.
    fn superclass_call(&mut self, member: &MemberRef, class: NameId) -> Result<(), Fault> {
        let context = &mut *self.context;
        if class == context.this || context.superclass() == Some(class) {
            return Ok(());
        }
        if !context.class_assignable(context.this, class) {
            return Rule::Operand.fail("invokespecial of a class that is not above");
        }
        if member.tag == ConstantTag::InterfaceMethod && !context.extends_directly(class) {
            return Rule::Operand.fail("invokespecial of an interface that is not a direct one");
        }
        Ok(())
    }

    /// Checks the call of a constructor whose arguments have been popped.
    fn initialise(&mut self, member: &MemberRef, class: NameId) -> Result<(), Fault> {
        let object = self.state.pop_slot()?;
        match object {
            SlotType::UninitializedThis => {
                if class != self.context.this && self.context.superclass() != Some(class) {
                    return Rule::Initialisation.fail("the constructor of another class");
                }
                let this = SlotType::Object(self.context.this);
                self.state.replace(object, this);
                self.initialised_this = true;
                Ok(())
            }
            SlotType::Uninitialized(new) => {
                let at = usize::from(new);
                let index = match self.code.get(at..at + 3) {
                    Some([NEW, high, low]) => u16::from_be_bytes([*high, *low]),
                    _ => return Rule::Initialisation.fail(format!("no `new` lies at {new}")),
                };
                if self.context.class(index)? != class {
                    return Rule::Initialisation.fail("the constructor of another class");
                }
                if class != self.context.this && self.may_be_superclass(class) {
                    self.note(member, class, class)?;
                }
                // HotSpot also compares the handlers with the object before its initialisation.
                self.handlers()?;
                self.state.replace(object, SlotType::Object(class));
                Ok(())
            }
            _ => Rule::Initialisation.fail("a constructor is called on an initialised object"),
        }
    }

    /// Applies the rule of protected members (JVMS §4.10.1.8).
    fn protected(
        &mut self,
        member: &MemberRef,
        class: NameId,
        receiver: SlotType,
        method: bool,
    ) -> Result<(), Fault> {
        let SlotType::Object(receiver) = receiver else {
            return Ok(());
        };
        if receiver == self.context.this || class == self.context.this {
            return Ok(());
        }
        if class == NameId::OBJECT {
            return self.protected_of_object(member, receiver, method);
        }
        if self.may_be_superclass(class) {
            self.note(member, class, receiver)?;
        }
        Ok(())
    }

    /// Applies the rule to `java.lang.Object`, whose protected methods are known.
    fn protected_of_object(
        &mut self,
        member: &MemberRef,
        receiver: NameId,
        method: bool,
    ) -> Result<(), Fault> {
        let pool = self.context.pool;
        let (name, descriptor) = (pool.utf8(member.name)?, pool.utf8(member.descriptor)?);
        let clone = name == b"clone" && descriptor == b"()Ljava/lang/Object;";
        let finalize = name == b"finalize" && descriptor == b"()V";
        let names = &self.context.assumptions.names;
        let same_package = names
            .bytes(self.context.this)
            .strip_prefix(b"java/lang/")
            .is_some_and(|rest| !rest.contains(&b'/'));
        if !method || !(clone || finalize) || same_package {
            return Ok(());
        }
        if names.is_array(receiver) && clone {
            return Ok(());
        }
        let this = self.context.this;
        if receiver == NameId::OBJECT || !self.context.class_assignable(receiver, this) {
            let receiver = self.context.text(SlotType::Object(receiver));
            return Rule::Protected.fail(format!("{} on {receiver}", pool.text(member.name)?));
        }
        Ok(())
    }

    /// True if a class may be a proper superclass of the current class, other than `Object`.
    fn may_be_superclass(&self, class: NameId) -> bool {
        let above = self.context.superclass();
        above.is_some_and(|above| above != NameId::OBJECT) && !self.context.is_array(class)
    }

    fn note(&mut self, member: &MemberRef, class: NameId, receiver: NameId) -> Result<(), Fault> {
        let access = AccessAssumption {
            class,
            name: self.context.name(member.name)?,
            descriptor: self.context.name(member.descriptor)?,
            receiver,
        };
        self.context.access(access);
        Ok(())
    }

    fn member(&self, index: u16, tags: &[ConstantTag]) -> Result<MemberRef, Fault> {
        let member = self.context.pool.member(index)?;
        if tags.contains(&member.tag) {
            Ok(member)
        } else {
            Rule::Constant.fail(format!("constant {index} is a {}", member.tag))
        }
    }
}

impl ClassContext<'_> {
    /// True if the class declares the interface as a direct superinterface.
    fn extends_directly(&self, interface: NameId) -> bool {
        self.interfaces().contains(&interface)
    }
}

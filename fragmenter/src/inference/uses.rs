//! The classes that one instruction requires of the values it pops.

use super::flow::InferenceBody;
use crate::bytecode::Instruction;
use crate::bytecode::opcode::*;
use crate::descriptor::{self, MethodType};
use crate::refusal::Refusal;
use crate::types::{self, State, Type, TypeError};

/// The member that an instruction accesses on an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct MemberAccess {
    /// The class named by the reference.
    pub class: String,
    pub name: String,
    pub descriptor: String,
}

impl MemberAccess {
    /// True if the member is a protected method of `java.lang.Object` and `this` is in another
    /// package. The object must then be of the current class (JVMS §4.10.1.8). Arrays are exempt
    /// for `clone`.
    pub fn is_protected_of_object(&self, this: &str) -> bool {
        let protected = matches!(
            (&*self.name, &*self.descriptor),
            ("clone", "()Ljava/lang/Object;") | ("finalize", "()V")
        );
        let same_package = this
            .strip_prefix("java/lang/")
            .is_some_and(|rest| !rest.contains('/'));
        self.class == OBJECT && protected && !same_package
    }
}

pub(super) const OBJECT: &str = "java/lang/Object";

/// Calls `visit` for each popped value that must be of some class, with the value and that class.
/// If the value is the object of a member access, the member is passed too.
///
/// No class is required by `invokeinterface`, because to the verifier every object is assignable to
/// an interface (JVMS §4.10.1.2), nor by `instanceof`, `checkcast`, `monitorenter`, comparisons and
/// stores into arrays.
pub(super) fn for_each_use(
    code: &InferenceBody,
    pc: u16,
    instruction: &Instruction,
    state: &State,
    visit: &mut dyn FnMut(&Type, &str, Option<MemberAccess>),
) -> Result<(), Refusal> {
    let pool = code.pool;
    let bad = || TypeError::BadOperand(pc);
    // From the top of the stack downwards.
    let mut depth = 0;
    let mut next = |asked: Option<&str>, access: Option<MemberAccess>| {
        let value = state.stack.iter().rev().nth(depth);
        depth += 1;
        if let (Some(asked), Some(value)) = (asked, value) {
            visit(value, asked, access);
        }
    };
    let op = instruction.op();
    match op {
        GETFIELD | PUTFIELD | PUTSTATIC => {
            let index = instruction.pool_index().ok_or_else(bad)?;
            let member = pool.member(index)?;
            let class = pool.class_name(member.class)?;
            let descriptor = pool.text(member.descriptor)?;
            if op != GETFIELD {
                let t = descriptor::field(&descriptor).ok_or_else(bad)?;
                next(name_of(&t), None);
            }
            if op != PUTSTATIC {
                let access = MemberAccess {
                    class: class.clone().into_owned(),
                    name: pool.text(member.name)?.into_owned(),
                    descriptor: descriptor.into_owned(),
                };
                next(Some(&class), Some(access));
            }
        }
        INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC | INVOKEINTERFACE => {
            let index = instruction.pool_index().ok_or_else(bad)?;
            let (name, descriptor): (_, MethodType) =
                types::invoked(pool, index, op).ok_or_else(bad)?;
            for t in descriptor.parameters.iter().rev() {
                next(name_of(t), None);
            }
            match op {
                INVOKEVIRTUAL => {
                    let member = pool.member(index)?;
                    let class = pool.class_name(member.class)?;
                    let access = MemberAccess {
                        class: class.clone().into_owned(),
                        name: name.into_owned(),
                        descriptor: pool.text(member.descriptor)?.into_owned(),
                    };
                    next(Some(&class), Some(access));
                }
                // A call of a superclass method or of a private method requires an object of the
                // current class.
                INVOKESPECIAL => next(Some(code.class), None),
                _ => {}
            }
        }
        ATHROW => next(Some("java/lang/Throwable"), None),
        ARETURN => next(code.result.as_ref().and_then(name_of), None),
        AALOAD => {
            next(None, None);
            next(Some("[Ljava/lang/Object;"), None);
        }
        AASTORE => {
            next(None, None);
            next(None, None);
            next(Some("[Ljava/lang/Object;"), None);
        }
        _ => {}
    }
    Ok(())
}

fn name_of(t: &Type) -> Option<&str> {
    match t {
        Type::Object(name) => Some(name),
        _ => None,
    }
}

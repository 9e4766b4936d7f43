//! The texts of a class's constant pool that the fast path asks for: the names of attributes of
//! code. One pass over the pool finds all of them, so no name is compared for each attribute.

use crate::classfile::ConstantPool;
use crate::method::JVM_ANNOTATIONS;

/// An attribute that the fast path handles by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AttributeKind {
    /// Any other attribute.
    #[default]
    Other,
    /// `Code`.
    Code,
    /// `LineNumberTable`.
    Lines,
    /// `LocalVariableTable` or `LocalVariableTypeTable`.
    Variables,
    /// `StackMapTable`.
    StackMap,
}

/// Whether a text is the descriptor of an annotation in [`JVM_ANNOTATIONS`].
fn is_jvm_annotation(text: &[u8]) -> bool {
    let name = text.strip_prefix(b"L").and_then(|t| t.strip_suffix(b";"));
    name.is_some_and(|name| JVM_ANNOTATIONS.iter().any(|a| a.as_bytes() == name))
}

/// The known names of one class. The buffer is reused.
#[derive(Default)]
pub(super) struct KnownNames {
    kinds: Vec<AttributeKind>,
    /// Whether a method of the class may call `getCallerClass`.
    pub may_find_caller: bool,
    /// Whether a method may have one of [`JVM_ANNOTATIONS`].
    pub may_be_special: bool,
}

impl KnownNames {
    /// Reads the pool of a class.
    pub fn read(&mut self, pool: &ConstantPool) {
        self.kinds.clear();
        let count = usize::from(pool.count());
        self.kinds.resize(count, AttributeKind::Other);
        self.may_find_caller = false;
        self.may_be_special = false;
        for (index, text) in pool.texts() {
            let kind = match text {
                b"Code" => AttributeKind::Code,
                b"LineNumberTable" => AttributeKind::Lines,
                b"LocalVariableTable" | b"LocalVariableTypeTable" => AttributeKind::Variables,
                b"StackMapTable" => AttributeKind::StackMap,
                b"getCallerClass" => {
                    self.may_find_caller = true;
                    continue;
                }
                _ => {
                    self.may_be_special |= is_jvm_annotation(text);
                    continue;
                }
            };
            self.kinds[usize::from(index)] = kind;
        }
    }

    /// The attribute that has the `Utf8` entry with this index as its name.
    pub fn kind(&self, name: u16) -> AttributeKind {
        let kind = self.kinds.get(usize::from(name)).copied();
        kind.unwrap_or_default()
    }
}

//! The texts of a class's constant pool that the fast path asks for: the names of attributes of
//! code. One pass over the pool finds all of them, so no name is compared for each attribute.

use crate::classfile::ConstantPool;

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

/// The known names of one class. The buffer is reused.
#[derive(Default)]
pub(super) struct KnownNames {
    kinds: Vec<AttributeKind>,
    /// Whether a method of the class may call `getCallerClass`.
    pub may_find_caller: bool,
}

impl KnownNames {
    /// Reads the pool of a class.
    pub fn read(&mut self, pool: &ConstantPool) {
        self.kinds.clear();
        let count = usize::from(pool.count());
        self.kinds.resize(count, AttributeKind::Other);
        self.may_find_caller = false;
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
                _ => continue,
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

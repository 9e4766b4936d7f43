//! Types of values: variables, operands, parameters and fields have one of these.

/// A class of objects that the generated code uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Object,
    Text,
    /// The interface `java.lang.CharSequence`.
    Chars,
    Ints,
    Longs,
    Objects,
    /// The generated class itself.
    This,
    /// An exception class of `java.lang`, by its simple name.
    Thrown(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `int` and all smaller types.
    Int,
    Long,
    Float,
    Double,
    Ref(Class),
}

/// The types of variables, parameters and fields. Frequent types occur several times, because the
/// list is drawn from uniformly.
pub const KINDS: [Kind; 14] = [
    Kind::Int,
    Kind::Int,
    Kind::Int,
    Kind::Long,
    Kind::Long,
    Kind::Float,
    Kind::Double,
    Kind::Ref(Class::Object),
    Kind::Ref(Class::Text),
    Kind::Ref(Class::Chars),
    Kind::Ref(Class::Ints),
    Kind::Ref(Class::Longs),
    Kind::Ref(Class::Objects),
    Kind::Ref(Class::This),
];

impl Class {
    /// The internal name, or the descriptor of an array. `this` is the name of the generated class.
    pub fn name(self, this: &str) -> String {
        match self {
            Class::Object => "java/lang/Object".into(),
            Class::Text => "java/lang/String".into(),
            Class::Chars => "java/lang/CharSequence".into(),
            Class::Ints => "[I".into(),
            Class::Longs => "[J".into(),
            Class::Objects => "[Ljava/lang/Object;".into(),
            Class::This => this.into(),
            Class::Thrown(name) => format!("java/lang/{name}"),
        }
    }
}

impl Kind {
    /// Number of slots and words of a value.
    pub fn width(self) -> u16 {
        match self {
            Kind::Long | Kind::Double => 2,
            _ => 1,
        }
    }

    pub fn descriptor(self, this: &str) -> String {
        match self {
            Kind::Int => "I".into(),
            Kind::Long => "J".into(),
            Kind::Float => "F".into(),
            Kind::Double => "D".into(),
            Kind::Ref(class) => {
                let name = class.name(this);
                if name.starts_with('[') {
                    name
                } else {
                    format!("L{name};")
                }
            }
        }
    }

    /// The offset of this type among the opcodes of a family: `iload`, `lload`, `fload`, `dload`,
    /// `aload`.
    pub fn offset(self) -> u8 {
        match self {
            Kind::Int => 0,
            Kind::Long => 1,
            Kind::Float => 2,
            Kind::Double => 3,
            Kind::Ref(_) => 4,
        }
    }
}

pub fn method_descriptor(parameters: &[Kind], result: Option<Kind>, this: &str) -> String {
    let mut text = String::from("(");
    for parameter in parameters {
        text += &parameter.descriptor(this);
    }
    text + ")" + &result.map_or("V".into(), |kind| kind.descriptor(this))
}

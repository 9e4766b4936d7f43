//! Expressions: code that pushes one value of a given type and changes no variable.

use super::body::Body;
use super::code::Verified;
use super::kind::{Class, KINDS, Kind};

const TEXTS: [&str; 5] = ["", "a", "fragment", "edge 12", "-7"];
const INTS: [i32; 12] = [0, 1, -1, 2, 3, 5, 7, 100, -129, 40_000, i32::MAX, i32::MIN];

impl Body<'_> {
    /// Emits an expression of this type with at most this depth.
    pub(super) fn expression(&mut self, kind: Kind, depth: usize) {
        if depth == 0 || self.draw.chance(25) || self.code.bytes.len() > 5_000 {
            self.simple(kind);
        } else if self.draw.chance(12) {
            self.choice(kind, depth - 1);
        } else if self.draw.chance(14) && self.call(Some(kind), depth - 1) {
        } else {
            match kind {
                Kind::Int => self.int_expression(depth - 1),
                Kind::Long => self.long_expression(depth - 1),
                Kind::Float => self.float_expression(depth - 1),
                Kind::Double => self.double_expression(depth - 1),
                Kind::Ref(class) => self.reference(class, depth - 1),
            }
        }
        // Forget a more exact type of the reference.
        self.pop();
        self.push_kind(kind);
    }

    /// Pushes a constant or a variable. This code cannot throw.
    pub(super) fn simple(&mut self, kind: Kind) {
        let there: Vec<usize> = (0..self.variables.len())
            .filter(|n| self.state.locals[*n] == Some(Verified::Is(kind)) && !self.held.contains(n))
            .collect();
        if !there.is_empty() && self.draw.chance(75) {
            let number = self.draw.pick(&there);
            return self.load(number);
        }
        match kind {
            Kind::Int => {
                let value = self.draw.pick(&INTS);
                self.int(value);
                self.push_kind(kind);
            }
            Kind::Long => {
                if self.draw.chance(40) {
                    let op = 9 + self.draw.below(2) as u8;
                    self.op(op, 0, Some(kind));
                } else {
                    let value = i64::from(self.draw.pick(&INTS)).wrapping_mul(0x1_0000_0001);
                    let index = self.class.pool.long(value);
                    self.op2(0x14, index, 0, Some(kind));
                }
            }
            Kind::Float => {
                if self.draw.chance(50) {
                    let op = 11 + self.draw.below(3) as u8;
                    self.op(op, 0, Some(kind));
                } else {
                    let value = self.draw.pick(&[0.5f32, -3.25, f32::NAN, f32::MAX, 1e-40]);
                    let index = self.class.pool.float(value);
                    self.constant(index);
                    self.push_kind(kind);
                }
            }
            Kind::Double => {
                if self.draw.chance(40) {
                    let op = 14 + self.draw.below(2) as u8;
                    self.op(op, 0, Some(kind));
                } else {
                    let value = self
                        .draw
                        .pick(&[0.5f64, -1e100, f64::INFINITY, 1e-310, 12.75]);
                    let index = self.class.pool.double(value);
                    self.op2(0x14, index, 0, Some(kind));
                }
            }
            Kind::Ref(Class::Text | Class::Chars | Class::Object) if self.draw.chance(85) => {
                let text = self.draw.pick(&TEXTS);
                let index = self.class.pool.string(text);
                self.constant(index);
                self.push_kind(kind);
            }
            Kind::Ref(Class::Ints | Class::Longs | Class::Objects) if self.draw.chance(90) => {
                self.int(4);
                self.push_kind(Kind::Int);
                self.new_array(kind);
            }
            Kind::Ref(Class::This) if self.finished_this() => self.load(0),
            Kind::Ref(_) => self.op(1, 0, Some(kind)), // aconst_null
        }
    }

    /// Emits an `int` expression before `super(…)`, from parameters and constants only.
    pub(super) fn int_before_super(&mut self, depth: usize) {
        if depth == 0 {
            return self.simple(Kind::Int);
        }
        let (other, end) = (self.code.label(), self.code.label());
        self.simple(Kind::Int);
        self.pop();
        let op = 0x99 + self.draw.below(6) as u8;
        self.code.jump(op, other);
        let before = self.state.clone();
        self.begin();
        self.int_before_super(depth - 1);
        self.code.jump(0xa7, end);
        self.state = before;
        self.block_at(other);
        self.simple(Kind::Int);
        self.block_at(end);
    }

    /// Emits `condition ? a : b`. Operands that are already on the stack stay there across the
    /// branches.
    fn choice(&mut self, kind: Kind, depth: usize) {
        let (other, end) = (self.code.label(), self.code.label());
        let op = self.condition(depth);
        self.code.jump(op, other);
        let before = self.state.clone();
        self.begin();
        self.expression(kind, depth);
        self.code.jump(0xa7, end);
        self.state = before;
        self.block_at(other);
        self.expression(kind, depth);
        self.block_at(end);
    }

    /// Pushes the operands of a comparison and accounts for their removal. Returns the opcode of
    /// the branch, which the caller emits.
    pub(super) fn condition(&mut self, depth: usize) -> u8 {
        match self.draw.below(10) {
            0..4 => {
                self.expression(Kind::Int, depth);
                self.pop();
                0x99 + self.draw.below(6) as u8
            }
            4..7 => {
                self.expression(Kind::Int, depth);
                self.expression(Kind::Int, depth);
                self.drop_values(2);
                0x9f + self.draw.below(6) as u8
            }
            7 => {
                let kind = self.draw.pick(&[Kind::Long, Kind::Float, Kind::Double]);
                self.compare(kind, depth);
                self.pop();
                0x99 + self.draw.below(6) as u8
            }
            8 => {
                self.expression(Kind::Ref(Class::Text), depth);
                self.expression(Kind::Ref(Class::Object), depth);
                self.drop_values(2);
                0xa5 + self.draw.below(2) as u8
            }
            _ => {
                self.expression(Kind::Ref(Class::Ints), depth);
                self.pop();
                0xc6 + self.draw.below(2) as u8
            }
        }
    }

    fn compare(&mut self, kind: Kind, depth: usize) {
        self.expression(kind, depth);
        self.expression(kind, depth);
        let op = match kind {
            Kind::Long => 0x94,
            Kind::Float => 0x95 + self.draw.below(2) as u8,
            _ => 0x97 + self.draw.below(2) as u8,
        };
        self.op(op, 2, Some(Kind::Int));
    }

    fn int_expression(&mut self, depth: usize) {
        let int = Some(Kind::Int);
        match self.draw.below(17) {
            0..5 => {
                self.expression(Kind::Int, depth);
                self.expression(Kind::Int, depth);
                let op = self.draw.pick(&[
                    0x60u8, 0x64, 0x68, 0x6c, 0x70, 0x78, 0x7a, 0x7c, 0x7e, 0x80, 0x82,
                ]);
                if matches!(op, 0x6c | 0x70) && self.draw.chance(85) {
                    // Make the divisor odd, so that it is not zero.
                    self.int(1);
                    self.push_kind(Kind::Int);
                    self.op(0x80, 2, int); // ior
                }
                self.op(op, 2, int);
            }
            5 => {
                self.expression(Kind::Int, depth);
                let op = self.draw.pick(&[0x74u8, 0x91, 0x92, 0x93]);
                self.op(op, 1, int);
            }
            6 => {
                let (from, op) = self.draw.pick(&[
                    (Kind::Long, 0x88u8),
                    (Kind::Float, 0x8b),
                    (Kind::Double, 0x8e),
                ]);
                self.expression(from, depth);
                self.op(op, 1, int);
            }
            7 => {
                let kind = self.draw.pick(&[Kind::Long, Kind::Float, Kind::Double]);
                self.compare(kind, depth);
            }
            8 => {
                let class = self.draw.pick(&[Class::Ints, Class::Longs, Class::Objects]);
                self.expression(Kind::Ref(class), depth);
                self.op(0xbe, 1, int); // arraylength
            }
            9 => {
                self.expression(Kind::Ref(Class::Ints), depth);
                self.index(depth);
                self.op(0x2e, 2, int); // iaload
            }
            10 => {
                self.expression(Kind::Ref(Class::Object), depth);
                let class = self
                    .draw
                    .pick(&[Class::Text, Class::Ints, Class::This, Class::Chars]);
                let name = class.name(&self.class.name);
                let index = self.class.pool.class(&name);
                self.op2(0xc1, index, 1, int); // instanceof
            }
            11 => {
                self.expression(Kind::Ref(Class::Text), depth);
                let name = self.draw.pick(&["length", "hashCode"]);
                let index = self.class.pool.method("java/lang/String", name, "()I");
                self.op2(0xb6, index, 1, int); // invokevirtual
            }
            12 => {
                self.expression(Kind::Ref(Class::Chars), depth);
                let index =
                    self.class
                        .pool
                        .interface_method("java/lang/CharSequence", "length", "()I");
                self.op2(0xb9, index, 1, int); // invokeinterface
                self.code.bytes.extend_from_slice(&[1, 0]);
            }
            13 if self.finished_this() => {
                let this = self.class.name.clone();
                self.load(0);
                if self.draw.chance(50) {
                    // A protected field that a class in another package declares.
                    let index = self.class.pool.field(&this, "inherited", "I");
                    self.op2(0xb4, index, 1, int);
                } else {
                    self.expression(Kind::Int, depth);
                    let (op, class) = if self.draw.chance(50) {
                        (0xb7, "base/Base".to_string()) // super.up(…)
                    } else {
                        (0xb6, this)
                    };
                    let index = self.class.pool.method(&class, "up", "(I)I");
                    self.op2(op, index, 2, int);
                }
            }
            _ => self.field(Kind::Int, depth),
        }
    }

    fn long_expression(&mut self, depth: usize) {
        let long = Some(Kind::Long);
        match self.draw.below(10) {
            0..4 => {
                self.expression(Kind::Long, depth);
                self.expression(Kind::Long, depth);
                let op = self
                    .draw
                    .pick(&[0x61u8, 0x65, 0x69, 0x6d, 0x71, 0x7f, 0x81, 0x83]);
                if matches!(op, 0x6d | 0x71) && self.draw.chance(85) {
                    self.op(10, 0, long); // lconst_1
                    self.op(0x81, 2, long); // lor
                }
                self.op(op, 2, long);
            }
            4 => {
                self.expression(Kind::Long, depth);
                self.expression(Kind::Int, depth);
                let op = self.draw.pick(&[0x79u8, 0x7b, 0x7d]);
                self.op(op, 2, long);
            }
            5 => {
                self.expression(Kind::Long, depth);
                self.op(0x75, 1, long); // lneg
            }
            6 => {
                let (from, op) = self.draw.pick(&[
                    (Kind::Int, 0x85u8),
                    (Kind::Float, 0x8c),
                    (Kind::Double, 0x8f),
                ]);
                self.expression(from, depth);
                self.op(op, 1, long);
            }
            7 => {
                self.expression(Kind::Ref(Class::Longs), depth);
                self.index(depth);
                self.op(0x2f, 2, long); // laload
            }
            8 => {
                self.expression(Kind::Ref(Class::Object), depth);
                self.runner("ref", &[Kind::Ref(Class::Object)], long);
            }
            _ => self.field(Kind::Long, depth),
        }
    }

    fn float_expression(&mut self, depth: usize) {
        let float = Some(Kind::Float);
        match self.draw.below(5) {
            0..2 => {
                self.expression(Kind::Float, depth);
                self.expression(Kind::Float, depth);
                let op = self.draw.pick(&[0x62u8, 0x66, 0x6a, 0x6e, 0x72]);
                self.op(op, 2, float);
            }
            2 => {
                self.expression(Kind::Float, depth);
                self.op(0x76, 1, float);
            }
            3 => {
                let (from, op) = self.draw.pick(&[
                    (Kind::Int, 0x86u8),
                    (Kind::Long, 0x89),
                    (Kind::Double, 0x90),
                ]);
                self.expression(from, depth);
                self.op(op, 1, float);
            }
            _ => self.field(Kind::Float, depth),
        }
    }

    fn double_expression(&mut self, depth: usize) {
        let double = Some(Kind::Double);
        match self.draw.below(5) {
            0..2 => {
                self.expression(Kind::Double, depth);
                self.expression(Kind::Double, depth);
                let op = self.draw.pick(&[0x63u8, 0x67, 0x6b, 0x6f, 0x73]);
                self.op(op, 2, double);
            }
            2 => {
                self.expression(Kind::Double, depth);
                self.op(0x77, 1, double);
            }
            3 => {
                let (from, op) =
                    self.draw
                        .pick(&[(Kind::Int, 0x87u8), (Kind::Long, 0x8a), (Kind::Float, 0x8d)]);
                self.expression(from, depth);
                self.op(op, 1, double);
            }
            _ => self.field(Kind::Double, depth),
        }
    }

    fn reference(&mut self, class: Class, depth: usize) {
        let kind = Kind::Ref(class);
        match class {
            Class::Object => self.object(depth),
            Class::Text | Class::Chars => match self.draw.below(5) {
                0 => {
                    let from = self.draw.pick(&[Kind::Int, Kind::Long, Kind::Double]);
                    self.expression(from, depth);
                    let descriptor = format!("({})Ljava/lang/String;", from.descriptor(""));
                    let index = self
                        .class
                        .pool
                        .method("java/lang/String", "valueOf", &descriptor);
                    self.op2(0xb8, index, 1, Some(kind));
                }
                1 => {
                    self.expression(Kind::Ref(Class::Text), depth);
                    self.expression(Kind::Ref(Class::Text), depth);
                    let index = self.class.pool.method(
                        "java/lang/String",
                        "concat",
                        "(Ljava/lang/String;)Ljava/lang/String;",
                    );
                    self.op2(0xb6, index, 2, Some(kind));
                    self.short_text(kind);
                }
                2 => self.concatenation(kind, depth),
                3 => {
                    let from = if self.draw.chance(20) {
                        Class::Object
                    } else {
                        Class::Text
                    };
                    self.expression(Kind::Ref(from), depth);
                    let index = self.class.pool.class(&class.name(""));
                    self.op2(0xc0, index, 1, Some(kind)); // checkcast
                }
                _ => self.field(kind, depth),
            },
            Class::Ints | Class::Longs => match self.draw.below(3) {
                0 | 1 => {
                    self.length(depth);
                    self.new_array(kind);
                }
                _ => self.field(kind, depth),
            },
            Class::Objects => match self.draw.below(4) {
                0 => {
                    self.length(depth);
                    self.new_array(kind);
                }
                1 => {
                    // An `int[][]` is an `Object[]`.
                    self.length(depth);
                    self.length(depth);
                    let index = self.class.pool.class("[[I");
                    self.op2(0xc5, index, 2, Some(kind)); // multianewarray
                    self.code.bytes.push(2);
                }
                _ => self.field(kind, depth),
            },
            Class::This => match self.draw.below(3) {
                0 if self.finished_this() => self.load(0),
                0 | 1 => self.instance(depth),
                _ => self.field(kind, depth),
            },
            Class::Thrown(_) => self.simple(kind),
        }
    }

    fn object(&mut self, depth: usize) {
        let object = Some(Kind::Ref(Class::Object));
        match self.draw.below(8) {
            0 => {
                self.expression(Kind::Int, depth);
                let index = self.class.pool.method(
                    "java/lang/Integer",
                    "valueOf",
                    "(I)Ljava/lang/Integer;",
                );
                self.op2(0xb8, index, 1, object);
            }
            1 => {
                let class = self.draw.pick(&[Class::Text, Class::Ints, Class::This]);
                let name = class.name(&self.class.name);
                let index = self.class.pool.class(&name);
                self.constant(index);
                self.push_kind(Kind::Ref(Class::Object));
            }
            2 => {
                let index = if self.draw.chance(50) {
                    self.class.pool.method_type("(IJ)V")
                } else {
                    self.class
                        .pool
                        .static_handle("java/lang/Math", "abs", "(I)I")
                };
                self.constant(index);
                self.push_kind(Kind::Ref(Class::Object));
            }
            3 => {
                self.expression(Kind::Ref(Class::Objects), depth);
                self.index(depth);
                self.op(0x32, 2, object); // aaload
            }
            4 => {
                let kind = self.draw.pick(&KINDS);
                if let Kind::Ref(_) = kind {
                    self.expression(kind, depth);
                } else {
                    self.simple(Kind::Ref(Class::Object));
                }
            }
            5 => {
                self.simple(Kind::Int);
                self.runner("lock", &[Kind::Int], object);
            }
            _ => self.field(Kind::Ref(Class::Object), depth),
        }
    }

    /// Emits `"…" + a + b` as `javac` compiles it since Java 9, with `invokedynamic`.
    fn concatenation(&mut self, kind: Kind, depth: usize) {
        let parts = self.draw.within(1, 3);
        let mut descriptor = String::from("(");
        for _ in 0..parts {
            let part =
                self.draw
                    .pick(&[Kind::Int, Kind::Long, Kind::Float, Kind::Ref(Class::Text)]);
            self.expression(part, depth);
            descriptor += &part.descriptor("");
        }
        descriptor += ")Ljava/lang/String;";
        let bootstrap = self.class.concatenation(parts);
        let index =
            self.class
                .pool
                .invoke_dynamic(bootstrap, "makeConcatWithConstants", &descriptor);
        self.op2(0xba, index, parts, Some(kind));
        self.code.bytes.extend_from_slice(&[0, 0]);
        self.short_text(kind);
    }

    /// Truncates the text, because it would grow without limit in a loop.
    fn short_text(&mut self, kind: Kind) {
        self.pop();
        self.push_kind(Kind::Ref(Class::Text));
        let text = Kind::Ref(Class::Text);
        self.runner("cut", &[text], Some(text));
        self.pop();
        self.push_kind(kind);
    }

    /// Emits an array whose length is on the stack.
    fn new_array(&mut self, kind: Kind) {
        match kind {
            Kind::Ref(Class::Ints | Class::Longs) => {
                self.op(0xbc, 1, Some(kind)); // newarray
                let ints = kind == Kind::Ref(Class::Ints);
                self.code.bytes.push(if ints { 10 } else { 11 });
            }
            _ => {
                let index = self.class.pool.class("java/lang/Object");
                self.op2(0xbd, index, 1, Some(kind)); // anewarray
            }
        }
    }

    /// Emits the length of a new array: small, sometimes negative.
    fn length(&mut self, depth: usize) {
        if self.draw.chance(80) {
            let value = self.draw.pick(&[0, 1, 3, 4, 4, 4, 4, 4, 5, 6, 7, -1]);
            self.int(value);
            self.push_kind(Kind::Int);
        } else {
            self.expression(Kind::Int, depth);
            self.int(7);
            self.push_kind(Kind::Int);
            self.op(0x7e, 2, Some(Kind::Int)); // iand
        }
    }

    /// Emits an index that is usually within the bounds of a small array.
    pub(super) fn index(&mut self, depth: usize) {
        self.expression(Kind::Int, depth);
        if self.draw.chance(94) {
            let mask = self.draw.pick(&[1, 3]);
            self.int(mask);
            self.push_kind(Kind::Int);
            self.op(0x7e, 2, Some(Kind::Int));
        }
    }

    /// Returns whether variable 0 is `this` after its constructor has run.
    pub(super) fn finished_this(&self) -> bool {
        !self.signature.is_static
            && self.state.locals.first() == Some(&Some(Verified::Is(Kind::Ref(Class::This))))
    }

    /// Emits the read of a static field or of an object's field. The object may be null.
    fn field(&mut self, kind: Kind, depth: usize) {
        let this = self.class.name.clone();
        let descriptor = kind.descriptor(&this);
        let own = self.draw.chance(if self.finished_this() { 60 } else { 15 });
        match self.class.field(&mut self.draw, kind, !own) {
            Some(name) if own => {
                self.receiver(depth);
                let index = self.class.pool.field(&this, &name, &descriptor);
                self.op2(0xb4, index, 1, Some(kind));
            }
            Some(name) => {
                let index = self.class.pool.field(&this, &name, &descriptor);
                self.op2(0xb2, index, 0, Some(kind));
            }
            None => self.simple(kind),
        }
    }

    /// Emits an object of the generated class, usually `this` if there is one.
    pub(super) fn receiver(&mut self, depth: usize) {
        if self.finished_this() && self.draw.chance(85) {
            self.load(0);
        } else {
            self.expression(Kind::Ref(Class::This), depth.min(1));
        }
    }

    /// Emits `new`. The code between the `new` and the constructor call can contain any expression,
    /// including branches.
    fn instance(&mut self, depth: usize) {
        let this = self.class.name.clone();
        let index = self.class.pool.class(&this);
        let at = self.code.here();
        self.code.op2(0xbb, index);
        self.push(Verified::New(at));
        self.code.op(0x59); // dup
        self.push(Verified::New(at));
        let signature = self.class.signatures[0].clone();
        for parameter in &signature.parameters {
            self.expression(*parameter, depth.min(1));
        }
        let descriptor = signature.descriptor(&this);
        let index = self.class.pool.method(&this, "<init>", &descriptor);
        self.op2(0xb7, index, signature.parameters.len() + 2, None);
        self.push_kind(Kind::Ref(Class::This));
    }

    /// Emits a call of a generated method with this result. Returns false if no such method exists.
    pub(super) fn call(&mut self, result: Option<Kind>, depth: usize) -> bool {
        // Without `this`, an object would have to be created first, so most such calls are of
        // static methods.
        let can_receive = self.finished_this() || self.draw.chance(30);
        let fitting: Vec<usize> = (1..self.callable)
            .filter(|n| {
                let signature = &self.class.signatures[*n];
                signature.result == result && (signature.is_static || can_receive)
            })
            .collect();
        if fitting.is_empty() || self.calls == 0 {
            return false;
        }
        self.calls -= 1;
        let number = self.draw.pick(&fitting);
        let signature = self.class.signatures[number].clone();
        let this = self.class.name.clone();
        let mut values = signature.parameters.len();
        if !signature.is_static {
            self.receiver(depth);
            values += 1;
        }
        for parameter in &signature.parameters {
            self.expression(*parameter, depth.min(2));
        }
        let index = self
            .class
            .pool
            .method(&this, &signature.name, &signature.descriptor(&this));
        let op = match (signature.is_static, signature.private) {
            (true, _) => 0xb8,
            (false, true) if self.class.version < 55 => 0xb7,
            _ => 0xb6,
        };
        self.op2(op, index, values, result);
        true
    }
}

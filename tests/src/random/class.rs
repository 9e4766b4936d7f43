//! Generates a class file: a constructor, methods that call the methods before them, fields of all
//! types, and the block counters.

use super::draw::Draw;
use super::kind::{KINDS, Kind, method_descriptor};
use super::pool::Pool;

/// The signature of a generated method.
#[derive(Clone, Debug)]
pub struct Signature {
    /// `<init>`, or `m1`, `m2`, …
    pub name: String,
    pub is_static: bool,
    pub constructor: bool,
    pub private: bool,
    pub synchronized: bool,
    /// The types of the parameters without `this`.
    pub parameters: Vec<Kind>,
    /// The type of the result, or `None` for `void`.
    pub result: Option<Kind>,
}

impl Signature {
    /// Draws a random signature. Number 0 is the constructor.
    pub fn draw(draw: &mut Draw, number: usize) -> Self {
        let constructor = number == 0;
        let parameters = (0..draw.within(0, 4)).map(|_| draw.pick(&KINDS)).collect();
        Self {
            name: if constructor {
                "<init>".into()
            } else {
                format!("m{number}")
            },
            is_static: !constructor && draw.chance(55),
            constructor,
            private: !constructor && draw.chance(30),
            synchronized: !constructor && draw.chance(15),
            parameters,
            result: (!constructor && draw.chance(85)).then(|| draw.pick(&KINDS)),
        }
    }

    pub fn descriptor(&self, this: &str) -> String {
        method_descriptor(&self.parameters, self.result, this)
    }

    fn access(&self) -> u16 {
        let visible = if self.private { 0x0002 } else { 0x0001 };
        visible
            | if self.is_static { 0x0008 } else { 0 }
            | if self.synchronized { 0x0020 } else { 0 }
    }
}

/// A class while it is being generated.
pub struct ClassWriter {
    /// The internal name.
    pub name: String,
    pub version: u16,
    pub pool: Pool,
    /// The signatures of the methods, with the constructor first.
    pub signatures: Vec<Signature>,
    /// Name, type, and whether the field is static.
    fields: Vec<(String, Kind, bool)>,
    /// The methods that are complete, each with its `Code` attribute.
    methods: Vec<(Signature, Vec<u8>)>,
    blocks: u16,
    /// One bootstrap method of string concatenation for each number of arguments; the index is its
    /// number.
    recipes: Vec<usize>,
}

impl ClassWriter {
    /// A class without methods. The signatures and the fields are drawn at random.
    pub fn new(name: &str, draw: &mut Draw, methods: usize) -> Self {
        let version = draw.pick(&[52, 55, 59, 61]);
        let signatures = (0..=methods).map(|n| Signature::draw(draw, n)).collect();
        let fields = (0..10)
            .map(|n| (format!("f{n}"), draw.pick(&KINDS), draw.chance(50)))
            .collect();
        Self {
            name: name.into(),
            version,
            pool: Pool::default(),
            signatures,
            fields,
            methods: Vec::new(),
            blocks: 0,
            recipes: Vec::new(),
        }
    }

    /// The number of the next block.
    pub fn next_block(&mut self) -> u16 {
        self.blocks += 1;
        self.blocks
    }

    /// Draws one of the fields with this type, static or not. Returns `None` if there is none.
    pub fn field(&self, draw: &mut Draw, kind: Kind, is_static: bool) -> Option<String> {
        let fitting: Vec<&str> = self
            .fields
            .iter()
            .filter(|field| field.1 == kind && field.2 == is_static)
            .map(|field| field.0.as_str())
            .collect();
        (!fitting.is_empty()).then(|| draw.pick(&fitting).to_string())
    }

    /// The number of the bootstrap method that concatenates `parts` values.
    pub fn concatenation(&mut self, parts: usize) -> u16 {
        let known = self.recipes.iter().position(|recipe| *recipe == parts);
        known.unwrap_or_else(|| {
            self.recipes.push(parts);
            self.recipes.len() - 1
        }) as u16
    }

    /// Adds a method with its code.
    pub fn add(&mut self, signature: Signature, code: Vec<u8>) {
        self.methods.push((signature, code));
    }

    /// Returns the bytes of the class file.
    pub fn finish(mut self) -> Vec<u8> {
        let this = self.pool.class(&self.name);
        let base = self.pool.class("base/Base");
        let mut tail = Vec::new();
        let put2 = |out: &mut Vec<u8>, value: u16| out.extend_from_slice(&value.to_be_bytes());
        for value in [0x0021, this, base, 0, self.fields.len() as u16 + 1] {
            put2(&mut tail, value);
        }
        let mut fields = std::mem::take(&mut self.fields);
        fields.push(("blocks".into(), Kind::Ref(super::kind::Class::Ints), true));
        for (name, kind, is_static) in fields {
            let access = if is_static { 0x0009 } else { 0x0001 };
            let descriptor = kind.descriptor(&self.name);
            for value in [
                access,
                self.pool.utf8(&name),
                self.pool.utf8(&descriptor),
                0,
            ] {
                put2(&mut tail, value);
            }
        }
        put2(&mut tail, self.methods.len() as u16);
        for (signature, code) in std::mem::take(&mut self.methods) {
            let descriptor = signature.descriptor(&self.name);
            for value in [
                signature.access(),
                self.pool.utf8(&signature.name),
                self.pool.utf8(&descriptor),
                1,
                self.pool.utf8("Code"),
            ] {
                put2(&mut tail, value);
            }
            tail.extend_from_slice(&(code.len() as u32).to_be_bytes());
            tail.extend_from_slice(&code);
        }
        self.attributes(&mut tail);
        let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
        put2(&mut out, 0);
        put2(&mut out, self.version);
        self.pool.write(&mut out);
        out.extend_from_slice(&tail);
        out
    }

    /// Writes `SourceFile`, and `BootstrapMethods` if the class has any.
    fn attributes(&mut self, out: &mut Vec<u8>) {
        let put2 = |out: &mut Vec<u8>, value: u16| out.extend_from_slice(&value.to_be_bytes());
        let recipes = std::mem::take(&mut self.recipes);
        put2(out, 1 + u16::from(!recipes.is_empty()));
        let source = format!("{}.seed", self.name.rsplit('/').next().unwrap_or_default());
        let (name, source) = (self.pool.utf8("SourceFile"), self.pool.utf8(&source));
        put2(out, name);
        out.extend_from_slice(&2u32.to_be_bytes());
        put2(out, source);
        if recipes.is_empty() {
            return;
        }
        let handle = self.pool.static_handle(
            "java/lang/invoke/StringConcatFactory",
            "makeConcatWithConstants",
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;\
             Ljava/lang/invoke/MethodType;Ljava/lang/String;[Ljava/lang/Object;)\
             Ljava/lang/invoke/CallSite;",
        );
        let mut table = (recipes.len() as u16).to_be_bytes().to_vec();
        for parts in recipes {
            // In a recipe, the character U+0001 is the placeholder of an argument.
            let recipe = format!("<{}>", vec!["\u{1}"; parts].join(","));
            let recipe = self.pool.string(&recipe);
            for value in [handle, 1, recipe] {
                put2(&mut table, value);
            }
        }
        let name = self.pool.utf8("BootstrapMethods");
        put2(out, name);
        out.extend_from_slice(&(table.len() as u32).to_be_bytes());
        out.extend_from_slice(&table);
    }
}

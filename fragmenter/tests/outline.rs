//! Tests the class summaries of JDK classes and of malformed class files.

mod classfile_support;

use classfile_support::{QUICK, for_each_class};
use std::borrow::Cow;
use veneer_fragmenter::classfile::{Attribute, ClassFile, ClassFileError, ConstantPool, Member};
use veneer_fragmenter::outline::{Outline, mentioned};

#[test]
fn classes_of_the_jdk_are_described() {
    let mut seen = 0;
    for_each_class("quick", QUICK, |_, bytes| {
        let file = ClassFile::parse(bytes).unwrap();
        let outline = Outline::from_class_file(&file).unwrap();
        let name = outline.name.strip_prefix("java.util.").unwrap_or_default();
        let name = name.to_owned();
        if !["Comparator", "ArrayList", "Vector", "Optional"].contains(&name.as_str()) {
            return;
        }
        seen += 1;
        assert_eq!(outline.access, file.access);
        let above: Vec<&str> = outline.above.iter().map(String::as_str).collect();
        let method = |wanted: &str| {
            let mut methods = outline.methods.iter();
            let found = methods.find(|m| format!("{}{}", m.name, m.descriptor) == wanted);
            found.unwrap_or_else(|| panic!("{name} has no {wanted}"))
        };
        match name.as_str() {
            "Comparator" => {
                assert_eq!(above, ["java.lang.Object"]);
                assert_eq!(outline.annotations, ["java.lang.FunctionalInterface"]);
                let compare = method("compare(Ljava/lang/Object;Ljava/lang/Object;)I");
                assert_eq!(compare.size, None);
                let reversed = method("reversed()Ljava/util/Comparator;");
                // aload_0, invokestatic, areturn
                assert_eq!(reversed.size, Some(5));
            }
            "ArrayList" => {
                let expected = [
                    "java.util.AbstractList",
                    "java.util.List",
                    "java.util.RandomAccess",
                    "java.lang.Cloneable",
                    "java.io.Serializable",
                ];
                assert_eq!(above, expected);
                assert_eq!(method("size()I").access, 1);
            }
            "Vector" => assert_eq!(method("size()I").access, 0x21),
            _ => {
                assert_eq!(outline.annotations, ["jdk.internal.ValueBased"]);
                assert!(mentioned(&file.pool).contains(&"jdk.internal.ValueBased".to_owned()));
            }
        }
    });
    assert!(seen >= 4, "{seen}");
}

/// Returns the summary of a class with one method that has this attribute of annotations.
fn annotated(name: &str, content: impl FnOnce(&mut ConstantPool<'static>) -> Vec<u8>) -> Outline {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class("a/B").unwrap();
    let super_class = pool.add_class("java/lang/Object").unwrap();
    let info = content(&mut pool);
    let attribute = Attribute {
        name: pool.add_utf8(name).unwrap(),
        info: Cow::Owned(info),
    };
    let method = Member {
        access: 1,
        name: pool.add_utf8("m").unwrap(),
        descriptor: pool.add_utf8("()V").unwrap(),
        attributes: vec![attribute.clone()],
    };
    let file = ClassFile {
        minor: 0,
        major: 52,
        pool,
        access: 0x21,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: vec![method],
        attributes: vec![attribute],
    };
    let bytes = file.to_bytes().unwrap();
    let outline = Outline::from_class_file(&ClassFile::parse(&bytes).unwrap()).unwrap();
    assert_eq!(outline.annotations, outline.methods[0].annotations);
    outline
}

/// Returns the annotation `@a.T` with one value of these bytes.
fn with_value(pool: &mut ConstantPool<'static>, value: &[u8]) -> Vec<u8> {
    let of = pool.add_utf8("La/T;").unwrap();
    let [high, low] = of.to_be_bytes();
    let mut info = vec![0, 1, high, low, 0, 1, high, low];
    info.extend_from_slice(value);
    info
}

const NAMES: [&str; 2] = ["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"];

#[test]
fn visible_and_invisible_annotations_are_found() {
    for name in NAMES {
        let outline = annotated(name, |pool| with_value(pool, &[b'I', 0, 1]));
        assert_eq!(outline.annotations, ["a.T"], "{name}");
    }
    // Annotations in other attributes, for example those of parameters, are not annotations of the
    // method.
    let other = "RuntimeVisibleParameterAnnotations";
    let outline = annotated(other, |pool| with_value(pool, &[b'I', 0, 1]));
    assert!(outline.annotations.is_empty());
}

#[test]
fn annotations_may_nest_as_deep_as_the_bytes_allow() {
    let deep = annotated(NAMES[0], |pool| {
        let mut value = Vec::new();
        for _ in 0..1_000_000 {
            value.extend_from_slice(&[b'[', 0, 1]);
        }
        value.extend_from_slice(&[b's', 0, 1]);
        with_value(pool, &value)
    });
    assert_eq!(deep.annotations, ["a.T"]);
    let inside = annotated(NAMES[1], |pool| {
        let mut value = Vec::new();
        for _ in 0..100_000 {
            value.extend_from_slice(&[b'@', 0, 1, 0, 1, 0, 1]);
        }
        value.extend_from_slice(&[b'e', 0, 1, 0, 1]);
        with_value(pool, &value)
    });
    assert_eq!(inside.annotations, ["a.T"]);
}

#[test]
fn damaged_annotations_are_none() {
    let none = |what: &str, make: &dyn Fn(&mut ConstantPool<'static>) -> Vec<u8>| {
        let outline = annotated(NAMES[0], make);
        assert!(outline.annotations.is_empty(), "{what}");
    };
    none("no bytes", &|_| Vec::new());
    none("a count alone", &|_| vec![0xff, 0xff]);
    none("cut short", &|pool| {
        let mut info = with_value(pool, &[b'I', 0, 1]);
        info.pop();
        info
    });
    none("cut short deep inside", &|pool| {
        with_value(pool, &[b'[', 0, 1].repeat(50_000))
    });
    none("bytes behind it", &|pool| {
        with_value(pool, &[b'I', 0, 1, 0])
    });
    none("an unknown tag", &|pool| with_value(pool, b"x\0\x01"));
    none("a type that is no constant", &|_| vec![0, 1, 0xff, 0, 0, 0]);
    none("a type that is no text", &|_| vec![0, 1, 0, 2, 0, 0]);
    none("more values than bytes", &|pool| {
        let of = pool.add_utf8("La/T;").unwrap().to_be_bytes();
        vec![0, 1, of[0], of[1], 0xff, 0xff]
    });
    // A primitive type or arbitrary text is not an annotation type.
    for text in ["I", "a/T", "L", ";", ""] {
        none(text, &|pool| {
            let of = pool.add_utf8(text).unwrap().to_be_bytes();
            vec![0, 1, of[0], of[1], 0, 0]
        });
    }
}

#[test]
fn one_long_name_everywhere_is_refused() {
    let mut pool = ConstantPool::new();
    let this_class = pool.add_class("a/B").unwrap();
    let super_class = pool.add_class("java/lang/Object").unwrap();
    let name = pool.add_utf8(&"x".repeat(60_000)).unwrap();
    let member = Member {
        access: 1,
        name,
        descriptor: name,
        attributes: Vec::new(),
    };
    let file = ClassFile {
        minor: 0,
        major: 52,
        pool,
        access: 0x21,
        this_class,
        super_class,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: vec![member; 60_000],
        attributes: Vec::new(),
    };
    let refused = Outline::from_class_file(&file).unwrap_err();
    assert!(
        matches!(refused, ClassFileError::TooLong { .. }),
        "{refused}"
    );
}

#[test]
fn the_entries_of_a_pool_are_read_alone() {
    let mut pool = ConstantPool::new();
    for text in ["La/T;", "[La/U;", "I", "Lb/C$D;"] {
        pool.add_utf8(text).unwrap();
    }
    pool.add_long(7).unwrap();
    let this_class = pool.add_class("a/B").unwrap();
    let count = pool.count();
    let file = ClassFile {
        minor: 0,
        major: 52,
        pool,
        access: 0x21,
        this_class,
        super_class: 0,
        interfaces: Vec::new(),
        fields: Vec::new(),
        methods: Vec::new(),
        attributes: Vec::new(),
    };
    let bytes = file.to_bytes().unwrap();
    // The entries are after magic number, version and count, and before flags, two classes and four
    // counts.
    let entries = &bytes[10..bytes.len() - 14];
    let read = ConstantPool::of_entries(count, entries).unwrap();
    assert_eq!(mentioned(&read), ["a.T", "b.C$D"]);
    assert!(ConstantPool::of_entries(count + 1, entries).is_err());
    assert!(ConstantPool::of_entries(count, &entries[..entries.len() - 1]).is_err());
    assert!(ConstantPool::of_entries(0, entries).is_err());
}

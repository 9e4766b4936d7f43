//! The compiled form of probes, and the errors of probes that have none.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use veneer_names::{MethodDescriptor, raw};
use veneer_probes::compile::invoke::format_types;
use veneer_probes::compile::{MAX_LOCAL_SLOTS, MAX_STEPS};
use veneer_probes::step::{Callee, ComputationalType, HelperClass};
use veneer_probes::tree::{
    Expr, ExprKind, KeptStacks, Operator, ProbeCode, SourcePosition, Statement,
};
use veneer_probes::{Field, Label, ProbeError, ProbeMethod, ProbeStep, Reason, Scope, Ty, compile};

/// A point with the variables `long total`, `int[] lines`, `Order order` with `User user`, `double
/// sum`, `boolean paid` and `String text`.
struct Shop;

impl Scope for Shop {
    fn variable(&self, name: &str) -> Option<String> {
        let descriptor = match name {
            "total" => "J",
            "count" => "I",
            "share" => "F",
            "sum" => "D",
            "paid" => "Z",
            "text" => "Ljava/lang/String;",
            "lines" => "[I",
            "order" => "Lshop/Order;",
            "user" => "Lshop/User;",
            "limit" => "Ljava/lang/Integer;",
            "open" => "Ljava/lang/Boolean;",
            "rate" => "Ljava/lang/Double;",
            "items" => "Ljava/util/List;",
            _ => return None,
        };
        Some(descriptor.into())
    }

    fn parameter(&self, name: &str) -> Option<String> {
        match name {
            "order" | "paid" | "share" | "count" => self.variable(name),
            _ => None,
        }
    }

    fn method_label(&self) -> String {
        "a.B::m(I)V".into()
    }

    fn live(&self) -> Vec<String> {
        ["total", "sum", "paid", "text", "lines", "order"]
            .map(String::from)
            .to_vec()
    }

    fn is_loaded(&self, class: &str) -> bool {
        class != "shop/Late"
    }

    fn field(&self, class: &str, name: &str) -> Option<Field> {
        let (descriptor, offset) = match (class, name) {
            ("shop/Order", "user") => ("Lshop/User;", 16),
            ("shop/User", "name") => ("Ljava/lang/String;", 12),
            ("shop/User", "age") => ("B", 20),
            _ => return None,
        };
        Some(Field {
            descriptor: descriptor.into(),
            offset,
        })
    }

    fn here(&self) -> String {
        "a.B.m:7".into()
    }

    fn site_id(&self) -> i64 {
        7
    }

    fn fields(&self, class: &str) -> Vec<String> {
        match class {
            "shop/User" => vec!["name".into(), "age".into()],
            _ => vec!["user".into()],
        }
    }

    fn cast(&self, class: &str) -> Result<i64, Reason> {
        match class {
            "shop/User" => Ok(7),
            other => Err(Reason::NotLoaded {
                class: other.replace('/', "."),
            }),
        }
    }

    fn method(&self, class: &str, name: &str, arguments: &[Ty]) -> Result<Callee, Reason> {
        let (owner, is_interface, descriptor) = match (class, name, arguments) {
            ("shop/Order", "pay", [Ty::Long, Ty::Double]) => (class, false, "(IF)S"),
            ("shop/Order", "pay", [Ty::Object(_)]) => (class, false, "(Lshop/User;)Z"),
            ("shop/Order", "owner", []) => (class, false, "()Lshop/User;"),
            ("shop/Order", "close", []) => (class, false, "()V"),
            ("shop/User", "call", []) => ("shop/Named", true, "()Ljava/lang/String;"),
            _ => {
                return Err(Reason::NoMethod {
                    of: Ty::Object(class.into()),
                    name: name.into(),
                    arguments: format_types(arguments),
                    candidates: vec!["pay".into()],
                });
            }
        };
        Ok(Callee {
            owner: owner.into(),
            is_interface,
            name: name.into(),
            descriptor: descriptor.into(),
        })
    }
}

fn expression(shape: ExprKind) -> Expr {
    Expr {
        kind: shape,
        place: SourcePosition { line: 3, column: 7 },
    }
}

fn read(name: &str) -> Expr {
    expression(ExprKind::MethodVariable(name.into()))
}

fn binary(operator: Operator, a: Expr, b: Expr) -> Expr {
    expression(ExprKind::Binary(operator, a.into(), b.into()))
}

fn aggregate(values: Vec<Expr>) -> Statement {
    Statement::UpdateTable {
        table: 4,
        operation: "add".into(),
        values,
        place: SourcePosition::default(),
    }
}

fn compiled(body: Vec<Statement>) -> Result<ProbeMethod, ProbeError> {
    compile(&ProbeCode { body }, &Shop)
}

/// Returns how many words a step pops and how many it pushes.
fn effect(step: &ProbeStep) -> (i32, i32) {
    let words = |kind: &ComputationalType| i32::from(kind.words());
    match step {
        ProbeStep::Int(_) | ProbeStep::Text(_) | ProbeStep::Null => (0, 1),
        ProbeStep::Long(_) | ProbeStep::Double(_) | ProbeStep::Table(_) | ProbeStep::OwnWord => {
            (0, 2)
        }
        ProbeStep::Load(kind, _) => (0, words(kind)),
        ProbeStep::Store(kind, _) => (words(kind), 0),
        ProbeStep::Plain(97..=115 | 127 | 129 | 131) => (4, 2),
        ProbeStep::Plain(117 | 119 | 138) => (2, 2),
        ProbeStep::Plain(121 | 123) => (3, 2),
        ProbeStep::Plain(136 | 137 | 144) => (2, 1),
        ProbeStep::Plain(145..=147) => (1, 1),
        ProbeStep::Plain(133 | 141) => (1, 2),
        ProbeStep::Plain(126 | 128 | 130) => (2, 1),
        ProbeStep::Plain(other) => panic!("opcode {other}"),
        ProbeStep::Helper { descriptor, .. } => {
            let descriptor = MethodDescriptor::parse(descriptor).expect("a descriptor");
            let result = raw::slots(descriptor.result_text().as_bytes());
            (i32::from(descriptor.slots()), i32::from(result))
        }
        ProbeStep::Cast(_) => (1, 1),
        ProbeStep::Invoke(callee) => {
            let descriptor = MethodDescriptor::parse(&callee.descriptor).expect("a descriptor");
            let result = raw::slots(descriptor.result_text().as_bytes());
            (1 + i32::from(descriptor.slots()), i32::from(result))
        }
        ProbeStep::IfZero(_) => (1, 0),
        ProbeStep::Goto(_) | ProbeStep::BindLabel(_) | ProbeStep::Return => (0, 0),
    }
}

/// Fails unless the stack is empty at labels and jumps, its depth never exceeds `max_stack`, and
/// every label is defined once.
fn well_formed(method: &ProbeMethod) {
    let (mut depth, mut deepest) = (0, 0);
    let mut here = BTreeSet::new();
    let mut wanted: BTreeSet<Label> = BTreeSet::new();
    let mut kinds: BTreeMap<u16, ComputationalType> = BTreeMap::new();
    for step in &method.steps {
        let (pops, pushes) = effect(step);
        assert!(
            depth >= pops,
            "{step:?} takes from an empty stack: {method:?}"
        );
        depth += pushes - pops;
        deepest = deepest.max(depth);
        match step {
            ProbeStep::BindLabel(label) => {
                assert!(here.insert(*label) && depth == 0, "{method:?}");
            }
            ProbeStep::IfZero(label) | ProbeStep::Goto(label) => {
                wanted.insert(*label);
                assert_eq!(depth, 0, "{method:?}");
            }
            ProbeStep::Return => assert_eq!(depth, 0, "{method:?}"),
            ProbeStep::Load(kind, slot) | ProbeStep::Store(kind, slot) => {
                assert_eq!(kinds.entry(*slot).or_insert(*kind), kind, "{method:?}");
            }
            _ => {}
        }
    }
    assert!(wanted.is_subset(&here), "{method:?}");
    assert_eq!(deepest, i32::from(method.max_stack), "{method:?}");
    assert_eq!(method.steps.last(), Some(&ProbeStep::Return));
}

#[test]
fn a_value_is_added_to_its_table() {
    let one = binary(Operator::Add, read("total"), expression(ExprKind::Int(1)));
    let method = compiled(vec![aggregate(vec![one])]).expect("it compiles");
    well_formed(&method);
    assert_eq!(method.descriptor(), "(J)V");
    let expected = [
        ProbeStep::Table(4),
        ProbeStep::Long(0),
        ProbeStep::Long(0),
        ProbeStep::Long(0),
        ProbeStep::Long(0),
        ProbeStep::Long(0),
        ProbeStep::Load(ComputationalType::Long, 0),
        ProbeStep::Long(1),
        ProbeStep::Plain(97),
        ProbeStep::Helper {
            of: HelperClass::Tables,
            name: "add",
            descriptor: "(JJJJJJJ)V".into(),
        },
        ProbeStep::Return,
    ];
    assert_eq!(method.steps, expected);
}

#[test]
fn a_sample_evaluates_values_only_if_drawn() {
    let method = compiled(vec![Statement::UpdateTable {
        table: 4,
        operation: "put_sample".into(),
        values: vec![read("total")],
        place: SourcePosition::default(),
    }])
    .expect("it compiles");
    well_formed(&method);
    let at = |wanted: &dyn Fn(&ProbeStep) -> bool| method.steps.iter().position(wanted);
    let helper = |name: &'static str| {
        at(&|s| matches!(s, ProbeStep::Helper { name: found, .. } if *found == name))
    };
    let (drawn, jump) = (helper("draw"), at(&|s| matches!(s, ProbeStep::IfZero(_))));
    let read = at(&|s| *s == ProbeStep::Load(ComputationalType::Long, 0));
    let put = helper("putSample");
    assert!(drawn.is_some(), "{method:?}");
    assert!(drawn < jump && jump < read && read < put, "{method:?}");
}

#[test]
fn a_distinct_table_has_at_most_three_keys() {
    let values = |n| vec![read("total"); n];
    let add = |n| {
        compiled(vec![Statement::UpdateTable {
            table: 4,
            operation: "add_distinct".into(),
            values: values(n),
            place: SourcePosition { line: 3, column: 7 },
        }])
    };
    well_formed(&add(4).expect("it compiles"));
    assert_eq!(
        add(5).expect_err("refused").to_string(),
        "3:7: this is too much code for a probe: 4 keys and a value, and a distinct() has 3 keys at most"
    );
    assert!(add(0).is_err());
}

#[test]
fn fields_are_read_through_objects_by_offset() {
    let user = expression(ExprKind::Field(read("order").into(), "user".into()));
    let age = expression(ExprKind::Field(user.clone().into(), "age".into()));
    let name = expression(ExprKind::Field(user.into(), "name".into()));
    let method = compiled(vec![aggregate(vec![name, age])]).expect("it compiles");
    well_formed(&method);
    let offsets: Vec<&ProbeStep> = method
        .steps
        .iter()
        .filter(|s| matches!(s, ProbeStep::Long(n) if *n > 4))
        .collect();
    assert_eq!(
        offsets,
        [
            &ProbeStep::Long(16),
            &ProbeStep::Long(12),
            &ProbeStep::Long(16),
            &ProbeStep::Long(20)
        ]
    );
}

#[test]
fn the_right_operand_of_and_is_evaluated_lazily() {
    let some = binary(
        Operator::NotEqual,
        read("total"),
        expression(ExprKind::Int(0)),
    );
    let ratio = binary(
        Operator::Divide,
        expression(ExprKind::Int(100)),
        read("total"),
    );
    let large = binary(Operator::Greater, ratio, expression(ExprKind::Int(3)));
    let both = binary(Operator::And, some, large);
    let method = compiled(vec![Statement::If {
        condition: both,
        then: vec![aggregate(vec![read("total")])],
        otherwise: Vec::new(),
    }])
    .expect("it compiles");
    well_formed(&method);
    let at = |wanted: &dyn Fn(&ProbeStep) -> bool| method.steps.iter().position(wanted);
    let division = at(&|s| *s == ProbeStep::Plain(109));
    let jump = at(&|s| matches!(s, ProbeStep::IfZero(_)));
    assert!(jump.is_some() && jump < division, "{method:?}");
}

#[test]
fn loops_iterate_over_arrays() {
    let method = compiled(vec![Statement::For {
        name: "x".into(),
        array: read("lines"),
        body: vec![aggregate(vec![expression(ExprKind::Local("x".into()))])],
    }])
    .expect("it compiles");
    well_formed(&method);
    assert!(method.steps.iter().any(|s| matches!(s, ProbeStep::Goto(_))));
}

#[test]
fn an_integer_operand_is_widened_to_double() {
    for (a, b) in [("total", "sum"), ("sum", "total")] {
        let less = binary(Operator::Less, read(a), read(b));
        let method = compiled(vec![Statement::Let {
            name: "x".into(),
            value: less,
        }])
        .expect("it compiles");
        well_formed(&method);
        assert_eq!(
            method
                .steps
                .iter()
                .filter(|s| **s == ProbeStep::Plain(138))
                .count(),
            1
        );
    }
}

#[test]
fn compile_errors_have_positions() {
    let cases = [
        (
            read("cost"),
            "3:7: `cost` cannot be read here; readable here: total, sum, paid, text, lines, order",
        ),
        (
            expression(ExprKind::Field(read("order").into(), "price".into())),
            "3:7: shop.Order has no field `price`: it has user",
        ),
        (
            expression(ExprKind::Local("x".into())),
            "3:7: no variable `x`: declare it with `let x = …;`, or write `p.x` for one of the method",
        ),
        (
            binary(Operator::Less, read("text"), read("total")),
            "3:7: `<` does not join java.lang.String and integer",
        ),
        (
            read("paid"),
            "3:7: this is boolean, and integer is needed here",
        ),
        (
            expression(ExprKind::Call("println".into(), vec![])),
            "3:7: `println` has no compiled form here: there are starts_with, ends_with, contains, identity, class_of, inline_cache, is_a, thread_id, thread_name, park_blocker, task_submitted, task_begins, task_ends, object_born, object_constructed, object_used, one_in, per_second, stack, now_ns, to_int, to_float, as_a, describe, here, site_id, size, hash_of_method",
        ),
        (
            cast(read("order"), "shop.Late"),
            "3:7: shop.Late is not loaded yet: the code is put in when it is",
        ),
        (
            expression(ExprKind::Call(
                "as_a".into(),
                vec![read("order"), read("text")],
            )),
            "3:7: the second value of as_a is the name of a class as a constant: as_a(p.x, \"a.b.C\")",
        ),
        (
            invoke(read("order"), "pay", vec![read("paid")]),
            "3:7: shop.Order has no public method pay(boolean): it has pay",
        ),
        (
            invoke(read("total"), "pay", vec![]),
            "3:7: integer has no public method pay()",
        ),
        (
            invoke(read("order"), "close", vec![]),
            "3:7: shop.Order.close() returns nothing: code at points calls methods for what they return",
        ),
        (
            expression(ExprKind::Element(
                read("total").into(),
                expression(ExprKind::Int(0)).into(),
            )),
            "3:7: this is integer, and an array is needed here",
        ),
    ];
    for (value, message) in cases {
        assert_eq!(
            compiled(vec![aggregate(vec![value])])
                .expect_err("refused")
                .to_string(),
            message
        );
    }
}

fn cast(value: Expr, class: &str) -> Expr {
    let class = expression(ExprKind::Text(class.into()));
    expression(ExprKind::Call("as_a".into(), vec![value, class]))
}

fn invoke(of: Expr, name: &str, values: Vec<Expr>) -> Expr {
    expression(ExprKind::Invoke(of.into(), name.into(), values))
}

#[test]
fn fields_of_a_cast_are_those_of_its_class() {
    let age = expression(ExprKind::Field(
        cast(read("text"), "shop.User").into(),
        "age".into(),
    ));
    let method = compiled(vec![aggregate(vec![age])]).expect("it compiles");
    well_formed(&method);
    let expected = [
        ProbeStep::Load(ComputationalType::Reference, 0),
        ProbeStep::Long(7),
        ProbeStep::Helper {
            of: HelperClass::Probe,
            name: "asA",
            descriptor: "(Ljava/lang/Object;J)Ljava/lang/Object;".into(),
        },
        ProbeStep::Long(20),
    ];
    assert_eq!(method.steps[6..10], expected);
    assert_eq!(method.enter_flag, None);
}

#[test]
fn method_calls_are_guarded_by_enter_and_null_check() {
    let pay = invoke(read("order"), "pay", vec![read("count"), read("share")]);
    let method = compiled(vec![aggregate(vec![pay]), Statement::Return]).expect("it compiles");
    well_formed(&method);
    let entered = method.enter_flag.expect("it is entered");
    let helper = |name, descriptor: &str| ProbeStep::Helper {
        of: HelperClass::Probe,
        name,
        descriptor: descriptor.into(),
    };
    let at = |wanted: &ProbeStep| {
        let found = method.steps.iter().position(|step| step == wanted);
        found.unwrap_or_else(|| panic!("{wanted:?} is not in {method:?}"))
    };
    let callee = Callee {
        owner: "shop/Order".into(),
        is_interface: false,
        name: "pay".into(),
        descriptor: "(IF)S".into(),
    };
    let enter = at(&helper("enter", "()Z"));
    let asked = at(&helper("present", "(Ljava/lang/Object;)Z"));
    let taken = at(&ProbeStep::Cast("shop/Order".into()));
    let called = at(&ProbeStep::Invoke(callee));
    assert!(
        enter < asked && asked < taken && taken < called,
        "{method:?}"
    );
    assert_eq!(
        method.steps[enter + 1],
        ProbeStep::Store(ComputationalType::Int, entered)
    );
    // The argument has the type of the method's parameter, and the result has the probe's type.
    assert_eq!(method.steps[called - 1], ProbeStep::Plain(144));
    assert_eq!(method.steps[called + 1], ProbeStep::Plain(133));
    // The probe calls `leave` on each exit except the one where `enter` has returned false.
    let leave = [
        ProbeStep::Load(ComputationalType::Int, entered),
        helper("leave", "(Z)V"),
        ProbeStep::Return,
    ];
    let left = method.steps.windows(3).filter(|three| *three == leave);
    let returns = method
        .steps
        .iter()
        .filter(|step| **step == ProbeStep::Return);
    assert_eq!((left.count(), returns.count()), (1, 2), "{method:?}");
}

#[test]
fn functions_have_priority_over_methods() {
    let starts = invoke(invoke(read("order"), "owner", vec![]), "call", vec![]);
    let starts = invoke(starts, "starts_with", vec![read("text")]);
    let method = compiled(vec![Statement::Let {
        name: "x".into(),
        value: starts,
    }])
    .expect("it compiles");
    well_formed(&method);
    let helpers = method.steps.iter().filter_map(|step| match step {
        ProbeStep::Helper { name, .. } => Some(*name),
        _ => None,
    });
    let helpers: Vec<&str> = helpers.collect();
    assert!(helpers.contains(&"startsWith"), "{helpers:?}");
    let interfaces = method.steps.iter().filter(
        |step| matches!(step, ProbeStep::Invoke(callee) if callee.is_interface && callee.owner == "shop/Named"),
    );
    assert_eq!(interfaces.count(), 1);
}

#[test]
fn narrow_variables_are_widened_once() {
    let twice = |name| binary(Operator::Multiply, read(name), read(name));
    let method =
        compiled(vec![aggregate(vec![twice("count"), twice("share")])]).expect("it compiles");
    well_formed(&method);
    assert_eq!(method.descriptor(), "(IF)V");
    let widened = [
        ProbeStep::Load(ComputationalType::Int, 0),
        ProbeStep::Plain(133),
        ProbeStep::Store(ComputationalType::Long, 2),
        ProbeStep::Load(ComputationalType::Float, 1),
        ProbeStep::Plain(141),
        ProbeStep::Store(ComputationalType::Double, 4),
    ];
    assert_eq!(method.steps[..6], widened);
}

fn expressions() -> impl Strategy<Value = Expr> {
    let names = [
        "total", "count", "share", "sum", "paid", "text", "lines", "order",
    ];
    let leaf = prop_oneof![
        prop::sample::select(names.to_vec()).prop_map(read),
        any::<i64>().prop_map(|n| expression(ExprKind::Int(n))),
        any::<bool>().prop_map(|b| expression(ExprKind::Bool(b))),
        Just(expression(ExprKind::Null)),
        Just(expression(ExprKind::Text("x".into()))),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let operators = ["+", "/", "&&", "||", "==", "<", "<<", "&"];
        prop_oneof![
            (
                prop::sample::select(operators.to_vec()),
                inner.clone(),
                inner.clone()
            )
                .prop_map(|(o, a, b)| binary(
                    Operator::from_symbol(o).expect("one"),
                    a,
                    b
                )),
            (
                inner.clone(),
                prop::sample::select(vec!["user", "name", "age", "len"])
            )
                .prop_map(|(a, f)| expression(ExprKind::Field(a.into(), f.into()))),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| expression(ExprKind::Element(a.into(), b.into()))),
            inner
                .clone()
                .prop_map(|a| expression(ExprKind::Unary(Operator::Not, a.into()))),
            (
                inner.clone(),
                prop::sample::select(vec!["pay", "owner", "call", "contains"]),
                prop::collection::vec(inner.clone(), 0..3)
            )
                .prop_map(|(a, name, values)| invoke(a, name, values)),
            inner.clone().prop_map(|a| cast(a, "shop.User")),
            inner.prop_map(|a| expression(ExprKind::Call("class_of".into(), vec![a]))),
        ]
    })
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let simple = prop_oneof![
        expressions().prop_map(|value| Statement::Let {
            name: "x".into(),
            value
        }),
        expressions().prop_map(|value| Statement::Assign {
            name: "x".into(),
            value
        }),
        prop::collection::vec(expressions(), 1..3).prop_map(aggregate),
        Just(Statement::Return),
    ];
    let nested = simple.prop_recursive(3, 12, 3, |inner| {
        let body = prop::collection::vec(inner, 0..3);
        prop_oneof![
            (expressions(), body.clone(), body.clone()).prop_map(|(condition, then, otherwise)| {
                Statement::If {
                    condition,
                    then,
                    otherwise,
                }
            }),
            (expressions(), body).prop_map(|(array, body)| Statement::For {
                name: "x".into(),
                array,
                body
            }),
        ]
    });
    prop::collection::vec(nested, 0..4)
}

/// The helpers that a probe calls, in order.
fn helpers(body: Vec<Statement>) -> Vec<&'static str> {
    let compiled = compiled(body).unwrap_or_else(|error| panic!("{error}"));
    well_formed(&compiled);
    let helper = |step: &ProbeStep| match step {
        ProbeStep::Helper { name, .. } => Some(*name),
        _ => None,
    };
    compiled.steps.iter().filter_map(helper).collect()
}

fn call(name: &str, values: Vec<Expr>) -> Expr {
    expression(ExprKind::Call(name.into(), values))
}

fn helpers_of(value: Expr) -> Vec<&'static str> {
    let name = "x".into();
    helpers(vec![Statement::Let { name, value }])
}

#[test]
fn a_box_is_read_by_operators_and_conditions_and_stays_an_object_beside_null() {
    use Operator::*;
    let int = || expression(ExprKind::Int(3));
    let null = || expression(ExprKind::Null);
    for (value, expected) in [
        (
            binary(Greater, read("limit"), int()),
            &["integer", "greater"][..],
        ),
        (binary(Less, int(), read("rate")), &["real", "less"]),
        (
            binary(Equal, read("limit"), read("limit")),
            &["integer", "integer", "equal"],
        ),
        (binary(Equal, read("limit"), null()), &["equal"]),
        (binary(NotEqual, null(), read("open")), &["differ"]),
        (binary(Add, read("limit"), read("count")), &["integer"]),
        (read("limit"), &[]),
    ] {
        let name = value.to_string();
        assert_eq!(helpers_of(value), expected, "{name}");
    }
    let body = vec![Statement::If {
        condition: read("open"),
        then: vec![aggregate(vec![read("limit")])],
        otherwise: Vec::new(),
    }];
    assert_eq!(helpers(body), ["truth", "integer", "add"]);
}

#[test]
fn an_object_is_compared_with_a_text_by_its_own_text() {
    let text = || expression(ExprKind::Text("PAID".into()));
    for (value, expected) in [
        (binary(Operator::Equal, read("user"), text()), "equalText"),
        (
            binary(Operator::NotEqual, text(), read("user")),
            "differText",
        ),
        (binary(Operator::Equal, read("text"), text()), "equal"),
        (
            binary(Operator::Equal, read("text"), expression(ExprKind::Null)),
            "equal",
        ),
    ] {
        assert_eq!(helpers_of(value), [expected]);
    }
}

#[test]
fn collections_of_the_jdk_have_a_size() {
    let field = |of: &str, name: &str| expression(ExprKind::Field(read(of).into(), name.into()));
    for value in [
        field("items", "len"),
        field("items", "size"),
        call("size", vec![read("items")]),
    ] {
        assert_eq!(helpers_of(value), ["size"]);
    }
    for of in ["lines", "text"] {
        assert_eq!(
            helpers_of(field(of, "length")),
            helpers_of(field(of, "len"))
        );
    }
    assert_eq!(helpers_of(call("size", vec![read("lines")])), ["elements"]);
    assert_eq!(helpers_of(call("size", vec![read("text")])), ["characters"]);
    let refused = |value: Expr| {
        let name = "x".into();
        let body = vec![Statement::Let { name, value }];
        compiled(body).expect_err("refused").to_string()
    };
    assert!(refused(field("order", "size")).contains("has no field `size`"));
    assert!(
        refused(call("size", vec![read("order")]))
            .contains("this is shop.Order, and a collection of the JDK is needed")
    );
}

#[test]
fn a_description_has_the_fields_of_the_static_type() {
    assert_eq!(
        helpers_of(call("describe", vec![read("user")])),
        [
            "describe",
            "objectIn",
            "member",
            "byteIn",
            "member",
            "described"
        ]
    );
    for object in ["limit", "items", "lines"] {
        assert_eq!(
            helpers_of(call("describe", vec![read(object)])),
            ["describe", "described"]
        );
    }
    for value in ["total", "sum", "paid", "text"] {
        assert!(helpers_of(call("describe", vec![read(value)])).is_empty());
    }
}

#[test]
fn the_latest_values_have_their_strings_in_a_ring() {
    let put = |operation: &str| Statement::UpdateTable {
        table: 4,
        operation: operation.into(),
        values: vec![read("text"), read("order")],
        place: SourcePosition::default(),
    };
    assert_eq!(
        helpers(vec![put("put")]),
        ["latestText", "latestObject", "put"]
    );
    assert_eq!(helpers(vec![put("count")]), ["text", "object", "count"]);
}

#[test]
fn a_kept_value_is_on_the_stack_of_its_type() {
    let stacks = KeptStacks {
        numbers: 4,
        objects: 5,
    };
    let user = || expression(ExprKind::Field(read("order").into(), "user".into()));
    let above = || {
        binary(
            Operator::Greater,
            read("count"),
            expression(ExprKind::Int(3)),
        )
    };
    for (value, pushed, popped) in [
        (read("count"), &["push"][..], &["pop"][..]),
        (read("share"), &["bits", "push"], &["pop", "fromBits"]),
        (read("paid"), &["push"], &["pop", "differ"]),
        (above(), &["greater", "push"], &["pop", "differ"]),
        (user(), &["objectIn", "keep"], &["take"]),
    ] {
        let keep = Statement::Keep {
            stacks,
            value: value.clone(),
        };
        assert_eq!(helpers(vec![keep]), pushed, "{value}");
        let like = value.clone().into();
        let value = expression(ExprKind::Kept { stacks, like });
        let name = "x".into();
        let pop = Statement::Let { name, value };
        assert_eq!(helpers(vec![pop]), popped);
    }
}

#[test]
fn only_parameters_can_be_kept_and_an_object_that_was_kept_has_no_fields() {
    let stacks = KeptStacks {
        numbers: 4,
        objects: 5,
    };
    let pop = |like: Expr| {
        expression(ExprKind::Kept {
            stacks,
            like: like.into(),
        })
    };
    let of = |value: Expr| {
        let name = "x".into();
        compiled(vec![Statement::Let { name, value }])
            .unwrap_err()
            .to_string()
    };
    // `total` is a local variable that is live at this point, and no parameter.
    assert!(of(pop(read("total"))).contains("`total` cannot be read here"));
    let field = ExprKind::Field(pop(read("order")).into(), "user".into());
    assert!(of(expression(field)).contains("java.lang.Object has no field `user`"));
}

#[test]
fn the_number_of_a_method_is_a_constant() {
    let value = expression(ExprKind::Call("hash_of_method".into(), Vec::new()));
    let name = "x".into();
    let compiled = compiled(vec![Statement::Let { name, value }]).unwrap();
    let hash = veneer_probes::function::hash_of_method("a.B::m(I)V");
    assert!(compiled.steps.contains(&ProbeStep::Long(hash)) && hash > 0);
    assert_ne!(hash, veneer_probes::function::hash_of_method("a.B::m(J)V"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn compiled_probes_are_well_formed(body in statements()) {
        if let Ok(method) = compiled(body) {
            well_formed(&method);
            prop_assert!(method.steps.len() <= MAX_STEPS);
            let words: u16 = method.parameters.iter().map(|r| r.1.words()).sum();
            prop_assert!(words <= MAX_LOCAL_SLOTS);
        }
    }
}

//! Generates one whole method: variables, fuel, the region, the return.

use super::body::Body;
use super::class::ClassWriter;
use super::code::Verified;
use super::draw::Draw;
use super::kind::{Class, KINDS, Kind};
use super::shape::{Region, Size, region};

/// The plan of a method. It is drawn first, so that items can be removed from it later.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The blocks of the method.
    pub region: Region,
    /// Number of variables that change their types.
    changing: usize,
    /// The seed of the code before the region.
    seed: u64,
}

impl Draft {
    /// Draws a method.
    pub fn draw(draw: &mut Draw, constructor: bool) -> Self {
        let changing = draw.within(0, 3);
        let mut size = Size {
            items: draw.pick(&[3, 5, 8, 8, 12]),
            statements: draw.pick(&[1, 2, 3]),
            monitors: draw.pick(&[0, 0, 1, 2]),
            throws: true,
        };
        if constructor {
            // Constructors are small, because they call no methods before there is an object.
            (size.items, size.statements, size.throws) = (3, 1, false);
        }
        Self {
            region: region(draw, size, changing),
            changing,
            seed: draw.number(),
        }
    }

    /// Generates method number `number` of the class.
    pub fn write(&self, class: &mut ClassWriter, number: usize) {
        let signature = class.signatures[number].clone();
        // All methods may create objects, so constructors may call only few of them.
        let callable = if signature.constructor {
            class.signatures.len().min(3)
        } else {
            number
        };
        let mut body = Body::new(class, signature.clone(), callable, Draw::new(self.seed));
        body.begin();
        if signature.constructor {
            super_call(&mut body);
        }
        if body.draw.chance(12) {
            body.skip_slots(260);
        }
        body.sum = body.variable(Some(Kind::Long));
        body.op(9, 0, Some(Kind::Long)); // lconst_0
        let sum = body.sum;
        body.store(sum);
        for kind in [Kind::Int, Kind::Ref(Class::Ints), Kind::Int] {
            let kind = if body.draw.chance(60) {
                kind
            } else {
                body.draw.pick(&KINDS)
            };
            let number = body.variable(Some(kind));
            body.simple(kind);
            body.store(number);
        }
        for _ in 0..self.changing {
            body.variable(None);
        }
        let go = body.code.label();
        body.fuel(go);
        let before = body.state.clone();
        body.begin();
        if let Some(kind) = signature.result {
            body.simple(kind);
        }
        let op = signature.result.map_or(0xb1, |kind| 0xac + kind.offset());
        body.op(op, usize::from(signature.result.is_some()), None);
        body.resume(before);
        body.block_at(go);
        body.region(&self.region);
        body.emit_return();
        let Body { code, class, .. } = body;
        let name = class.name.clone();
        let code = code.finish(&mut class.pool, &name);
        class.add(signature, code);
    }
}

/// Generates `super(…)`, sometimes with a branch among its arguments.
fn super_call(body: &mut Body) {
    body.load(0);
    let calls = std::mem::take(&mut body.calls);
    let depth = body.draw.within(0, 2);
    body.int_before_super(depth);
    body.calls = calls;
    let index = body.class.pool.method("base/Base", "<init>", "(I)V");
    body.op2(0xb7, index, 2, None);
    body.state.locals[0] = Some(Verified::Is(Kind::Ref(Class::This)));
}

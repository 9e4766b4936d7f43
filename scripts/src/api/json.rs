//! `map.to_json()` formats a map as JSON.

use crate::json;
use rhai::{Engine, Map};

pub(super) fn register(engine: &mut Engine) {
    engine.register_fn("to_json", |map: &mut Map| json::map_to_json(map));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_as_in_json() {
        let mut engine = Engine::new();
        register(&mut engine);
        let json = |code: &str| engine.eval::<String>(code).unwrap();
        assert_eq!(
            json("#{a: [1, -2.5, true, ()], b: \"x\\u001b\\\"\\n\\\\ü\", \"c d\": #{}}.to_json()"),
            "{\"a\":[1,-2.5,true,null],\"b\":\"x\\u001b\\\"\\n\\\\ü\",\"c d\":{}}"
        );
    }
}

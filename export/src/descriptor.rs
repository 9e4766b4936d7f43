//! Converts method descriptors (JVMS 4.3.3) to Java source form:
//! `serve(Ljava/lang/String;[I)V` becomes `serve(java.lang.String, int[])`.

/// The method in source form, without its return type. Returns `method` unchanged if it has no
/// valid descriptor.
pub fn readable_signature(method: &str) -> String {
    let parts = method.split_once('(').and_then(|(name, rest)| {
        let (arguments, _) = rest.split_once(')')?;
        Some((name, types(arguments)?))
    });
    match parts {
        Some((name, types)) => format!("{name}({})", types.join(", ")),
        None => method.to_owned(),
    }
}

/// The types of a sequence of field descriptors in source form; `None` if a descriptor is invalid.
fn types(mut text: &str) -> Option<Vec<String>> {
    let mut all = Vec::new();
    while !text.is_empty() {
        let plain = text.trim_start_matches('[');
        let depth = text.len() - plain.len();
        let (name, rest) = match plain.strip_prefix('L') {
            Some(class) => {
                let (name, rest) = class.split_once(';')?;
                (name.replace('/', "."), rest)
            }
            None => {
                let mut letters = plain.chars();
                let name = primitive(letters.next()?)?;
                (name.to_owned(), letters.as_str())
            }
        };
        all.push(name + &"[]".repeat(depth));
        text = rest;
    }
    Some(all)
}

fn primitive(letter: char) -> Option<&'static str> {
    Some(match letter {
        'B' => "byte",
        'C' => "char",
        'D' => "double",
        'F' => "float",
        'I' => "int",
        'J' => "long",
        'S' => "short",
        'Z' => "boolean",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_written_as_in_source() {
        for (method, expected) in [
            (
                "serve(Ljava/lang/String;[I)V",
                "serve(java.lang.String, int[])",
            ),
            ("<init>()V", "<init>()"),
            (
                "m(J[[La/B$C;Z)Ljava/util/List;",
                "m(long, a.B$C[][], boolean)",
            ),
            ("odd", "odd"),
            ("odd(Q)V", "odd(Q)V"),
            ("odd(La/B)V", "odd(La/B)V"),
            ("odd([)V", "odd([)V"),
        ] {
            assert_eq!(readable_signature(method), expected);
        }
    }
}

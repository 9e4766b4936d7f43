//! Descriptor parsing on bytes, because a name need not be valid UTF-8.

/// Returns the start of a descriptor whose first parameter is a receiver of the class, including
/// the opening parenthesis.
pub(super) fn receiver(class: &[u8]) -> Vec<u8> {
    if class.first() == Some(&b'[') {
        [b"(", class].concat()
    } else {
        [b"(L", class, b";"].concat()
    }
}

/// Returns the number of words of a field descriptor.
pub(in crate::check) fn words_of(d: &[u8]) -> u8 {
    match d.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        _ => 1,
    }
}

/// Returns the number of words of a method's parameters and of its result.
pub(in crate::check) fn shape(d: &[u8]) -> (u16, u8) {
    let words = parameters(d).iter().map(|p| words_of(p) as u16).sum();
    (words, words_of(result_of(d)))
}

/// Returns the result part of a method descriptor. A search for the first `)` would be wrong,
/// because a class name may contain one.
pub(in crate::check) fn result_of(d: &[u8]) -> &[u8] {
    let parameters: usize = parameters(d).iter().map(|p| p.len()).sum();
    d.get(parameters + 2..).unwrap_or(&[])
}

/// Returns the descriptor of each parameter of a method descriptor.
pub(in crate::check) fn parameters(d: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    let mut rest = d.strip_prefix(b"(").unwrap_or(d);
    while let Some(first) = rest.first() {
        if *first == b')' {
            break;
        }
        let base = rest.iter().take_while(|b| **b == b'[').count();
        let n = match rest.get(base) {
            Some(b'L') => rest
                .iter()
                .position(|b| *b == b';')
                .map_or(rest.len(), |i| i + 1),
            _ => (base + 1).min(rest.len()),
        };
        out.push(&rest[..n]);
        rest = &rest[n..];
    }
    out
}

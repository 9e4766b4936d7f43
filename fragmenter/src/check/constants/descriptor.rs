//! Descriptors, by bytes: a name need not be text.

/// The first parameter that a receiver of a class is, with the parenthesis before it.
pub(super) fn receiver(class: &[u8]) -> Vec<u8> {
    if class.first() == Some(&b'[') {
        [b"(", class].concat()
    } else {
        [b"(L", class, b";"].concat()
    }
}

/// Words of a field descriptor.
pub(in crate::check) fn words_of(d: &[u8]) -> u8 {
    match d.first() {
        Some(b'J' | b'D') => 2,
        Some(b'V') | None => 0,
        _ => 1,
    }
}

/// Words of a method descriptor's parameters and result.
pub(in crate::check) fn shape(d: &[u8]) -> (u16, u8) {
    let words = parameters(d).iter().map(|p| words_of(p) as u16).sum();
    (words, words_of(result_of(d)))
}

/// The result's part of a method descriptor. The first `)` need not be the end of the parameters: names may hold one.
pub(in crate::check) fn result_of(d: &[u8]) -> &[u8] {
    let parameters: usize = parameters(d).iter().map(|p| p.len()).sum();
    d.get(parameters + 2..).unwrap_or(&[])
}

/// The parameters of a method descriptor, each one's text.
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

//! Frames of collapsed stacks, the input format of flame graph tools. The frames of a stack are
//! joined by `;`, and a stack is one line.

/// A frame in which `;` is replaced by `:` and control characters by spaces, because both would end
/// the frame. An empty frame becomes `-`.
pub fn clean_frame(frame: &str) -> String {
    let clean: String = frame
        .chars()
        .map(|c| match c {
            ';' => ':',
            c if c.is_control() => ' ',
            c => c,
        })
        .collect();
    match clean.trim() {
        "" => "-".into(),
        text => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::clean_frame;

    #[test]
    fn a_frame_never_ends_its_stack() {
        for (frame, clean) in [
            ("a.B::m(int)", "a.B::m(int)"),
            ("a;b\n", "a:b"),
            ("a\tb", "a b"),
            (" ", "-"),
        ] {
            assert_eq!(clean_frame(frame), clean);
        }
    }
}

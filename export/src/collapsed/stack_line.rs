//! The lines of call stacks in tables: `shop.Desk.serve:41`.

/// The method of a stack line `method:line`, without the line number.
pub(super) fn method_of_line(line: &str) -> String {
    match line.rsplit_once(':') {
        Some((method, number)) if number.bytes().all(|b| b.is_ascii_digit()) => method.into(),
        _ => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_number_after_the_last_colon_is_a_line() {
        assert_eq!(method_of_line("a.B.m:41"), "a.B.m");
        assert_eq!(method_of_line("a.B.m"), "a.B.m");
        assert_eq!(method_of_line("a.B.m:native"), "a.B.m:native");
    }
}

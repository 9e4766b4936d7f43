//! The methods for which a JVM has compiled code, by the diagnostic command `Compiler.codelist`.
//!
//! ```text
//!   17 4 0 java.lang.Object.<init>()V [0x00007fab34ec8310, 0x00007fab34ec8480 - 0x00007fab34ec84f8]
//!   │  │ │ └ class, method and descriptor
//!   │  │ └ state: 0 is in use
//!   │  └ level: 1 to 3 is C1, 4 is C2, 0 is the wrapper of a native method
//!   └ number of the compilation
//! ```
//!
//! The JVM stops all threads while it writes the list.

use std::collections::HashSet;

use crate::attach_command::{self, AttachCommandError};
use crate::target::Target;

/// Returns the methods with compiled code that is in use, in Java form without a descriptor:
/// `java.lang.Object.<init>`. Overloaded methods have one entry.
///
/// # Errors
/// Attaching to the JVM fails, or the JVM has no such command.
pub fn compiled_methods(target: &Target) -> Result<HashSet<String>, AttachCommandError> {
    let list = attach_command::run(target, "jcmd", "Compiler.codelist")?;
    Ok(list.lines().filter_map(parse_line).collect())
}

fn parse_line(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (_number, _level, state) = (words.next()?, words.next()?, words.next()?);
    let (name, _descriptor) = words.next()?.split_once('(')?;
    (state == "0").then(|| without_address(name))
}

/// Removes the address of a hidden class: `a.B$$Lambda/0x00007f.run` becomes `a.B$$Lambda.run`.
fn without_address(name: &str) -> String {
    match (name.split_once("/0x"), name.rsplit_once('.')) {
        (Some((class, _)), Some((_, method))) => format!("{class}.{method}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_in_use_is_listed() {
        let list = "17 4 0 java.lang.Object.<init>()V [0x00007fab34ec8310, 0x1 - 0x2]\n\
                    35 3 1 T.spin(I)V [0x00007fc164401588, 0x1 - 0x2]\n\
                    36 3 0 T$$Lambda/0x00007f50.run()V [0x00007fc164401908, 0x1 - 0x2]\n\
                    damaged\n";
        let methods: Vec<String> = list.lines().filter_map(parse_line).collect();
        assert_eq!(methods, ["java.lang.Object.<init>", "T$$Lambda.run"]);
    }
}

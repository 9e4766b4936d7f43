//! The page of a flame graph: a fixed template with the data inside.
//!
//! ```text
//!   stacks, sorted     nodes in preorder: depth, name, own weight
//!   a 1                0 a 1
//!   a;b 2              1 b 2
//!   a;b;c 7            2 c 7
//!   d;b 4              0 d 0
//!                      1 b 4
//! ```
//!
//! Stacks that are sorted frame by frame are the preorder of their tree. Each stack therefore adds
//! only the frames that the stack before it does not have, and no tree is built.
//!
//! **Invariant:** no name of an application becomes code or markup of the page. The data is JSON in
//! a script element of the type `application/json`, which a browser does not run. Each `<` is
//! written as `\u003c`, so no name can end the element. The script of the template sets names as
//! text only, and the template's content security policy forbids all requests.

use std::collections::HashMap;

use serde::Serialize;
use thiserror::Error;

/// The page without its data.
const TEMPLATE: &str = include_str!("flame_graph.html");
/// The place of the data in the template.
const DATA_MARK: &str = "{{data}}";

/// A line that is no collapsed stack.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} is no collapsed stack: frames joined by `;`, a space and a weight")]
pub struct MalformedStack {
    /// The number of the line, from 1.
    pub line: usize,
}

/// The data of a page, as its script reads them.
#[derive(Debug, Serialize)]
struct PageData<'a> {
    title: &'a str,
    unit: &'a str,
    /// Each different name once.
    names: Vec<&'a str>,
    /// Three numbers for each node, in preorder: depth, index of the name, own weight.
    nodes: Vec<u64>,
}

/// Returns the page that shows collapsed stacks as a flame graph.
///
/// A line of `collapsed` has frames joined by `;`, a space and a weight. Equal stacks are added, and
/// stacks with weight 0 are left out. `unit` names the weights: the page shows `ns` and `µs` as
/// durations, and any other unit after the number. The script of the page calculates with 64-bit
/// floating-point numbers, so it rounds weights beyond 2⁵³.
pub fn render(collapsed: &str, title: &str, unit: &str) -> Result<String, MalformedStack> {
    let mut stacks = Vec::new();
    for (index, line) in collapsed.lines().enumerate() {
        let stack = parse_stack(line).ok_or(MalformedStack { line: index + 1 })?;
        stacks.push(stack);
    }
    stacks.retain(|(_, weight)| *weight > 0);
    stacks.sort_unstable();
    let data = page_data(&stacks, title, unit);
    // Texts and numbers always have a JSON form.
    let json = serde_json::to_string(&data).unwrap_or_default();
    Ok(TEMPLATE.replacen(DATA_MARK, &json.replace('<', "\\u003c"), 1))
}

/// The frames and the weight of a line.
fn parse_stack(line: &str) -> Option<(Vec<&str>, u64)> {
    let (frames, weight) = line.rsplit_once(' ')?;
    Some((frames.split(';').collect(), weight.parse().ok()?))
}

/// Converts sorted stacks to nodes in preorder.
fn page_data<'a>(stacks: &[(Vec<&'a str>, u64)], title: &'a str, unit: &'a str) -> PageData<'a> {
    let mut indices: HashMap<&str, u64> = HashMap::new();
    let mut data = PageData {
        title,
        unit,
        names: Vec::new(),
        nodes: Vec::new(),
    };
    let mut before: &[&str] = &[];
    for (frames, weight) in stacks {
        let common = before.iter().zip(frames).take_while(|(a, b)| a == b);
        let common = common.count();
        for (depth, name) in (0_u64..).zip(frames).skip(common) {
            let index = *indices.entry(name).or_insert_with(|| {
                data.names.push(name);
                data.names.len() as u64 - 1
            });
            data.nodes.extend([depth, index, 0]);
        }
        // The last node is the innermost frame, also if the stack equals the one before it.
        if let Some(own) = data.nodes.last_mut() {
            *own = own.saturating_add(*weight);
        }
        before = frames;
    }
    data
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use serde_json::Value;

    /// The text between the tags of the data.
    fn embedded(page: &str) -> &str {
        let (_, rest) = page.split_once("type=\"application/json\">").unwrap();
        // A browser ends the element at the first end tag.
        rest.split_once("</script").unwrap().0
    }

    fn parsed(page: &str) -> Value {
        serde_json::from_str(embedded(page)).unwrap()
    }

    /// The stacks of a page, with their own weights.
    fn stacks(page: &str) -> BTreeMap<String, u64> {
        let data = parsed(page);
        let mut path: Vec<&str> = Vec::new();
        let mut found = BTreeMap::new();
        let numbers: Vec<u64> = data["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .collect();
        for node in numbers.chunks(3) {
            let &[depth, name, own] = node else {
                panic!("{node:?}");
            };
            assert!(depth as usize <= path.len(), "a node without its caller");
            path.truncate(depth as usize);
            path.push(data["names"][name as usize].as_str().unwrap());
            if own > 0 {
                assert_eq!(found.insert(path.join(";"), own), None, "a node twice");
            }
        }
        found
    }

    #[test]
    fn the_page_has_each_stack_with_its_weight() {
        let text =
            "main;serve;find 7\nmain 1\nmain;serve 2\nother;serve 4\nmain;serve;find 3\nidle 0\n";
        let page = render(text, "shop.calls", "calls").unwrap();
        let expected = [
            ("main", 1),
            ("main;serve", 2),
            ("main;serve;find", 10),
            ("other;serve", 4),
        ];
        assert_eq!(
            stacks(&page),
            expected.map(|(s, w)| (s.to_owned(), w)).into()
        );
        let data = parsed(&page);
        assert_eq!(
            (&data["title"], &data["unit"]),
            (&"shop.calls".into(), &"calls".into())
        );
        assert_eq!(data["names"].as_array().unwrap().len(), 4);
    }

    #[test]
    fn frames_that_extend_each_other_stay_in_their_stacks() {
        // `a;b` is a name that sorts between `a` and `a!` if stacks are compared as text.
        let text = "a!;x 1\na;x 2\na b;x 4\na;x;y 8\na! 16\n";
        let page = render(text, "", "").unwrap();
        let lines = text.lines().map(|line| line.rsplit_once(' ').unwrap());
        assert_eq!(
            stacks(&page),
            lines
                .map(|(s, w)| (s.to_owned(), w.parse().unwrap()))
                .collect()
        );
    }

    #[test]
    fn names_are_neither_code_nor_markup() {
        let hostile = [
            "</script><img src=x onerror=alert(1)>",
            "</SCRIPT ><script>alert(1)</script>",
            "<!--<script>",
            "{{data}}",
            "\\u003c/script>\"],\"nodes\":[]}",
            "\u{2028}alert(1)//",
        ];
        let text: String = hostile.iter().map(|name| format!("{name};m 1\n")).collect();
        let page = render(&text, "</title><script>alert(1)</script>", "<b>").unwrap();
        assert!(!embedded(&page).contains('<'));
        let expected = hostile.map(|name| (format!("{name};m"), 1));
        assert_eq!(stacks(&page), expected.into());
        // The template has the elements, and no name adds one.
        let count = |tag: &str| page.to_lowercase().matches(tag).count();
        assert_eq!(
            (count("<script"), count("</script"), count("<img")),
            (2, 2, 0)
        );
    }

    #[test]
    fn the_template_requests_nothing_and_inserts_no_markup() {
        assert_eq!(TEMPLATE.matches(DATA_MARK).count(), 1);
        assert!(TEMPLATE.contains("default-src 'none'"));
        for word in [
            "http:",
            "https:",
            "src=",
            "href",
            "url(",
            "@import",
            "fetch(",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
        ] {
            assert!(!TEMPLATE.contains(word), "{word}");
        }
    }

    #[test]
    fn damaged_lines_are_errors() {
        for (text, line) in [("a 1\nb", 2), ("a x\n", 1), ("a 1\n\n", 2), ("a -1", 1)] {
            assert_eq!(
                render(text, "", ""),
                Err(MalformedStack { line }),
                "{text:?}"
            );
        }
        assert!(stacks(&render("", "", "").unwrap()).is_empty());
        let most = format!("a {}\na 1\n", u64::MAX);
        assert_eq!(stacks(&render(&most, "", "").unwrap())["a"], u64::MAX);
    }

    #[test]
    fn a_hundred_thousand_nodes_need_few_bytes_each() {
        let line = |n: u32| format!("com.shop.Main.main;com.shop.Desk{};serve{n} {n}\n", n % 300);
        let text: String = (1..=100_000).map(line).collect();
        let page = render(&text, "", "ns").unwrap();
        let found = stacks(&page);
        assert_eq!(found.len(), 100_000);
        assert_eq!(found.values().sum::<u64>(), 100_000 * 100_001 / 2);
        assert!(page.len() < 4_500_000, "{} bytes", page.len());
    }
}

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
//! A comparison has two own weights for each node, that of A and that of B.
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
#[error("line {line} is no collapsed stack: frames joined by `;`, a space and a weight (or two)")]
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
    /// Whether each node has the weights of A and of B.
    compares: bool,
    /// The numbers of each node, in preorder: depth, index of the name, and own weight, or both own weights.
    nodes: Vec<u64>,
}

/// The frames of a stack, and its weights. The second one is 0 without a comparison.
type Stack<'a> = (Vec<&'a str>, [u64; 2]);

/// Returns the page that shows collapsed stacks as a flame graph.
///
/// A line of `collapsed` has frames joined by `;`, a space and a weight. Equal stacks are added, and
/// stacks with weight 0 are left out. `unit` names the weights: the page shows `ns` and `µs` as
/// durations, and any other unit after the number. The script of the page calculates with 64-bit
/// floating-point numbers, so it rounds weights beyond 2⁵³.
pub fn render(collapsed: &str, title: &str, unit: &str) -> Result<String, MalformedStack> {
    page(collapsed, title, unit, false)
}

/// Returns the page that compares two profiles, A and B.
///
/// A line of `differential` has frames joined by `;`, a space, the weight in A, a space and the weight in
/// B, as `difffolded.pl` prints it. The width of a frame is the sum of both weights, so nothing is left
/// out. A frame is red if its weight is larger in B, and blue if it is smaller.
pub fn render_difference(
    differential: &str,
    title: &str,
    unit: &str,
) -> Result<String, MalformedStack> {
    page(differential, title, unit, true)
}

fn page(text: &str, title: &str, unit: &str, compares: bool) -> Result<String, MalformedStack> {
    let mut stacks = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let stack = match compares {
            true => parse_difference(line),
            false => parse_stack(line),
        };
        stacks.push(stack.ok_or(MalformedStack { line: index + 1 })?);
    }
    stacks.retain(|(_, weights)| *weights != [0, 0]);
    stacks.sort_unstable();
    let data = page_data(&stacks, title, unit, compares);
    // Texts and numbers always have a JSON form.
    let json = serde_json::to_string(&data).unwrap_or_default();
    Ok(TEMPLATE.replacen(DATA_MARK, &json.replace('<', "\\u003c"), 1))
}

/// The frames and the weight of a line.
fn parse_stack(line: &str) -> Option<Stack<'_>> {
    let (frames, weight) = line.rsplit_once(' ')?;
    Some((frames.split(';').collect(), [weight.parse().ok()?, 0]))
}

/// The frames and both weights of a line.
fn parse_difference(line: &str) -> Option<Stack<'_>> {
    let (line, b) = line.rsplit_once(' ')?;
    let (frames, [a, _]) = parse_stack(line)?;
    Some((frames, [a, b.parse().ok()?]))
}

/// Converts sorted stacks to nodes in preorder.
fn page_data<'a>(
    stacks: &[Stack<'a>],
    title: &'a str,
    unit: &'a str,
    compares: bool,
) -> PageData<'a> {
    let weights = if compares { 2 } else { 1 };
    let mut indices: HashMap<&str, u64> = HashMap::new();
    let mut data = PageData {
        title,
        unit,
        compares,
        names: Vec::new(),
        nodes: Vec::new(),
    };
    let mut before: &[&str] = &[];
    for (frames, own) in stacks {
        let common = before.iter().zip(frames).take_while(|(a, b)| a == b);
        let common = common.count();
        for (depth, name) in (0_u64..).zip(frames).skip(common) {
            let index = *indices.entry(name).or_insert_with(|| {
                data.names.push(name);
                data.names.len() as u64 - 1
            });
            data.nodes.extend([depth, index]);
            data.nodes.extend(&[0, 0][..weights]);
        }
        // The last node is the innermost frame, also if the stack equals the one before it.
        let first = data.nodes.len().saturating_sub(weights);
        for (sum, weight) in data.nodes[first..].iter_mut().zip(own) {
            *sum = sum.saturating_add(*weight);
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
    fn a_comparison_has_both_weights_of_each_stack() {
        let text = "main;find 7 0\nmain;serve 2 9\nmain 0 0\nmain;find 1 1\n";
        let page = render_difference(text, "a and b", "ns").unwrap();
        let data = parsed(&page);
        let expected = serde_json::json!([0, 0, 0, 0, 1, 1, 8, 1, 1, 2, 2, 9]);
        assert_eq!(
            (&data["nodes"], &data["compares"]),
            (&expected, &true.into())
        );
        for line in ["main 1", "main 1 x", "main x 1", "1 2", "main 1 -1"] {
            let error = render_difference(line, "", "");
            assert_eq!(error, Err(MalformedStack { line: 1 }), "{line}");
        }
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

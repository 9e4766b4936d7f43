//! The fragments of a method: its flow graph with counts on blocks and edges.

use ratatui::text::{Line, Span};
use veneer_instruments::table;

use super::Body;
use super::methods::letters;
use crate::top::figures::Block;
use crate::top::inside::Inside;
use crate::top::layout::{Line as Row, Way};
use crate::top::model::Model;
use crate::top::place::Place;
use crate::top::text::{clean, left, percent, rate, right, simple};
use crate::top::theme::Theme;

/// Columns from which on there is room for passes a second, and for variables.
const FOR_RATE: usize = 54;
const FOR_VARIABLES: usize = 66;
/// Of a block's or an edge's name.
const NAME: usize = 11;

/// Everything, from the first block to the last.
pub fn body(model: &Model, inside: &Inside, theme: Theme, width: usize) -> Body {
    if !inside.is_known() {
        return Body::default();
    }
    let names = inside.layout().width + NAME;
    let head = [
        left(" fragment", names),
        right("line", 5),
        right("passes", 15),
        if width >= FOR_RATE {
            right("per s", 11)
        } else {
            String::new()
        },
        "  on ".into(),
        if width >= FOR_VARIABLES {
            " live".into()
        } else {
            String::new()
        },
    ];
    let cursor = inside.cursor_line();
    let lines = inside
        .layout()
        .lines
        .iter()
        .enumerate()
        .map(|(index, drawn)| {
            let gutter = drawn.gutter.clone();
            match drawn.what {
                Row::Block(block) => match inside.graph().blocks.get(block) {
                    Some(block) => {
                        let line = of_block(model, inside, block, gutter, theme, width);
                        if index == cursor {
                            line.style(theme.selected())
                        } else {
                            line
                        }
                    }
                    None => Line::default(),
                },
                Row::Edge { from, to, way } => {
                    of_edge(inside, (from, to), way, gutter, theme, width)
                }
                Row::Exit => {
                    let above = inside
                        .layout()
                        .lines
                        .get(index.wrapping_sub(1))
                        .map(|d| d.what);
                    let end = match above {
                        Some(Row::Block(block)) => end_of(inside.graph().blocks.get(block)),
                        _ => "",
                    };
                    Line::from(vec![
                        Span::styled(gutter, theme.faint()),
                        Span::styled(format!("  {end}"), theme.faint()),
                    ])
                }
            }
        });
    Body {
        head: Line::from(Span::styled(head.concat(), theme.title())),
        lines: lines.collect(),
        cursor,
    }
}

/// How a block ends that no edge leaves.
fn end_of(block: Option<&Block>) -> &'static str {
    match block.and_then(|b| b.instructions.last()) {
        Some(last) if last.ends_with("return") => "return",
        Some(last) if last == "athrow" => "throw",
        _ => "end",
    }
}

fn of_block(
    model: &Model,
    inside: &Inside,
    block: &Block,
    gutter: String,
    theme: Theme,
    width: usize,
) -> Line<'static> {
    let passes = inside.passes(block.number);
    let part = match (passes, inside.most()) {
        (Some(passes), most) if most > 0 => passes.hits as f64 / most as f64,
        _ => 0.0,
    };
    let mark = match (block.header, block.reachable) {
        (_, false) => " –",
        (true, _) => " loop",
        _ => "",
    };
    let place = Place {
        fragment: Some(block.number),
        ..inside.place.clone()
    };
    let line = block.line.map(|l| l.to_string()).unwrap_or_default();
    let hits = passes.map_or("–".to_owned(), |p| table::count(p.hits));
    let mut spans = vec![
        Span::styled(gutter, theme.faint()),
        Span::styled(
            left(&format!("f{}{mark}", block.number), NAME),
            theme.title(),
        ),
        Span::styled(right(&line, 5), theme.faint()),
        Span::styled(right(&hits, 15), theme.heat(part)),
    ];
    if width >= FOR_RATE {
        let rate = passes.map(|p| rate(p.rate)).unwrap_or_default();
        spans.push(Span::raw(right(&rate, 11)));
    }
    spans.push(Span::styled(
        format!("  {:<4}", letters(model, &place)),
        theme.attached(),
    ));
    if width >= FOR_VARIABLES {
        let used: usize = spans.iter().map(|s| s.content.chars().count()).sum();
        let names: Vec<&str> = block.variables.iter().map(|v| v.name.as_str()).collect();
        let names = clean(&names.join(", "));
        spans.push(Span::styled(
            cut(&names, width.saturating_sub(used)),
            theme.faint(),
        ));
    }
    Line::from(spans)
}

fn of_edge(
    inside: &Inside,
    (from, to): (u32, u32),
    way: Way,
    gutter: String,
    theme: Theme,
    width: usize,
) -> Line<'static> {
    let passes = inside.passes_of_edge(from, to);
    let hits = passes.map_or("–".to_owned(), |p| table::count(p.hits));
    let name = format!("  {} f{to}", way.arrow());
    let mut spans = vec![
        Span::styled(gutter, theme.faint()),
        Span::raw(left(&name, NAME + 5)),
        Span::raw(right(&hits, 15)),
    ];
    if width >= FOR_RATE
        && let Some(passes) = passes
    {
        let share = percent(passes.hits, inside.leaving(from));
        spans.push(Span::styled(right(&share, 11), theme.faint()));
    }
    Line::from(spans)
}

/// The beginning of a text, where there is no room for all of it.
pub fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    let kept = text.chars().take(columns.saturating_sub(1));
    kept.chain(std::iter::once('…')).take(columns).collect()
}

/// The live variables of a block with their types.
pub fn variables(block: &Block) -> String {
    let all = block.variables.iter();
    let all: Vec<String> = all
        .map(|v| format!("{} {}", simple(&v.of), v.name))
        .collect();
    clean(&all.join(", "))
}

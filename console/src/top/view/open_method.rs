//! Draws the fragments of a method: its flow graph with the passes of blocks and edges.

use ratatui::text::{Line, Span};
use veneer_instruments::table;
use veneer_text::{replace_control_characters, shorten_end};

use super::body::BodyText;
use super::methods::letters;
use crate::flow_counts::Block;
use crate::top::layout::{Direction, LineContent};
use crate::top::location::MethodLocation;
use crate::top::model::Model;
use crate::top::open_method::OpenMethod;
use crate::top::text::{align_left, align_right, format_percent, format_rate, simple_name};
use crate::top::theme::Theme;

/// Minimum width in columns to show passes per second, and to show variables.
const MIN_WIDTH_FOR_RATE: usize = 54;
const MIN_WIDTH_FOR_VARIABLES: usize = 66;
/// Width in columns of the name of a block or an edge.
const NAME_WIDTH: usize = 11;

/// Draws all blocks and edges.
pub fn body(model: &Model, inside: &OpenMethod, theme: Theme, width: usize) -> BodyText {
    if !inside.is_known() {
        return BodyText::default();
    }
    let names = inside.layout().width + NAME_WIDTH;
    let head = [
        align_left(" fragment", names),
        align_right("line", 5),
        align_right("passes", 15),
        if width >= MIN_WIDTH_FOR_RATE {
            align_right("per s", 11)
        } else {
            String::new()
        },
        "  on ".into(),
        if width >= MIN_WIDTH_FOR_VARIABLES {
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
                LineContent::Block(block) => match inside.graph().blocks.get(block) {
                    Some(block) => {
                        let line = block_line(model, inside, block, gutter, theme, width);
                        if index == cursor {
                            line.style(theme.selected())
                        } else {
                            line
                        }
                    }
                    None => Line::default(),
                },
                LineContent::Edge {
                    from,
                    to,
                    direction,
                } => edge_line(inside, (from, to), direction, gutter, theme, width),
                LineContent::Exit => {
                    let above = inside
                        .layout()
                        .lines
                        .get(index.wrapping_sub(1))
                        .map(|d| d.what);
                    let end = match above {
                        Some(LineContent::Block(block)) => {
                            exit_name(inside.graph().blocks.get(block))
                        }
                        _ => "",
                    };
                    Line::from(vec![
                        Span::styled(gutter, theme.faint()),
                        Span::styled(format!("  {end}"), theme.faint()),
                    ])
                }
            }
        });
    BodyText {
        head: Line::from(Span::styled(head.concat(), theme.title())),
        lines: lines.collect(),
        cursor,
    }
}

/// How a block without outgoing edges ends.
fn exit_name(block: Option<&Block>) -> &'static str {
    match block.and_then(|b| b.instructions.last()) {
        Some(last) if last.ends_with("return") => "return",
        Some(last) if last == "athrow" => "throw",
        _ => "end",
    }
}

fn block_line(
    model: &Model,
    inside: &OpenMethod,
    block: &Block,
    gutter: String,
    theme: Theme,
    width: usize,
) -> Line<'static> {
    let passes = inside.passes(block.number);
    let part = match (passes, inside.max_hits()) {
        (Some(passes), most) if most > 0 => passes.hits as f64 / most as f64,
        _ => 0.0,
    };
    let mark = match (block.header, block.reachable) {
        (_, false) => " –",
        (true, _) => " loop",
        _ => "",
    };
    let location = MethodLocation {
        fragment: Some(block.number),
        ..inside.location.clone()
    };
    let line = block.line.map(|l| l.to_string()).unwrap_or_default();
    let hits = passes.map_or("–".to_owned(), |p| table::format_count(p.hits));
    let mut spans = vec![
        Span::styled(gutter, theme.faint()),
        Span::styled(
            align_left(&format!("f{}{mark}", block.number), NAME_WIDTH),
            theme.title(),
        ),
        Span::styled(align_right(&line, 5), theme.faint()),
        Span::styled(align_right(&hits, 15), theme.heat(part)),
    ];
    if width >= MIN_WIDTH_FOR_RATE {
        let rate = passes.map(|p| format_rate(p.rate)).unwrap_or_default();
        spans.push(Span::raw(align_right(&rate, 11)));
    }
    spans.push(Span::styled(
        align_left(&format!("  {}", letters(model, &location)), 6),
        theme.attached(),
    ));
    if width >= MIN_WIDTH_FOR_VARIABLES {
        let used: usize = spans.iter().map(Span::width).sum();
        let names: Vec<&str> = block.variables.iter().map(|v| v.name.as_str()).collect();
        let names = names.join(", ");
        let names = replace_control_characters(&names);
        spans.push(Span::styled(
            shorten_end(&names, width.saturating_sub(used)),
            theme.faint(),
        ));
    }
    Line::from(spans)
}

fn edge_line(
    inside: &OpenMethod,
    (from, to): (u32, u32),
    direction: Direction,
    gutter: String,
    theme: Theme,
    width: usize,
) -> Line<'static> {
    let passes = inside.passes_of_edge(from, to);
    let hits = passes.map_or("–".to_owned(), |p| table::format_count(p.hits));
    let name = format!("  {} f{to}", direction.arrow());
    let mut spans = vec![
        Span::styled(gutter, theme.faint()),
        Span::raw(align_left(&name, NAME_WIDTH + 5)),
        Span::raw(align_right(&hits, 15)),
    ];
    if width >= MIN_WIDTH_FOR_RATE
        && let Some(passes) = passes
    {
        let share = format_percent(passes.hits, inside.hits_leaving(from));
        spans.push(Span::styled(align_right(&share, 11), theme.faint()));
    }
    Line::from(spans)
}

/// The live variables of a block, with their types.
pub fn variables(block: &Block) -> String {
    let all = block.variables.iter();
    let all: Vec<String> = all
        .map(|v| format!("{} {}", simple_name(&v.type_name), v.name))
        .collect();
    replace_control_characters(&all.join(", ")).into_owned()
}

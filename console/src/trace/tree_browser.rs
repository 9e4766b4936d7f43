//! `veneer trace show` in a terminal: a tree whose nodes the user expands and collapses.

use std::time::Duration;

use anyhow::{Context, Result};
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Modifier, Style};
use ratatui::widgets::Paragraph;
use tui_tree_widget::{Tree, TreeItem, TreeState};

use crate::full_screen::{FullScreen, end_with_terminal};
use crate::interruption::Interruption;

/// How long to wait for a key before the signals are looked at again.
const KEY_TIMEOUT: Duration = Duration::from_millis(100);
/// The nodes that a page of keys passes.
const PAGE: usize = 20;
/// The most nodes that one key expands.
const MAX_EXPANDED: usize = 100_000;
/// The keys, in the last line of the screen.
const KEYS: &str =
    "↑↓ move  → expand  ← collapse  e all below  w longest path  c close all  q quit";

/// A line of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowserNode {
    /// The text of the line, without control characters.
    pub text: String,
    /// The duration in nanoseconds, by which the longest child is found.
    pub wall_ns: u64,
    /// The nodes below.
    pub children: Vec<BrowserNode>,
}

/// The tree and the part of it that is visible.
struct TreeBrowser {
    nodes: Vec<BrowserNode>,
    items: Vec<TreeItem<'static, usize>>,
    state: TreeState<usize>,
}

/// Shows the tree until the user leaves it.
///
/// # Errors
/// The terminal cannot be used.
pub fn run(nodes: Vec<BrowserNode>) -> Result<()> {
    let interruption = Interruption::catch()?;
    end_with_terminal()?;
    let mut browser = TreeBrowser::new(nodes)?;
    let mut screen = FullScreen::enter("--text")?;
    while !interruption.is_requested() {
        screen
            .draw(|frame| browser.draw(frame))
            .context("the terminal cannot be written to")?;
        if event::poll(KEY_TIMEOUT).context("the terminal cannot be read")?
            && let Event::Key(key) = event::read().context("the terminal cannot be read")?
            && key.kind != KeyEventKind::Release
            && !browser.press(key)
        {
            return Ok(());
        }
    }
    Ok(())
}

/// The items of the widget. The number of a node among its siblings is its identifier.
fn items(nodes: &[BrowserNode]) -> std::io::Result<Vec<TreeItem<'static, usize>>> {
    let item = |(number, node): (usize, &BrowserNode)| {
        TreeItem::new(number, node.text.clone(), items(&node.children)?)
    };
    nodes.iter().enumerate().map(item).collect()
}

impl TreeBrowser {
    /// Selects and expands the first node.
    fn new(nodes: Vec<BrowserNode>) -> Result<TreeBrowser> {
        let items = items(&nodes).context("the tree cannot be shown")?;
        let mut state = TreeState::default();
        if !nodes.is_empty() {
            state.select(vec![0]);
            state.open(vec![0]);
        }
        Ok(TreeBrowser {
            nodes,
            items,
            state,
        })
    }

    fn draw(&mut self, frame: &mut Frame) {
        let [tree, keys] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(1)]).areas(frame.area());
        // Equal identifiers among siblings are the only error, and numbers differ.
        if let Ok(widget) = Tree::new(&self.items) {
            let selected = Style::new().add_modifier(Modifier::REVERSED);
            let widget = widget.highlight_style(selected);
            frame.render_stateful_widget(widget, tree, &mut self.state);
        }
        let faint = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Paragraph::new(KEYS).style(faint), keys);
    }

    /// Reacts to a key. Returns whether the tree is still shown.
    fn press(&mut self, key: KeyEvent) -> bool {
        let state = &mut self.state;
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return false,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return false,
            KeyCode::Down | KeyCode::Char('j') => state.key_down(),
            KeyCode::Up | KeyCode::Char('k') => state.key_up(),
            KeyCode::Right | KeyCode::Char('l') => state.key_right(),
            KeyCode::Left | KeyCode::Char('h') => state.key_left(),
            KeyCode::Enter | KeyCode::Char(' ') => state.toggle_selected(),
            KeyCode::Home | KeyCode::Char('g') => state.select_first(),
            KeyCode::End | KeyCode::Char('G') => state.select_last(),
            KeyCode::PageDown => {
                state.select_relative(|at| at.map_or(0, |at| at.saturating_add(PAGE)))
            }
            KeyCode::PageUp => {
                state.select_relative(|at| at.map_or(0, |at| at.saturating_sub(PAGE)))
            }
            KeyCode::Char('c') => state.close_all(),
            KeyCode::Char('e') => {
                self.expand_below();
                true
            }
            KeyCode::Char('w') => {
                self.follow_longest();
                true
            }
            _ => false,
        };
        true
    }

    /// The node with this path.
    fn node(&self, path: &[usize]) -> Option<&BrowserNode> {
        let (first, rest) = path.split_first()?;
        let mut node = self.nodes.get(*first)?;
        for number in rest {
            node = node.children.get(*number)?;
        }
        Some(node)
    }

    /// Expands the selected node and all nodes below it.
    fn expand_below(&mut self) {
        let mut left = vec![self.state.selected().to_vec()];
        let mut expanded = 0;
        while let Some(path) = left.pop().filter(|_| expanded < MAX_EXPANDED) {
            let children = self.node(&path).map_or(0, |node| node.children.len());
            if children > 0 {
                let child = |number| [path.as_slice(), &[number]].concat();
                left.extend((0..children).map(child));
                self.state.open(path);
                expanded += 1;
            }
        }
    }

    /// Expands the longest child of the selected node, its longest child, and so on. Selects the last one.
    fn follow_longest(&mut self) {
        let mut path = self.state.selected().to_vec();
        while let Some(node) = self.node(&path) {
            let children = node.children.iter().enumerate();
            // The first of equally long ones.
            let longest = children.rev().max_by_key(|(_, child)| child.wall_ns);
            let Some((number, _)) = longest else {
                break;
            };
            self.state.open(path.clone());
            path.push(number);
        }
        self.state.select(path);
        self.state.scroll_selected_into_view();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn node(text: &str, wall_ns: u64, children: Vec<BrowserNode>) -> BrowserNode {
        BrowserNode {
            text: text.into(),
            wall_ns,
            children,
        }
    }

    fn browser() -> TreeBrowser {
        let find = node("find", 3, vec![node("read", 2, vec![])]);
        let serve = node("serve", 9, vec![node("lock", 1, vec![]), find]);
        let main = node("main", 10, vec![node("init", 1, vec![]), serve]);
        TreeBrowser::new(vec![main, node("idle", 0, vec![])]).unwrap()
    }

    /// The visible names, in the order of the lines.
    fn shown(browser: &mut TreeBrowser) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(30, 12)).unwrap();
        terminal.draw(|frame| browser.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let lines = buffer.content.chunks(30).take(11).map(|line| {
            let text: String = line.iter().map(|cell| cell.symbol()).collect();
            text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
        });
        lines.filter(|line| !line.is_empty()).collect()
    }

    fn press(browser: &mut TreeBrowser, keys: &[KeyCode]) {
        for key in keys {
            assert!(browser.press(KeyEvent::from(*key)));
        }
    }

    #[test]
    fn nodes_are_expanded_and_collapsed() {
        let mut browser = browser();
        assert_eq!(shown(&mut browser), ["main", "init", "serve", "idle"]);
        press(
            &mut browser,
            &[KeyCode::Down, KeyCode::Down, KeyCode::Right],
        );
        let expected = ["main", "init", "serve", "lock", "find", "idle"];
        assert_eq!(shown(&mut browser), expected);
        press(&mut browser, &[KeyCode::Left]);
        assert_eq!(shown(&mut browser), ["main", "init", "serve", "idle"]);
        press(&mut browser, &[KeyCode::Char('c')]);
        assert_eq!(shown(&mut browser), ["main", "idle"]);
        assert!(!browser.press(KeyEvent::from(KeyCode::Char('q'))));
    }

    #[test]
    fn everything_below_and_the_longest_path_are_expanded_by_one_key() {
        let mut browser = browser();
        press(&mut browser, &[KeyCode::Char('e')]);
        let all = ["main", "init", "serve", "lock", "find", "read", "idle"];
        assert_eq!(shown(&mut browser), all);
        press(
            &mut browser,
            &[KeyCode::Char('c'), KeyCode::Home, KeyCode::Char('w')],
        );
        assert_eq!(browser.state.selected(), [0, 1, 1, 0]);
        assert_eq!(shown(&mut browser), all);
    }
}

//! Pages of long answers. The first page of an answer has its first rows and its last line, which has
//! the totals; a cursor leads to the next page.

use std::collections::VecDeque;

/// The most characters of a page: 1,500 tokens, if a token has three characters. Tables of numbers and
/// names have more tokens per character than prose.
const PAGE_CHARACTERS: usize = 4_500;
/// The most characters of the notes of an answer.
const NOTE_CHARACTERS: usize = 600;
/// The most characters of a line.
const LINE_CHARACTERS: usize = 300;
/// The number of answers whose further pages are kept.
const KEPT_ANSWERS: usize = 16;

/// The rest of an answer.
struct Rest {
    number: u64,
    /// The first line of the answer: usually the titles of a table.
    title: String,
    lines: VecDeque<String>,
    command: String,
}

/// The rests of the newest answers.
#[derive(Default)]
pub struct Pages {
    last: u64,
    rests: VecDeque<Rest>,
}

impl Pages {
    /// Returns the first page of an answer, and keeps the rest.
    pub fn add(&mut self, text: &str, notes: &str, command: &str) -> String {
        let mut lines: VecDeque<String> = text.lines().map(cut).collect();
        let mut page = String::new();
        let notes: String = notes.chars().take(NOTE_CHARACTERS).collect();
        for note in notes.lines() {
            page += &format!("note: {note}\n");
        }
        if lines.is_empty() {
            page += "(no output)\n";
        }
        let total = lines.back().cloned().unwrap_or_default();
        let title = lines.front().cloned().unwrap_or_default();
        let room = PAGE_CHARACTERS.saturating_sub(characters(&page) + characters(&total) + 200);
        take_lines(&mut lines, room, &mut page);
        if !lines.is_empty() {
            self.last += 1;
            page += &format!(
                "… {} more lines: more(cursor: \"{}\")\n{total}\n",
                lines.len(),
                self.last
            );
            self.keep(Rest {
                number: self.last,
                title,
                lines,
                command: command.to_owned(),
            });
        }
        page + &format!("command: {command}")
    }

    /// Returns the next page of the answer to which a cursor belongs; `None` if there is none.
    pub fn take(&mut self, cursor: &str) -> Option<String> {
        let number: u64 = cursor.parse().ok()?;
        let at = self.rests.iter().position(|rest| rest.number == number)?;
        let mut rest = self.rests.remove(at)?;
        let mut page = format!("{}\n", rest.title);
        let room = PAGE_CHARACTERS.saturating_sub(characters(&page) + 200);
        take_lines(&mut rest.lines, room, &mut page);
        page += &match rest.lines.len() {
            0 => "(end)\n".to_owned(),
            left => format!("… {left} more lines: more(cursor: \"{cursor}\")\n"),
        };
        page += &format!("command: {}", rest.command);
        if !rest.lines.is_empty() {
            self.keep(rest);
        }
        Some(page)
    }

    fn keep(&mut self, rest: Rest) {
        self.rests.push_back(rest);
        if self.rests.len() > KEPT_ANSWERS {
            self.rests.pop_front();
        }
    }
}

fn characters(text: &str) -> usize {
    text.chars().count()
}

/// The line without spaces at its end, and cut if it is too long.
fn cut(line: &str) -> String {
    let line = line.trim_end();
    match characters(line) > LINE_CHARACTERS {
        true => line.chars().take(LINE_CHARACTERS).chain(['…']).collect(),
        false => line.to_owned(),
    }
}

/// Moves as many lines to the page as it has room for, and at least one.
fn take_lines(lines: &mut VecDeque<String>, room: usize, page: &mut String) {
    let mut left = room;
    let mut is_first = true;
    while let Some(line) = lines.front() {
        let length = characters(line) + 1;
        if length > left && !is_first {
            return;
        }
        left = left.saturating_sub(length);
        is_first = false;
        *page += line;
        page.push('\n');
        lines.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with a title, `rows` rows and a line of totals.
    fn table(rows: usize) -> String {
        let rows: Vec<String> = (0..rows).map(|n| format!("{n:>8}  shop.Desk")).collect();
        format!("   count  class\n{}\n9,999 in all", rows.join("\n"))
    }

    #[test]
    fn a_short_answer_is_one_page() {
        let mut pages = Pages::default();
        assert_eq!(
            pages.add("a\nb  \n", "attached: 1 method\n", "veneer count 1 A"),
            "note: attached: 1 method\na\nb\ncommand: veneer count 1 A"
        );
        assert_eq!(
            pages.add("", "", "veneer ps"),
            "(no output)\ncommand: veneer ps"
        );
        assert!(pages.take("1").is_none() && pages.take("x").is_none());
    }

    #[test]
    fn a_long_answer_has_its_total_on_the_first_page_and_each_row_once() {
        let mut pages = Pages::default();
        let first = pages.add(&table(1_000), "", "veneer count 1 A");
        assert!(first.chars().count() <= PAGE_CHARACTERS, "{}", first.len());
        assert!(first.contains("9,999 in all"));
        let mut all = first.clone();
        let mut count = 1;
        while let Some(page) = pages.take("1") {
            assert!(page.starts_with("   count  class\n"));
            assert!(page.chars().count() <= PAGE_CHARACTERS);
            all += &page;
            count += 1;
        }
        assert!(count > 3, "{count}");
        for n in 0..1_000 {
            let row = format!("\n{n:>8}  shop.Desk\n");
            assert_eq!(all.matches(&row).count(), 1, "{n}");
        }
        assert!(all.contains("(end)"));
    }

    #[test]
    fn only_the_newest_rests_and_no_long_lines_are_kept() {
        let mut pages = Pages::default();
        for _ in 0..KEPT_ANSWERS + 1 {
            pages.add(&table(1_000), "", "veneer");
        }
        assert!(pages.take("1").is_none());
        assert!(pages.take("2").is_some());
        let page = pages.add(&"é".repeat(10_000), "", "veneer");
        assert!(page.chars().count() < LINE_CHARACTERS + 50);
    }
}

//! An entry of the list of sessions.

use std::io;
use std::io::Write;

use super::row::Prose;
use super::row::wrap;
use super::row::write_rows;
use super::style::Role;
use super::style::Style;
use crate::report::CallCounts;
use crate::report::SessionEntry;

/// Draws a session: its agent, folder and counts; what was asked first; where its log lies. `when` is the time of its
/// last writing for people.
///
/// # Errors
/// What the writer says.
pub fn entry(out: &mut dyn Write, entry: &SessionEntry, when: &str, style: &Style) -> io::Result<()> {
    let glyphs = style.glyphs();
    let mut head = Prose::new().with(glyphs.bullet, Role::Dim).with(" ", Role::Plain);
    head.push(when, Role::Plain);
    head.push("  ", Role::Plain);
    head.push(&entry.agent, Role::Strong);
    head.push("  ", Role::Plain);
    head.push(entry.folder.as_deref().unwrap_or("(folder not recorded)"), Role::Plain);
    if entry.added + entry.removed > 0 {
        head.push("  ", Role::Plain);
        head.push(format!("+{}", entry.added), Role::Good);
        head.push(format!(" -{}", entry.removed), Role::Bad);
    }
    let counts = [calls(&entry.calls), plural(entry.files, "file")];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    head.push("  ", Role::Plain);
    let nothing = || "no edits".to_owned();
    let text = if counts.is_empty() { nothing() } else { counts.join(&format!(" {} ", glyphs.dot)) };
    head.push(text, Role::Dim);
    let mut rows = wrap(&head, 4, style);
    let prompt = entry.prompt.as_deref().map(|prompt| prompt.lines().next().unwrap_or_default());
    let prompt = prompt.map(|line| (shortened(line, style), Role::Plain));
    let unread = entry.message.as_ref().map(|message| (message.clone(), Role::Caution));
    let others = match plural(entry.sub_agent_logs.len(), "log") {
        Some(logs) => format!("  and {logs} of its sub-agents"),
        None => String::new(),
    };
    let path = (format!("{}{others}", entry.log), Role::Dim);
    for (text, role) in prompt.into_iter().chain(unread).chain([path]) {
        rows.extend(wrap(&Prose::new().with("  ", Role::Plain).with(text, role), 4, style));
    }
    write_rows(out, rows, style)
}

/// Returns a prompt in the columns of one row.
fn shortened(line: &str, style: &Style) -> String {
    let room = style.width.saturating_sub(4).max(20);
    match line.char_indices().nth(room) {
        Some((end, _)) => format!("{}{}", line[..end].trim_end(), style.glyphs().ellipsis),
        None => line.to_owned(),
    }
}

fn calls(calls: &CallCounts) -> Option<String> {
    let counts = [
        (calls.applied, "applied"),
        (calls.partial, "partial"),
        (calls.failed, "failed"),
        (calls.rejected, "rejected"),
        (calls.held, "held"),
        (calls.unknown, "unknown"),
    ];
    let words = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn plural(count: usize, word: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {word}")),
        _ => Some(format!("{count} {word}s")),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::report::SessionSchema;

    fn sample() -> SessionEntry {
        SessionEntry {
            schema: SessionSchema::V1,
            agent: "claude".to_owned(),
            log: "/home/u/.claude/projects/-w/1.jsonl".to_owned(),
            sub_agent_logs: vec!["a".to_owned()],
            folder: Some("/w".to_owned()),
            prompt: Some("Mend the parser\u{1b}[2J\nand more".to_owned()),
            modified: "2026-11-30T17:10:00Z".to_owned(),
            length_bytes: 9,
            calls: CallCounts { applied: 3, failed: 1, ..CallCounts::default() },
            files: 2,
            added: 10,
            removed: 4,
            message: None,
        }
    }

    fn drawn(value: &SessionEntry, width: usize) -> String {
        let mut out = Vec::new();
        entry(&mut out, value, "2026-11-30 17:10", &Style::plain(width)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_entry_has_all_that_tells_a_session() {
        assert_eq!(
            drawn(&sample(), 100),
            "\u{25cf} 2026-11-30 17:10  claude  /w  +10 -4  3 applied, 1 failed \u{b7} 2 files\n\
             \u{20} Mend the parser\u{241b}[2J\n\
             \u{20} /home/u/.claude/projects/-w/1.jsonl  and 1 log of its sub-agents\n"
        );
        let empty = SessionEntry {
            calls: CallCounts::default(),
            files: 0,
            added: 0,
            removed: 0,
            prompt: None,
            folder: None,
            ..sample()
        };
        assert!(drawn(&empty, 100).contains("claude  (folder not recorded)  no edits\n"));
    }

    #[test]
    fn no_row_is_wider_than_told() {
        for width in 1..120 {
            for row in drawn(&sample(), width).lines() {
                assert!(row.width() <= width, "{row}");
            }
        }
    }
}

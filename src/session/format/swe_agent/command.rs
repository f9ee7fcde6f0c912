//! A step's action to the edit that it asks for.
//!
//! ```text
//! action = "edit" N ":" M line* "end_of_edit"              lines N to M of the open file
//!        | "edit" N ":" M TEXT
//!        | "edit" OLD NEW ["--replace-all"]                a text of the open file
//!        | "edit" ...                                      others: between cursors, or all that is shown
//!        | "insert" TEXT [N]                               behind line N of the open file, or at its end
//!        | "create" PATH
//!        | "str_replace_editor" COMMAND PATH ("--" NAME VALUE)*
//!        | any other words for a shell
//! ```

use serde_json::Map;
use serde_json::Value;

/// What ends the lines of an edit.
const END_OF_EDIT: &str = "end_of_edit";

/// What an action asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// Puts lines in the place of others of the open file; numbers are 1-based and inclusive.
    Lines { first: usize, last: usize, text: String },
    /// Replaces a text of the open file.
    Replace { old: String, new: String, is_all: bool },
    /// Inserts lines behind a line of the open file, or at its end.
    Insert { text: String, after: Option<usize> },
    /// Changes the open file, but what it changes is not said.
    Somewhere,
    /// Makes a file with one empty line, and opens it.
    Create { path: String },
    /// The editor that has commands; its arguments are JSON.
    Editor { path: String, arguments: String },
    /// Only looks.
    Look,
    /// The end of the run.
    Submit,
    /// Anything, for a shell.
    Other,
}

/// Returns what an action asks for.
pub(super) fn parse(action: &str) -> Command {
    let (first_line, rest) = action.split_once('\n').unwrap_or((action, ""));
    let mut head = first_line.split_whitespace();
    match head.next() {
        Some("edit") => edit(action, first_line, rest),
        Some("insert") => {
            let words = words(action);
            match words.as_slice() {
                [_, text] => Command::Insert { text: text.clone(), after: None },
                [_, text, line] => line.parse().map_or(Command::Somewhere, |line| Command::Insert {
                    text: text.clone(),
                    after: Some(line),
                }),
                _ => Command::Somewhere,
            }
        }
        Some("create") => match words(action).as_slice() {
            [_, path] => Command::Create { path: path.clone() },
            _ => Command::Other,
        },
        Some("str_replace_editor") => editor(&words(action)).unwrap_or(Command::Other),
        Some("submit") => Command::Submit,
        Some(
            "open" | "goto" | "scroll_up" | "scroll_down" | "search_dir" | "search_file" | "find_file" | "ls"
            | "pwd" | "cat" | "grep" | "find" | "head" | "tail" | "filemap",
        ) if !action.contains(['>', ';', '|', '&']) => Command::Look,
        _ => Command::Other,
    }
}

fn edit(action: &str, first_line: &str, rest: &str) -> Command {
    let mut head = first_line.split_whitespace().skip(1);
    let range = head.next().and_then(|range| {
        let (first, last) = range.split_once(':')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    });
    // Lines below are those that come between the cursors.
    let Some((first, last)) = range else {
        if first_line.trim() == "edit" {
            return Command::Somewhere;
        }
        let words = words(action);
        let is_all = words.iter().any(|word| word == "--replace-all");
        let others: Vec<&String> = words.iter().skip(1).filter(|word| *word != "--replace-all").collect();
        return match others.as_slice() {
            [old, new] => Command::Replace { old: (*old).clone(), new: (*new).clone(), is_all },
            _ => Command::Somewhere,
        };
    };
    let text = match head.next() {
        // The text is the last word.
        Some(word) if !word.starts_with("<<") => match words(action).as_slice() {
            [_, _, text] if text.is_empty() => String::new(),
            [_, _, text] => format!("{text}\n"),
            _ => return Command::Somewhere,
        },
        _ => {
            let lines = rest.split('\n').take_while(|line| line.trim_end() != END_OF_EDIT);
            let text: String = lines.flat_map(|line| [line, "\n"]).collect();
            // Without the word that ends it, the newline at the end of the action is no line.
            let has_end = rest.lines().any(|line| line.trim_end() == END_OF_EDIT);
            if has_end { text } else { format!("{}\n", text.trim_end_matches('\n')) }
        }
    };
    Command::Lines { first, last, text }
}

fn editor(words: &[String]) -> Option<Command> {
    let (command, path) = (words.get(1)?, words.get(2)?);
    let mut fields = Map::new();
    fields.insert("command".to_owned(), Value::from(command.as_str()));
    fields.insert("path".to_owned(), Value::from(path.as_str()));
    let mut rest = words[3..].iter();
    while let Some(name) = rest.next() {
        let Some(name) = name.strip_prefix("--") else { continue };
        let (name, value) = match name.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (name, rest.next().cloned().unwrap_or_default()),
        };
        match name {
            "insert_line" => {
                let line: usize = value.parse().ok()?;
                fields.insert(name.to_owned(), Value::from(line));
            }
            "file_text" | "old_str" | "new_str" => {
                fields.insert(name.to_owned(), Value::from(value));
            }
            _ => {}
        }
    }
    if command == "view" {
        return Some(Command::Look);
    }
    Some(Command::Editor { path: path.clone(), arguments: Value::Object(fields).to_string() })
}

/// Returns the words of a shell's command: quotes join them, a backslash keeps what follows.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"'), '\\')
                if letters.peek().is_some_and(|next| matches!(next, '"' | '\\' | '$' | '`')) =>
            {
                word.get_or_insert_default().extend(letters.next());
            }
            (Some(_), letter) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(letters.next()),
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(action: &str, wanted: Command) {
        assert_eq!(parse(action), wanted, "{action}");
    }

    fn lines(first: usize, last: usize, text: &str) -> Command {
        Command::Lines { first, last, text: text.to_owned() }
    }

    fn replace(old: &str, new: &str, is_all: bool) -> Command {
        Command::Replace { old: old.to_owned(), new: new.to_owned(), is_all }
    }

    #[test]
    fn edits_of_every_generation_are_told() {
        check("edit 3:4\n  a\n\nb\nend_of_edit\n", lines(3, 4, "  a\n\nb\n"));
        check("edit 3:4\nend_of_edit", lines(3, 4, ""));
        check("edit 3:3\na\n", lines(3, 3, "a\n"));
        check("edit 3:3 <<'end_of_edit'\na\nend_of_edit", lines(3, 3, "a\n"));
        check("edit 3:3 'a\n b'", lines(3, 3, "a\n b\n"));
        check("edit 'a b' 'it'\"'\"'s'", replace("a b", "it's", false));
        check("edit \"say \\\"a\\\"\\n\" b --replace-all", replace("say \"a\"\\n", "b", true));
        check("edit\na\nend_of_edit", Command::Somewhere);
        check("insert 'x\ny'", Command::Insert { text: "x\ny".to_owned(), after: None });
        check("insert x 7", Command::Insert { text: "x".to_owned(), after: Some(7) });
        check("create a.py\n", Command::Create { path: "a.py".to_owned() });
        check("open a.py 3", Command::Look);
        check("cat a > b", Command::Other);
        check("submit\n", Command::Submit);
        check("", Command::Other);
    }

    #[test]
    fn the_editor_has_its_arguments_as_words() {
        let arguments = r#"{"command":"insert","insert_line":4,"new_str":"a b","path":"/t/f"}"#;
        check(
            "str_replace_editor insert /t/f --insert_line 4 --new_str 'a b'",
            Command::Editor { path: "/t/f".to_owned(), arguments: arguments.to_owned() },
        );
        check("str_replace_editor view /t/f --view_range 1 5", Command::Look);
        check("str_replace_editor", Command::Other);
    }
}

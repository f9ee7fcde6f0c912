//! The reader of any log that is none of a vendor's: finds the patches that are in it, whoever asked for them.
//!
//! In text, and in every string of JSON Lines or a JSON document, it looks for the patches of the dialects. In JSON it
//! also takes objects that have a path, an old and a new text, or edits, under whatever known spelling, and calls that
//! name a tool that edits files beside its arguments. What became of anything of that it can't know, and says so.

use std::borrow::Cow;
use std::collections::HashSet;

use memchr::memmem;
use serde_json::Map;
use serde_json::Value;

use crate::patch::Parser;
use crate::patch::args;
use crate::patch::args::spelling::Family;
use crate::patch::args::spelling::Role;
use crate::patch::args::spelling::role;
use crate::report::CardStatus;

use super::event::Begin;
use super::event::CallEvent;
use super::event::CallResult;
use super::event::Place;
use super::event::Request;
use super::text_patches::Found;
use super::text_patches::TextPatches;

/// The longest patch that is gathered from lines of text.
const PATCH_CAP_BYTES: usize = 32 << 20;

/// How deep JSON may be wrapped in strings of JSON.
const WRAPPED_CAP: usize = 4;

/// What begins the parts of a patch; a text without any of these has none.
const MARKERS: [&[u8]; 4] = [b"*** Begin Patch", b"diff --git ", b"+++ ", b" SEARCH"];

/// The keys of a call that name its tool, and of its arguments.
const TOOL_KEYS: [&str; 4] = ["name", "tool", "tool_name", "toolName"];
const ARGUMENT_KEYS: [&str; 6] = ["arguments", "args", "input", "parameters", "params", "tool_input"];

/// Finds patches.
#[derive(Debug, Default)]
pub struct Generic {
    text: Gather,
}

impl Generic {
    /// Reads one line: a JSON value, or text.
    pub fn line(&mut self, text: &str, line: usize, emit: &mut dyn FnMut(CallEvent<'_>)) {
        if text.trim_ascii_start().starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str(text)
        {
            self.finish(emit);
            let mut found = Finds::new(line, emit);
            found.value(value);
            return;
        }
        let text = text.strip_suffix('\r').unwrap_or(text);
        self.text.line(line, text, &mut |start, patch| Finds::new(start, emit).patch(patch));
    }

    /// Reads one element of a document.
    ///
    /// # Errors
    /// It is no JSON.
    pub fn element(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        let value = serde_json::from_str(text)?;
        Finds::new(line, emit).value(value);
        Ok(())
    }

    /// Ends the log, or a text in it.
    pub fn finish(&mut self, emit: &mut dyn FnMut(CallEvent<'_>)) {
        std::mem::take(&mut self.text).finish(&mut |start, patch| Finds::new(start, emit).patch(patch));
    }
}

/// What is found in one line or element.
struct Finds<'e> {
    line: usize,
    count: usize,
    /// What was told already: records often repeat a call in other words.
    seen: HashSet<Request<'static>>,
    emit: &'e mut dyn FnMut(CallEvent<'_>),
}

impl<'e> Finds<'e> {
    fn new(line: usize, emit: &'e mut dyn FnMut(CallEvent<'_>)) -> Self {
        Finds { line, count: 0, seen: HashSet::new(), emit }
    }

    fn tell(&mut self, tool: &str, request: Request<'static>) {
        if !self.seen.insert(request.clone()) {
            return;
        }
        self.count += 1;
        let call_id = format!("{}:{}", self.line, self.count);
        let place = Place { line: self.line, ..Place::default() };
        // Ended at once: nothing that follows could say more, and what is open is held.
        let result = CallResult::new(call_id.clone(), place.clone(), CardStatus::Unknown);
        (self.emit)(CallEvent::Begin(Begin {
            call_id: call_id.into(),
            tool: Cow::Borrowed(tool),
            request,
            place,
        }));
        (self.emit)(CallEvent::Result(Box::new(result)));
    }

    fn patch(&mut self, patch: String) {
        if !args::asked_text(patch.as_bytes()).patch.edits.is_empty() {
            self.tell("patch", Request::Patch(patch.into()));
        }
    }

    /// Looks for patches in a text.
    fn text(&mut self, text: &str) {
        let mut gather = Gather::default();
        for (index, line) in text.lines().enumerate() {
            gather.line(index, line, &mut |_, patch| self.patch(patch));
        }
        gather.finish(&mut |_, patch| self.patch(patch));
    }

    /// Looks for edits in a value: items in their order, fields in the order of their names.
    fn value(&mut self, value: Value) {
        let mut waiting = vec![(value, 0)];
        while let Some((value, wrapped)) = waiting.pop() {
            match value {
                Value::String(text) => {
                    let is_json = wrapped < WRAPPED_CAP && text.trim_ascii_start().starts_with(['{', '[']);
                    match serde_json::from_str(&text) {
                        Ok(value) if is_json => waiting.push((value, wrapped + 1)),
                        _ => {
                            if MARKERS.iter().any(|marker| memmem::find(text.as_bytes(), marker).is_some()) {
                                self.text(&text);
                            }
                        }
                    }
                }
                Value::Array(items) => waiting.extend(items.into_iter().rev().map(|item| (item, wrapped))),
                Value::Object(fields) => {
                    if !self.call(&fields) {
                        waiting.extend(fields.into_iter().rev().map(|(_, field)| (field, wrapped)));
                    }
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }

    /// Takes an object that is an edit, or a call of a tool that edits; tells whether it was one.
    fn call(&mut self, fields: &Map<String, Value>) -> bool {
        let has = |role_wanted| {
            fields.iter().any(|(key, value)| role(key.as_bytes()) == Some(role_wanted) && !value.is_null())
        };
        let named = TOOL_KEYS.iter().find_map(|key| fields.get(*key)?.as_str());
        let arguments = ARGUMENT_KEYS.iter().find_map(|key| fields.get(*key));
        if let (Some(tool), Some(arguments)) = (named, arguments)
            && matches!(
                Family::of(tool),
                Family::Write | Family::Edit | Family::Editor | Family::Patch | Family::Shell
            )
        {
            let text = match arguments {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            return self.arguments(tool, text);
        }
        let is_edit = has(Role::Path) && (has(Role::Old) && has(Role::New) || has(Role::Edits));
        is_edit && self.arguments("edit", Value::Object(fields.clone()).to_string())
    }

    fn arguments(&mut self, tool: &str, text: String) -> bool {
        let is_edit = args::asked(tool, text.as_bytes()).is_some_and(|asked| !asked.patch.edits.is_empty());
        if is_edit {
            self.tell(tool, Request::Arguments(text.into()));
        }
        is_edit
    }
}

/// Gathers the lines of patches out of the lines of a text.
#[derive(Debug)]
struct Gather {
    patches: TextPatches,
    open: Option<Open>,
}

/// A patch that goes on.
#[derive(Debug)]
struct Open {
    /// The line that told it.
    start: usize,
    /// Its lines, each with a newline.
    text: String,
    /// Knows where an edit ends.
    parser: Parser,
}

impl Default for Gather {
    fn default() -> Self {
        Gather { patches: TextPatches::of_log(), open: None }
    }
}

impl Gather {
    /// Takes the next line; hands out the patch that ended before or with it, and the number of its first line.
    fn line(&mut self, number: usize, line: &str, on_patch: &mut dyn FnMut(usize, String)) {
        let Gather { patches, open } = self;
        let is_outside =
            open.as_ref().is_some_and(|open| open.parser.is_outside() || open.parser.has_failed());
        patches.line(line.as_bytes(), is_outside, &mut |found| match found {
            Found::Begin(dialect) => {
                *open = Some(Open { start: number, text: String::new(), parser: Parser::new(dialect) });
            }
            Found::Line(line) => {
                if let Some(open) = open {
                    let start = open.text.len();
                    open.text.push_str(&String::from_utf8_lossy(line));
                    open.text.push('\n');
                    open.parser.push(&open.text.as_bytes()[start..], &mut |_| {});
                }
            }
            Found::End => {
                if let Some(ended) = open.take() {
                    on_patch(ended.start, ended.text);
                }
            }
        });
        if self.open.as_ref().is_some_and(|open| open.text.len() > PATCH_CAP_BYTES) {
            *self = Gather::default();
        }
    }

    fn finish(self, on_patch: &mut dyn FnMut(usize, String)) {
        if let Some(open) = self.open {
            on_patch(open.start, open.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Told = (usize, String, Request<'static>);

    fn told(lines: &[&str]) -> Vec<Told> {
        let mut told = Vec::new();
        let mut take = |event: CallEvent<'_>| {
            if let CallEvent::Begin(begin) = event {
                told.push((begin.place.line, begin.tool.into_owned(), begin.request.into_owned()));
            }
        };
        let mut generic = Generic::default();
        for (index, line) in lines.iter().enumerate() {
            generic.line(line, index + 1, &mut take);
        }
        generic.finish(&mut take);
        told
    }

    fn patch(line: usize, text: &str) -> Told {
        (line, "patch".to_owned(), Request::Patch(text.to_owned().into()))
    }

    fn arguments(line: usize, tool: &str, text: &str) -> Told {
        (line, tool.to_owned(), Request::Arguments(text.to_owned().into()))
    }

    #[test]
    fn patches_are_found_among_lines_of_text() {
        let lines = [
            "I do this:",
            "*** Begin Patch",
            "*** Delete File: a",
            "*** End Patch",
            "--- a",
            "not a diff",
            "diff --git a/b b/b",
            "--- a/b",
            "+++ b/b",
            "@@ -1 +1 @@",
            "-1",
            "+2",
            "and",
            "b.txt",
            "<<<<<<< SEARCH",
            "1",
            "=======",
            "2",
            ">>>>>>> REPLACE",
            "",
            "<<<<<<< SEARCH",
            "3",
            "=======",
            "4",
            ">>>>>>> REPLACE",
            "done, and",
            "nothing",
            "more",
            "*** Begin Patch",
            "*** Delete File: c",
        ];
        let text = |range: std::ops::Range<usize>| format!("{}\n", lines[range].join("\n"));
        assert_eq!(
            told(&lines),
            [
                patch(2, &text(1..4)),
                // Only the line behind a hunk tells that it ends; it means nothing to a parser.
                patch(7, &text(6..13)),
                // The lines above a block may name its file.
                patch(15, &text(13..25)),
                patch(29, &text(28..30)),
            ]
        );
    }

    #[test]
    fn edits_are_found_in_objects_of_any_shape() {
        let check = |line: &str, wanted: &[Told]| assert_eq!(told(&[line]), wanted, "{line}");
        let edit = r#"{"new_str":"2","old_str":"1","path":"a"}"#;
        check(edit, &[arguments(1, "edit", edit)]);
        check(&format!(r#"[[{{"x":{edit}}}],{edit}]"#), &[arguments(1, "edit", edit)]);
        let quoted = serde_json::to_string(edit).unwrap();
        check(&format!(r#"{{"name":"replace","arguments":{quoted}}}"#), &[arguments(1, "replace", edit)]);
        check(&format!(r#"{{"log":{quoted}}}"#), &[arguments(1, "edit", edit)]);
        let write = r#"{"content":"x","path":"a"}"#;
        check(&format!(r#"{{"tool":"write_file","input":{write}}}"#), &[arguments(1, "write_file", write)]);
        check(write, &[]);
        check(r#"{"name":"read","arguments":{"path":"a"}}"#, &[]);
        check(r#"{"path":"a","old_str":"1","new_str":null}"#, &[]);
        let text = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        let string = serde_json::to_string(text).unwrap();
        check(&format!(r#"{{"a":{{"b":[{string}]}}}}"#), &[patch(1, text)]);
        check(r#"{"a":"*** Begin Patch of nothing"}"#, &[]);
    }

    #[test]
    fn json_in_strings_is_unwrapped_only_so_often() {
        let mut line = r#"{"path":"a","old":"","oldText":"1","newText":"2"}"#.to_owned();
        for depth in 0..=WRAPPED_CAP + 1 {
            assert_eq!(told(&[&line]).len(), usize::from(depth <= WRAPPED_CAP), "{depth}");
            line = format!("[{}]", serde_json::to_string(&line).unwrap());
        }
    }

    #[test]
    fn a_patch_without_bounds_is_given_up() {
        let mut gather = Gather::default();
        let mut never = |_, _| panic!("a patch");
        gather.line(1, "*** Begin Patch", &mut never);
        let long = format!("+{}", "x".repeat(1 << 20));
        for number in 0..=PATCH_CAP_BYTES >> 20 {
            gather.line(number, &long, &mut never);
        }
        assert!(gather.open.is_none());
    }

    proptest! {
        #[test]
        fn no_text_panics(
            lines in prop::collection::vec(
                prop::sample::select(vec![
                    "*** Begin Patch", "*** End Patch", "*** Update File: a", "--- a", "+++ b", "@@ -1 +1 @@", "-x", "+y",
                    "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE", "a.txt", "", "{\"path\":1}", "```", "\u{e9}",
                ]),
                0..20,
            ),
        ) {
            told(&lines);
        }
    }
}

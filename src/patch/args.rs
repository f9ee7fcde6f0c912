//! Tool arguments of edit, write and patch calls, as JSON that may arrive in pieces.
//!
//! A layer, not a dialect: an object that names a path and old and new texts, a list of them, or the new content becomes
//! a file edit; one that holds a patch feeds the parser of its dialect. The keys of other agents' tools are understood
//! ([`spelling`] is the one table); keys that mean nothing are passed over, as those tools do, and kept nowhere.

mod asked;
pub mod spelling;
mod state;

use crate::report::Code;
use crate::report::Problem;
use crate::text::PathText;
use crate::text::json_reader::JsonError;
use crate::text::json_reader::JsonReader;

use super::Body;
use super::Builder;
use super::FileEdit;
use super::Parsed;
use super::PatchEvent;

pub use asked::Asked;
pub use asked::asked;
pub use asked::asked_text;
use spelling::Family;
use state::State;

/// What is wrong with tool arguments.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgsError {
    /// The text is no JSON.
    #[error("the arguments are not valid JSON: {0}")]
    Json(#[from] JsonError),
    /// A string that should hold JSON does not; the offset is one in its own text.
    #[error("'{key}' in the arguments is not valid JSON: {error} of its text")]
    JsonInString {
        /// The key as it was written.
        key: String,
        /// What is wrong.
        error: JsonError,
    },
    /// The text is JSON, but no object.
    #[error("the arguments are not a JSON object")]
    NotAnObject,
    /// A key that is needed is not there.
    #[error("the arguments lack '{0}'")]
    Missing(&'static str),
    /// A value has the wrong type.
    #[error("'{key}' in the arguments is not {expected}")]
    Type {
        /// The key as it was written.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Two keys mean the same, or one stands there twice.
    #[error("'{key}' at byte {offset_bytes} of the arguments says again what '{first}' says")]
    Twice {
        /// The second key.
        key: String,
        /// The first.
        first: String,
        /// 0-based byte offset of the second.
        offset_bytes: usize,
    },
    /// Two keys ask for different things.
    #[error("'{key}' in the arguments does not go with '{other}'")]
    Conflict {
        /// The second key.
        key: String,
        /// The first.
        other: String,
    },
    /// A list of edits is empty.
    #[error("'edits' in the arguments is empty")]
    NoEdits,
    /// The arguments are understood and change nothing.
    #[error("the arguments ask for no edit")]
    NoEdit,
    /// An insertion has no text.
    #[error("the arguments insert nothing")]
    NothingToInsert,
    /// A path is empty.
    #[error("'{key}' in the arguments is empty")]
    EmptyPath {
        /// The key as it was written.
        key: String,
    },
    /// A text is too long.
    #[error("'{key}' in the arguments is longer than {cap_bytes} bytes")]
    TooLong {
        /// The key as it was written.
        key: String,
        /// The cap.
        cap_bytes: usize,
    },
    /// An editor has no such command.
    #[error("'{command}' is no command of the editor")]
    Command {
        /// What was asked for.
        command: String,
    },
    /// The patch in the arguments is not well-formed.
    #[error("{}", .0.message)]
    Patch(Box<Problem>),
}

impl From<ArgsError> for Box<Problem> {
    fn from(error: ArgsError) -> Self {
        match error {
            ArgsError::Patch(problem) => problem,
            other => Box::new(Problem::new(Code::Malformed, other.to_string())),
        }
    }
}

/// Reads the arguments of one call in pieces of any size; how they are cut never changes what is asked for.
///
/// A path that comes late opens the file edit with an empty path and is [`PatchEvent::Named`] later. After something
/// malformed nothing more is said, whatever is pushed.
///
/// ```
/// use hunkwise::patch::{Builder, args::Args};
/// let mut args = Args::new("edit");
/// let mut builder = Builder::default();
/// for piece in [r#"{"path":"a","old_str"#, r#"ing":"x\n","new_string":"y"#] {
///     args.push(piece.as_bytes(), &mut |event| builder.fold(&event));
/// }
/// assert_eq!(builder.patch().edits[0].path.shown(), "a");
/// ```
#[derive(Debug)]
pub struct Args {
    reader: JsonReader,
    state: State,
    failed: bool,
}

impl Args {
    /// Returns a parser for the arguments of a tool; of a name that is not known, the keys tell what it does.
    pub fn new(tool: &str) -> Self {
        Args { reader: JsonReader::default(), state: State::new(Family::of(tool)), failed: false }
    }

    /// Tells whether something malformed has ended the arguments.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Takes a piece of the arguments; says what is certain.
    pub fn push(&mut self, piece: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) {
        if !self.failed
            && let Err(error) = self.try_push(piece, say)
        {
            self.failed = true;
            say(PatchEvent::Malformed(error.into()));
        }
    }

    /// Ends the arguments.
    pub fn finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) {
        if !self.failed
            && let Err(error) = self.try_finish(say)
        {
            self.failed = true;
            say(PatchEvent::Malformed(error.into()));
        }
    }

    fn try_push(&mut self, piece: &[u8], say: &mut dyn FnMut(PatchEvent<'_>)) -> Result<(), ArgsError> {
        let Args { reader, state, .. } = self;
        reader.push(piece, &mut |at, token| state.token(at, token, say))
    }

    fn try_finish(&mut self, say: &mut dyn FnMut(PatchEvent<'_>)) -> Result<(), ArgsError> {
        let Args { reader, state, .. } = self;
        reader.finish(&mut |at, token| state.token(at, token, say))
    }
}

/// Reads the whole arguments of a call of a tool.
pub fn parse(tool: &str, arguments: &[u8]) -> Parsed {
    let mut args = Args::new(tool);
    let mut parsed = Parsed::default();
    let mut builder = Builder::default();
    let mut take = |event: PatchEvent<'_>| {
        builder.fold(&event);
        match event {
            PatchEvent::Tolerated { note, line_number } => parsed.notes.push((note, line_number)),
            PatchEvent::Malformed(problem) => parsed.malformed = Some(*problem),
            _ => {}
        }
    };
    args.push(arguments, &mut take);
    args.finish(&mut take);
    parsed.patch = builder.into_patch();
    parsed
}

/// Reads the arguments of an edit call: one file edit. An empty old text creates a missing file.
///
/// # Errors
/// [`ArgsError`].
pub fn edit(arguments: &[u8]) -> Result<FileEdit, ArgsError> {
    one("edit", arguments)
}

/// Reads the arguments of a write call.
///
/// # Errors
/// [`ArgsError`].
pub fn write(arguments: &[u8]) -> Result<FileEdit, ArgsError> {
    one("write", arguments)
}

fn one(tool: &str, arguments: &[u8]) -> Result<FileEdit, ArgsError> {
    let mut args = Args::new(tool);
    let mut builder = Builder::default();
    let mut take = |event: PatchEvent<'_>| builder.fold(&event);
    args.try_push(arguments, &mut take)?;
    args.try_finish(&mut take)?;
    builder.into_patch().edits.pop().ok_or(ArgsError::NoEdit)
}

/// Returns a file edit that comes from no patch text.
pub fn file_edit(path: PathText, body: Body) -> FileEdit {
    FileEdit {
        path,
        move_to: None,
        is_copy: false,
        mode: None,
        mode_before: None,
        body,
        line_number: 0,
        expect_sha256: None,
        complete: true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Content;
    use super::super::Existing;
    use super::super::Hunk;
    use super::super::ReplaceCount;
    use super::*;

    fn replaces(arguments: &str) -> Vec<(String, String, ReplaceCount)> {
        let Body::Hunks(hunks) = edit(arguments.as_bytes()).unwrap().body else { panic!("no hunks") };
        let shown = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        hunks
            .into_iter()
            .map(|hunk| match hunk {
                Hunk::Replace(replace) => (shown(replace.old), shown(replace.new), replace.count),
                Hunk::Lines(_) | Hunk::Binary(_) => panic!("no replacement"),
            })
            .collect()
    }

    #[test]
    fn every_spelling_is_read() {
        let one = |count| vec![("a".to_owned(), "b".to_owned(), count)];
        assert_eq!(
            replaces(r#"{"file_path":"f","old_string":"a","new_string":"b"}"#),
            one(ReplaceCount::One)
        );
        assert_eq!(
            replaces(r#"{"filePath":"f","oldString":"a","newString":"b","replaceAll":true}"#),
            one(ReplaceCount::All)
        );
        assert_eq!(
            replaces(r#"{"file_path":"f","old_string":"a","new_string":"b","expected_replacements":2}"#),
            one(ReplaceCount::Exactly(2))
        );
        assert_eq!(
            replaces(r#"{"path":"f","edits":[{"oldText":"a","newText":"b"}]}"#),
            one(ReplaceCount::One)
        );
        assert_eq!(
            replaces(r#"{"path":"f","edits":"[{\"oldText\":\"a\",\"newText\":\"b\"}]"}"#),
            one(ReplaceCount::One)
        );
    }

    #[test]
    fn an_empty_old_text_creates() {
        let made = edit(br#"{"file_path":"f","old_string":"","new_string":"x\n"}"#).unwrap();
        let content = Content { bytes: b"x\n".to_vec(), existing: Existing::Refuse, keep_style: false };
        assert_eq!(made.body, Body::Content(content));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |text: &str| edit(text.as_bytes()).unwrap_err().to_string();
        assert!(wrong("{\"file_path\":").contains("not valid JSON"));
        assert_eq!(wrong("[]"), "the arguments are not a JSON object");
        assert_eq!(wrong(r#"{"file_path":"f","new_string":"b"}"#), "the arguments lack 'old_string'");
        assert_eq!(wrong(r#"{"old_string":"a","new_string":"b"}"#), "the arguments lack 'file_path'");
        assert_eq!(
            wrong(r#"{"path":1,"old_string":"a","new_string":"b"}"#),
            "'path' in the arguments is not a string"
        );
        assert_eq!(wrong(r#"{"path":"f","edits":[]}"#), "'edits' in the arguments is empty");
    }

    /// What a call says, one line an event; pieces of one text are joined.
    fn said(tool: &str, pieces: &[&[u8]]) -> Vec<String> {
        let mut args = Args::new(tool);
        let mut said: Vec<(&str, String)> = Vec::new();
        let mut bytes: Vec<u8> = Vec::new();
        let mut say = |event: PatchEvent<'_>| {
            let (kind, text): (&str, &[u8]) = match &event {
                PatchEvent::Bytes { bytes } => ("bytes", bytes),
                PatchEvent::Old { text } => ("old", text),
                PatchEvent::New { text } => ("new", text),
                _ => ("", b""),
            };
            if kind.is_empty() {
                said.push((
                    "",
                    match event {
                        PatchEvent::FileOpened { path, kind, .. } => format!("{kind:?} {}", path.shown()),
                        PatchEvent::Named { path } => format!("named {}", path.shown()),
                        PatchEvent::HunkOpened { stated_old_start, stated_old_lines, .. } => {
                            format!("hunk {stated_old_start:?} {stated_old_lines:?}")
                        }
                        PatchEvent::Line { kind, text } => {
                            format!("{}{}", kind.sign(), String::from_utf8_lossy(text))
                        }
                        PatchEvent::Count { count } => format!("{count:?}"),
                        PatchEvent::Malformed(problem) => format!("malformed: {}", problem.message),
                        other => format!("{other:?}"),
                    },
                ));
                return;
            }
            if said.last().is_none_or(|(last, _)| *last != kind) {
                bytes.clear();
                said.push((kind, String::new()));
            }
            bytes.extend_from_slice(text);
            if let Some((_, joined)) = said.last_mut() {
                *joined = format!("{kind} {}", String::from_utf8_lossy(&bytes));
            }
        };
        for piece in pieces {
            args.push(piece, &mut say);
        }
        args.finish(&mut say);
        said.into_iter().map(|(_, line)| line).collect()
    }

    /// Checks what a call says, and that every cut in two, and single bytes, say the same.
    fn check(tool: &str, arguments: &str, expected: &[&str]) {
        let whole = said(tool, &[arguments.as_bytes()]);
        assert_eq!(whole, expected, "{arguments}");
        for cut in 0..arguments.len() {
            let (head, tail) = arguments.as_bytes().split_at(cut);
            assert_eq!(said(tool, &[head, tail]), whole, "cut at {cut} of {arguments}");
        }
        let bytes: Vec<&[u8]> = arguments.as_bytes().chunks(1).collect();
        assert_eq!(said(tool, &bytes), whole, "byte by byte: {arguments}");
    }

    #[test]
    fn an_edit_is_said_as_it_grows() {
        check(
            "edit",
            r#"{"file_path":"a\/b","old_string":"x\ny","new_string":"\ud83d\ude00\u00e9","replace_all":true}"#,
            &[
                "Update a/b",
                "ReplaceOpened",
                "old x\ny",
                "OldDone",
                "new 😀é",
                "All",
                "HunkClosed",
                "FileClosed",
            ],
        );
        check(
            "mcp__files__Edit",
            r#"{"replaceAll":true,"newString":"y","other":{"path":["old_string",{}]},"oldString":"x","filePath":"f"}"#,
            &[
                "Update ",
                "ReplaceOpened",
                "All",
                "old x",
                "OldDone",
                "new y",
                "named f",
                "HunkClosed",
                "FileClosed",
            ],
        );
        check("edit", r#"{"path":"f","old_text":"","new_text":"x"}"#, &["Create f", "bytes x", "FileClosed"]);
    }

    #[test]
    fn a_list_of_edits_is_said_one_by_one() {
        let expected = [
            "Update f",
            "ReplaceOpened",
            "old a",
            "OldDone",
            "new b",
            "HunkClosed",
            "ReplaceOpened",
            "All",
            "new d",
            "old c",
            "OldDone",
            "HunkClosed",
            "FileClosed",
        ];
        let list = r#"[{"oldText":"a","newText":"b","note":[1,{"old_string":2}]},{"replace_all":true,"newText":"d","oldText":"c"}]"#;
        check("edit", &format!(r#"{{"path":"f","edits":{list}}}"#), &expected);
        let string = serde_json::Value::from(list).to_string();
        check("multi_edit", &format!(r#"{{"path":"f","edits":{string}}}"#), &expected);
    }

    #[test]
    fn content_is_said_as_it_grows() {
        let expected = ["Write f", "bytes x\n", "FileClosed"];
        check("write", r#"{"file_path":"f","content":"x\n"}"#, &expected);
        check("write_file", r#"{"absolute_path":"f","contents":"x\n","old_string":[]}"#, &expected);
        check(
            "write",
            r#"{"content":"x\n","file_path":"f"}"#,
            &["Write ", "bytes x\n", "named f", "FileClosed"],
        );
        check("write", r#"{"file_path":"f","content":""}"#, &["Write f", "FileClosed"]);
        check("who_knows", r#"{"path":"f","content":"x\n"}"#, &expected);
    }

    #[test]
    fn the_commands_of_an_editor_are_understood() {
        let tool = "str_replace_based_edit_tool";
        check(
            tool,
            r#"{"command":"create","path":"f","file_text":"x","old_str":""}"#,
            &["Create f", "bytes x", "FileClosed"],
        );
        let replace = ["Update f", "ReplaceOpened", "old a", "OldDone", "new b", "HunkClosed", "FileClosed"];
        check(tool, r#"{"command":"str_replace","path":"f","old_str":"a","new_str":"b"}"#, &replace);
        check(
            tool,
            r#"{"new_str":"b","old_str":"a","file_text":"","path":"f","command":"str_replace"}"#,
            &replace,
        );
        check(
            tool,
            r#"{"command":"str_replace","path":"f","old_str":"a"}"#,
            &["Update f", "ReplaceOpened", "old a", "OldDone", "HunkClosed", "FileClosed"],
        );
        let insert = ["Update f", "hunk Some(2) Some(0)", "+a", "+b", "HunkClosed", "FileClosed"];
        check(tool, r#"{"command":"insert","path":"f","insert_line":2,"new_str":"a\nb\n"}"#, &insert);
        check(tool, r#"{"command":"insert","path":"f","insert_text":"a\nb","insert_line":2}"#, &insert);
        check("editor", r#"{"path":"f","insert_line":3,"new_text":"a\nb"}"#, &insert);
        check("editor", r#"{"path":"f","new_text":"a"}"#, &["Create f", "bytes a", "FileClosed"]);
        check(tool, r#"{"command":"view","path":"f","view_range":[1,2]}"#, &[]);
        check(tool, r#"{"command":"undo_edit","path":"f"}"#, &[]);
    }

    #[test]
    fn a_patch_is_read_in_its_dialect() {
        check(
            "functions.apply_patch",
            r#"{"input":"*** Begin Patch\n*** Delete File: d\n*** End Patch"}"#,
            &["Delete d", "FileClosed"],
        );
        let block = r#""------- SEARCH\nx\n=======\ny\n+++++++ REPLACE\n""#;
        let lines = ["hunk None None", "-x", "+y", "Narrowed", "HunkClosed"];
        check(
            "replace_in_file",
            &format!(r#"{{"path":"f","diff":{block}}}"#),
            &[&["Update f"][..], &lines, &["FileClosed"]].concat(),
        );
        check(
            "apply_diff",
            &format!(r#"{{"diff":{block},"path":"f"}}"#),
            &[&["Update "][..], &lines, &["named f", "FileClosed"]].concat(),
        );
        check(
            "apply_diff",
            &format!(r#"{{"diff":{block}}}"#),
            &[&["Update "][..], &lines, &["malformed: the arguments lack 'file_path'"]].concat(),
        );
        check(
            "any",
            r#"{"patchText":"words"}"#,
            &[
                "Tolerated { note: \"text outside of the patch passed over: line 1\", line_number: 1 }",
                "malformed: no patch found: there is no line '*** Begin Patch', no 'diff --git', no '--- ' line with a '+++ ' line after it and no '<<<<<<< SEARCH'",
            ],
        );
    }

    #[test]
    fn what_is_malformed_is_named_however_it_is_cut() {
        let malformed = |tool: &str, arguments: &str| {
            let whole = said(tool, &[arguments.as_bytes()]);
            let bytes: Vec<&[u8]> = arguments.as_bytes().chunks(1).collect();
            assert_eq!(said(tool, &bytes), whole, "{arguments}");
            let last = whole.last().cloned().unwrap_or_default();
            last.strip_prefix("malformed: ").unwrap_or_else(|| panic!("{arguments}: {whole:?}")).to_owned()
        };
        for (tool, arguments, words) in [
            (
                "edit",
                r#"{"file_path":"f","old_string":"a","new_st"#,
                "the end of a string, found the end at byte 41",
            ),
            (
                "edit",
                r#"{"path":"f","path":"g"}"#,
                "'path' at byte 12 of the arguments says again what 'path' says",
            ),
            ("edit", r#"{"path":"f","file_path":"g"}"#, "says again what 'path' says"),
            (
                "edit",
                r#"{"path":"f","old_str":"a","new_str":"b"} x"#,
                "expected the end, found 'x' at byte 41",
            ),
            (
                "edit",
                r#"{"path":"f","old_str":"a","edits":[]}"#,
                "'edits' in the arguments does not go with 'old_str'",
            ),
            (
                "edit",
                r#"{"path":"f","new_str":"a","edits":[{"old_str":"a","new_str":"b"}]}"#,
                "'new_str' in the arguments does not go with 'edits'",
            ),
            (
                "any",
                r#"{"path":"f","old_str":"a","content":"b"}"#,
                "'content' in the arguments does not go with 'old_str'",
            ),
            ("edit", r#"{"path":"f","edits":["x"]}"#, "'edits' in the arguments is not a list of objects"),
            ("edit", r#"{"path":"f","edits":[{"old_str":"a"}]}"#, "lack 'new_string'"),
            (
                "edit",
                r#"{"path":"f","edits":"[{]"}"#,
                "'edits' in the arguments is not valid JSON: expected a key or '}', found ']' at byte 2 of its text",
            ),
            ("edit", r#"{"path":"f","edits":"[] []"}"#, "is empty"),
            ("edit", r#"{"path":"f","edits":7}"#, "not a list of objects"),
            ("edit", r#"{"path":"f","old_str":"a","new_str":null}"#, "lack 'new_string'"),
            (
                "edit",
                r#"{"path":"f","old_str":"a","new_str":7}"#,
                "'new_str' in the arguments is not a string",
            ),
            ("edit", r#"{"path":"f","replace_all":"yes"}"#, "not true or false"),
            ("edit", r#"{"path":"f","expected_replacements":1.5}"#, "not a count"),
            ("edit", r#"{"path":""}"#, "'path' in the arguments is empty"),
            ("edit", r#"{"path":"f","content":"x"}"#, "lack 'old_string'"),
            ("edit", r#"{"path":"f","old_str":"\ud83d"}"#, "half a surrogate pair"),
            ("write", r#"{"path":"f"}"#, "lack 'content'"),
            ("write", r#"{"content":"f"}"#, "lack 'file_path'"),
            ("str_replace_editor", r#"{"path":"f","old_str":"a"}"#, "lack 'command'"),
            ("str_replace_editor", r#"{"command":"frob"}"#, "'frob' is no command"),
            ("str_replace_editor", r#"{"command":"insert","path":"f","new_str":"a"}"#, "lack 'insert_line'"),
            (
                "str_replace_editor",
                r#"{"command":"insert","path":"f","insert_line":0,"new_str":""}"#,
                "insert nothing",
            ),
            (
                "str_replace_editor",
                r#"{"command":"insert","path":"f","insert_line":-1}"#,
                "not a line number",
            ),
            (
                "any",
                r#"{"old_str":"a","path":"f","command":"view"}"#,
                "'command' in the arguments does not go with 'old_str'",
            ),
            ("apply_patch", r#"{"input":"*** Begin Patch\nx\n"}"#, "expected a file header"),
        ] {
            let message = malformed(tool, arguments);
            assert!(message.contains(words), "{arguments}: {message}");
        }
        let deep = format!(r#"{{"path":"f","x":{}}}"#, "[".repeat(200));
        assert!(malformed("edit", &deep).contains("nesting deeper"));
    }

    fn any_key_order() -> impl Strategy<Value = Vec<(&'static str, String)>> {
        (any::<String>(), any::<String>(), any::<bool>()).prop_flat_map(|(old, new, all)| {
            let quote = |text: &str| serde_json::Value::from(text).to_string();
            Just(vec![
                ("file_path", quote("f")),
                ("old_string", quote(&old)),
                ("new_string", quote(&new)),
                ("replace_all", all.to_string()),
                ("explanation", r#"{"old_string":[[],"x"]}"#.to_owned()),
            ])
            .prop_shuffle()
        })
    }

    proptest! {
        #[test]
        fn pieces_say_what_serde_reads(fields in any_key_order(), cuts in prop::collection::vec(0usize..400, 0..6)) {
            let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
            let text = format!("{{{}}}", fields.join(" , "));
            let value: serde_json::Value = serde_json::from_str(&text).unwrap();
            let texts = |key: &str| value[key].as_str().unwrap().as_bytes().to_vec();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &text.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(said("edit", &pieces), said("edit", &[text.as_bytes()]));
            let made = edit(text.as_bytes()).unwrap();
            prop_assert_eq!(made.path.shown(), "f");
            match made.body {
                Body::Content(content) => {
                    prop_assert_eq!(texts("old_string"), b"");
                    prop_assert_eq!(content.bytes, texts("new_string"));
                }
                Body::Hunks(hunks) => {
                    let Hunk::Replace(replace) = &hunks[0] else { panic!("lines") };
                    prop_assert_eq!(&replace.old, &texts("old_string"));
                    prop_assert_eq!(&replace.new, &texts("new_string"));
                    prop_assert_eq!(replace.count == ReplaceCount::All, value["replace_all"].as_bool().unwrap());
                    prop_assert!(replace.old_is_complete);
                }
                Body::Delete(_) => panic!("a delete"),
            }
        }

        #[test]
        fn no_input_panics_and_cuts_change_nothing(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ":", ",", "\"path\":\"f\"", "\"old_str\":\"a\"", "\"new_str\":\"b\"", "\"edits\":",
                    "\"edits\":\"[{\"", "\"command\":\"insert\"", "\"insert_line\":1", "\"content\":\"x\"", "\"diff\":\"x\"",
                    "\"file_text\":\"y\"", "null", "7", "\"command\":\"create\"", "\"new_text\":\"\\n\"",
                ]),
                0..16,
            ),
            tool in prop::sample::select(vec!["edit", "write", "str_replace_editor", "apply_patch", "any"]),
        ) {
            for text in [words.concat(), format!("{{{}}}", words.join(","))] {
                let whole = said(tool, &[text.as_bytes()]);
                prop_assert_eq!(said(tool, &text.as_bytes().chunks(1).collect::<Vec<_>>()), whole, "{}", text);
            }
        }
    }
}

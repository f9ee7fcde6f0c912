//! What a whole call asks for, as a log has stored it: lenient where [`Args`] is strict.
//!
//! A log holds calls of any tool, good ones and bad ones. Here nothing is refused: what is certain of a malformed call is
//! kept, an edit of which only the path is known has no hunks, and a call that edits no file is none.

use serde_json::Value;

use crate::report::Problem;
use crate::text::PathText;

use super::super::Body;
use super::super::Builder;
use super::super::Dialect;
use super::super::FileEdit;
use super::super::Hunk;
use super::super::LineHunk;
use super::super::LineKind;
use super::super::Parsed;
use super::super::Patch;
use super::super::PatchEvent;
use super::super::parser;
use super::super::shell;
use super::super::shell::ShellPatch;
use super::Args;
use super::file_edit;
use super::spelling;
use super::spelling::Command;
use super::spelling::Family;

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// The file edits that are certain. One without hunks and without a new path is one of which only the path is known.
    pub patch: Patch,
    /// Why there may be more to it: the arguments, or the patch in them, are not well-formed.
    pub problem: Option<Problem>,
}

impl From<Parsed> for Asked {
    fn from(parsed: Parsed) -> Self {
        Asked { patch: parsed.patch, problem: parsed.malformed }
    }
}

/// Returns what a call asks for, given the name of its tool and its arguments as JSON. `None` if it edits no file, as far
/// as they tell: an editor's `view`, a shell command that runs no apply_patch, a tool that is not known and has no keys of
/// an edit.
///
/// The names and keys are those of [`spelling`](super::spelling), in any case and behind any server's name; for a shell,
/// `command` or `cmd` as words or as a script, and paths are those behind its `workdir` and `cd`. Of a notebook the new
/// source of the cell is in added lines: what it replaces is not told.
///
/// ```
/// use hunkwise::patch::args::asked;
/// let call = br#"{"command":["bash","-lc","cd src && apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE"]}"#;
/// assert_eq!(asked("shell", call).unwrap().patch.edits[0].path.shown(), "src/a");
/// assert_eq!(asked("shell", br#"{"command":["ls"]}"#), None);
/// assert_eq!(asked("Read", br#"{"file_path":"a"}"#), None);
/// ```
pub fn asked(tool: &str, arguments: &[u8]) -> Option<Asked> {
    match Family::of(tool) {
        Family::Shell => of_shell(&serde_json::from_slice(arguments).ok()?),
        Family::Notebook => Some(of_notebook(arguments)),
        Family::Any | Family::OpenEditor => Some(of_arguments(tool, arguments)?)
            .filter(|asked| asked.problem.is_none() && !asked.patch.edits.is_empty()),
        Family::Write | Family::Edit | Family::Editor | Family::Patch => of_arguments(tool, arguments),
    }
}

/// Returns what a patch asks for that is the whole input of a call.
pub fn asked_text(text: &[u8]) -> Asked {
    parser::parse(text, Dialect::Auto).into()
}

fn of_arguments(tool: &str, arguments: &[u8]) -> Option<Asked> {
    let mut args = Args::new(tool);
    let mut builder = Builder::default();
    let mut problem = None;
    let mut take = |event: PatchEvent<'_>| {
        builder.fold(&event);
        if let PatchEvent::Malformed(malformed) = event {
            problem = Some(*malformed);
        }
    };
    args.push(arguments, &mut take);
    args.finish(&mut take);
    let mut patch = builder.into_patch();
    // Half of a text would look like another edit. The lines of a patch are whole.
    let is_half = |edit: &FileEdit| !edit.complete && edit.line_number == 0;
    patch.edits.iter_mut().filter(|edit| is_half(edit)).for_each(|edit| edit.body = Body::Hunks(Vec::new()));
    patch.edits.retain(|edit| !edit.path.bytes().is_empty());
    if patch.edits.is_empty() {
        if args.state.command() == Some(Command::View) {
            return None;
        }
        patch.edits.extend(args.state.path().map(|path| file_edit(path.clone(), Body::Hunks(Vec::new()))));
    }
    Some(Asked { patch, problem })
}

fn of_shell(arguments: &Value) -> Option<Asked> {
    let call = arguments.get("action").unwrap_or(arguments);
    let patches = match (spelling::SHELL_COMMAND.iter().find_map(|key| call.get(*key)), call.get("commands"))
    {
        (Some(Value::String(script)), _) => shell::patches_of_script(script.as_bytes()),
        (Some(Value::Array(words)), _) => shell::patches_of_words(&texts(words)),
        (_, Some(Value::Array(scripts))) => {
            texts(scripts).iter().flat_map(|script| shell::patches_of_script(script)).collect()
        }
        _ => Vec::new(),
    };
    let folder = spelling::SHELL_FOLDER.iter().find_map(|key| call.get(*key)?.as_str());
    let mut asked = Asked::default();
    for ShellPatch { folder: gone_to, patch } in patches {
        let parsed = parser::parse(&patch, Dialect::ApplyPatch);
        let has_begun = !parsed.patch.edits.is_empty()
            || parsed.malformed.as_ref().is_none_or(|problem| problem.line.is_some());
        // What is no patch at all, such as '--help', asks for nothing.
        if !has_begun {
            continue;
        }
        let folder = folder.map(str::as_bytes).filter(|folder| !matches!(*folder, b"" | b"."));
        let folder = match (folder, gone_to) {
            (folder, Some(gone_to)) => Some(shell::joined(folder, &gone_to)),
            (folder, None) => folder.map(<[u8]>::to_vec),
        };
        let behind = |path: PathText| PathText::new(shell::joined(folder.as_deref(), path.bytes()));
        asked.patch.edits.extend(parsed.patch.edits.into_iter().map(|edit| FileEdit {
            path: behind(edit.path),
            move_to: edit.move_to.map(behind),
            ..edit
        }));
        asked.problem = asked.problem.or(parsed.malformed);
    }
    (!asked.patch.edits.is_empty() || asked.problem.is_some()).then_some(asked)
}

fn texts(values: &[Value]) -> Vec<Vec<u8>> {
    values.iter().filter_map(Value::as_str).map(|text| text.as_bytes().to_vec()).collect()
}

fn of_notebook(arguments: &[u8]) -> Asked {
    let fields: Value = match serde_json::from_slice(arguments) {
        Ok(fields) => fields,
        // The strict reader says what is wrong, and where.
        Err(_) => return of_arguments("", arguments).unwrap_or_default(),
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let Some(path) = spelling::NOTEBOOK_PATH.into_iter().find_map(text) else {
        return Asked::default();
    };
    let mut source = LineHunk::default();
    if text("edit_mode") != Some("delete") {
        let lines = spelling::NOTEBOOK_SOURCE.into_iter().find_map(text).unwrap_or_default();
        lines.lines().for_each(|line| source.push(LineKind::Insert, line.as_bytes()));
    }
    let hunks = if source.is_empty() { Vec::new() } else { vec![Hunk::Lines(source)] };
    let edit = file_edit(PathText::new(path.as_bytes()), Body::Hunks(hunks));
    Asked { patch: Patch { edits: vec![edit] }, problem: None }
}

#[cfg(test)]
mod tests {
    use super::super::super::LineHunk;
    use super::*;

    /// One edit in words: what, path, and its texts.
    fn shown(edit: &FileEdit) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let lines = |hunk: &LineHunk| {
            let line =
                |line: super::super::super::Line<'_>| format!("{}{}", line.kind.sign(), text(line.text));
            hunk.lines().map(line).collect::<Vec<_>>().join(" ")
        };
        let hunk = |hunk: &Hunk| match hunk {
            Hunk::Replace(replace) => format!("{:?} for {:?}", text(&replace.new), text(&replace.old)),
            Hunk::Lines(hunk) => lines(hunk),
            Hunk::Binary(_) => "binary".to_owned(),
        };
        let body = match &edit.body {
            Body::Content(content) => format!("content {:?}", text(&content.bytes)),
            Body::Hunks(hunks) => hunks.iter().map(hunk).collect::<Vec<_>>().join(", "),
            Body::Delete(_) => "delete".to_owned(),
        };
        let moved = edit.move_to.iter().map(|path| format!(" to {}", path.shown())).collect::<String>();
        format!("{}{moved}: {body}", edit.path.shown())
    }

    /// Checks what a call asks for; with `!` at the end, something is wrong with it.
    fn check(tool: &str, arguments: &str, expected: Option<&[&str]>) {
        let asked = asked(tool, arguments.as_bytes());
        let lines = asked.map(|asked| {
            let mut lines: Vec<String> = asked.patch.edits.iter().map(shown).collect();
            lines.extend(asked.problem.map(|_| "!".to_owned()));
            lines
        });
        let expected = expected.map(|lines| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
        assert_eq!(lines, expected, "{tool} {arguments}");
    }

    #[test]
    fn the_tools_of_every_agent_are_understood() {
        let replaced: &[&str] = &["f: \"b\" for \"a\""];
        let one = |tool: &str, arguments: &str| check(tool, arguments, Some(replaced));
        one("Edit", r#"{"file_path":"f","old_string":"a","new_string":"b","replace_all":false}"#);
        one("MultiEdit", r#"{"file_path":"f","edits":[{"old_string":"a","new_string":"b"}]}"#);
        one("edit", r#"{"filePath":"f","oldString":"a","newString":"b"}"#);
        one("edit", r#"{"path":"f","oldText":"a","newText":"b"}"#);
        one("edit", r#"{"path":"f","edits":[{"oldText":"a","newText":"b"}]}"#);
        one("replace", r#"{"file_path":"f","instruction":"i","old_string":"a","new_string":"b"}"#);
        one("str_replace_editor", r#"{"command":"str_replace","path":"f","old_str":"a","new_str":"b"}"#);
        one(
            "str_replace_based_edit_tool",
            r#"{"command":"str_replace","path":"f","old_str":"a","new_str":"b"}"#,
        );
        one("StrReplace", r#"{"path":"f","old_string":"a","new_string":"b"}"#);
        one("replace_string_in_file", r#"{"filePath":"f","oldString":"a","newString":"b"}"#);
        one(
            "mcp__files__edit_file",
            r#"{"path":"f","edits":[{"oldText":"a","newText":"b"}],"dryRun":false}"#,
        );
        let content: &[&str] = &["f: content \"x\\n\""];
        for tool in ["Write", "write", "write_file", "write_to_file", "create_file", "WriteFile"] {
            check(tool, r#"{"file_path":"f","content":"x\n"}"#, Some(content));
        }
        check("create", r#"{"path":"f","file_text":"x\n"}"#, Some(content));
        check("str_replace_editor", r#"{"command":"create","path":"f","file_text":"x\n"}"#, Some(content));
        check("editor", r#"{"path":"f","new_text":"x\n"}"#, Some(content));
        check(
            "replace_in_file",
            r#"{"path":"f","diff":"------- SEARCH\na\n=======\nb\n+++++++ REPLACE"}"#,
            Some(&["f: -a +b"]),
        );
        for key in ["input", "patch", "patchText"] {
            check(
                "apply_patch",
                &format!(r#"{{"{key}":"*** Begin Patch\n*** Delete File: a\n*** End Patch"}}"#),
                Some(&["a: delete"]),
            );
        }
        check(
            "NotebookEdit",
            r#"{"notebook_path":"n.ipynb","cell_id":"c","new_source":"x = 1\ny = 2"}"#,
            Some(&["n.ipynb: +x = 1 +y = 2"]),
        );
        check(
            "NotebookEdit",
            r#"{"notebook_path":"n.ipynb","cell_id":"c","new_source":"","edit_mode":"delete"}"#,
            Some(&["n.ipynb: "]),
        );
    }

    #[test]
    fn shells_that_run_apply_patch_are_understood() {
        let patch = r"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch";
        let moved: &[&str] = &["a to b: -x +y"];
        check("shell", &format!(r#"{{"command":["apply_patch","{patch}"]}}"#), Some(moved));
        check("shell", &format!(r#"{{"command":["applypatch","{patch}"],"workdir":"."}}"#), Some(moved));
        check(
            "container.exec",
            &format!(r#"{{"command":["bash","-lc","apply_patch << 'PATCH'\n{patch}\nPATCH\n"]}}"#),
            Some(moved),
        );
        check("exec_command", &format!(r#"{{"cmd":"applypatch <<EOF\n{patch}\n"}}"#), Some(moved));
        check(
            "local_shell_call",
            &format!(r#"{{"type":"exec","command":["bash","-lc","apply_patch <<EOF\n{patch}\nEOF"]}}"#),
            Some(moved),
        );
        check(
            "shell_command",
            &format!(r#"{{"command":"cd s && apply_patch <<EOF\n{patch}\nEOF","workdir":"/w"}}"#),
            Some(&["/w/s/a to /w/s/b: -x +y"]),
        );
        check(
            "shell",
            r#"{"command":"apply_patch <<E\n*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n"}"#,
            Some(&["a: -x +y", "!"]),
        );
        check("Bash", r#"{"command":"apply_patch --help"}"#, None);
        check("Bash", r#"{"command":"ls"}"#, None);
        check("shell", r#"{"command":7}"#, None);
        check("shell", "{", None);
    }

    #[test]
    fn what_is_certain_of_a_bad_call_is_kept() {
        check("edit", r#"{"file_path":"f","old_string":"a","new_st"#, Some(&["f: ", "!"]));
        check("edit", r#"{"old_string":"a","new_string":"b"}"#, Some(&["!"]));
        check("write", r#"{"file_path":"f","content":"x"#, Some(&["f: ", "!"]));
        check("write", r#"{"file_path":"f"}"#, Some(&["f: ", "!"]));
        check("edit", "[]", Some(&["!"]));
        check("str_replace_editor", r#"{"command":"undo_edit","path":"f"}"#, Some(&["f: "]));
        check("str_replace_editor", r#"{"path":"f","command":"frob"}"#, Some(&["f: ", "!"]));
        check(
            "apply_patch",
            r#"{"input":"*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\nbad"}"#,
            Some(&["a: -x +y", "!"]),
        );
    }

    #[test]
    fn calls_that_edit_nothing_are_none() {
        check("str_replace_editor", r#"{"command":"view","path":"f"}"#, None);
        check("editor", r#"{"command":"view","path":"f"}"#, None);
        check("Read", r#"{"file_path":"f","limit":3}"#, None);
        check("search", r#"{"path":"f","input":"words"}"#, None);
        check("think", "{", None);
    }

    #[test]
    fn a_patch_may_be_the_whole_input() {
        let asked = asked_text(b"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n");
        assert_eq!(asked.patch.edits.iter().map(shown).collect::<Vec<_>>(), ["f: -x +y"]);
        assert_eq!(asked.problem, None);
    }
}

//! How tools spell their names and keys: the one table.

/// What a key of a call's arguments means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The file.
    Path,
    /// The text that is replaced.
    Old,
    /// The text that comes in its place, or that is inserted.
    New,
    /// Whether every place is replaced.
    All,
    /// How many places are replaced.
    Count,
    /// A list of replacements.
    Edits,
    /// A file's whole content.
    Content,
    /// The same, in the arguments of the tools that have commands.
    FileText,
    /// A patch.
    Patch,
    /// Which command of an editor.
    Command,
    /// Where the new text is inserted.
    InsertLine,
}

impl Role {
    /// How many roles there are.
    pub const COUNT: usize = 11;
}

/// A new text alone is enough for the tool that spells it so.
pub const LONE_NEW: &str = "new_text";

/// Every key that is known; of each role the first is the one that messages name.
///
/// `file_path` … `new_string`: Claude Code, DeepSeek Harness, Gemini; camel case: opencode; `oldText`: pi; `old_text`:
/// Cline; `old_str`, `file_text`, `command`, `insert_line`: str_replace_editor; `patchText`: opencode; `diff`: Cline, Roo;
/// `fileText`, `contents`: Cursor.
const KEYS: [(&str, Role); 36] = [
    ("file_path", Role::Path),
    ("filePath", Role::Path),
    ("path", Role::Path),
    ("filepath", Role::Path),
    ("absolute_path", Role::Path),
    ("absolutePath", Role::Path),
    ("filename", Role::Path),
    ("target_file", Role::Path),
    ("old_string", Role::Old),
    ("oldString", Role::Old),
    ("old_text", Role::Old),
    ("oldText", Role::Old),
    ("old_str", Role::Old),
    ("new_string", Role::New),
    ("newString", Role::New),
    (LONE_NEW, Role::New),
    ("newText", Role::New),
    ("new_str", Role::New),
    ("insert_text", Role::New),
    ("replace_all", Role::All),
    ("replaceAll", Role::All),
    ("allow_multiple", Role::All),
    ("expected_replacements", Role::Count),
    ("expectedReplacements", Role::Count),
    ("edits", Role::Edits),
    ("content", Role::Content),
    ("contents", Role::Content),
    ("file_text", Role::FileText),
    ("fileText", Role::FileText),
    ("input", Role::Patch),
    ("patchText", Role::Patch),
    ("patch_text", Role::Patch),
    ("patch", Role::Patch),
    ("diff", Role::Patch),
    ("command", Role::Command),
    ("insert_line", Role::InsertLine),
];

/// The keys of a shell's command: a script, or words.
pub const SHELL_COMMAND: [&str; 2] = ["command", "cmd"];
/// The keys of the folder in which a shell runs.
pub const SHELL_FOLDER: [&str; 3] = ["workdir", "cwd", "working_directory"];
/// The keys of a notebook's path.
pub const NOTEBOOK_PATH: [&str; 3] = ["notebook_path", "target_notebook", "path"];
/// The keys of the new source of a notebook's cell.
pub const NOTEBOOK_SOURCE: [&str; 2] = ["new_source", "new_string"];

/// A command of an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Makes a file.
    Create,
    /// Replaces a text.
    StrReplace,
    /// Inserts lines.
    Insert,
    /// Changes nothing.
    View,
    /// Changes a file, but its arguments do not tell how.
    Undo,
}

/// Which keys a tool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Path and content.
    Write,
    /// Path, old and new, or a list of them.
    Edit,
    /// A command, which decides.
    Editor,
    /// The same, but the command may be left out: the keys decide.
    OpenEditor,
    /// A patch, and perhaps a path.
    Patch,
    /// A notebook and the source of one of its cells.
    Notebook,
    /// A command for a shell, which may run apply_patch.
    Shell,
    /// Not known: the keys decide.
    Any,
}

impl Family {
    /// Returns the family of a tool's name, in whatever case and behind whatever server's name.
    pub fn of(tool: &str) -> Self {
        let name = tool.rsplit("__").next().unwrap_or(tool);
        let name = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
        let plain: String = name
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        match plain.as_str() {
            "write" | "writefile" | "writetofile" | "create" | "createfile" | "createnewfile" | "whole"
            | "newrule" => Family::Write,
            "edit"
            | "editfile"
            | "multiedit"
            | "replace"
            | "strreplace"
            | "replacestringinfile"
            | "searchreplace"
            | "searchandreplace" => Family::Edit,
            "strreplaceeditor" | "strreplacebasededittool" | "fileeditor" | "planningfileeditor" => {
                Family::Editor
            }
            "editor" | "texteditor" | "texteditorcodeexecution" => Family::OpenEditor,
            "applypatch" | "apply" | "applydiff" | "patch" | "replaceinfile" => Family::Patch,
            "notebookedit" | "editnotebook" => Family::Notebook,
            "shell" | "bash" | "containerexec" | "exec" | "execcommand" | "shellcommand" | "localshell"
            | "localshellcall" | "runshellcommand" => Family::Shell,
            _ => Family::Any,
        }
    }

    /// Tells whether a key of that role means something to the tool; others are passed over, as the tools do.
    pub fn reads(self, role: Role) -> bool {
        match self {
            Family::Write => matches!(role, Role::Path | Role::Content | Role::FileText),
            Family::Edit => !matches!(role, Role::Content | Role::Patch),
            Family::Editor => !matches!(role, Role::Content | Role::Patch | Role::Edits),
            Family::Patch => matches!(role, Role::Path | Role::Patch),
            Family::OpenEditor | Family::Notebook | Family::Shell | Family::Any => true,
        }
    }
}

/// What a tool does with files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It edits them.
    Edits,
    /// Some of its commands only look.
    MayLook,
}

/// Returns what a tool of a model's stream does with files, by its name; `None` if it edits none, or not by arguments of
/// which one can tell before they are whole.
///
/// The tools of another server mean by their arguments what that server says, and so they are none of these.
pub fn effect(tool: &str) -> Option<Effect> {
    match Family::of(tool) {
        _ if tool.starts_with("mcp__") => None,
        Family::Write | Family::Edit | Family::Patch => Some(Effect::Edits),
        Family::Editor | Family::OpenEditor => Some(Effect::MayLook),
        Family::Notebook | Family::Shell | Family::Any => None,
    }
}

/// Returns what a key means.
pub fn role(key: &[u8]) -> Option<Role> {
    KEYS.iter().find(|(spelling, _)| spelling.as_bytes() == key).map(|&(_, role)| role)
}

/// Returns the key that messages name for a role.
pub fn first(role: Role) -> &'static str {
    KEYS.iter().find(|&&(_, other)| other == role).map_or("", |&(spelling, _)| spelling)
}

/// Returns the command of that name.
pub fn command(name: &[u8]) -> Option<Command> {
    match name {
        b"create" => Some(Command::Create),
        b"str_replace" => Some(Command::StrReplace),
        b"insert" => Some(Command::Insert),
        b"view" => Some(Command::View),
        b"undo_edit" => Some(Command::Undo),
        _ => None,
    }
}

//! Shell commands that run apply_patch, to the patches that they give to it.
//!
//! ```text
//! words  := (apply_patch | applypatch) patch | shell flag* script
//! script := (command (";" | "&&" | "||" | "|" | newline))*
//! ```
//!
//! A patch is the one argument of the command, or a heredoc that goes to it, itself or through a pipe; a heredoc that
//! lacks its end goes to the end of the script. A `cd` before it is remembered. Nothing is run and nothing expanded: what
//! stands in a heredoc is taken as it is. Other commands are passed over.

/// A patch in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellPatch {
    /// The folder that the command goes to before, as it is written.
    pub folder: Option<Vec<u8>>,
    /// The patch text.
    pub patch: Vec<u8>,
}

/// Returns the patches of a command that is given in words: the program and its arguments.
pub fn patches_of_words(words: &[Vec<u8>]) -> Vec<ShellPatch> {
    match words {
        [program, patch] if is_apply_patch(program) => {
            vec![ShellPatch { folder: None, patch: patch.clone() }]
        }
        [script] => patches_of_script(script),
        [program, flags @ .., script] if is_shell(program) && !flags.is_empty() => patches_of_script(script),
        _ => Vec::new(),
    }
}

/// Returns the patches of a command that is given as a text for a shell.
pub fn patches_of_script(script: &[u8]) -> Vec<ShellPatch> {
    let mut reader = Script { rest: script, command: Command::default(), line: Vec::new() };
    let mut folder = None;
    let mut patches = Vec::new();
    while let Some(line) = reader.line() {
        let mut piped = None;
        for command in line {
            let Command { words, heredoc, is_piped } = command;
            let input = heredoc.or(piped.take());
            match words.as_slice() {
                [program, target] if program == b"cd" => folder = Some(joined(folder.as_deref(), target)),
                [program, rest @ ..] if is_apply_patch(program) => {
                    let patch = input.or_else(|| rest.first().cloned());
                    patches.extend(patch.map(|patch| ShellPatch { folder: folder.clone(), patch }));
                }
                _ if is_piped => piped = input,
                _ => {}
            }
        }
    }
    patches
}

/// Returns a path behind a folder; one that begins at the root stands by itself.
pub fn joined(folder: Option<&[u8]>, path: &[u8]) -> Vec<u8> {
    match folder {
        Some(folder) if path.first() != Some(&b'/') => {
            [folder.strip_suffix(b"/").unwrap_or(folder), path].join(&b'/')
        }
        _ => path.to_vec(),
    }
}

fn program_name(word: &[u8]) -> &[u8] {
    word.rsplit(|&byte| matches!(byte, b'/' | b'\\')).next().unwrap_or(word)
}

fn is_apply_patch(word: &[u8]) -> bool {
    matches!(program_name(word), b"apply_patch" | b"applypatch")
}

fn is_shell(word: &[u8]) -> bool {
    let name = program_name(word);
    let name = name.strip_suffix(b".exe").unwrap_or(name);
    matches!(name, b"bash" | b"zsh" | b"sh" | b"dash" | b"ksh" | b"pwsh" | b"powershell" | b"cmd")
}

/// One command of a line.
#[derive(Debug, Default)]
struct Command {
    words: Vec<Vec<u8>>,
    heredoc: Option<Vec<u8>>,
    /// What it says goes to the next one.
    is_piped: bool,
}

/// A heredoc of which the line that begins it was read.
struct Due {
    /// Position of its command in the line.
    command: usize,
    tag: Vec<u8>,
    strips_tabs: bool,
}

/// A script that is read line by line; a heredoc belongs to the line that names it.
struct Script<'a> {
    rest: &'a [u8],
    command: Command,
    line: Vec<Command>,
}

impl Script<'_> {
    fn line(&mut self) -> Option<Vec<Command>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut due: Vec<Due> = Vec::new();
        while let Some((&byte, tail)) = self.rest.split_first() {
            match byte {
                b'\n' => {
                    self.rest = tail;
                    break;
                }
                b' ' | b'\t' | b'\r' | b'(' | b')' => self.rest = tail,
                b'#' => self.rest = &self.rest[end_of_line(self.rest)..],
                b';' | b'&' | b'|' => {
                    self.rest = tail;
                    let is_piped = byte == b'|' && tail.first() != Some(&b'|');
                    self.end_command(is_piped);
                }
                b'<' if self.rest.starts_with(b"<<") && !self.rest.starts_with(b"<<<") => {
                    let strips_tabs = self.rest.get(2) == Some(&b'-');
                    self.rest = &self.rest[2 + usize::from(strips_tabs)..];
                    self.rest = without_blanks(self.rest);
                    due.push(Due { command: self.line.len(), tag: self.word(), strips_tabs });
                }
                b'<' | b'>' => self.redirect(),
                _ => {
                    let word = self.word();
                    self.command.words.push(word);
                }
            }
        }
        self.end_command(false);
        let mut line = std::mem::take(&mut self.line);
        for due in due {
            let body = self.heredoc(&due.tag, due.strips_tabs);
            if let Some(command) = line.get_mut(due.command) {
                command.heredoc = Some(body);
            }
        }
        Some(line)
    }

    /// Passes over a redirection with its target; `>&1` ends no command.
    fn redirect(&mut self) {
        let signs = self.rest.iter().take_while(|&&byte| matches!(byte, b'<' | b'>' | b'&')).count();
        self.rest = without_blanks(&self.rest[signs..]);
        self.word();
    }

    /// Ends a command. One without a word, as between `&` and `&`, keeps its place all the same.
    fn end_command(&mut self, is_piped: bool) {
        let command = std::mem::take(&mut self.command);
        self.line.push(Command { is_piped, ..command });
    }

    /// Reads one word, without its quotes; takes at least one byte.
    fn word(&mut self) -> Vec<u8> {
        let mut word = Vec::new();
        while let Some((&byte, tail)) = self.rest.split_first() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => break,
                b'\'' => {
                    let end = memchr::memchr(b'\'', tail).unwrap_or(tail.len());
                    word.extend_from_slice(&tail[..end]);
                    self.rest = tail.get(end + 1..).unwrap_or_default();
                }
                b'"' => {
                    self.rest = tail;
                    self.quoted(&mut word);
                }
                b'\\' => {
                    if let Some(&escaped) = tail.first().filter(|&&byte| byte != b'\n') {
                        word.push(escaped);
                    }
                    self.rest = tail.get(1..).unwrap_or_default();
                }
                _ => {
                    word.push(byte);
                    self.rest = tail;
                }
            }
        }
        word
    }

    /// Reads on to the closing double quote. `$(cat <<TAG …)` in it stands for the heredoc.
    fn quoted(&mut self, word: &mut Vec<u8>) {
        while let Some((&byte, tail)) = self.rest.split_first() {
            self.rest = tail;
            match byte {
                b'"' => return,
                b'\\' => match tail.split_first() {
                    Some((&escaped @ (b'"' | b'\\' | b'$' | b'`'), tail)) => {
                        word.push(escaped);
                        self.rest = tail;
                    }
                    Some((b'\n', tail)) => self.rest = tail,
                    _ => word.push(byte),
                },
                b'$' if self.begins_cat() => {
                    let tag = self.word();
                    self.rest = &self.rest[end_of_line(self.rest)..];
                    self.rest = self.rest.strip_prefix(b"\n").unwrap_or(self.rest);
                    let body = self.heredoc(&tag, false);
                    word.extend_from_slice(body.strip_suffix(b"\n").unwrap_or(&body));
                    let close = memchr::memchr(b')', self.rest).map_or(self.rest.len(), |at| at + 1);
                    self.rest = &self.rest[close..];
                }
                _ => word.push(byte),
            }
        }
    }

    /// Takes `(cat <<` if that stands here.
    fn begins_cat(&mut self) -> bool {
        let taken = self.rest.strip_prefix(b"(").and_then(|rest| {
            let rest = without_blanks(rest).strip_prefix(b"cat")?;
            let rest = without_blanks(rest).strip_prefix(b"<<")?;
            Some(without_blanks(rest))
        });
        self.rest = taken.unwrap_or(self.rest);
        taken.is_some()
    }

    /// Reads the lines up to the one that is the tag; all of them if there is none.
    fn heredoc(&mut self, tag: &[u8], strips_tabs: bool) -> Vec<u8> {
        let mut body = Vec::new();
        while !self.rest.is_empty() {
            let end = end_of_line(self.rest);
            let mut line = &self.rest[..end];
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            while let (true, Some(stripped)) = (strips_tabs, line.strip_prefix(b"\t")) {
                line = stripped;
            }
            if line.strip_suffix(b"\r").unwrap_or(line) == tag {
                break;
            }
            body.extend_from_slice(line);
            body.push(b'\n');
        }
        body
    }
}

fn end_of_line(text: &[u8]) -> usize {
    memchr::memchr(b'\n', text).unwrap_or(text.len())
}

/// Returns the text without the blanks at its start, which end no command.
fn without_blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count()..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks which patches a script gives to apply_patch: folder and text.
    fn check(script: &str, expected: &[(Option<&str>, &str)]) {
        let found = patches_of_script(script.as_bytes());
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found: Vec<_> =
            found.iter().map(|one| (one.folder.as_deref().map(shown), shown(&one.patch))).collect();
        let expected: Vec<_> =
            expected.iter().map(|(folder, patch)| (folder.map(str::to_owned), (*patch).to_owned())).collect();
        assert_eq!(found, expected, "{script}");
    }

    #[test]
    fn heredocs_are_found_in_all_their_forms() {
        let body = "*** Begin Patch\n $x `y`\n*** End Patch\n";
        let here = [(None, body)];
        check(&format!("apply_patch <<'EOF'\n{body}EOF\n"), &here);
        check(&format!("apply_patch << EOF\n{body}EOF"), &here);
        check(&format!("applypatch <<\"PATCH\"\n{body}PATCH\necho done\n"), &here);
        check(&format!("apply_patch <<'EOF'\n{body}"), &here);
        check(&format!("apply_patch <<-'EOF'\n\t{body}\tEOF\n"), &here);
        check(&format!("cat <<'EOF' | apply_patch\n{body}EOF\n"), &here);
        check(&format!("set -e; apply_patch <<'EOF' && echo ok\n{body}EOF\n"), &here);
        check(&format!("\n/usr/bin/apply_patch <<'EOF' 2>&1\n{body}EOF\n"), &here);
        check(&format!("cd 'my dir' && apply_patch <<'EOF'\n{body}EOF\n"), &[(Some("my dir"), body)]);
        check(&format!("cd /w\ncd sub/\napply_patch <<'EOF'\n{body}EOF\n"), &[(Some("/w/sub/"), body)]);
        check(
            &format!("apply_patch <<A\n{body}A\napply_patch <<'B'\n{body}B\n"),
            &[(None, body), (None, body)],
        );
    }

    #[test]
    fn arguments_are_found_in_all_their_forms() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        let argument = [(None, patch)];
        check(&format!("apply_patch '{patch}'"), &argument);
        check(&format!("apply_patch \"{patch}\""), &argument);
        check(&format!("apply_patch \"$(cat <<'EOF'\n{patch}\nEOF\n)\" && ls"), &argument);
        check("apply_patch \"\\$a \\\"b\\\" \\n\"", &[(None, "$a \"b\" \\n")]);
    }

    #[test]
    fn other_commands_hold_no_patch() {
        let body = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n";
        check(&format!("cat > p <<'EOF'\n{body}EOF\n"), &[]);
        check("grep apply_patch src", &[]);
        check("echo \"apply_patch 'x'\"", &[]);
        check(&format!("# apply_patch <<'EOF'\ncat <<'EOF'\n{body}apply_patch x\nEOF\n"), &[]);
        check("", &[]);
    }

    #[test]
    fn words_are_a_program_and_its_arguments() {
        let check = |words: &[&str], expected: usize| {
            let words: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
            assert_eq!(patches_of_words(&words).len(), expected, "{words:?}");
        };
        check(&["apply_patch", "*** Begin Patch"], 1);
        check(&["bash", "-lc", "applypatch <<X\nx\nX\n"], 1);
        check(&["/bin/sh", "-l", "-c", "apply_patch x"], 1);
        check(&["pwsh.exe", "-NoProfile", "-Command", "apply_patch x"], 1);
        check(&["apply_patch x"], 1);
        check(&["python", "-c", "apply_patch x"], 0);
        check(&["bash", "apply_patch x"], 0);
        check(&[], 0);
    }

    proptest! {
        #[test]
        fn no_script_panics(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "apply_patch", "cd", "<<", "<<-", "EOF", "'", "\"", "$(cat <<", "\\", "\n", " ", "|", "&&", ";", ")", "#", "x",
                ]),
                0..30,
            ),
        ) {
            patches_of_script(words.concat().as_bytes());
        }
    }
}

//! What a model says in one reply, line by line, to the edits that aider takes it for.
//!
//! ```text
//! reply    = (block | fence | envelope | line)*
//! block    = names SEARCH line* DIVIDER line* REPLACE            formats diff, diff-fenced, editor-diff
//! names    = up to three lines above, as long as they are fences; one may itself hold a name: "```src/a.py"
//! fence    = "```diff" "--- a" "+++ b" hunk* "```"                  format udiff
//!          | name "```" line* "```"                               format whole
//! envelope = "*** Begin Patch" section* "*** End Patch"           format patch
//! ```
//!
//! These are aider's own rules, which decide what it wrote, and not those by which hunkwise reads blocks that it is to
//! apply. Which of the names it took, the outcome tells; which format counts, the run does.

use std::collections::VecDeque;

/// A name stands at most so many lines above its block.
const NAME_LINES: usize = 3;

/// How many bytes of edits are held of one reply; what comes then is not drawn.
const HELD_CAP_BYTES: usize = 32 << 20;

/// How many edits are held of one reply: each is compared with every name and every failure.
const PIECES_CAP: usize = 4096;

/// Fences beside those of Markdown.
const TAGS: [&str; 5] = ["source", "code", "pre", "codeblock", "sourcecode"];

/// How a model writes its edits, under aider's own names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditFormat {
    /// Blocks.
    Diff,
    /// Diffs in fences.
    Udiff,
    /// Whole files in fences.
    Whole,
    /// An apply_patch envelope.
    Patch,
}

impl EditFormat {
    /// Returns the format of that name; none of one that edits nothing.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.strip_prefix("editor-").unwrap_or(name);
        match name {
            "diff" | "diff-fenced" => Some(EditFormat::Diff),
            "udiff" | "udiff-simple" => Some(EditFormat::Udiff),
            "whole" | "single-wholefile-func" | "wholefile-func" => Some(EditFormat::Whole),
            "patch" => Some(EditFormat::Patch),
            _ => None,
        }
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            EditFormat::Diff => "diff",
            EditFormat::Udiff => "udiff",
            EditFormat::Whole => "whole",
            EditFormat::Patch => "patch",
        }
    }
}

/// One edit of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// 1-based line that it begins on.
    pub line: usize,
    pub format: EditFormat,
    /// What may be its file's name, best first.
    pub names: Vec<String>,
    pub content: Content,
}

/// What an edit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// Whole lines and what comes in their place.
    Change { old: String, new: String },
    /// The text of the file; or a section of an envelope.
    Text(String),
    /// Versions of aider read it differently.
    Doubtful,
    /// It has no end, or no divider.
    Broken,
}

/// The edits of the reply so far.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub pieces: Vec<Piece>,
    recent: VecDeque<String>,
    fence: Option<Fence>,
    block: Option<Block>,
    /// The section of an envelope that is open; one without a name stands before the first.
    section: Option<Section>,
    /// What ends the model's thinking, in which aider looks for no edit.
    thinking_end: Option<String>,
    held_bytes: usize,
}

#[derive(Debug)]
struct Fence {
    line: usize,
    /// What a line begins with that ends it.
    end: String,
    is_diff: bool,
    names: Vec<String>,
    lines: Vec<String>,
    /// Something else stands in it.
    is_other: bool,
}

#[derive(Debug)]
struct Block {
    line: usize,
    names: Vec<String>,
    width: usize,
    lines: Vec<String>,
}

#[derive(Debug)]
struct Section {
    line: usize,
    name: Option<String>,
    text: String,
}

impl Reply {
    /// Tells whether an edit is open, so that a line that looks like aider's may be the model's.
    pub fn is_open(&self) -> bool {
        self.fence.is_some() || self.block.is_some() || self.section.is_some() || self.thinking_end.is_some()
    }

    /// Ends the reply's text: a block that is open is broken, a whole file that is open counts.
    pub fn cut(&mut self) {
        if let Some(Block { line, names, .. }) = self.block.take() {
            self.pieces.push(Piece { line, format: EditFormat::Diff, names, content: Content::Broken });
        }
        self.thinking_end = None;
        self.end_section();
        if let Some(fence) = self.fence.take() {
            self.end_fence(fence);
        }
        self.recent.clear();
    }

    /// Takes the next line of the model.
    pub fn line(&mut self, number: usize, line: &str) {
        if self.held_bytes > HELD_CAP_BYTES || self.pieces.len() >= PIECES_CAP {
            return;
        }
        if let Some(end) = &self.thinking_end {
            if line.trim() == end {
                self.thinking_end = None;
            }
            return;
        }
        if let Some(block) = &mut self.block {
            let is_end = marker(line, '>', &[" REPLACE", " UPDATED"]).is_some();
            if is_end {
                let piece = self.block.take().map(Block::ended);
                self.pieces.extend(piece);
                self.see(line);
            } else {
                self.held_bytes += line.len();
                block.lines.push(line.to_owned());
            }
            return;
        }
        if self.section.is_some() {
            return self.envelope(number, line);
        }
        if let Some(width) = marker(line, '<', &[" SEARCH", " ORIGINAL"]) {
            let names = self.names_above();
            if let Some(fence) = &mut self.fence {
                fence.is_other = true;
            }
            self.block = Some(Block { line: number, names, width, lines: Vec::new() });
            return;
        } else if line.trim() == "*** Begin Patch" {
            if let Some(fence) = &mut self.fence {
                fence.is_other = true;
            }
            self.section = Some(Section { line: number, name: None, text: String::new() });
        } else if let Some(fence) = &mut self.fence {
            if line.starts_with(&fence.end) {
                if let Some(fence) = self.fence.take() {
                    self.end_fence(fence);
                }
            } else if !fence.is_other {
                self.held_bytes += line.len();
                fence.lines.push(line.to_owned());
            }
        } else if let Some(end) = thinking_end(line) {
            self.thinking_end = Some(end);
        } else if let Some(end) = fence_end(line) {
            let names: Vec<String> =
                self.recent.back().and_then(|above| whole_name(above)).into_iter().collect();
            let is_diff = line.starts_with("```diff");
            self.fence =
                Some(Fence { line: number, end, is_diff, names, lines: Vec::new(), is_other: false });
        }
        self.see(line);
    }

    /// Remembers a line that may name the file of what comes below.
    fn see(&mut self, line: &str) {
        if self.recent.len() == NAME_LINES {
            self.recent.pop_front();
        }
        self.recent.push_back(line.to_owned());
    }

    /// Returns the names in the lines above, those of the edit before if there are none.
    fn names_above(&self) -> Vec<String> {
        let mut names = Vec::new();
        for line in self.recent.iter().rev() {
            names.extend(block_name(line));
            if !line.starts_with("```") && fence_end(line).is_none() {
                break;
            }
        }
        // aider looks for a name that has an ending first.
        names.sort_by_key(|name: &String| !name.contains('.'));
        if names.is_empty() {
            names = self.last_names(EditFormat::Diff);
        }
        names
    }

    /// Returns the names of the last edit of a format: one without a name is for the same file.
    fn last_names(&self, format: EditFormat) -> Vec<String> {
        let last = self.pieces.iter().rev().find(|piece| piece.format == format);
        last.map(|piece| piece.names.clone()).unwrap_or_default()
    }

    fn envelope(&mut self, number: usize, line: &str) {
        let named = ["*** Update File: ", "*** Add File: ", "*** Delete File: "]
            .iter()
            .find_map(|header| line.trim_end().strip_prefix(header));
        let is_end = line.trim() == "*** End Patch"
            || self.fence.as_ref().is_some_and(|fence| line.starts_with(&fence.end));
        if named.is_some() || is_end {
            self.end_section();
        }
        if let Some(name) = named {
            let name = Some(name.trim().to_owned());
            self.section = Some(Section { line: number, name, text: String::new() });
        } else if line.trim() != "*** End Patch" && is_end {
            self.fence = None;
        }
        if let Some(section) = &mut self.section {
            self.held_bytes += line.len();
            section.text.push_str(line);
            section.text.push('\n');
        }
    }

    fn end_section(&mut self) {
        if let Some(Section { line, name: Some(name), text }) = self.section.take() {
            let content = Content::Text(text);
            self.pieces.push(Piece { line, format: EditFormat::Patch, names: vec![name], content });
        }
    }

    fn end_fence(&mut self, fence: Fence) {
        match fence {
            Fence { is_other: true, .. } => {}
            Fence { is_diff: true, line, lines, .. } => self.diff(line, &lines),
            Fence { line, names, lines, .. } => {
                let content = Content::Text(joined(&lines));
                self.pieces.push(Piece { line, format: EditFormat::Whole, names, content });
            }
        }
    }

    /// Takes the lines of a diff apart into hunks; what their headers state is not looked at.
    fn diff(&mut self, first_line: usize, lines: &[String]) {
        let mut names = self.last_names(EditFormat::Udiff);
        let mut hunk = Hunk::default();
        let mut at = 0;
        while at < lines.len() && self.pieces.len() < PIECES_CAP {
            let line = lines[at].as_str();
            let header =
                line.strip_prefix("--- ").zip(lines.get(at + 1).and_then(|next| next.strip_prefix("+++ ")));
            if let Some((from, to)) = header {
                self.pieces.extend(std::mem::take(&mut hunk).ended(&names));
                names = vec![diff_name(from, to)];
                at += 1;
            } else if line.starts_with('@') {
                self.pieces.extend(std::mem::take(&mut hunk).ended(&names));
            } else {
                hunk.line(first_line + 1 + at, line);
            }
            at += 1;
        }
        self.pieces.extend(hunk.ended(&names));
    }
}

/// A hunk of a diff that is open.
#[derive(Debug, Default)]
struct Hunk {
    line: Option<usize>,
    old: String,
    new: String,
    has_change: bool,
}

impl Hunk {
    fn line(&mut self, number: usize, line: &str) {
        self.line.get_or_insert(number);
        let (sign, text) = match line.chars().next() {
            Some(sign @ ('+' | '-' | ' ')) => (sign, &line[1..]),
            // The blank of an empty line may be lost.
            None => (' ', ""),
            // aider passes over what is no line of a diff.
            Some(_) => return,
        };
        self.has_change |= sign != ' ';
        for (side, other) in [(&mut self.old, '+'), (&mut self.new, '-')] {
            if sign != other {
                side.push_str(text);
                side.push('\n');
            }
        }
    }

    fn ended(self, names: &[String]) -> Option<Piece> {
        let Hunk { line: Some(line), old, new, has_change: true } = self else { return None };
        let content = Content::Change { old, new };
        Some(Piece { line, format: EditFormat::Udiff, names: names.to_vec(), content })
    }
}

impl Block {
    fn ended(self) -> Piece {
        let Block { line, names, width, lines } = self;
        let widths = lines.iter().enumerate().filter_map(|(at, line)| Some((at, marker(line, '=', &[""])?)));
        let dividers: Vec<(usize, usize)> = widths.collect();
        let fitting: Vec<usize> =
            dividers.iter().filter(|(_, divider)| *divider == width).map(|(at, _)| *at).collect();
        let content = match (dividers.as_slice(), fitting.as_slice()) {
            ([], _) => Content::Broken,
            ([(at, _)], _) | (_, [at]) => {
                Content::Change { old: joined(&lines[..*at]), new: joined(&lines[at + 1..]) }
            }
            _ => Content::Doubtful,
        };
        Piece { line, format: EditFormat::Diff, names, content }
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

/// Returns the width of a marker: five to nine signs and one of the words.
pub(super) fn marker(line: &str, sign: char, words: &[&str]) -> Option<usize> {
    let line = line.trim();
    let word = line.trim_start_matches(sign);
    let width = line.len() - word.len();
    let word = word.strip_suffix('>').unwrap_or(word);
    ((5..=9).contains(&width) && words.contains(&word)).then_some(width)
}

/// Returns what ends the fence that a line opens.
fn fence_end(line: &str) -> Option<String> {
    let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
    if ticks >= 3 {
        return Some("`".repeat(ticks));
    }
    let tag = line.strip_prefix('<')?.split('>').next()?;
    TAGS.contains(&tag).then(|| format!("</{tag}>"))
}

/// Returns what ends the thinking that a line begins.
fn thinking_end(line: &str) -> Option<String> {
    let line = line.trim();
    if line == "► **THINKING**" {
        return Some("► **ANSWER**".to_owned());
    }
    let tag = line.strip_prefix('<')?.strip_suffix('>')?;
    (tag == "think" || tag.starts_with("thinking-content-")).then(|| format!("</{tag}>"))
}

/// Returns the name of a file that a line above a block is taken for.
fn block_name(line: &str) -> Option<String> {
    let name = line.trim();
    if name == "..." || marker(name, '>', &[" REPLACE", " UPDATED"]).is_some() {
        return None;
    }
    if let Some(info) = name.strip_prefix("```") {
        return (info.contains(['.', '/'])).then(|| info.to_owned());
    }
    if fence_end(name).is_some() {
        return None;
    }
    bare_name(name)
}

/// Returns the name of a file that the line above a fence is taken for.
fn whole_name(line: &str) -> Option<String> {
    let is_marker = marker(line, '>', &[" REPLACE", " UPDATED"]).is_some();
    bare_name(line.trim()).filter(|name| !is_marker && name.len() <= 250)
}

fn bare_name(name: &str) -> Option<String> {
    let name = name.trim_end_matches(':').trim_start_matches('#').trim();
    let name = name.trim_matches('*').trim_end_matches(':').trim_matches('`').trim_matches('*').trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn diff_name(from: &str, to: &str) -> String {
    let clean = |name: &str| name.split('\t').next().unwrap_or(name).trim().to_owned();
    let (from, to) = (clean(from), clean(to));
    let is_git = |name: &str, prefix: &str| name.starts_with(prefix) || name == "/dev/null";
    match to.as_str() {
        "/dev/null" => from.strip_prefix("a/").unwrap_or(&from).to_owned(),
        _ if is_git(&from, "a/") => to.strip_prefix("b/").unwrap_or(&to).to_owned(),
        _ => to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The edits of a reply: line, names, and old and new text.
    fn pieces(text: &str) -> Vec<(usize, Vec<String>, Content)> {
        let mut reply = Reply::default();
        for (index, line) in text.lines().enumerate() {
            reply.line(index + 1, line);
        }
        reply.cut();
        reply.pieces.into_iter().map(|piece| (piece.line, piece.names, piece.content)).collect()
    }

    fn change(old: &str, new: &str) -> Content {
        Content::Change { old: old.to_owned(), new: new.to_owned() }
    }

    const BLOCK: &str = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";

    #[test]
    fn names_are_found_where_aider_finds_them() {
        let check = |above: &str, wanted: &[&str]| {
            let found = pieces(&format!("{above}{BLOCK}"));
            assert_eq!(found.last().unwrap().1, wanted, "{above}");
        };
        for above in [
            "src/a.py\n",
            "`src/a.py`:\n```python\n",
            "### src/a.py\n```\n",
            "**src/a.py**\n<source>\n",
            "```src/a.py\n",
            "```python\nsrc/a.py\n```\n```\n",
        ] {
            check(above, &["src/a.py"]);
        }
        check("Makefile\n```\n", &["Makefile"]);
        check("a.py\n\n```\n", &[]);
        check("...\n", &[]);
        // The one above stays where no name stands.
        let found = pieces(&format!("a.py\n```\n{BLOCK}{BLOCK}```\n\nAnd:\n\n```\n{BLOCK}"));
        assert!(found.len() == 3 && found.iter().all(|piece| piece.1 == ["a.py"]), "{found:?}");
    }

    #[test]
    fn blocks_are_cut_at_their_own_divider() {
        let check = |block: &str, wanted: Content| {
            assert_eq!(pieces(&format!("a\n{block}"))[0].2, wanted, "{block}");
        };
        check(BLOCK, change("a\n", "b\n"));
        check("<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n", change("", ""));
        check("<<<<< SEARCH>\na\n===\n=====\n>>>>> REPLACE\n", change("a\n===\n", ""));
        check("<<<<<<< SEARCH\na\n=====\n=======\nb\n>>>>>>> REPLACE\n", change("a\n=====\n", "b\n"));
        check("<<<<<<< SEARCH\na\n=====\nb\n>>>>>>> REPLACE\n", change("a\n", "b\n"));
        check("<<<<<<< SEARCH\na\n=======\nb\n=======\n>>>>>>> REPLACE\n", Content::Doubtful);
        check("<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", Content::Broken);
        check("<<<<<<< SEARCH\na\n=======\n", Content::Broken);
    }

    #[test]
    fn fences_hold_diffs_files_or_something_else() {
        let text = |text: &str| Content::Text(text.to_owned());
        let name = |name: &str| vec![name.to_owned()];
        assert_eq!(pieces("a.py\n```\nx\n```\n"), [(2, name("a.py"), text("x\n"))]);
        assert_eq!(pieces("a.md\n````\n```\n````\n"), [(2, name("a.md"), text("```\n"))]);
        assert_eq!(pieces("\n```\nx\n```\n"), [(2, Vec::new(), text("x\n"))]);
        assert_eq!(pieces("a.py\n```\nx"), [(2, name("a.py"), text("x\n"))]);
        let diff = "```diff\n--- a/f\n+++ b/f\n@@ ... @@\n x\n-y\n\n+z\n@@ @@\n same\n--- a/g\n+++ /dev/null\n-w\n```\n";
        assert_eq!(
            pieces(diff),
            [(5, name("f"), change("x\ny\n\n", "x\n\nz\n")), (13, name("g"), change("w\n", ""))]
        );
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n-y\n*** End Patch\n";
        assert_eq!(
            pieces(patch),
            [(2, name("a"), text("*** Add File: a\n+x\n")), (4, name("b"), text("*** Update File: b\n-y\n"))]
        );
    }

    #[test]
    fn nothing_is_an_edit_that_is_only_thought() {
        assert_eq!(pieces(&format!("<think>\na\n{BLOCK}</think>\n")), []);
        assert_eq!(pieces(&format!("► **THINKING**\na\n{BLOCK}► **ANSWER**\nb\n{BLOCK}")).len(), 1);
    }
}

//! The lines that begin one file's section of a git patch: names and their quoting, modes, renames, hunk ranges.
//!
//! Both writers of patches, of cards and of compared files, say these things here. Names are bytes: a patch quotes
//! them in git's own way and nothing else.

use std::io;
use std::io::Write;

use crate::text::git_name::quoted;

/// What happens to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    /// It is new, with this mode.
    Create(&'a str),
    /// It goes, and had this mode.
    Delete(&'a str),
    /// It keeps its name, or stays two names that are compared.
    Update,
    /// It gets another name; the similarity is in percent, where it is told.
    Rename(Option<u8>),
    /// It gets a second name.
    Copy(Option<u8>),
}

/// What stands before the names of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Prefixes {
    /// `a/` and `b/`, as git has it; names never begin with a slash.
    #[default]
    Git,
    /// Nothing; names are as they are, and may be absolute.
    None,
}

impl Prefixes {
    /// Returns a name behind git's own prefix, if there are prefixes.
    fn name(self, gits: &[u8], path: &[u8]) -> Vec<u8> {
        match self {
            Prefixes::Git => quoted(gits, path),
            Prefixes::None if path.starts_with(b"/") => quoted(b"/", path),
            Prefixes::None => quoted(b"", path),
        }
    }
}

/// One file's section up to its hunks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header<'a> {
    /// The path of the preimage; of a new file its own path.
    pub(super) old_path: &'a [u8],
    /// The path of the postimage; of a deleted file its own path.
    pub(super) new_path: &'a [u8],
    /// What happens.
    pub(super) change: Change<'a>,
    /// The two modes, where they differ and the file is neither new nor deleted.
    pub(super) modes: Option<(&'a str, &'a str)>,
    /// What stands before the paths.
    pub(super) prefixes: Prefixes,
}

impl Header<'_> {
    /// Writes `diff --git` and the extended header lines.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = |gits: &[u8], path| self.prefixes.name(gits, path);
        let old_name = name(b"a/", self.old_path);
        write_line(out, &[b"diff --git ", &old_name, b" ", &name(b"b/", self.new_path)])?;
        if let Some((before, after)) = self.modes {
            write_line(out, &[b"old mode ", before.as_bytes()])?;
            write_line(out, &[b"new mode ", after.as_bytes()])?;
        }
        let (verb, similarity): (&[u8], _) = match self.change {
            Change::Create(mode) => return write_line(out, &[b"new file mode ", mode.as_bytes()]),
            Change::Delete(mode) => return write_line(out, &[b"deleted file mode ", mode.as_bytes()]),
            Change::Update => return Ok(()),
            Change::Rename(similarity) => (b"rename", similarity),
            Change::Copy(similarity) => (b"copy", similarity),
        };
        if let Some(percent) = similarity {
            writeln!(out, "similarity index {percent}%")?;
        }
        write_line(out, &[verb, b" from ", &name(b"", self.old_path)])?;
        write_line(out, &[verb, b" to ", &name(b"", self.new_path)])
    }

    /// Writes the two lines that stand before the first hunk.
    pub(super) fn write_names(&self, out: &mut dyn Write) -> io::Result<()> {
        let is_create = matches!(self.change, Change::Create(_));
        let is_delete = matches!(self.change, Change::Delete(_));
        let old = (!is_create).then(|| self.prefixes.name(b"a/", self.old_path));
        let new = (!is_delete).then(|| self.prefixes.name(b"b/", self.new_path));
        write_name(out, b"--- ", old)?;
        write_name(out, b"+++ ", new)
    }
}

/// Writes the range of one hunk's old and new side; a side's first value is the count of lines before it.
pub(super) fn write_range(out: &mut dyn Write, old: (usize, usize), new: (usize, usize)) -> io::Result<()> {
    let side = |(before, count): (usize, usize)| match count {
        0 => format!("{before},0"),
        // As git writes it: a count of one is left out.
        1 => (before + 1).to_string(),
        _ => format!("{},{count}", before + 1),
    };
    writeln!(out, "@@ -{} +{} @@", side(old), side(new))
}

/// What follows a last line that has no newline.
pub(super) const NO_NEWLINE: &[u8] = b"\n\\ No newline at end of file\n";

/// Tells whether a patch can name a file so.
pub(super) fn can_be_named(path: &[u8]) -> bool {
    path.iter().any(|&byte| byte != b'/') && !path.contains(&0)
}

fn write_name(out: &mut dyn Write, mark: &[u8], name: Option<Vec<u8>>) -> io::Result<()> {
    let Some(name) = name else { return write_line(out, &[mark, b"/dev/null"]) };
    // git ends a name that holds a blank with a tab, so that other readers do not take the rest for a date.
    let tab: &[u8] = if name.contains(&b' ') { b"\t" } else { b"" };
    write_line(out, &[mark, &name, tab])
}

fn write_line(out: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_rename_with_new_permissions() {
        let header = Header {
            old_path: b"/old name",
            new_path: b"caf\xE9",
            change: Change::Rename(Some(80)),
            modes: Some(("100644", "100755")),
            prefixes: Prefixes::Git,
        };
        assert_eq!(
            text(|out| header.write(out)),
            "diff --git a/old name \"b/caf\\351\"\nold mode 100644\nnew mode 100755\nsimilarity index 80%\n\
             rename from old name\nrename to \"caf\\351\"\n"
        );
        assert_eq!(text(|out| header.write_names(out)), "--- a/old name\t\n+++ \"b/caf\\351\"\n");
    }

    #[test]
    fn an_absent_side_has_no_name() {
        let mut header = Header {
            old_path: b"f",
            new_path: b"f",
            change: Change::Create("100755"),
            modes: None,
            prefixes: Prefixes::Git,
        };
        assert_eq!(text(|out| header.write(out)), "diff --git a/f b/f\nnew file mode 100755\n");
        assert_eq!(text(|out| header.write_names(out)), "--- /dev/null\n+++ b/f\n");
        header.change = Change::Delete("120000");
        assert_eq!(text(|out| header.write(out)), "diff --git a/f b/f\ndeleted file mode 120000\n");
        assert_eq!(text(|out| header.write_names(out)), "--- a/f\n+++ /dev/null\n");
        header.prefixes = Prefixes::None;
        header.old_path = b"/w/f";
        assert_eq!(text(|out| header.write(out)), "diff --git /w/f f\ndeleted file mode 120000\n");
        assert_eq!(text(|out| header.write_names(out)), "--- /w/f\n+++ /dev/null\n");
    }

    #[test]
    fn ranges_are_as_git_writes_them() {
        assert_eq!(text(|out| write_range(out, (0, 0), (0, 1))), "@@ -0,0 +1 @@\n");
        assert_eq!(text(|out| write_range(out, (7, 0), (7, 2))), "@@ -7,0 +8,2 @@\n");
    }

    #[test]
    fn a_name_has_a_byte_that_is_no_slash_and_no_nul() {
        assert!(can_be_named(b"/a") && !can_be_named(b"//") && !can_be_named(b"") && !can_be_named(b"a\0"));
    }
}

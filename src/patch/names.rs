//! The names of files in the headers of unified diffs: quotes, times, prefixes.

/// The name of a side that is not there.
pub const NO_FILE: &[u8] = b"/dev/null";

/// A name after `--- ` or `+++ `.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Name {
    /// The name as it is written, without quotes and time.
    pub path: Vec<u8>,
    /// The time behind it is the epoch, by which `diff -N` says that there is no file.
    pub is_epoch: bool,
}

/// The names of both sides, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// The old side's.
    pub old: Vec<u8>,
    /// The new side's.
    pub new: Vec<u8>,
}

impl Name {
    /// Returns a name without time.
    pub fn plain(path: &[u8]) -> Self {
        Name { path: path.to_vec(), is_epoch: false }
    }
}

impl Sides {
    /// Returns both names, without their prefixes if every side that is there has one.
    pub fn without_prefixes(&self) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let all_have_one = [&self.old, &self.new].iter().all(|side| *side == NO_FILE || has_prefix(side));
        let part = |side: &[u8]| {
            Some(if all_have_one && side != NO_FILE { side[2..].to_vec() } else { side.to_vec() })
        };
        (part(&self.old), part(&self.new))
    }
}

fn has_prefix(name: &[u8]) -> bool {
    matches!(name, [b'a' | b'b' | b'i' | b'w' | b'c' | b'o', b'/', _, ..])
}

/// Returns a name without its prefix, if it has one.
pub fn bare(name: &[u8]) -> &[u8] {
    if has_prefix(name) { &name[2..] } else { name }
}

/// Returns a name without its first `count` parts, as `patch -p` counts them; `None` if it has not so many.
pub fn strip(name: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut rest = name;
    if rest == NO_FILE {
        return Some(rest.to_vec());
    }
    for _ in 0..count {
        let slash = rest.iter().position(|&byte| byte == b'/')?;
        let slashes = rest[slash..].iter().take_while(|&&byte| byte == b'/').count();
        rest = &rest[slash + slashes..];
    }
    (!rest.is_empty()).then(|| rest.to_vec())
}

/// Reads what stands behind `--- ` or `+++ `; `None` if the quotes are wrong.
pub fn of_header(text: &[u8]) -> Option<Name> {
    if text.first() == Some(&b'"') {
        let (path, rest) = unquote(text)?;
        return Some(Name { path, is_epoch: is_epoch(rest) });
    }
    // Git ends a name that has a blank with a tab; without one a blank at the end is none of the name's.
    let (path, time) = match text.iter().position(|&byte| byte == b'\t') {
        Some(tab) => (&text[..tab], &text[tab..]),
        None => {
            let end = (0..text.len()).find(|&index| text[index] == b' ' && is_time(&text[index + 1..]));
            let (path, time) = text.split_at(end.unwrap_or(text.len()));
            (path.trim_ascii_end(), time)
        }
    };
    (!path.contains(&0)).then(|| Name { path: path.to_vec(), is_epoch: is_epoch(time) })
}

/// Reads a name of a rename or a copy: the rest of the line.
pub fn moved(text: &[u8]) -> Option<Vec<u8>> {
    let name = if text.first() == Some(&b'"') { unquote(text)?.0 } else { text.to_vec() };
    (!name.contains(&0)).then_some(name)
}

/// Reads the two names of a line `diff --git`. Blanks in them make it ambiguous; then the names are the same but for
/// their prefixes, or can't be told apart.
pub fn git_line(text: &[u8]) -> Option<Sides> {
    let sides = |old: Vec<u8>, new: Vec<u8>| Some(Sides { old, new });
    if text.first() == Some(&b'"') {
        let (old, rest) = unquote(text)?;
        return sides(old, moved(rest.strip_prefix(b" ")?)?);
    }
    if text.last() == Some(&b'"') {
        let quote = memchr::memmem::find(text, b" \"")?;
        return sides(text[..quote].to_vec(), moved(&text[quote + 1..])?);
    }
    // Prefixes have one length, so names that are the same have the blank between them in the middle.
    let middle = text.len() / 2;
    let (old, new) = text.split_at(middle);
    let split = match new.strip_prefix(b" ") {
        Some(new) if bare(old) == bare(new) => middle,
        _ => {
            let only = memchr::memchr(b' ', text)?;
            (memchr::memrchr(b' ', text) == Some(only)).then_some(only)?
        }
    };
    sides(text[..split].to_vec(), text[split + 1..].to_vec())
}

/// Reads `Binary files OLD and NEW differ`.
pub fn binary_files(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let names = text.strip_prefix(b"Binary files ")?.strip_suffix(b" differ")?;
    let and = memchr::memmem::find(names, b" and ")?;
    Some((&names[..and], &names[and + 5..]))
}

/// Reads a name in quotes with C escapes; returns it and what stands behind.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (&byte, tail) = rest.split_first()?;
        rest = tail;
        match byte {
            b'"' => return (!name.contains(&0)).then_some((name, rest)),
            b'\\' => {
                let (&escape, tail) = rest.split_first()?;
                rest = tail;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escape,
                    b'0'..=b'3' => {
                        let (digits, tail) = rest.split_at_checked(2)?;
                        rest = tail;
                        let mut value = escape - b'0';
                        for digit in digits {
                            value = value << 3 | matches!(digit, b'0'..=b'7').then(|| digit - b'0')?;
                        }
                        value
                    }
                    _ => return None,
                });
            }
            other => name.push(other),
        }
    }
}

/// Tells whether a text begins like `2026-01-02 03:04`.
fn is_time(text: &[u8]) -> bool {
    const FORM: &[u8] = b"dddd-dd-dd dd:dd";
    text.len() >= FORM.len()
        && FORM
            .iter()
            .zip(text)
            .all(|(form, byte)| if *form == b'd' { byte.is_ascii_digit() } else { form == byte })
}

/// Tells whether a time is 1970-01-01 00:00:00 UTC, in whatever zone.
fn is_epoch(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text.trim_ascii()) else { return false };
    let mut parts = text.split_ascii_whitespace();
    let day_minutes = match parts.next() {
        Some("1970-01-01") => 0,
        Some("1969-12-31") => -24 * 60,
        _ => return false,
    };
    let (Some(time), zone) = (parts.next(), parts.next().unwrap_or("+0000")) else { return false };
    let minutes = |hours: Option<&str>, minutes: Option<&str>| {
        Some(hours?.parse::<i64>().ok()? * 60 + minutes?.parse::<i64>().ok()?)
    };
    let (Some(clock), seconds) = (minutes(time.get(..2), time.get(3..5)), time.get(5..).unwrap_or_default())
    else {
        return false;
    };
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let Some(offset) = minutes(zone.get(1..3), zone.get(3..5)) else { return false };
    seconds.chars().all(|character| matches!(character, ':' | '.' | '0'))
        && day_minutes + clock == sign * offset
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_with_quotes_and_times() {
        let check = |text: &str, path: &[u8], is_epoch: bool| {
            assert_eq!(of_header(text.as_bytes()), Some(Name { path: path.to_vec(), is_epoch }), "{text}");
        };
        check("a/x", b"a/x", false);
        check("a/x y\t", b"a/x y", false);
        check("a/x y \t", b"a/x y ", false);
        check("a/x  ", b"a/x", false);
        check("a/x\t2026-01-02 03:04:05.000000000 +0000", b"a/x", false);
        check("a/x 2026-01-02 03:04:05", b"a/x", false);
        check("a/x\t1970-01-01 01:00:00.000000000 +0100", b"a/x", true);
        check("a/x\t1969-12-31 19:00:00 -0500", b"a/x", true);
        check("a/x\t1970-01-01 00:00:01 +0000", b"a/x", false);
        check(r#""a/t\t\303\251\"\\""#, b"a/t\t\xc3\xa9\"\\", false);
        check("\"a/x\"\t2026-01-02", b"a/x", false);
        for wrong in [r#""a"#, r#""\9""#, r#""\40""#, r#""\000""#, r#""\"#, r#""\38x""#] {
            assert_eq!(of_header(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn prefixes_go_if_every_side_has_one() {
        let check = |old: &str, new: &str, expected: (&str, &str)| {
            let sides = Sides { old: old.into(), new: new.into() };
            let bytes = |text: &str| Some(text.as_bytes().to_vec());
            assert_eq!(sides.without_prefixes(), (bytes(expected.0), bytes(expected.1)), "{old} {new}");
        };
        check("a/x", "b/x", ("x", "x"));
        check("i/x", "w/x", ("x", "x"));
        check("/dev/null", "b/x", ("/dev/null", "x"));
        check("a/x", "/dev/null", ("x", "/dev/null"));
        check("x", "b/x", ("x", "b/x"));
        check("src/x", "src/x", ("src/x", "src/x"));
        check("a/", "b/", ("a/", "b/"));
    }

    #[test]
    fn parts_are_dropped_as_patch_counts_them() {
        assert_eq!(strip(b"a/b/c", 0), Some(b"a/b/c".to_vec()));
        assert_eq!(strip(b"a/b/c", 2), Some(b"c".to_vec()));
        assert_eq!(strip(b"a//b", 1), Some(b"b".to_vec()));
        assert_eq!(strip(b"/a/b", 1), Some(b"a/b".to_vec()));
        assert_eq!(strip(b"a/b", 2), None);
        assert_eq!(strip(b"a/", 1), None);
    }

    #[test]
    fn the_names_of_a_git_line_are_told_apart() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let expected = expected.map(|(old, new)| Sides { old: old.into(), new: new.into() });
            assert_eq!(git_line(text.as_bytes()), expected, "{text}");
        };
        check("a/x b/x", Some(("a/x", "b/x")));
        check("a/x b/y", Some(("a/x", "b/y")));
        check("a/x y b/x y", Some(("a/x y", "b/x y")));
        check("x y x y", Some(("x y", "x y")));
        check("a/x b/x b/x b/x", Some(("a/x b/x", "b/x b/x")));
        check(r#""a/\303\251" "b/\303\251""#, Some(("a/é", "b/é")));
        check(r#"a/x "b/\303\251""#, Some(("a/x", "b/é")));
        check(r#""a/\303\251" b/x"#, Some(("a/é", "b/x")));
        check("a/x y b/z", None);
        check("a/x", None);
    }
}

//! A path as a patch or a log writes it: bytes, with a lexical normal form.
//!
//! Nothing here asks the file system; what a path leads to is `disk/`'s business.

use std::borrow::Cow;
use std::fmt;

/// A path exactly as it was written, UTF-8 or not.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct PathText {
    bytes: Vec<u8>,
}

impl PathText {
    /// Takes a path's bytes as written.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        PathText { bytes: bytes.into() }
    }

    /// Returns the bytes as written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the path for reports; what is not UTF-8 becomes U+FFFD.
    pub fn shown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// Tells whether the path begins at the file system's root.
    pub fn is_absolute(&self) -> bool {
        self.bytes.first() == Some(&b'/')
    }

    /// Returns the lexical normal form: no `.`, no empty parts, `..` taken back where a name stands before it.
    ///
    /// A `..` that leads above the start of a relative path is kept, so that confinement can see it.
    pub fn normalized(&self) -> PathText {
        let mut parts: Vec<&[u8]> = Vec::new();
        for part in self.bytes.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => match parts.last() {
                    Some(&last) if last != b".." => {
                        parts.pop();
                    }
                    _ if self.is_absolute() => {}
                    _ => parts.push(part),
                },
                name => parts.push(name),
            }
        }
        let joined = parts.join(&b'/');
        PathText { bytes: if self.is_absolute() { [b"/".as_slice(), &joined].concat() } else { joined } }
    }
}

/// Returns a path, lexically, relative to `root`; nothing if it does not lie below it, or if that can't be told.
///
/// A relative path starts at `folder`, or at the root without one. Without a root, only a relative path is below it.
///
/// ```
/// use hunkwise::text::path::within;
/// assert_eq!(within(Some("/w"), None, "/w/src/../a"), Some("a".to_owned()));
/// assert_eq!(within(Some("/w"), Some("/w/src"), "a"), Some("src/a".to_owned()));
/// assert_eq!(within(Some("/w"), None, "/other/a"), None);
/// ```
pub fn within(root: Option<&str>, folder: Option<&str>, path: &str) -> Option<String> {
    let is_absolute = |path: &str| path.starts_with('/');
    // Logs of another system: such a path is relative to nothing here.
    if path.as_bytes().get(1) == Some(&b':') && matches!(path.as_bytes().get(2), Some(b'\\' | b'/')) {
        return None;
    }
    let whole = match folder.or(root) {
        Some(folder) if !is_absolute(path) => format!("{folder}/{path}"),
        _ => path.to_owned(),
    };
    let text = |path: &str| String::from_utf8_lossy(PathText::from(path).normalized().bytes()).into_owned();
    let whole = text(&whole);
    let below = match root.map(text) {
        Some(root) if root == "/" => whole.strip_prefix('/')?,
        Some(root) => whole.strip_prefix(&root)?.strip_prefix('/')?,
        None if is_absolute(&whole) => return None,
        None => &whole,
    };
    let is_below = !below.is_empty() && below != ".." && !below.starts_with("../");
    is_below.then(|| below.to_owned())
}

impl fmt::Debug for PathText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.shown(), formatter)
    }
}

impl From<&str> for PathText {
    fn from(text: &str) -> Self {
        PathText::new(text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_form_takes_dots_back() {
        let cases = [
            ("a/b", "a/b"),
            ("./a//b/.", "a/b"),
            ("s/../a", "a"),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("/x/../../y", "/y"),
            (".", ""),
            ("/", "/"),
        ];
        for (written, normal) in cases {
            assert_eq!(PathText::from(written).normalized(), PathText::from(normal), "{written}");
        }
    }

    #[test]
    fn paths_are_below_a_root_or_not() {
        let check = |root, folder, path, wanted: Option<&str>| {
            assert_eq!(within(root, folder, path).as_deref(), wanted, "{root:?} {folder:?} {path}");
        };
        check(Some("/w"), Some("/w"), "/w/a", Some("a"));
        check(Some("/w/"), None, "./b//c", Some("b/c"));
        check(Some("/w"), Some("/w/sub"), "../a", Some("a"));
        check(Some("/w"), Some("/w/sub"), "../../a", None);
        check(Some("/w"), None, "/w", None);
        check(Some("/w"), None, "/ww/a", None);
        check(Some("/"), None, "/a/b", Some("a/b"));
        check(None, None, "/a", None);
        check(None, None, "a/./b", Some("a/b"));
        check(None, None, "../a", None);
        check(None, None, "..a", Some("..a"));
        check(Some("C:\\w"), None, "C:\\w\\a", None);
    }
}

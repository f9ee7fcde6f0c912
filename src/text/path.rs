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
}

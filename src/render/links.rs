//! Links from paths to files, as terminals take them (OSC 8).
//!
//! The target of a link is made of a format, which the user chose, and of a path, which is joined lexically with the
//! folder that it starts at: no file is looked at. All of the path but plain characters is percent-encoded, so that
//! nothing in it can end the sequence, begin another part of the target, or choose its scheme.

use std::hash::BuildHasher;
use std::rc::Rc;

use foldhash::fast::FixedState;

use crate::text::PathText;

/// Names of formats, as ripgrep has them and with the same meaning, and of two more editors.
pub const ALIASES: [(&str, &str); 13] = [
    ("default", "file://{host}{path}"),
    ("none", ""),
    ("file", "file://{host}{path}"),
    ("cursor", "cursor://file{path}:{line}:{column}"),
    ("grep+", "grep+://{path}:{line}"),
    ("idea", "idea://open?file={path}&line={line}&column={column}"),
    ("kitty", "file://{host}{path}#{line}"),
    ("macvim", "mvim://open?url=file://{path}&line={line}&column={column}"),
    ("textmate", "txmt://open?url=file://{path}&line={line}&column={column}"),
    ("vscode", "vscode://file{path}:{line}:{column}"),
    ("vscode-insiders", "vscode-insiders://file{path}:{line}:{column}"),
    ("vscodium", "vscodium://file{path}:{line}:{column}"),
    ("zed", "zed://file{path}:{line}:{column}"),
];

/// Terminals pass over longer targets.
const LIMIT_TARGET_BYTES: usize = 2000;

/// A link's target: its parameters and its address, as they stand in the sequence.
pub(super) type Target = Rc<str>;

/// How an address is made of a path; without any part there are no links.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkFormat {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Host,
    Path,
    Line,
    Column,
}

/// Why a text is no format of links.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkFormatError {
    /// It does not begin with a scheme.
    #[error("a format of links begins with a scheme, as in 'file://{{path}}', or is one of {}", names())]
    NoScheme,
    /// It does not name the file.
    #[error("a format of links has a {{path}}")]
    NoPath,
    /// A column alone tells nothing.
    #[error("a format of links that has a {{column}} has a {{line}}, too")]
    ColumnWithoutLine,
    /// It asks for something else than there is.
    #[error("a format of links may have {{host}}, {{path}}, {{line}} and {{column}}, not '{{{0}}}'")]
    UnknownPart(String),
    /// A brace has no partner, or something can't stand in an address.
    #[error("a format of links is plain ASCII without blanks, and its braces come in pairs")]
    Malformed,
}

fn names() -> String {
    ALIASES.map(|(name, _)| name).join(", ")
}

impl LinkFormat {
    /// Reads a format or the name of one.
    ///
    /// # Errors
    /// Says what is wrong with it.
    ///
    /// ```
    /// use hunkwise::render::links::LinkFormat;
    /// assert_eq!(LinkFormat::parse("kitty"), LinkFormat::parse("file://{host}{path}#{line}"));
    /// assert!(LinkFormat::parse("file://{path}#{row}").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, LinkFormatError> {
        let text = ALIASES.iter().find(|(name, _)| *name == text).map_or(text, |(_, format)| format);
        if text.is_empty() {
            return Ok(LinkFormat { parts: Vec::new() });
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(LinkFormatError::Malformed);
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('{') {
            let (name, behind) = from.split_once('}').ok_or(LinkFormatError::Malformed)?;
            if before.contains('}') {
                return Err(LinkFormatError::Malformed);
            }
            parts.push(Part::Text(before.to_owned()));
            parts.push(match name {
                "host" => Part::Host,
                "path" => Part::Path,
                "line" => Part::Line,
                "column" => Part::Column,
                other => return Err(LinkFormatError::UnknownPart(other.to_owned())),
            });
            rest = behind;
        }
        if rest.contains('}') {
            return Err(LinkFormatError::Malformed);
        }
        parts.push(Part::Text(rest.to_owned()));
        if !matches!(parts.first(), Some(Part::Text(first)) if has_scheme(first)) {
            return Err(LinkFormatError::NoScheme);
        }
        if !parts.contains(&Part::Path) {
            return Err(LinkFormatError::NoPath);
        }
        if parts.contains(&Part::Column) && !parts.contains(&Part::Line) {
            return Err(LinkFormatError::ColumnWithoutLine);
        }
        Ok(LinkFormat { parts })
    }
}

/// Tells whether a text begins with `SCHEME:`.
fn has_scheme(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
    })
}

/// How paths become links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    format: LinkFormat,
    host: String,
    base: Option<String>,
}

impl Links {
    /// Returns the links of a format on a machine of this name. Relative paths start at `base`, an absolute path; without
    /// one only those lead anywhere that are absolute, or of a card that has a folder.
    pub fn new(format: LinkFormat, host: &str, base: Option<String>) -> Self {
        Links { format, host: encoded(host.as_bytes()), base }
    }

    /// Returns the same links for paths that start at another folder.
    #[must_use]
    pub fn at(&self, base: Option<String>) -> Self {
        Links { base, ..self.clone() }
    }

    fn target(&self, folder: Option<&str>, path: &str, line: Option<usize>) -> Option<Target> {
        let path = self.absolute(folder, path).filter(|_| !self.format.parts.is_empty())?;
        let line = line.unwrap_or(1).to_string();
        let mut address = String::new();
        for part in &self.format.parts {
            address.push_str(match part {
                Part::Text(text) => text,
                Part::Host => &self.host,
                Part::Path => &path,
                Part::Line => &line,
                Part::Column => "1",
            });
        }
        if address.len() > LIMIT_TARGET_BYTES {
            return None;
        }
        // With an id, the pieces of a link that was broken into rows are one.
        let id = FixedState::default().hash_one(&address);
        Some(format!("id={id:x};{address}").into())
    }

    /// Returns the percent-encoded absolute path that a path means; none if that can't be told.
    fn absolute(&self, folder: Option<&str>, path: &str) -> Option<String> {
        let is_absolute = |path: &&str| path.starts_with('/');
        let is_drive = path.as_bytes().get(1) == Some(&b':');
        // What is not UTF-8 is not known any more; what a shell or another program would have made of a name neither.
        if path.is_empty()
            || path.contains('\u{fffd}')
            || is_drive
            || path.starts_with('~')
            || path.contains("://")
        {
            return None;
        }
        let whole = if is_absolute(&path) {
            path.to_owned()
        } else {
            let folder = folder.filter(is_absolute).or(self.base.as_deref().filter(is_absolute))?;
            format!("{folder}/{path}")
        };
        let whole = PathText::from(whole.as_str()).normalized();
        (whole.bytes() != b"/dev/null").then(|| encoded(whole.bytes()))
    }
}

/// Percent-encodes all but what is plain in every part of an address.
fn encoded(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Where the paths of one card lead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linker<'a> {
    links: Option<&'a Links>,
    folder: Option<&'a str>,
}

impl<'a> Linker<'a> {
    /// Returns the linker of a card whose relative paths start at a folder, if it says so.
    pub(super) fn new(links: Option<&'a Links>, folder: Option<&'a str>) -> Self {
        Linker { links, folder }
    }

    /// Returns the target of a path and a 1-based line, if links are drawn and this one can be told.
    pub(super) fn target(&self, path: &str, line: Option<usize>) -> Option<Target> {
        self.links?.target(self.folder, path, line)
    }

    /// Tells whether one line of a file leads elsewhere than another.
    pub(super) fn tells_lines(&self) -> bool {
        self.links.is_some_and(|links| links.format.parts.contains(&Part::Line))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn links(format: &str, base: Option<&str>) -> Links {
        Links::new(LinkFormat::parse(format).unwrap(), "hut", base.map(str::to_owned))
    }

    fn address(links: &Links, folder: Option<&str>, path: &str, line: Option<usize>) -> Option<String> {
        let target = links.target(folder, path, line)?;
        let (id, address) = target.split_once(';').unwrap();
        assert!(id.starts_with("id=") && id[3..].bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        Some(address.to_owned())
    }

    #[test]
    fn paths_become_absolute() {
        let links = links("default", Some("/w"));
        let check = |folder: Option<&str>, path: &str, wanted: Option<&str>| {
            assert_eq!(address(&links, folder, path, None).as_deref(), wanted, "{folder:?} {path:?}");
        };
        check(None, "a.rs", Some("file://hut/w/a.rs"));
        check(None, "./src/../a.rs", Some("file://hut/w/a.rs"));
        check(None, "../a.rs", Some("file://hut/a.rs"));
        check(None, "../../../a.rs", Some("file://hut/a.rs"));
        check(Some("/log"), "a.rs", Some("file://hut/log/a.rs"));
        check(Some("log"), "a.rs", Some("file://hut/w/a.rs"));
        check(Some("/log"), "/b//c", Some("file://hut/b/c"));
        check(None, "//server/share", Some("file://hut/server/share"));
        check(None, "a b/\u{e9}?#%;:", Some("file://hut/w/a%20b/%C3%A9%3F%23%25%3B%3A"));
        for path in ["", "C:\\a", "C:/a", "~/a", "http://x/a", "file:///a", "a\u{fffd}", "/dev/null"] {
            check(None, path, None);
        }
        assert_eq!(address(&links.at(None), None, "a.rs", None), None);
        assert_eq!(address(&self::links("none", Some("/w")), None, "a.rs", None), None);
        assert_eq!(address(&links, None, &"x".repeat(2000), None), None);
    }

    #[test]
    fn formats_are_read() {
        let address = |format: &str| address(&links(format, Some("/w")), None, "a", Some(7)).unwrap();
        assert_eq!(address("vscode"), "vscode://file/w/a:7:1");
        assert_eq!(address("kitty"), "file://hut/w/a#7");
        assert_eq!(address("my-editor+x:{path}?l={line}"), "my-editor+x:/w/a?l=7");
        let error = |format: &str| LinkFormat::parse(format).unwrap_err();
        assert_eq!(error("{path}"), LinkFormatError::NoScheme);
        assert_eq!(error("vscod"), LinkFormatError::NoScheme);
        assert_eq!(error("1x:{path}"), LinkFormatError::NoScheme);
        assert_eq!(error("file://{host}"), LinkFormatError::NoPath);
        assert_eq!(error("file://{path}:{column}"), LinkFormatError::ColumnWithoutLine);
        assert_eq!(error("file://{path}{row}"), LinkFormatError::UnknownPart("row".to_owned()));
        for format in
            ["file://{path", "file://}{path}", "file://{path}}", "file:// {path}", "file://{path}\u{1b}"]
        {
            assert_eq!(error(format), LinkFormatError::Malformed, "{format:?}");
        }
        for (name, _) in ALIASES {
            assert!(LinkFormat::parse(name).is_ok(), "{name}");
        }
    }

    proptest! {
        #[test]
        fn no_path_gets_out_of_its_place(path in any::<String>(), folder in any::<Option<String>>(), host in any::<String>()) {
            let format = LinkFormat::parse("x://{host}{path}:{line}").unwrap();
            let links = Links::new(format, &host, Some("/w".to_owned()));
            if let Some(target) = links.target(folder.as_deref(), &path, Some(3)) {
                let (_, address) = target.split_once(';').unwrap();
                prop_assert!(address.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~:%".contains(&byte)));
                prop_assert!(address.starts_with("x://") && address.ends_with(":3"));
                prop_assert_eq!(address.matches(':').count(), 2);
            }
        }
    }
}

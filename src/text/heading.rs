//! One line of a file in the place of what stands under it: the head of a function, a class, a section.

/// How many characters of a line are kept: git's own limit for what it writes behind a hunk's numbers.
const LIMIT_CHARACTERS: usize = 80;
/// No character of UTF-8 has more bytes.
const LIMIT_BYTES: usize = 4 * LIMIT_CHARACTERS;

/// Returns the line as it is shown: without blanks at both ends and at most 80 characters; `None` if it is blank.
///
/// Bytes that are not UTF-8 become U+FFFD. It is foreign text, and not yet safe to show.
pub fn shown(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    let text = String::from_utf8_lossy(&line[..line.len().min(LIMIT_BYTES)]);
    let text: String = text.chars().take(LIMIT_CHARACTERS).collect();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_trimmed_and_cut_between_characters() {
        assert_eq!(shown(b"  fn add() {\t\r").as_deref(), Some("fn add() {"));
        assert_eq!(shown(b" \t "), None);
        for (one, bytes) in [("a", 1), ("\u{4e2d}", 3), ("\u{1f600}", 4)] {
            let long = format!("x{}", one.repeat(500));
            let text = shown(long.as_bytes()).unwrap();
            assert_eq!((text.chars().count(), text.len()), (80, 1 + 79 * bytes), "{one}");
        }
        assert_eq!(shown(b"caf\xE9").as_deref(), Some("caf\u{fffd}"));
    }
}

//! A patch that git has coloured, as it hands it to a pager: the colours are taken off again.
//!
//! ```text
//! colour = ESC "[" (digit | ";" | ":")* ("m" | "K")
//! ```
//!
//! A patch is coloured if a line that begins one does not begin with its own first byte but with a colour. In any other
//! patch such a sequence is text of a file and stays.

use std::borrow::Cow;

use memchr::memchr;

/// What lines begin with that only a patch has.
const MARKERS: [&[u8]; 4] = [b"diff --git ", b"--- ", b"+++ ", b"@@ "];

/// Returns a patch without git's colours.
///
/// ```
/// use hunkwise::patch::colored::without_colors;
///
/// let colored = b"\x1b[1m--- a/x\x1b[m\n\x1b[1m+++ b/x\x1b[m\n\x1b[36m@@ -1 +1 @@\x1b[m\n\x1b[32m+\x1b[m\x1b[32mnew\x1b[m\n";
/// assert_eq!(&*without_colors(colored), b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n+new\n");
/// let plain = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n+\x1b[32mnew\n";
/// assert_eq!(&*without_colors(plain), plain);
/// ```
pub fn without_colors(input: &[u8]) -> Cow<'_, [u8]> {
    if !input.split(|&byte| byte == b'\n').any(is_colored_marker) {
        return Cow::Borrowed(input);
    }
    let mut plain = Vec::with_capacity(input.len());
    let mut rest = input;
    while let Some(at) = memchr(0x1b, rest) {
        plain.extend_from_slice(&rest[..at]);
        let length = color_length(&rest[at..]);
        plain.extend_from_slice(&rest[at..at + usize::from(length == 0)]);
        rest = &rest[at + length.max(1)..];
    }
    plain.extend_from_slice(rest);
    Cow::Owned(plain)
}

fn is_colored_marker(line: &[u8]) -> bool {
    let mut text = line;
    loop {
        match color_length(text) {
            0 => break,
            length => text = &text[length..],
        }
    }
    text.len() < line.len() && MARKERS.iter().any(|marker| text.starts_with(marker))
}

/// Returns how many bytes a colour at the beginning has; 0 if there is none.
fn color_length(text: &[u8]) -> usize {
    let Some(parameters) = text.strip_prefix(b"\x1b[") else { return 0 };
    let length = parameters.iter().take_while(|byte| byte.is_ascii_digit() || b";:".contains(byte)).count();
    match parameters.get(length) {
        Some(b'm' | b'K') => 2 + length + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_go_and_only_of_a_coloured_patch() {
        let check = |input: &str, wanted: &str| {
            assert_eq!(String::from_utf8_lossy(&without_colors(input.as_bytes())), wanted, "{input:?}");
        };
        let head = "\x1b[1mdiff --git a/x b/x\x1b[m\n";
        check(head, "diff --git a/x b/x\n");
        check(
            &format!("{head}\x1b[32m+\x1b[m\x1b[32ma\x1b[m\x1b[41m  \x1b[K\x1b[m\r\n"),
            "diff --git a/x b/x\n+a  \r\n",
        );
        check(
            &format!("{head}+\x1b[2J\x1b]0;t\x07\x1b[38;2;1;2;3mx\x1b"),
            "diff --git a/x b/x\n+\x1b[2J\x1b]0;t\x07x\x1b",
        );
        check("\x1b[31mnot a patch\x1b[m\n", "\x1b[31mnot a patch\x1b[m\n");
        check("--- a\n+\x1b[31mx\x1b[m\n", "--- a\n+\x1b[31mx\x1b[m\n");
        check("", "");
    }
}

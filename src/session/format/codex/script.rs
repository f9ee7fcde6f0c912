//! The patches that a script of code mode holds: JavaScript that calls `tools.apply_patch`.
//!
//! Nothing is run. Texts are what stands in the script as they are: string and template literals without a substitution,
//! literals added up with `+`, and lists of such that are joined. Which of them a call is given is not followed up: a
//! text that begins like a patch, or a command line that gives one to apply_patch, is taken for one that is applied.

/// What a script holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    /// The patches, in order.
    pub patches: Vec<String>,
    /// Count of calls of apply_patch in the code.
    pub calls: usize,
    /// Count of calls of any tool.
    pub tools: usize,
}

/// One piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token<'a> {
    /// A literal text; none if a part of it is computed.
    Text(Option<String>),
    Word(&'a str),
    Sign(u8),
}

/// Reads a script; one that does not name apply_patch holds none.
pub fn read(source: &str) -> Script {
    if !source.contains("apply_patch") && !source.contains("applypatch") {
        return Script::default();
    }
    let tokens = tokens(source);
    let is_name = |token: &Token<'_>| match token {
        Token::Word(word) => *word == "apply_patch",
        Token::Text(text) => text.as_deref() == Some("apply_patch"),
        Token::Sign(_) => false,
    };
    let is_open = |token: &Token<'_>| matches!(token, Token::Sign(b'('));
    let is_call =
        |pair: &[Token<'_>]| is_name(&pair[0]) && (is_open(&pair[1]) || pair[1] == Token::Sign(b']'));
    Script {
        patches: patches(&tokens),
        calls: tokens.windows(2).filter(|pair| is_call(pair)).count(),
        tools: tokens.iter().filter(|token| **token == Token::Word("tools")).count(),
    }
}

fn patches(tokens: &[Token<'_>]) -> Vec<String> {
    let mut patches = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (text, end) = match &tokens[at] {
            Token::Text(_) => sum(tokens, at),
            Token::Sign(b'[') => match joined(tokens, at) {
                Some((text, end)) => (Some(text), end),
                None => (None, at + 1),
            },
            Token::Word(_) | Token::Sign(_) => (None, at + 1),
        };
        patches.extend(text.filter(|text| is_patch(text)));
        at = end;
    }
    patches
}

fn is_patch(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("*** Begin Patch")
        || (text.contains("*** Begin Patch") && (text.contains("apply_patch") || text.contains("applypatch")))
}

/// Reads texts that are added up, from the first on; returns where they end.
fn sum(tokens: &[Token<'_>], start: usize) -> (Option<String>, usize) {
    let mut whole = Some(String::new());
    let mut at = start;
    loop {
        match (tokens.get(at), &mut whole) {
            (Some(Token::Text(Some(text))), Some(whole)) => whole.push_str(text),
            _ => whole = None,
        }
        at += 1;
        if tokens.get(at) != Some(&Token::Sign(b'+')) {
            return (whole, at);
        }
        if !matches!(tokens.get(at + 1), Some(Token::Text(_))) {
            return (None, at + 1);
        }
        at += 1;
    }
}

/// Reads a list of texts that is joined at once; returns where the call of `join` ends.
fn joined(tokens: &[Token<'_>], start: usize) -> Option<(String, usize)> {
    let mut texts = Vec::new();
    let mut at = start + 1;
    while tokens.get(at)? != &Token::Sign(b']') {
        let Token::Text(_) = tokens.get(at)? else { return None };
        let (text, end) = sum(tokens, at);
        texts.push(text?);
        at = end + usize::from(tokens.get(end)? == &Token::Sign(b','));
    }
    let [
        Token::Sign(b'.'),
        Token::Word("join"),
        Token::Sign(b'('),
        Token::Text(Some(between)),
        Token::Sign(b')'),
    ] = tokens.get(at + 1..at + 6)?
    else {
        return None;
    };
    Some((texts.join(between), at + 6))
}

fn tokens(source: &str) -> Vec<Token<'_>> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'/' if rest.starts_with(b"//") => at += memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") => {
                at += memchr::memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
            }
            b'/' if begins_pattern(tokens.last()) => at += pattern_bytes(rest),
            b'"' | b'\'' | b'`' => {
                let is_raw = byte == b'`' && tokens.last() == Some(&Token::Word("raw"));
                let (text, end) = literal(source, at, is_raw);
                tokens.push(Token::Text(text));
                at = end;
            }
            _ if is_word(byte) => {
                let length = rest.iter().take_while(|&&byte| is_word(byte)).count();
                tokens.push(Token::Word(&source[at..at + length]));
                at += length;
            }
            _ => {
                if !byte.is_ascii_whitespace() {
                    tokens.push(Token::Sign(byte));
                }
                at += 1;
            }
        }
    }
    tokens
}

/// Bytes of a character that is not ASCII are taken for a name's; all of them are, so no character is cut.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// Tells whether a slash begins a regular expression: a division stands behind a value.
fn begins_pattern(before: Option<&Token<'_>>) -> bool {
    match before {
        None | Some(Token::Word("return" | "typeof" | "case")) => true,
        Some(Token::Sign(sign)) => !matches!(sign, b')' | b']' | b'}'),
        Some(Token::Word(_) | Token::Text(_)) => false,
    }
}

/// Returns the length of a regular expression that ends on its line; else of its slash.
fn pattern_bytes(rest: &[u8]) -> usize {
    let mut at = 1;
    let mut is_class = false;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'\n' => return 1,
            b'\\' => at += 1,
            b'[' => is_class = true,
            b']' => is_class = false,
            b'/' if !is_class => return at + 1,
            _ => {}
        }
        at += 1;
    }
    1
}

/// Reads the literal that begins at `start`; returns where it ends.
fn literal(source: &str, start: usize, is_raw: bool) -> (Option<String>, usize) {
    let bytes = source.as_bytes();
    let quote = bytes[start];
    let mut text = String::new();
    let mut is_whole = true;
    let mut at = start + 1;
    let mut plain = at;
    while let Some(&byte) = bytes.get(at) {
        if byte == quote {
            text.push_str(&source[plain..at]);
            return (is_whole.then_some(text), at + 1);
        }
        match byte {
            b'\\' if is_raw => at = skip_character(source, at + 1),
            b'\\' => {
                text.push_str(&source[plain..at]);
                at = escape(source, at, &mut text);
                plain = at;
            }
            b'$' if quote == b'`' && bytes.get(at + 1) == Some(&b'{') => {
                is_whole = false;
                at = after_braces(bytes, at + 1);
                plain = at;
            }
            // Only a template goes over several lines; without its end this is none.
            b'\n' if quote != b'`' => return (None, at),
            _ => at += 1,
        }
    }
    (None, bytes.len())
}

fn skip_character(source: &str, at: usize) -> usize {
    at + source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}

/// Decodes the escape at `at`; returns where it ends.
fn escape(source: &str, at: usize, text: &mut String) -> usize {
    let after = at + 1;
    let Some(escaped) = source[after..].chars().next() else { return source.len() };
    let next = after + escaped.len_utf8();
    match escaped {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'b' => text.push('\u{8}'),
        'f' => text.push('\u{c}'),
        'v' => text.push('\u{b}'),
        '0' => text.push('\0'),
        '\n' => {}
        '\r' => return next + usize::from(source[next..].starts_with('\n')),
        'x' => {
            let unit = source.get(next..next + 2).and_then(hex);
            text.push(unit.and_then(char::from_u32).unwrap_or('\u{FFFD}'));
            return if unit.is_some() { next + 2 } else { next };
        }
        'u' => return unicode_escape(source, next, text),
        other => text.push(other),
    }
    next
}

fn unicode_escape(source: &str, at: usize, text: &mut String) -> usize {
    if let Some(rest) = source[at..].strip_prefix('{') {
        let Some((digits, _)) = rest.split_once('}') else {
            text.push('\u{FFFD}');
            return at + 1;
        };
        text.push(hex(digits).and_then(char::from_u32).unwrap_or('\u{FFFD}'));
        return at + digits.len() + 2;
    }
    let unit_at = |at: usize| source.get(at..at + 4).and_then(hex);
    let Some(unit) = unit_at(at) else {
        text.push('\u{FFFD}');
        return at;
    };
    let low = source[at + 4..].strip_prefix("\\u").and_then(|_| unit_at(at + 6));
    match (unit, low) {
        (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) => {
            let scalar = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            text.push(char::from_u32(scalar).unwrap_or('\u{FFFD}'));
            at + 10
        }
        _ => {
            text.push(char::from_u32(unit).unwrap_or('\u{FFFD}'));
            at + 4
        }
    }
}

fn hex(digits: &str) -> Option<u32> {
    // `from_str_radix` would also take a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Returns where the braces end that open at `at`.
fn after_braces(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, byte) in bytes[at..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at + offset + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(source: &str, patches: &[&str], calls: usize) {
        let script = read(source);
        assert_eq!(
            (script.patches, script.calls),
            (patches.iter().map(|&patch| patch.to_owned()).collect(), calls),
            "{source}"
        );
    }

    #[test]
    fn every_kind_of_literal_is_read() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        let here = [patch];
        check(r#"await tools.apply_patch("*** Begin Patch\n*** Delete File: a\n*** End Patch");"#, &here, 1);
        check(r"await tools.apply_patch('*** Begin Patch\n*** Delete File: a\n*** End Patch')", &here, 1);
        check(&format!("const p = `{patch}`;\ntext(await tools.apply_patch(p))"), &here, 1);
        check(&format!("tools.apply_patch(String.raw`{patch}`)"), &here, 1);
        check(
            r#"tools.apply_patch("*** Begin Patch\n" + '*** Delete File: a\n' + `*** End Patch`)"#,
            &here,
            1,
        );
        check(
            r#"tools["apply_patch"](["*** Begin Patch", "*** Delete File: a", "*** End Patch",].join("\n"))"#,
            &here,
            1,
        );
        check(
            &format!("tools.exec_command({{cmd: `apply_patch <<'E'\n{patch}\nE`}})"),
            &[&format!("apply_patch <<'E'\n{patch}\nE")],
            0,
        );
        check(&format!("// it's\n/* \" */ x = /['\"`]/g; apply_patch(`{patch}`)"), &here, 1);
        check(&format!("for (const p of [`{patch}`, `{patch}`]) await tools.apply_patch(p)"), &[patch; 2], 1);
    }

    #[test]
    fn escapes_are_decoded() {
        check(
            r#"apply_patch("*** Begin Patch\t\x41\u00e9\u{1F600}\ud83d\ude00\ud83d\"\
\'\q")"#,
            &["*** Begin Patch\tA\u{e9}\u{1F600}\u{1F600}\u{FFFD}\"'q"],
            1,
        );
        check(r"apply_patch(`*** Begin Patch \`\${x} $y`)", &["*** Begin Patch `${x} $y"], 1);
        check(r"apply_patch(String.raw`*** Begin Patch \n\``)", &[r"*** Begin Patch \n\`"], 1);
    }

    #[test]
    fn what_is_computed_is_not_there() {
        check("tools.apply_patch(`*** Begin Patch\n${{a: 1}}\n`)", &[], 1);
        check("tools.apply_patch(\"*** Begin Patch\\n\" + name)", &[], 1);
        check("tools.apply_patch(make())", &[], 1);
        check("tools.apply_patch(\"other\")", &[], 1);
        check("tools.exec_command({cmd: \"*** Begin Patch\"})", &[], 0);
        check("tools.apply_patch(\"*** Begin Patch", &[], 1);
    }

    proptest! {
        #[test]
        fn no_script_panics(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "apply_patch", "\"", "'", "`", "\\", "u", "{", "}", "$", "d83d", "x", "/", "*", "[", "]", ".join(", "+", "\n", "\u{e9}", ",",
                ]),
                0..40,
            ),
        ) {
            read(&format!("apply_patch{}", pieces.concat()));
        }
    }
}

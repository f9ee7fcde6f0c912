//! A file's name as git writes it in the headers of a patch.

/// Returns a name as git writes it after `a/` or `b/`: an absolute one loses its first `/`, an odd one is quoted.
pub fn quoted(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let start = path.iter().take_while(|&&byte| byte == b'/').count();
    let path = &path[start..];
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if path.iter().all(is_plain) {
        return [prefix, path].concat();
    }
    let mut quoted = [b"\"", prefix].concat();
    for byte in path {
        match byte {
            b'\x07' => quoted.extend(b"\\a"),
            b'\x08' => quoted.extend(b"\\b"),
            b'\t' => quoted.extend(b"\\t"),
            b'\n' => quoted.extend(b"\\n"),
            b'\x0b' => quoted.extend(b"\\v"),
            b'\x0c' => quoted.extend(b"\\f"),
            b'\r' => quoted.extend(b"\\r"),
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b' '..=b'~' => quoted.push(*byte),
            _ => quoted.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_odd_names_are_quoted() {
        assert_eq!(quoted(b"a/", b"my file"), b"a/my file");
        assert_eq!(quoted(b"a/", b"/top"), b"a/top");
        assert_eq!(quoted(b"a/", b"tab\there"), b"\"a/tab\\there\"");
        assert_eq!(quoted(b"b/", "\u{e9}\"".as_bytes()), b"\"b/\\303\\251\\\"\"");
    }
}

//! git's binary patches: both contents as they are, deflated, in lines of base 85.
//!
//! A literal each way and never a delta: a delta is a matter of size only, and every reader takes a literal.

use std::io;
use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use sha1::Digest;
use sha1::Sha1;

/// git's alphabet, not that of RFC 1924.
const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// How many bytes a line holds at most: its first letter is its length, A to Z for 1 to 26 and a to z for 27 to 52.
const LINE_BYTES: usize = 52;
/// The name of a blob that is not there.
const ABSENT: &str = "0000000000000000000000000000000000000000";

/// Writes the `index` line, which names both blobs in full so that git can check them, and the contents of both.
///
/// The mode is told where it is the same on both sides.
pub(super) fn write(
    out: &mut dyn Write,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    mode: Option<&str>,
) -> io::Result<()> {
    let mode = mode.map_or_else(String::new, |mode| format!(" {mode}"));
    writeln!(out, "index {}..{}{mode}", blob_name(old), blob_name(new))?;
    out.write_all(b"GIT binary patch\n")?;
    write_literal(out, new.unwrap_or_default())?;
    write_literal(out, old.unwrap_or_default())
}

fn blob_name(content: Option<&[u8]>) -> String {
    let Some(content) = content else { return ABSENT.to_owned() };
    let digest =
        Sha1::new().chain_update(format!("blob {}\0", content.len())).chain_update(content).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_literal(out: &mut dyn Write, content: &[u8]) -> io::Result<()> {
    writeln!(out, "literal {}", content.len())?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content)?;
    for line in encoder.finish()?.chunks(LINE_BYTES) {
        out.write_all(&encoded_line(line))?;
    }
    out.write_all(b"\n")
}

fn encoded_line(bytes: &[u8]) -> Vec<u8> {
    // At most 52.
    let length = bytes.len() as u8;
    let mut line = vec![if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 }];
    for group in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded[..group.len()].copy_from_slice(group);
        let mut number = u32::from_be_bytes(padded);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = ALPHABET[(number % 85) as usize];
            number /= 85;
        }
        line.extend(digits);
    }
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_have_the_names_that_git_gives_them() {
        assert_eq!(blob_name(Some(b"")), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_name(Some(b"hello\n")), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(blob_name(None), ABSENT);
    }

    #[test]
    fn a_line_tells_its_length_and_is_filled_up() {
        assert_eq!(encoded_line(&[0; 26])[0], b'Z');
        assert_eq!(encoded_line(&[0; 27])[0], b'a');
        assert_eq!(encoded_line(&[0xff; 4]), b"D|NsC0\n");
        assert_eq!(encoded_line(&[1]), b"A0RR91\n");
    }

    #[test]
    fn both_contents_stand_in_the_patch() {
        let mut out = Vec::new();
        write(&mut out, Some(b""), Some(b"\0"), Some("100644")).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "index e69de29bb2d1d6434b8b29ae775ad8c2e48c5391..f76dd238ade08917e6712764a16a22005a50573d 100644"
        );
        assert_eq!(lines[1..3], ["GIT binary patch", "literal 1"]);
        assert_eq!(lines[4..6], ["", "literal 0"]);
    }
}

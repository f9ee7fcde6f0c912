//! Replacements of a file's text to replacements of its bytes, or why they can't be made, in words.
//!
//! Places are found in text; what is not UTF-8 is decoded for that. What is written are bytes of the file's own
//! encoding, and where that is only guessed, nothing but ASCII.

use std::borrow::Cow;

use crate::report::Code;
use crate::report::Problem;
use crate::text::Charset;
use crate::text::Document;
use crate::text::Encoding;
use crate::text::Splice;
use crate::text::document::UTF8_BOM;
use crate::text::recode;
use crate::text::recode::Misfit;
use crate::text::recode::MisfitCause;

/// Turns replacements in the document's text, sorted and without overlap, into replacements of its bytes.
///
/// # Errors
/// For each that can't be made its index, and why.
pub fn to_bytes(document: &Document, list: Vec<Splice>) -> Result<Vec<Splice>, Vec<(usize, Problem)>> {
    recode::to_raw(document, list).map_err(|misfits| {
        misfits.into_iter().map(|misfit| (misfit.index, problem(document, &misfit))).collect()
    })
}

fn problem(document: &Document, misfit: &Misfit) -> Problem {
    let before = &document.decoded().bytes()[..misfit.offset];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let name = document.encoding().name();
    let unencodable = |message: String| Problem::new(Code::Unencodable, message);
    match misfit.cause {
        MisfitCause::Unencodable(character) => no_such_character(document.encoding(), character, line),
        MisfitCause::Guessed(character) => unencodable(format!(
            "the new text at line {line} has {}, and nothing tells the encoding of the file, which is not UTF-8",
            named(character)
        ))
        .with_hint(guess_hint(&name)),
        MisfitCause::Undecodable => {
            let problem = unencodable(format!("line {line} holds bytes that are no text in {name}"));
            match document.encoding() {
                Encoding::Guessed(_) => problem.with_hint("--encoding NAME tells what the bytes mean"),
                _ => problem.with_hint("leave that line out, or replace the file whole with 'write'"),
            }
        }
        MisfitCause::Doubtful(charset) => unencodable(format!(
            "the old text may begin inside of a character at line {line}: nothing tells whether the file is {name} or {}",
            charset.name()
        ))
        .with_hint(guess_hint(&name)),
        MisfitCause::Switched => unencodable(format!(
            "a part of line {line} can't be replaced: {name} switches between sets of characters inside of it"
        ))
        .with_hint("take the whole line as the old text, with its newline"),
        MisfitCause::NotText => unencodable(format!("the new text at line {line} is not UTF-8"))
            .with_hint("give it in UTF-8: it is written in the encoding of the file"),
    }
}

/// Says that an encoding can't hold a text; `line` is 1-based.
fn no_such_character(encoding: Encoding, character: char, line: usize) -> Problem {
    let name = encoding.name();
    Problem::new(
        Code::Unencodable,
        format!("the new text at line {line} has {}, which {name} does not have", named(character)),
    )
    .with_hint("use other characters, or convert the file to UTF-8 first")
}

fn guess_hint(name: &str) -> String {
    format!("name the encoding: it looks like --encoding {name}")
}

fn named(character: char) -> String {
    format!("'{character}' (U+{:04X})", u32::from(character))
}

/// Adds to a miss of more than ASCII that the file may say something else than it was read as, if that was a guess.
pub fn with_doubt(problem: Problem, document: &Document) -> Problem {
    if document.is_utf8() || problem.code != Code::HunkNotFound {
        return problem;
    }
    let Encoding::Guessed(charset) = document.encoding() else { return problem };
    let doubt = format!(
        "the file is not UTF-8 and was read as {}, which is a guess: --encoding NAME tells what it is",
        charset.name()
    );
    let hint = problem.hint.as_ref().map_or_else(|| doubt.clone(), |hint| format!("{hint}; {doubt}"));
    problem.with_hint(hint)
}

/// Returns a text of a request in UTF-8: as it is, or decoded if its bytes are those of the file's encoding.
pub fn text_of<'a>(document: &Document, text: &'a [u8]) -> Cow<'a, [u8]> {
    let foreign = document.encoding().charset().filter(|_| std::str::from_utf8(text).is_err());
    match foreign.and_then(|charset| charset.decode_strictly(text)) {
        Some(decoded) => Cow::Owned(decoded.into_owned().into_bytes()),
        None => Cow::Borrowed(text),
    }
}

/// Returns whole content, in UTF-8, in another encoding. What is not UTF-8 is taken for bytes of that encoding.
///
/// # Errors
/// It has a character that the encoding does not have, or more than ASCII where the encoding is only guessed.
pub fn content(encoding: Encoding, bytes: Vec<u8>) -> Result<Vec<u8>, Problem> {
    let (Some(charset), Ok(text)) = (encoding.charset(), std::str::from_utf8(&bytes)) else {
        return Ok(bytes);
    };
    let line = |character| {
        let at = text.find(character).unwrap_or(0);
        memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
    };
    let foreign = text.chars().find(|character| !character.is_ascii());
    if let (Encoding::Guessed(_), Some(character)) = (encoding, foreign) {
        let message = format!(
            "the new text at line {} has {}, and nothing tells the encoding of the file, which is not UTF-8",
            line(character),
            named(character)
        );
        return Err(Problem::new(Code::Unencodable, message).with_hint(guess_hint(&charset.name())));
    }
    charset.encode(text).map_err(|character| no_such_character(encoding, character, line(character)))
}

/// Returns new content in the encoding that the user names. UTF-16 gets its byte order mark: nothing else would tell it.
///
/// # Errors
/// It has a character that the encoding does not have.
pub fn new_content(charset: Charset, bytes: Vec<u8>) -> Result<Vec<u8>, Problem> {
    let is_text = std::str::from_utf8(&bytes).is_ok();
    let (mark, bytes) = match bytes.strip_prefix(UTF8_BOM) {
        // A mark of UTF-8 becomes that of the encoding, if it has one.
        Some(text) if is_text => (charset.mark(), text.to_vec()),
        _ if is_text && charset.is_utf16() => (charset.mark(), bytes),
        _ => (&b""[..], bytes),
    };
    Ok([mark, &content(Encoding::Given(charset), bytes)?].concat())
}

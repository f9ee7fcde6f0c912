//! Gemini's `streamGenerateContent`: whole function calls, or their arguments value by value.
//!
//! Streamed arguments come as `partialArgs`, each with a JSON path and a value or a piece of a string. They are put
//! together to the JSON text that other vendors stream, so that one reader of arguments is enough.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::CallKey;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Scope;
use crate::session::event::Words;

use super::super::Text;
use super::super::stream::Say;
use super::super::stream::error_message;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow, rename = "usageMetadata")]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    parts: Option<Vec<Part<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(default)]
    thought: bool,
    #[serde(borrow)]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FunctionCall<'a> {
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_args: Option<Vec<PartialArg<'a>>>,
    #[serde(default)]
    will_continue: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartialArg<'a> {
    #[serde(borrow)]
    json_path: Text<'a>,
    #[serde(borrow)]
    string_value: Option<&'a RawValue>,
    #[serde(borrow)]
    number_value: Option<&'a RawValue>,
    #[serde(borrow)]
    bool_value: Option<&'a RawValue>,
    #[serde(default)]
    will_continue: bool,
}

/// Reads the chunks of one stream.
#[derive(Debug, Default)]
pub(in crate::session::format) struct Gemini {
    /// How many calls there were.
    calls: u64,
    /// The arguments of the open call.
    open: Option<Assembly>,
}

impl Gemini {
    /// Reads one payload; tells whether it is one of this stream.
    pub(in crate::session::format) fn read(
        &mut self,
        text: &str,
        say: &mut Say<'_>,
    ) -> serde_json::Result<bool> {
        let chunk: Chunk<'_> = serde_json::from_str(text)?;
        if let Some(error) = chunk.error {
            self.open = None;
            say(LiveEvent::Cut { calls: Scope::All, reason: error_message(error).into() });
            return Ok(true);
        }
        let Some(candidates) = chunk.candidates else { return Ok(chunk.usage.is_some()) };
        for candidate in candidates {
            for part in candidate.content.and_then(|content| content.parts).into_iter().flatten() {
                if let Some(call) = part.function_call {
                    self.call(call, say);
                } else if let Some(text) = part.text.filter(|_| !part.thought) {
                    say(LiveEvent::Text { text: Words::Quoted(text.get()) });
                }
            }
            match candidate.finish_reason.as_deref() {
                None | Some("" | "STOP" | "FINISH_REASON_UNSPECIFIED") => {}
                Some(reason) => {
                    self.open = None;
                    say(LiveEvent::Cut { calls: Scope::All, reason: reason.to_owned().into() });
                }
            }
        }
        Ok(true)
    }

    fn call(&mut self, call: FunctionCall<'_>, say: &mut Say<'_>) {
        if let Some(name) = call.name.filter(|name| !name.is_empty()) {
            self.end(say);
            self.calls += 1;
            self.open = Some(Assembly::default());
            say(LiveEvent::Begin(LiveBegin {
                key: CallKey::Place(0, self.calls),
                alias: None,
                call_id: call.id.map(|id| id.0),
                tool: name.0,
                body: LiveBody::Arguments,
                repeats: false,
            }));
        }
        let key = CallKey::Place(0, self.calls);
        if let Some(args) = call.args {
            self.open = None;
            say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(args.get().into())) });
            return;
        }
        let Some(open) = &mut self.open else { return };
        let mut text = String::new();
        for arg in call.partial_args.into_iter().flatten() {
            open.add(&arg, &mut text);
        }
        if !text.is_empty() {
            say(LiveEvent::Delta { key, text: Words::Plain(text.into()) });
        }
        if !call.will_continue {
            self.end(say);
        }
    }

    fn end(&mut self, say: &mut Say<'_>) {
        let Some(open) = self.open.take() else { return };
        let key = CallKey::Place(0, self.calls);
        say(LiveEvent::Delta { key: key.clone(), text: Words::Plain(open.finish().into()) });
        say(LiveEvent::End { calls: Scope::Call(key), whole: None });
    }
}

/// One step of a JSON path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index,
}

/// JSON text that is put together from values with paths.
#[derive(Debug, Default)]
struct Assembly {
    /// Where the last value stands, one step for each open container; indices also as numbers.
    path: Vec<(Step, String)>,
    is_in_string: bool,
}

impl Assembly {
    fn add(&mut self, arg: &PartialArg<'_>, out: &mut String) {
        let path = steps(&arg.json_path);
        if path.is_empty() {
            return;
        }
        let goes_on = self.is_in_string && path == self.path;
        if !goes_on {
            self.move_to(path, out);
        }
        if let Some(value) = arg.string_value {
            let inner = value.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            if !goes_on {
                out.push('"');
            }
            // It is JSON already: half a character in it is joined with its other half by being put beside it.
            out.push_str(inner.unwrap_or_default());
            self.is_in_string = arg.will_continue;
            if !arg.will_continue {
                out.push('"');
            }
        } else if !goes_on {
            let value = arg.number_value.or(arg.bool_value);
            out.push_str(value.map_or("null", RawValue::get));
        }
    }

    fn move_to(&mut self, path: Vec<(Step, String)>, out: &mut String) {
        if std::mem::take(&mut self.is_in_string) {
            out.push('"');
        }
        let same = self.path.iter().zip(&path).take_while(|(old, new)| old == new).count();
        // A value where a container was, or again where a value was: what follows is kept apart by its last step.
        let same = same.min(path.len() - 1).min(self.path.len().saturating_sub(1));
        if self.path.is_empty() {
            out.push('{');
        } else {
            for (step, _) in self.path.drain(same + 1..).rev() {
                out.push(closing(&step));
            }
            out.push(',');
        }
        for (depth, (step, name)) in path.iter().enumerate().skip(same) {
            if depth > same {
                out.push(if *step == Step::Index { '[' } else { '{' });
            }
            if let Step::Key(_) = step {
                out.push_str(&RawName(name).to_string());
                out.push(':');
            }
        }
        self.path = path;
    }

    fn finish(mut self) -> String {
        let mut out = String::new();
        if self.path.is_empty() {
            return "{}".to_owned();
        }
        if self.is_in_string {
            out.push('"');
        }
        for (step, _) in self.path.drain(1..).rev() {
            out.push(closing(&step));
        }
        out.push('}');
        out
    }
}

fn closing(step: &Step) -> char {
    if *step == Step::Index { ']' } else { '}' }
}

/// A name as a JSON string.
struct RawName<'a>(&'a str);

impl std::fmt::Display for RawName<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut bytes = Vec::new();
        super::super::json_into(&mut bytes, self.0);
        out.write_str(&String::from_utf8_lossy(&bytes))
    }
}

/// Returns the steps of a path like `$.edits[0].old_string` or `$['a b']`.
fn steps(path: &str) -> Vec<(Step, String)> {
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    while !rest.is_empty() {
        let (name, is_index): (Cow<'_, str>, bool);
        if let Some(inner) = rest.strip_prefix('[') {
            let quote = inner.chars().next().filter(|first| matches!(first, '\'' | '"'));
            let end = match quote {
                Some(quote) => inner[1..].find(quote).map(|at| at + 1),
                None => inner.find(']'),
            };
            let Some(end) = end else { return Vec::new() };
            name = inner[usize::from(quote.is_some())..end].into();
            is_index = quote.is_none();
            let after = &inner[end..];
            rest = after.find(']').map_or("", |at| &after[at + 1..]);
        } else {
            let inner = rest.strip_prefix('.').unwrap_or(rest);
            let end = inner.find(['.', '[']).unwrap_or(inner.len());
            if end == 0 {
                return Vec::new();
            }
            name = inner[..end].into();
            is_index = false;
            rest = &inner[end..];
        }
        let step = if is_index { Step::Index } else { Step::Key(name.clone().into_owned()) };
        steps.push((step, name.into_owned()));
    }
    // The arguments are an object.
    if matches!(steps.first(), Some((Step::Index, _))) { Vec::new() } else { steps }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_paths_become_json() {
        let mut assembly = Assembly::default();
        let mut out = String::new();
        for arg in [
            r#"{"jsonPath":"$.file_path","stringValue":"a\"b"}"#,
            r#"{"jsonPath":"$.edits[0].old_string","stringValue":"x","willContinue":true}"#,
            r#"{"jsonPath":"$.edits[0].old_string","stringValue":"y","willContinue":true}"#,
            r#"{"jsonPath":"$.edits[0].new_string","stringValue":"z"}"#,
            r#"{"jsonPath":"$.edits[1].old_string","stringValue":"q"}"#,
            r#"{"jsonPath":"$.n","numberValue":3}"#,
            r#"{"jsonPath":"$['a b']","boolValue":true}"#,
            r#"{"jsonPath":"$.tags[0]","stringValue":"s"}"#,
            r#"{"jsonPath":"$.tags[1]","nullValue":"NULL_VALUE"}"#,
        ] {
            assembly.add(&serde_json::from_str(arg).unwrap(), &mut out);
        }
        out.push_str(&assembly.finish());
        assert_eq!(
            out,
            r#"{"file_path":"a\"b","edits":[{"old_string":"xy","new_string":"z"},{"old_string":"q"}],"n":3,"a b":true,"tags":["s",null]}"#
        );
        assert_eq!(Assembly::default().finish(), "{}");
        for bad in ["", "$", "$[", "$['x", "$..", "$[0]"] {
            assert_eq!(steps(bad), [], "{bad}");
        }
    }
}

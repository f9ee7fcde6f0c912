//! The Agent Client Protocol: `tool_call` and `tool_call_update` of `session/update`; the second version has only the
//! latter.
//!
//! A call's arguments come whole, in `rawInput`. An agent that sends none may send the change as diff blocks: those
//! become the arguments of an edit or a write, and the patch of one of the second version is the input itself.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::CallKey;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Scope;
use crate::session::event::Words;
use crate::session::format::Text;
use crate::session::format::json_into;
use crate::session::format::lenient;
use crate::session::format::stream::Say;

/// So many calls that came without arguments are remembered with their tools.
const OPEN_CAP: usize = 256;

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    jsonrpc: Option<Text<'a>>,
    #[serde(borrow, rename = "sessionUpdate")]
    session_update: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Text<'a>,
    #[serde(borrow)]
    tool_call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    status: Option<Text<'a>>,
    #[serde(borrow)]
    raw_input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<Meta<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    claude_code: Option<Named<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named<'a> {
    #[serde(borrow)]
    tool_name: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    path: Option<Text<'a>>,
    #[serde(borrow)]
    old_text: Option<Text<'a>>,
    #[serde(borrow)]
    new_text: Option<Text<'a>>,
    #[serde(borrow)]
    patch: Option<Patch<'a>>,
}

/// A patch; early drafts of the protocol called its text otherwise.
#[derive(Deserialize)]
struct Patch<'a> {
    #[serde(borrow, alias = "diff")]
    text: Text<'a>,
}

/// Reads the updates of one session.
#[derive(Debug, Default)]
pub struct Acp {
    /// The tools of calls that came without arguments.
    named: Vec<(String, String)>,
}

impl Acp {
    /// Reads one payload; tells whether it is one of this stream.
    pub fn read(&mut self, text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
        let row: Row<'_> = serde_json::from_str(text)?;
        if row.session_update.is_some() {
            let whole: &RawValue = serde_json::from_str(text)?;
            self.update(whole, say);
            return Ok(true);
        }
        if row.method.as_deref() == Some("session/update") {
            if let Some(update) = lenient::<Params<'_>>(row.params).and_then(|params| params.update) {
                self.update(update, say);
            }
            return Ok(true);
        }
        Ok(row.jsonrpc.is_some())
    }

    fn update(&mut self, raw: &RawValue, say: &mut Say<'_>) {
        let Some(update) = lenient::<Update<'_>>(Some(raw)) else { return };
        if !matches!(update.session_update.as_ref(), "tool_call" | "tool_call_update") {
            return;
        }
        let Some(id) = update.tool_call_id else { return };
        let known = self.named.iter().position(|(known, _)| *known == *id);
        let tool = (update.meta.and_then(|meta| meta.claude_code).and_then(|named| named.tool_name))
            .or(update.name)
            .map(|tool| tool.0.into_owned())
            .or_else(|| known.map(|at| self.named[at].1.clone()));
        let input = update
            .raw_input
            .map(RawValue::get)
            .filter(|input| input.starts_with('{') && input.trim_start_matches('{').trim_start() != "}");
        let found = match input {
            Some(input) => {
                let tool = tool.or_else(|| shape(input).map(str::to_owned));
                tool.map(|tool| (tool, LiveBody::Arguments, input.to_owned()))
            }
            // The result's diff blocks are hunks of the file, not what was asked for.
            None if update.session_update.as_ref() == "tool_call"
                && update.kind.as_deref() == Some("edit") =>
            {
                arguments_of(update.content)
            }
            None if !matches!(update.status.as_deref(), Some("completed" | "failed" | "cancelled"))
                && patch_of(update.content).is_some() =>
            {
                patch_of(update.content).map(|patch| ("apply_patch".to_owned(), LiveBody::Text, patch))
            }
            None => {
                if let (Some(tool), None) = (tool, known)
                    && self.named.len() < OPEN_CAP
                {
                    self.named.push((id.0.into_owned(), tool));
                }
                return;
            }
        };
        let Some((tool, body, input)) = found else { return };
        if let Some(at) = known {
            self.named.swap_remove(at);
        }
        let key = CallKey::Id(id.0.clone());
        say(LiveEvent::Begin(LiveBegin {
            key: key.clone(),
            alias: None,
            call_id: Some(id.0),
            tool: tool.into(),
            body,
            repeats: true,
        }));
        say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(input.into())) });
    }
}

/// Returns the kind of tool that takes such arguments, where none is named.
pub(in crate::session::format) fn shape(input: &str) -> Option<&'static str> {
    let keys: HashMap<Text<'_>, &RawValue> = serde_json::from_str(input).ok()?;
    let has = |names: &[&str]| names.iter().find_map(|name| keys.get(*name));
    if has(&["old_string", "oldString", "old_str", "oldText", "old_text", "edits"]).is_some() {
        return Some("edit");
    }
    if has(&["content", "file_text", "contents"]).is_some() {
        return Some("write");
    }
    let patch = has(&["input", "patch", "patchText", "patch_text"])?;
    patch.get().contains("*** Begin Patch").then_some("apply_patch")
}

/// Returns tool and arguments that ask for what the first diff block shows.
fn arguments_of(content: Option<&RawValue>) -> Option<(String, LiveBody<'static>, String)> {
    let blocks: Vec<Block<'_>> = lenient(content)?;
    let block = blocks.into_iter().find(|block| block.kind.as_deref() == Some("diff"))?;
    let quoted = |text: &str| {
        let mut out = Vec::new();
        json_into(&mut out, text);
        String::from_utf8_lossy(&out).into_owned()
    };
    let (path, new) = (quoted(&block.path?), quoted(&block.new_text?));
    let (tool, arguments) = match block.old_text {
        Some(old) => {
            let old = quoted(&old);
            ("edit", format!("{{\"file_path\":{path},\"old_string\":{old},\"new_string\":{new}}}"))
        }
        None => ("write", format!("{{\"file_path\":{path},\"content\":{new}}}")),
    };
    Some((tool.to_owned(), LiveBody::Arguments, arguments))
}

/// Returns the patches of the diff blocks, one behind the other.
fn patch_of(content: Option<&RawValue>) -> Option<String> {
    let blocks: Vec<Block<'_>> = lenient(content)?;
    let patches = blocks.into_iter().filter_map(|block| block.patch).map(|patch| patch.text.0);
    let text: String = patches.collect();
    (!text.is_empty()).then_some(text)
}

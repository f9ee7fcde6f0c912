//! Codex: lines of rollouts, notifications of its app server, and its event lines.
//!
//! A call comes whole: as the model's own item (`custom_tool_call`, `function_call`, a shell command with a patch in it),
//! or as the changes of a `fileChange` item, which are put together to one patch.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::session::event::CallKey;
use crate::session::event::LiveBegin;
use crate::session::event::LiveBody;
use crate::session::event::LiveEvent;
use crate::session::event::Scope;
use crate::session::event::Words;
use crate::session::format::Text;
use crate::session::format::lenient;
use crate::session::format::openai;
use crate::session::format::stream::Say;

const BEGIN_PATCH: &str = "*** Begin Patch";

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
}

/// A payload, params or message: whatever holds an item.
#[derive(Deserialize)]
struct Holder<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    id: Option<Text<'a>>,
    #[serde(borrow)]
    call_id: Option<Text<'a>>,
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<Text<'a>>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Command<'a> {
    #[serde(borrow)]
    command: Option<&'a RawValue>,
    #[serde(borrow)]
    cmd: Option<&'a RawValue>,
}

/// One change, in the spelling of either list.
#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    path: Option<Text<'a>>,
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    tag: Option<Text<'a>>,
    #[serde(borrow)]
    diff: Option<Text<'a>>,
    #[serde(borrow)]
    unified_diff: Option<Text<'a>>,
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    move_path: Option<Text<'a>>,
}

/// Reads one payload; tells whether it is one of these streams.
pub fn read(text: &str, say: &mut Say<'_>) -> serde_json::Result<bool> {
    let row: Row<'_> = serde_json::from_str(text)?;
    let method = row.method.as_deref().unwrap_or_default();
    match row.kind.as_deref() {
        Some("response_item") => read_item(row.payload, say),
        Some("event_msg") => read_holder(row.payload, say),
        Some("session_meta" | "turn_context" | "compacted" | "world_state") => {}
        // Lines of `codex exec --json` name paths without what changes in them.
        Some(kind) if ["item.", "turn.", "thread."].iter().any(|start| kind.starts_with(start)) => {}
        // The first rollouts are bare items.
        Some("function_call" | "custom_tool_call" | "local_shell_call") if row.item.is_none() => {
            let whole: &RawValue = serde_json::from_str(text)?;
            read_item(Some(whole), say);
        }
        _ if row.msg.is_some() => read_holder(row.msg, say),
        _ if ["item/", "turn/", "thread/", "codex/", "rawResponseItem/"]
            .iter()
            .any(|start| method.starts_with(start)) =>
        {
            read_holder(row.params, say);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn read_holder(raw: Option<&RawValue>, say: &mut Say<'_>) {
    let Some(mut holder) = lenient::<Holder<'_>>(raw) else { return };
    if let Some(inner) = holder.msg.and_then(|msg| lenient::<Holder<'_>>(Some(msg))) {
        holder = inner;
    }
    match (holder.item, holder.call_id, holder.changes) {
        (Some(item), _, _) => read_item(Some(item), say),
        (None, Some(id), Some(changes)) if holder.kind.as_deref() != Some("patch_apply_updated") => {
            say_changes(&id, changes, say);
        }
        _ => {}
    }
}

fn read_item(raw: Option<&RawValue>, say: &mut Say<'_>) {
    let Some(item) = lenient::<Item<'_>>(raw) else { return };
    let id = item.call_id.or(item.id);
    match (item.kind.as_deref(), id) {
        (Some("fileChange" | "FileChange"), Some(id)) => {
            if let Some(changes) = item.changes {
                say_changes(&id, changes, say);
            }
        }
        (Some("local_shell_call"), Some(id)) => say_command(&id, item.action, say),
        (Some("function_call"), Some(id)) if is_shell(item.name.as_deref()) => {
            let arguments = item.arguments.as_deref().unwrap_or_default();
            if let Ok(arguments) = serde_json::from_str::<&RawValue>(arguments) {
                say_command(&id, Some(arguments), say);
            }
        }
        _ => {
            if let Some(item) = lenient::<openai::Item<'_>>(raw) {
                openai::read_item(item, None, true, say);
            }
        }
    }
}

fn is_shell(name: Option<&str>) -> bool {
    matches!(name, Some("shell" | "container.exec" | "shell_command" | "exec_command"))
}

/// Says the patch that a shell command holds, if it holds one for the folder that the session runs in.
fn say_command(id: &str, raw: Option<&RawValue>, say: &mut Say<'_>) {
    let Some(command) = lenient::<Command<'_>>(raw).and_then(|command| command.command.or(command.cmd))
    else {
        return;
    };
    let words: Vec<String> = match serde_json::from_str::<String>(command.get()) {
        Ok(line) => vec![line],
        Err(_) => serde_json::from_str(command.get()).unwrap_or_default(),
    };
    let Some(script) = words.last().filter(|word| word.contains(BEGIN_PATCH)) else { return };
    let script = script.trim_start();
    let begins = ["apply_patch", "applypatch", BEGIN_PATCH].iter().any(|word| script.starts_with(word));
    if begins {
        say_whole(id, script.into(), say);
    }
}

fn say_changes(id: &str, raw: &RawValue, say: &mut Say<'_>) {
    let mut patch = format!("{BEGIN_PATCH}\n");
    let before = patch.len();
    if let Ok(list) = serde_json::from_str::<Vec<Change<'_>>>(raw.get()) {
        for change in &list {
            let path = change.path.as_deref().unwrap_or_default();
            push_change(path, change, &mut patch);
        }
    } else if let Ok(map) = serde_json::from_str::<std::collections::BTreeMap<String, Change<'_>>>(raw.get())
    {
        for (path, change) in &map {
            push_change(path, change, &mut patch);
        }
    }
    if patch.len() > before {
        patch.push_str("*** End Patch\n");
        say_whole(id, patch.into(), say);
    }
}

#[derive(Deserialize)]
struct ChangeKind<'a> {
    #[serde(borrow, rename = "type")]
    tag: Text<'a>,
    #[serde(borrow)]
    move_path: Option<Text<'a>>,
}

fn push_change(path: &str, change: &Change<'_>, patch: &mut String) {
    let kind: Option<ChangeKind<'_>> = lenient(change.kind);
    let tag = change.tag.as_deref().or(kind.as_ref().map(|kind| &*kind.tag)).unwrap_or_default();
    let target = change.move_path.as_deref().or(kind.as_ref().and_then(|kind| kind.move_path.as_deref()));
    let diff = [&change.diff, &change.unified_diff, &change.content];
    let diff = diff.into_iter().flatten().next().map_or("", |diff| diff);
    if path.is_empty() || path.contains('\n') {
        return;
    }
    match tag {
        "add" => {
            patch.push_str(&format!("*** Add File: {path}\n"));
            for line in diff.lines() {
                patch.push('+');
                patch.push_str(line);
                patch.push('\n');
            }
        }
        "delete" => patch.push_str(&format!("*** Delete File: {path}\n")),
        "update" => {
            patch.push_str(&format!("*** Update File: {path}\n"));
            if let Some(target) = target {
                patch.push_str(&format!("*** Move to: {target}\n"));
            }
            // The app server glues the target of a move to the hunks.
            let hunks = diff.split("\n\nMoved to: ").next().unwrap_or_default();
            patch.push_str(hunks);
            if !hunks.is_empty() && !hunks.ends_with('\n') {
                patch.push('\n');
            }
        }
        _ => {}
    }
}

fn say_whole(id: &str, patch: Cow<'_, str>, say: &mut Say<'_>) {
    let key = CallKey::Id(id.into());
    say(LiveEvent::Begin(LiveBegin {
        key: key.clone(),
        alias: None,
        call_id: Some(id.into()),
        tool: "apply_patch".into(),
        body: LiveBody::Text,
        repeats: true,
    }));
    say(LiveEvent::End { calls: Scope::Call(key), whole: Some(Words::Plain(patch)) });
}

//! Calls that a model writes as XML into its text.
//!
//! ```text
//! call = "<TOOL>" ("<NAME>" value "</NAME>")* "</TOOL>"
//!      | "<apply_diff>" "<args>" ("<file>" "<path>" ... "<diff>" "<content>" ... "</file>")* "</args>" "</apply_diff>"
//! ```
//!
//! Nothing is escaped in it. A call whose end is missing was cut off, and none is made of it.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

/// The tools that edit files, each with its values; the last is the one that may hold anything.
const TOOLS: [(&str, &[&str]); 7] = [
    ("write_to_file", &["path", "content"]),
    ("replace_in_file", &["path", "diff"]),
    ("apply_diff", &["path", "diff"]),
    ("insert_content", &["path", "line", "content"]),
    ("search_and_replace", &["path", "search", "replace"]),
    ("apply_patch", &["input"]),
    ("new_rule", &["path", "content"]),
];

/// A call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub tool: &'static str,
    /// Its arguments as JSON.
    pub arguments: String,
}

/// Returns the calls in a text, in their order.
pub(super) fn calls(text: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some((tool, names, start)) = first_tool(rest) {
        let Some((body, after)) = body_of(&rest[start..], tool) else { return calls };
        rest = after;
        if let (true, Some(files)) = (tool == "apply_diff", value(body, "args")) {
            calls.extend(files_of(files).map(|arguments| Call { tool, arguments }));
        } else {
            let mut fields = Map::new();
            for name in names {
                if let Some(value) = value(body, name) {
                    let value = if *name == "path" { value.trim() } else { without_margin(value) };
                    fields.insert((*name).to_owned(), Value::from(value));
                }
            }
            calls.push(Call { tool, arguments: Value::Object(fields).to_string() });
        }
    }
    calls
}

/// Returns the first tool that a text calls, and where its body begins.
fn first_tool(text: &str) -> Option<(&'static str, &'static [&'static str], usize)> {
    // One pass for all tools: to look for each by itself would read the rest anew for every call.
    text.match_indices('<').find_map(|(at, _)| {
        let rest = &text[at + 1..];
        let is_begun = |tool: &str| rest.strip_prefix(tool).is_some_and(|rest| rest.starts_with('>'));
        let (tool, names) = TOOLS.iter().find(|(tool, _)| is_begun(tool))?;
        Some((*tool, *names, at + tool.len() + 2))
    })
}

fn body_of<'a>(text: &'a str, tool: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(&format!("</{tool}>"))
}

/// Returns what stands between the first opening and the last closing tag of that name.
fn value<'a>(body: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{name}>"))?;
    let close = format!("</{name}>");
    // A path ends with its first tag; a content may hold such tags itself.
    let end = if name == "path" { rest.find(&close) } else { rest.rfind(&close) };
    Some(&rest[..end?])
}

/// Drops the line break behind the opening tag.
fn without_margin(value: &str) -> &str {
    value.strip_prefix("\r\n").or_else(|| value.strip_prefix('\n')).unwrap_or(value)
}

/// Returns the arguments of a call that edits several files, one by one.
fn files_of(files: &str) -> impl Iterator<Item = String> + '_ {
    files.split("<file>").skip(1).filter_map(|file| {
        let file = file.split("</file>").next()?;
        let path = value(file, "path")?.trim();
        let diffs =
            file.split("<diff>").skip(1).filter_map(|diff| Some(without_margin(value(diff, "content")?)));
        let diff: Vec<&str> = diffs.map(str::trim_end).collect();
        let diff = diff.into_iter().map(|diff| diff.trim_start_matches("<![CDATA[").trim_end_matches("]]>"));
        let diff: String = diff.flat_map(|diff| [diff.trim_start_matches('\n'), "\n"]).collect();
        Some(json!({"path": path, "diff": diff}).to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, wanted: &[(&str, Value)]) {
        let found = calls(text);
        let found: Vec<(&str, Value)> =
            found.iter().map(|call| (call.tool, serde_json::from_str(&call.arguments).unwrap())).collect();
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn calls_are_found_among_words() {
        check(
            "I write.\n<write_to_file>\n<path>a.html</path>\n<content>\n<content>x</content>\n</content>\n<line_count>1</line_count>\n</write_to_file>\nDone.",
            &[("write_to_file", json!({"path": "a.html", "content": "<content>x</content>\n"}))],
        );
        check(
            "<replace_in_file><path> b </path><diff>\n------- SEARCH\n</diff></replace_in_file><apply_diff><path>c</path><diff>d</diff></apply_diff>",
            &[
                ("replace_in_file", json!({"path": "b", "diff": "------- SEARCH\n"})),
                ("apply_diff", json!({"path": "c", "diff": "d"})),
            ],
        );
        check("<write_to_file>\n<path>a</path>\n<content>\ncut", &[]);
        check("<read_file><path>a</path></read_file>", &[]);
    }

    #[test]
    fn a_call_of_several_files_is_one_for_each() {
        let file = |path: &str| {
            format!(
                "<file><path>{path}</path><diff><content>\nx\n</content><start_line>3</start_line></diff></file>"
            )
        };
        check(
            &format!("<apply_diff><args>{}{}</args></apply_diff>", file("a"), file("b")),
            &[
                ("apply_diff", json!({"path": "a", "diff": "x\n"})),
                ("apply_diff", json!({"path": "b", "diff": "x\n"})),
            ],
        );
    }
}

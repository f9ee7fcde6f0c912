//! The reader of a stored log, whatever its format.

use crate::session::event::CallEvent;

use super::Format;
use super::acp::stored::Acp;
use super::aider::Aider;
use super::claude_code::ClaudeCode;
use super::cline::Cline;
use super::codex::stored::Codex;
use super::copilot;
use super::copilot::stored::Copilot;
use super::cursor::stored::Cursor;
use super::dsh;
use super::dsh::Dsh;
use super::gemini::qwen;
use super::gemini::qwen::Qwen;
use super::gemini::stored::Gemini;
use super::opencode::OpenCode;
use super::openhands::OpenHands;
use super::pi::Pi;
use super::swe_agent::SweAgent;

/// Reads the lines, or the items and fields, of one log, one after the other.
#[derive(Debug)]
pub enum LogReader {
    /// DeepSeek Harness, and hunkwise itself.
    Dsh(Dsh),
    /// Claude Code.
    ClaudeCode(Box<ClaudeCode>),
    /// pi.
    Pi(Pi),
    /// opencode.
    OpenCode(OpenCode),
    /// OpenHands.
    OpenHands(OpenHands),
    /// aider.
    Aider(Box<Aider>),
    /// Cline.
    Cline(Cline),
    /// SWE-agent.
    SweAgent(Box<SweAgent>),
    /// Codex.
    Codex(Box<Codex>),
    /// The Agent Client Protocol.
    Acp(Box<Acp>),
    /// Gemini CLI.
    Gemini(Gemini),
    /// Qwen Code.
    Qwen(Qwen),
    /// GitHub Copilot's command line.
    Copilot(Copilot),
    /// Cursor.
    Cursor(Cursor),
}

impl LogReader {
    /// Returns the reader of a vendor's format; none of any other log.
    pub fn new(format: Format) -> Option<Self> {
        match format {
            Format::Dsh => Some(LogReader::Dsh(Dsh::default())),
            Format::ClaudeCode => Some(LogReader::ClaudeCode(Box::default())),
            Format::Pi => Some(LogReader::Pi(Pi::default())),
            Format::OpenCode => Some(LogReader::OpenCode(OpenCode::default())),
            Format::OpenHands => Some(LogReader::OpenHands(OpenHands::default())),
            Format::Aider => Some(LogReader::Aider(Box::default())),
            Format::Cline => Some(LogReader::Cline(Cline::default())),
            Format::SweAgent => Some(LogReader::SweAgent(Box::default())),
            Format::Codex => Some(LogReader::Codex(Box::default())),
            Format::Acp => Some(LogReader::Acp(Box::default())),
            Format::Gemini => Some(LogReader::Gemini(Gemini::default())),
            Format::Qwen => Some(LogReader::Qwen(Qwen::default())),
            Format::Copilot => Some(LogReader::Copilot(Copilot::default())),
            Format::Cursor => Some(LogReader::Cursor(Cursor::default())),
            Format::Generic => None,
        }
    }

    /// Passes over the calls of sub-agents that have logs of their own.
    pub fn pass_sub_agents(&mut self) {
        // Only this format repeats them.
        if let LogReader::ClaudeCode(claude) = self {
            claude.pass_sub_agents();
        }
    }

    /// Tells, without parsing, whether a line is worth parsing; `knows` tells of a call id whether its result matters.
    pub fn proposes(&self, line: &[u8], knows: &dyn Fn(&str) -> bool) -> bool {
        match self {
            LogReader::Dsh(_) => dsh::proposes(line, knows),
            LogReader::ClaudeCode(claude) => claude.proposes(line, knows),
            LogReader::Pi(_) | LogReader::OpenCode(_) | LogReader::Gemini(_) => !line.trim_ascii().is_empty(),
            LogReader::OpenHands(_) | LogReader::Cline(_) | LogReader::SweAgent(_) => {
                !line.trim_ascii().is_empty()
            }
            LogReader::Aider(_) => true,
            LogReader::Codex(codex) => codex.proposes(line, knows),
            LogReader::Acp(acp) => acp.proposes(line),
            LogReader::Qwen(_) => qwen::proposes(line),
            LogReader::Copilot(_) => copilot::stored::proposes(line),
            LogReader::Cursor(cursor) => cursor.proposes(line),
        }
    }

    /// Reads one line that [`proposes`](Self::proposes) lets through; `line` is its 1-based number.
    ///
    /// # Errors
    /// The line is none of this format.
    pub fn read(
        &mut self,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match self {
            LogReader::Dsh(dsh) => dsh.read(text, line, emit),
            LogReader::ClaudeCode(claude) => claude.read(text, line, emit),
            LogReader::Pi(pi) => pi.read(text, line, emit),
            LogReader::OpenCode(opencode) => opencode.read(text, line, emit),
            LogReader::OpenHands(openhands) => openhands.read(text, line, emit),
            LogReader::Aider(aider) => {
                aider.read(text, line, emit);
                Ok(())
            }
            LogReader::Cline(cline) => cline.read(text, line, emit),
            LogReader::SweAgent(swe_agent) => swe_agent.read(text, line, emit),
            LogReader::Codex(codex) => codex.read(text, line, emit),
            LogReader::Acp(acp) => acp.read(text, line, emit),
            LogReader::Gemini(gemini) => gemini.read(text, line, emit),
            LogReader::Qwen(qwen) => qwen.read(text, line, emit),
            LogReader::Copilot(copilot) => copilot.read(text, line, emit),
            LogReader::Cursor(cursor) => cursor.read(text, line, emit),
        }
    }

    /// Reads one item of a list that is the document (no key), or that is a field of it.
    ///
    /// # Errors
    /// The item is none of this format.
    pub fn read_item(
        &mut self,
        key: Option<&str>,
        text: &str,
        line: usize,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match self {
            LogReader::Dsh(_)
            | LogReader::ClaudeCode(_)
            | LogReader::Pi(_)
            | LogReader::Codex(_)
            | LogReader::Acp(_)
            | LogReader::Aider(_)
            | LogReader::Qwen(_)
            | LogReader::Copilot(_)
            | LogReader::Cursor(_) => self.read(text, line, emit),
            LogReader::Gemini(gemini) => gemini.read_item(key, text, line, emit),
            LogReader::OpenCode(opencode) => match key {
                None | Some("messages") => opencode.read_message(text, line, emit),
                Some(_) => Ok(()),
            },
            LogReader::OpenHands(openhands) => openhands.read_item(key, text, line, emit),
            LogReader::Cline(cline) => cline.read_item(key, text, line, emit),
            LogReader::SweAgent(swe_agent) => swe_agent.read_item(key, text, line, emit),
        }
    }

    /// Reads one field of a document that is no list.
    ///
    /// # Errors
    /// The field is not what the format says.
    pub fn read_field(
        &mut self,
        key: &str,
        text: &str,
        emit: &mut dyn FnMut(CallEvent<'_>),
    ) -> Result<(), serde_json::Error> {
        match self {
            LogReader::Dsh(_)
            | LogReader::ClaudeCode(_)
            | LogReader::Pi(_)
            | LogReader::Codex(_)
            | LogReader::Acp(_)
            | LogReader::Aider(_)
            | LogReader::Cline(_)
            | LogReader::Gemini(_)
            | LogReader::Qwen(_)
            | LogReader::Copilot(_)
            | LogReader::Cursor(_) => Ok(()),
            LogReader::OpenCode(opencode) => opencode.read_field(key, text, emit),
            LogReader::SweAgent(swe_agent) => swe_agent.read_field(key, text),
            LogReader::OpenHands(openhands) => {
                openhands.read_field(key);
                Ok(())
            }
        }
    }

    /// Ends the log: says what the reader held back.
    pub fn finish(&mut self, emit: &mut dyn FnMut(CallEvent<'_>)) {
        match self {
            LogReader::Dsh(_)
            | LogReader::ClaudeCode(_)
            | LogReader::Pi(_)
            | LogReader::OpenCode(_)
            | LogReader::OpenHands(_)
            | LogReader::Cline(_)
            | LogReader::Qwen(_)
            | LogReader::Copilot(_) => {}
            LogReader::Gemini(gemini) => gemini.finish(emit),
            LogReader::Aider(aider) => aider.finish(emit),
            LogReader::SweAgent(swe_agent) => swe_agent.finish(emit),
            LogReader::Cursor(cursor) => cursor.finish(emit),
            LogReader::Codex(codex) => codex.finish(emit),
            LogReader::Acp(acp) => acp.finish(emit),
        }
    }

    /// Returns how many lines were of a kind that is not known.
    pub fn unknown_events(&self) -> usize {
        match self {
            LogReader::Dsh(dsh) => dsh.unknown_events(),
            LogReader::ClaudeCode(claude) => claude.unknown_events(),
            LogReader::Pi(pi) => pi.unknown_events(),
            LogReader::OpenCode(opencode) => opencode.unknown_events(),
            LogReader::OpenHands(openhands) => openhands.unknown_events(),
            LogReader::Aider(_) | LogReader::SweAgent(_) => 0,
            LogReader::Cline(cline) => cline.unknown_events(),
            LogReader::Codex(codex) => codex.unknown_events(),
            LogReader::Acp(acp) => acp.unknown_events(),
            LogReader::Gemini(gemini) => gemini.unknown_events(),
            LogReader::Qwen(qwen) => qwen.unknown_events(),
            LogReader::Copilot(copilot) => copilot.unknown_events(),
            LogReader::Cursor(cursor) => cursor.unknown_events(),
        }
    }

    /// Returns how many calls belong to the session that this one was forked from.
    pub fn inherited_calls(&self) -> usize {
        match self {
            LogReader::Dsh(dsh) => dsh.inherited_calls(),
            // A fork's log repeats the calls of its parent, and the parent's log may be gone.
            LogReader::ClaudeCode(_) => 0,
            LogReader::Pi(pi) => pi.inherited_calls(),
            LogReader::OpenCode(_)
            | LogReader::OpenHands(_)
            | LogReader::Aider(_)
            | LogReader::Cline(_)
            | LogReader::SweAgent(_) => 0,
            LogReader::Codex(codex) => codex.inherited_calls(),
            LogReader::Acp(_)
            | LogReader::Gemini(_)
            | LogReader::Qwen(_)
            | LogReader::Copilot(_)
            | LogReader::Cursor(_) => 0,
        }
    }
}

//! What the tokens of a call's arguments mean, one after the other.
//!
//! A text goes out as it grows as soon as it is clear what it is for. Where the order of the keys keeps that open (a new
//! text before its old one, a text before its command), it is held until the deciding key comes.

use crate::text::PathText;
use crate::text::json_reader::JsonReader;
use crate::text::json_reader::Token;

use super::super::Dialect;
use super::super::LineKind;
use super::super::Parser;
use super::super::PatchEvent;
use super::super::ReplaceCount;
use super::super::event::FileKind;
use super::super::lines::LINE_CAP_BYTES;
use super::super::lines::LineBuffer;
use super::super::search_replace::Naming;
use super::ArgsError;
use super::spelling;
use super::spelling::Command;
use super::spelling::Family;
use super::spelling::Role;

/// A path may be this long.
const PATH_CAP_BYTES: usize = 64 << 10;
/// So much text is held until it is clear what it is for.
const HELD_CAP_BYTES: usize = 64 << 20;

type Say<'s> = dyn FnMut(PatchEvent<'_>) + 's;
type Read = Result<(), ArgsError>;

/// The state between two tokens.
#[derive(Debug)]
pub struct State {
    family: Family,
    place: Place,
    /// The key that was read last, as it is written.
    key: String,
    top: Keys,
    item: Keys,
    items: usize,
    mode: Mode,
    /// The key that decided the mode.
    decided_by: String,
    path: Option<PathText>,
    command: Option<Command>,
    insert_line: Option<usize>,
    /// A path or a command while it grows.
    word: Vec<u8>,
    held: [Option<Vec<u8>>; 3],
    is_open: bool,
    is_unnamed: bool,
    /// A nameless edit has ended; its end is said once it has its name.
    end_is_due: bool,
    /// Reads a list of edits that is written as a string.
    inner: Option<Box<JsonReader>>,
    parser: Option<Box<Parser>>,
    lines: LineBuffer,
    inserted_lines: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// Before the object.
    #[default]
    Start,
    /// Where a key of the object is due.
    Top,
    /// Where the value of such a key is due.
    Value(Role),
    /// In a text of the object.
    Text(Role, Route),
    /// In a value that means nothing, so many levels deep; of an item of the list, if told so.
    Skip(usize, Level),
    /// Before the list of edits, if that is a string.
    List,
    /// Where an item of the list is due.
    Items,
    /// Where a key of an item is due.
    Item,
    /// Where the value of such a key is due.
    ItemValue(Role),
    /// In a text of an item.
    ItemText(Role),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    Item,
}

/// What becomes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    /// It goes out.
    Out,
    /// What it is for is not clear yet.
    Hold,
    /// The command has no use for it.
    Drop,
}

/// What the arguments turned out to ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Undecided,
    /// A file's content.
    Content,
    /// An old text and a new one.
    Replace,
    /// The old text is empty: the new one makes a file.
    EmptyOld,
    /// The new text is a file's content.
    NewContent,
    /// The new text goes in behind a line.
    Insert,
    /// A list of replacements.
    Edits,
    /// A patch in a dialect of its own.
    Patch,
}

/// The keys of one object that were read.
#[derive(Debug, Default)]
struct Keys {
    /// By role, the key as it was written.
    seen: [Option<String>; Role::COUNT],
    has_old: bool,
    has_new: bool,
    has_content: bool,
    is_all: bool,
    count: Option<usize>,
}

impl Keys {
    fn replace_count(&self) -> ReplaceCount {
        match (self.count, self.is_all) {
            (Some(count), _) => ReplaceCount::Exactly(count),
            (None, true) => ReplaceCount::All,
            (None, false) => ReplaceCount::One,
        }
    }

    fn see(&mut self, role: Role, key: &str, at: usize) -> Read {
        match &self.seen[role as usize] {
            Some(first) => {
                Err(ArgsError::Twice { key: key.to_owned(), first: first.clone(), offset_bytes: at })
            }
            None => {
                self.seen[role as usize] = Some(key.to_owned());
                Ok(())
            }
        }
    }

    /// Takes a value that says how many places are meant, if the token is one.
    fn take_count(&mut self, role: Role, key: &str, token: Token<'_>) -> Read {
        let wrong = |expected| Err(ArgsError::Type { key: key.to_owned(), expected });
        match (role, token) {
            (_, Token::Null) => {}
            (Role::All, Token::Bool(all)) => self.is_all = all,
            (Role::All, _) => return wrong("true or false"),
            (_, Token::Number(Some(count))) => match usize::try_from(count) {
                Ok(count) => self.count = Some(count),
                Err(_) => return wrong("a count"),
            },
            _ => return wrong("a count"),
        }
        Ok(())
    }
}

/// The texts that may be held, in the order in which they go out.
const HOLDABLE: [Role; 3] = [Role::FileText, Role::Old, Role::New];

fn slot(role: Role) -> usize {
    HOLDABLE.iter().position(|&holdable| holdable == role).unwrap_or(0)
}

impl State {
    /// Returns the state before anything has come.
    pub fn new(family: Family) -> Self {
        State {
            family,
            place: Place::Start,
            key: String::new(),
            top: Keys::default(),
            item: Keys::default(),
            items: 0,
            mode: Mode::Undecided,
            decided_by: String::new(),
            path: None,
            command: None,
            insert_line: None,
            word: Vec::new(),
            held: [None, None, None],
            is_open: false,
            is_unnamed: false,
            end_is_due: false,
            inner: None,
            parser: None,
            lines: LineBuffer::default(),
            inserted_lines: 0,
        }
    }

    /// Returns the path, if it was read.
    pub fn path(&self) -> Option<&PathText> {
        self.path.as_ref()
    }

    /// Returns the command, if it was read and is one.
    pub fn command(&self) -> Option<Command> {
        self.command
    }

    /// Takes a token; `at` is the byte at which the key or string that was begun last begins.
    pub fn token(&mut self, at: usize, token: Token<'_>, say: &mut Say<'_>) -> Read {
        if let Some(reader) = self.inner.take() {
            return self.inner_token(reader, token, say);
        }
        match self.place {
            Place::Start => match token {
                Token::ObjectBegin => {
                    self.place = Place::Top;
                    Ok(())
                }
                _ => Err(ArgsError::NotAnObject),
            },
            Place::Top => match token {
                Token::Key(key) => self.key(key, at, Level::Top),
                _ => self.end(say),
            },
            Place::Value(role) => self.value(role, token, say),
            Place::Text(role, route) => self.text(role, route, token, say),
            Place::Skip(depth, level) => {
                self.skip(depth, level, token);
                Ok(())
            }
            Place::List | Place::Items | Place::Item | Place::ItemValue(_) | Place::ItemText(_) => {
                self.list_token(at, token, say)
            }
        }
    }

    fn key(&mut self, key: &[u8], at: usize, level: Level) -> Read {
        let role = spelling::role(key).filter(|&role| match level {
            Level::Top => self.family.reads(role),
            Level::Item => matches!(role, Role::Old | Role::New | Role::All | Role::Count),
        });
        let Some(role) = role else {
            self.place = Place::Skip(0, level);
            return Ok(());
        };
        self.key = String::from_utf8_lossy(key).into_owned();
        match level {
            Level::Top => {
                self.place = Place::Value(role);
                self.top.see(role, &self.key, at)
            }
            Level::Item => {
                self.place = Place::ItemValue(role);
                self.item.see(role, &self.key, at)
            }
        }
    }

    fn skip(&mut self, depth: usize, level: Level, token: Token<'_>) {
        let depth = match token {
            Token::ObjectBegin | Token::ArrayBegin | Token::StringBegin => depth + 1,
            Token::ObjectEnd | Token::ArrayEnd | Token::StringEnd => depth.saturating_sub(1),
            Token::Key(_) | Token::Piece(_) | Token::Number(_) | Token::Bool(_) | Token::Null => depth,
        };
        self.place = match (depth, level) {
            (0, Level::Top) => Place::Top,
            (0, Level::Item) => Place::Item,
            _ => Place::Skip(depth, level),
        };
    }

    fn wrong(&self, expected: &'static str) -> Read {
        Err(ArgsError::Type { key: self.key.clone(), expected })
    }

    fn value(&mut self, role: Role, token: Token<'_>, say: &mut Say<'_>) -> Read {
        self.place = Place::Top;
        match (role, token) {
            (Role::All | Role::Count, token) => {
                self.top.take_count(role, &self.key, token)?;
                if self.mode == Mode::Replace && token != Token::Null {
                    say(PatchEvent::Count { count: self.top.replace_count() });
                }
                Ok(())
            }
            (_, Token::Null) => Ok(()),
            (Role::InsertLine, Token::Number(Some(line))) => {
                self.insert_line = usize::try_from(line).ok();
                self.release(say)
            }
            (Role::InsertLine, _) => self.wrong("a line number"),
            (Role::Edits, Token::ArrayBegin) => {
                self.decide(Mode::Edits)?;
                self.open(FileKind::Update, say);
                self.place = Place::Items;
                Ok(())
            }
            (Role::Edits, Token::StringBegin) => {
                self.decide(Mode::Edits)?;
                self.open(FileKind::Update, say);
                self.place = Place::List;
                self.inner = Some(Box::default());
                Ok(())
            }
            (Role::Edits, _) => self.wrong("a list of objects"),
            (Role::Command, token) if token != Token::StringBegin && self.family != Family::Editor => {
                // Another tool's command: a list of words for a shell.
                self.skip(0, Level::Top, token);
                Ok(())
            }
            (role, Token::StringBegin) => {
                let route = self.route(role);
                self.place = Place::Text(role, route);
                self.begin_text(role, route, say)
            }
            _ => self.wrong("a string"),
        }
    }

    /// Says what becomes of a text that begins now.
    fn route(&self, role: Role) -> Route {
        let old_is_done = matches!(self.mode, Mode::Replace | Mode::EmptyOld | Mode::NewContent);
        match (role, self.command) {
            (Role::Path | Role::Command | Role::Patch | Role::Content, None) => Route::Out,
            (Role::Path | Role::Command, Some(_)) => Route::Out,
            (Role::FileText, None) if self.family == Family::Write => Route::Out,
            (Role::Old, None) if self.family != Family::Editor => Route::Out,
            (Role::New, None) if old_is_done => Route::Out,
            (_, None) => Route::Hold,
            (Role::FileText, Some(Command::Create)) | (Role::Old, Some(Command::StrReplace)) => Route::Out,
            (Role::New, Some(Command::StrReplace)) if old_is_done => Route::Out,
            (Role::New, Some(Command::StrReplace)) => Route::Hold,
            (Role::New, Some(Command::Insert)) if self.insert_line.is_some() => Route::Out,
            (Role::New, Some(Command::Insert)) => Route::Hold,
            (_, Some(_)) => Route::Drop,
        }
    }

    fn text(&mut self, role: Role, route: Route, token: Token<'_>, say: &mut Say<'_>) -> Read {
        match token {
            Token::Piece(piece) => self.piece_of_text(role, route, piece, say),
            _ => {
                self.place = Place::Top;
                self.end_text(role, route, say)?;
                self.release(say)
            }
        }
    }

    fn begin_text(&mut self, role: Role, route: Route, say: &mut Say<'_>) -> Read {
        match (route, role) {
            (Route::Drop, _) => Ok(()),
            (Route::Hold, _) => {
                self.held[slot(role)] = Some(Vec::new());
                Ok(())
            }
            (Route::Out, Role::Path | Role::Command) => {
                self.word.clear();
                Ok(())
            }
            (Route::Out, Role::Content | Role::FileText) => {
                if self.mode != Mode::Content || self.top.has_content {
                    self.decide(Mode::Content)?;
                }
                self.top.has_content = true;
                let is_create = self.command == Some(Command::Create);
                self.open(if is_create { FileKind::Create } else { FileKind::Write }, say);
                Ok(())
            }
            (Route::Out, Role::Old) if self.mode != Mode::Undecided => self.conflict(),
            (Route::Out, Role::New) => {
                self.top.has_new = true;
                self.begin_new(say)
            }
            (Route::Out, Role::Patch) => {
                self.decide(Mode::Patch)?;
                let naming = if self.path.is_some() { Naming::Elsewhere } else { Naming::InTextOrLater };
                self.parser = Some(Box::new(Parser::with_naming(Dialect::Auto, naming)));
                Ok(())
            }
            (Route::Out, Role::Old | Role::All | Role::Count | Role::Edits | Role::InsertLine) => Ok(()),
        }
    }

    fn begin_new(&mut self, say: &mut Say<'_>) -> Read {
        match (self.mode, self.insert_line) {
            (Mode::EmptyOld, _) => {
                self.mode = Mode::NewContent;
                self.open(FileKind::Create, say);
            }
            (Mode::Undecided, Some(line)) => {
                self.decide(Mode::Insert)?;
                self.open(FileKind::Update, say);
                say(PatchEvent::HunkOpened {
                    stated_old_start: Some(line),
                    stated_old_lines: Some(0),
                    stated_new: None,
                    line_number: 0,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn piece_of_text(&mut self, role: Role, route: Route, piece: &[u8], say: &mut Say<'_>) -> Read {
        match (route, role) {
            (Route::Drop, _) => {}
            (Route::Hold, _) => {
                let held = self.held[slot(role)].get_or_insert_default();
                if held.len() + piece.len() > HELD_CAP_BYTES {
                    return Err(ArgsError::TooLong { key: self.key.clone(), cap_bytes: HELD_CAP_BYTES });
                }
                held.extend_from_slice(piece);
            }
            (Route::Out, Role::Path | Role::Command) => {
                if self.word.len() + piece.len() > PATH_CAP_BYTES {
                    return Err(ArgsError::TooLong { key: self.key.clone(), cap_bytes: PATH_CAP_BYTES });
                }
                self.word.extend_from_slice(piece);
            }
            (Route::Out, Role::Content | Role::FileText) => say(PatchEvent::Bytes { bytes: piece }),
            (Route::Out, Role::Old) => {
                self.begin_replace(say)?;
                say(PatchEvent::Old { text: piece });
            }
            (Route::Out, Role::New) => match self.mode {
                Mode::NewContent => say(PatchEvent::Bytes { bytes: piece }),
                Mode::Insert => return self.insert(piece, say),
                _ => say(PatchEvent::New { text: piece }),
            },
            (Route::Out, Role::Patch) => return self.patch(|parser, take| parser.push(piece, take), say),
            (Route::Out, Role::All | Role::Count | Role::Edits | Role::InsertLine) => {}
        }
        Ok(())
    }

    fn end_text(&mut self, role: Role, route: Route, say: &mut Say<'_>) -> Read {
        match (route, role) {
            (Route::Drop | Route::Hold, _) => Ok(()),
            (Route::Out, Role::Path) => self.named(say),
            (Route::Out, Role::Command) => self.commanded(say),
            (Route::Out, Role::Old) => {
                self.top.has_old = true;
                // An empty old text makes a file; to replace one, it has to stand there.
                if self.mode == Mode::Undecided && self.command != Some(Command::StrReplace) {
                    return self.decide(Mode::EmptyOld);
                }
                self.begin_replace(say)?;
                say(PatchEvent::OldDone);
                Ok(())
            }
            (Route::Out, Role::New) if self.mode == Mode::Insert => {
                if let Some((_, line)) = self.lines.take_unfinished() {
                    self.inserted_lines += 1;
                    say(PatchEvent::Line { kind: LineKind::Insert, text: &line });
                }
                if self.inserted_lines == 0 {
                    return Err(ArgsError::NothingToInsert);
                }
                say(PatchEvent::HunkClosed);
                Ok(())
            }
            (Route::Out, Role::Patch) => self.patch(|parser, take| parser.finish(take), say),
            (Route::Out, _) => Ok(()),
        }
    }

    fn insert(&mut self, piece: &[u8], say: &mut Say<'_>) -> Read {
        let inserted = &mut self.inserted_lines;
        let taken = self.lines.push(piece, |_, line| {
            *inserted += 1;
            say(PatchEvent::Line { kind: LineKind::Insert, text: line });
        });
        taken.map_err(|_| ArgsError::TooLong { key: self.key.clone(), cap_bytes: LINE_CAP_BYTES })
    }

    fn begin_replace(&mut self, say: &mut Say<'_>) -> Read {
        if self.mode == Mode::Replace {
            return Ok(());
        }
        if self.mode == Mode::EmptyOld {
            self.mode = Mode::Undecided;
        }
        self.decide(Mode::Replace)?;
        self.open(FileKind::Update, say);
        say(PatchEvent::ReplaceOpened);
        if self.top.replace_count() != ReplaceCount::One {
            say(PatchEvent::Count { count: self.top.replace_count() });
        }
        Ok(())
    }

    fn decide(&mut self, mode: Mode) -> Read {
        if self.mode != Mode::Undecided {
            return self.conflict();
        }
        self.mode = mode;
        self.decided_by.clone_from(&self.key);
        Ok(())
    }

    fn conflict(&self) -> Read {
        Err(ArgsError::Conflict { key: self.key.clone(), other: self.decided_by.clone() })
    }

    /// Opens the file edit, with an empty path if that is still to come.
    fn open(&mut self, kind: FileKind, say: &mut Say<'_>) {
        if self.is_open {
            return;
        }
        self.is_open = true;
        self.is_unnamed = self.path.is_none();
        let path = self.path.clone().unwrap_or_default();
        say(PatchEvent::FileOpened { path, kind, line_number: 0 });
    }

    fn named(&mut self, say: &mut Say<'_>) -> Read {
        if self.word.is_empty() {
            return Err(ArgsError::EmptyPath { key: self.key.clone() });
        }
        let path = PathText::new(std::mem::take(&mut self.word));
        self.path = Some(path.clone());
        if std::mem::take(&mut self.is_unnamed) {
            say(PatchEvent::Named { path });
            if std::mem::take(&mut self.end_is_due) {
                say(PatchEvent::FileClosed);
            }
        } else if self.family == Family::Write {
            self.decide(Mode::Content)?;
            self.open(FileKind::Write, say);
        }
        Ok(())
    }

    fn commanded(&mut self, say: &mut Say<'_>) -> Read {
        let command = spelling::command(&self.word);
        if command.is_none() && self.family == Family::Editor {
            let command = String::from_utf8_lossy(&self.word).into_owned();
            return Err(ArgsError::Command { command });
        }
        let Some(command) = command else { return Ok(()) };
        let fits = match (command, self.mode) {
            (_, Mode::Undecided) | (Command::StrReplace, Mode::Replace | Mode::EmptyOld) => true,
            (Command::Create | Command::Insert | Command::StrReplace | Command::View | Command::Undo, _) => {
                false
            }
        };
        if !fits {
            return self.conflict();
        }
        self.command = Some(command);
        if self.mode == Mode::EmptyOld {
            self.begin_replace(say)?;
            say(PatchEvent::OldDone);
        }
        Ok(())
    }

    /// Lets go of texts of which it has become clear what they are for.
    fn release(&mut self, say: &mut Say<'_>) -> Read {
        for role in HOLDABLE {
            if self.held[slot(role)].is_none() {
                continue;
            }
            let route = self.route(role);
            if route == Route::Hold {
                continue;
            }
            let text = self.held[slot(role)].take().unwrap_or_default();
            self.begin_text(role, route, say)?;
            if !text.is_empty() {
                self.piece_of_text(role, route, &text, say)?;
            }
            self.end_text(role, route, say)?;
        }
        Ok(())
    }

    /// Feeds the inner parser and hands its events on, with the path that the arguments say.
    fn patch(&mut self, act: impl FnOnce(&mut Parser, &mut Say<'_>), say: &mut Say<'_>) -> Read {
        let Some(mut parser) = self.parser.take() else { return Ok(()) };
        let mut refused = None;
        act(&mut parser, &mut |event| match event {
            _ if refused.is_some() => {}
            PatchEvent::FileOpened { path, kind, line_number } if path.bytes().is_empty() => {
                // Only one edit can wait for its name.
                if self.is_unnamed {
                    refused = Some(ArgsError::Missing(spelling::first(Role::Path)));
                    return;
                }
                self.is_unnamed = self.path.is_none();
                let path = self.path.clone().unwrap_or_default();
                say(PatchEvent::FileOpened { path, kind, line_number });
            }
            PatchEvent::FileClosed if self.is_unnamed => self.end_is_due = true,
            PatchEvent::Malformed(problem) => refused = Some(ArgsError::Patch(problem)),
            event => say(event),
        });
        self.parser = Some(parser);
        refused.map_or(Ok(()), Err)
    }

    /// The object has ended.
    fn end(&mut self, say: &mut Say<'_>) -> Read {
        if matches!(self.command, Some(Command::View | Command::Undo)) {
            return Ok(());
        }
        if self.family == Family::Editor && self.command.is_none() {
            return Err(ArgsError::Missing(spelling::first(Role::Command)));
        }
        self.settle(say)?;
        let missing = |role| Err(ArgsError::Missing(spelling::first(role)));
        match self.mode {
            Mode::Undecided => return missing(self.needed()),
            Mode::Content if !self.top.has_content => return missing(Role::Content),
            Mode::EmptyOld => return missing(Role::New),
            Mode::Replace if !self.top.has_new && self.command.is_none() => return missing(Role::New),
            Mode::Content | Mode::Replace | Mode::NewContent | Mode::Insert | Mode::Edits | Mode::Patch => {}
        }
        if self.is_unnamed {
            return missing(Role::Path);
        }
        if self.mode == Mode::Replace {
            say(PatchEvent::HunkClosed);
        }
        if self.mode != Mode::Patch {
            say(PatchEvent::FileClosed);
        }
        Ok(())
    }

    /// Decides what the texts that are still held are for, now that no more keys come.
    fn settle(&mut self, say: &mut Say<'_>) -> Read {
        if self.command.is_none() && self.mode == Mode::Undecided {
            let is_lone_new = self.held[slot(Role::New)].is_some() && !self.top.has_old;
            let has_text = self.held[slot(Role::FileText)].is_some();
            let spelled = self.top.seen[Role::New as usize].as_deref();
            if has_text {
                self.command = Some(Command::Create);
            } else if is_lone_new && spelled == Some(spelling::LONE_NEW) {
                match self.insert_line {
                    // This editor counts the line before which the text goes, the other the one behind which.
                    Some(line) => {
                        self.insert_line = Some(line.saturating_sub(1));
                        self.command = Some(Command::Insert);
                    }
                    None => self.mode = Mode::EmptyOld,
                }
            }
            self.release(say)?;
        }
        match self.held.iter().position(Option::is_some) {
            Some(index) if self.mode != Mode::Undecided => Err(ArgsError::Conflict {
                key: self.top.seen[HOLDABLE[index] as usize].clone().unwrap_or_default(),
                other: self.decided_by.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns what the arguments lack first.
    fn needed(&self) -> Role {
        match (self.command, self.family) {
            (Some(Command::Create), _) => Role::FileText,
            (Some(Command::Insert), _) if self.insert_line.is_none() => Role::InsertLine,
            (Some(Command::Insert), _) => Role::New,
            (_, Family::Write) if self.path.is_none() => Role::Path,
            (_, Family::Write) => Role::Content,
            (_, Family::Patch) => Role::Patch,
            (_, Family::Edit | Family::Editor | Family::OpenEditor) => Role::Old,
            (_, Family::Notebook | Family::Shell | Family::Any) => Role::Old,
        }
    }

    fn inner_token(&mut self, mut reader: Box<JsonReader>, token: Token<'_>, say: &mut Say<'_>) -> Read {
        let key = self.top.seen[Role::Edits as usize].clone().unwrap_or_default();
        let in_list = |error: ArgsError| match error {
            ArgsError::Json(error) => ArgsError::JsonInString { key: key.clone(), error },
            other => other,
        };
        match token {
            Token::Piece(piece) => {
                reader.push(piece, &mut |at, token| self.list_or_skip(at, token, say)).map_err(in_list)?;
                self.inner = Some(reader);
            }
            _ => reader.finish(&mut |at, token| self.list_or_skip(at, token, say)).map_err(in_list)?,
        }
        Ok(())
    }

    fn list_or_skip(&mut self, at: usize, token: Token<'_>, say: &mut Say<'_>) -> Read {
        match self.place {
            Place::Skip(depth, level) => {
                self.skip(depth, level, token);
                Ok(())
            }
            _ => self.list_token(at, token, say),
        }
    }

    fn list_token(&mut self, at: usize, token: Token<'_>, say: &mut Say<'_>) -> Read {
        let edits = || ArgsError::Type {
            key: self.top.seen[Role::Edits as usize].clone().unwrap_or_default(),
            expected: "a list of objects",
        };
        match (self.place, token) {
            (Place::List, Token::ArrayBegin) => self.place = Place::Items,
            (Place::Items, Token::ObjectBegin) => {
                self.item = Keys::default();
                self.items += 1;
                self.place = Place::Item;
                say(PatchEvent::ReplaceOpened);
            }
            (Place::Items, Token::ArrayEnd) if self.items == 0 => return Err(ArgsError::NoEdits),
            (Place::Items, Token::ArrayEnd) => self.place = Place::Top,
            (Place::List | Place::Items, _) => return Err(edits()),
            (Place::Item, Token::Key(key)) => self.key(key, at, Level::Item)?,
            (Place::Item, _) => {
                for (is_there, role) in [(self.item.has_old, Role::Old), (self.item.has_new, Role::New)] {
                    if !is_there {
                        return Err(ArgsError::Missing(spelling::first(role)));
                    }
                }
                self.place = Place::Items;
                say(PatchEvent::HunkClosed);
            }
            (Place::ItemValue(role @ (Role::All | Role::Count)), token) => {
                self.place = Place::Item;
                self.item.take_count(role, &self.key, token)?;
                if token != Token::Null {
                    say(PatchEvent::Count { count: self.item.replace_count() });
                }
            }
            (Place::ItemValue(role), Token::StringBegin) => self.place = Place::ItemText(role),
            (Place::ItemValue(_), Token::Null) => self.place = Place::Item,
            (Place::ItemValue(_), _) => return self.wrong("a string"),
            (Place::ItemText(Role::Old), Token::Piece(text)) => say(PatchEvent::Old { text }),
            (Place::ItemText(_), Token::Piece(text)) => say(PatchEvent::New { text }),
            (Place::ItemText(Role::Old), _) => {
                self.item.has_old = true;
                self.place = Place::Item;
                say(PatchEvent::OldDone);
            }
            (Place::ItemText(_), _) => {
                self.item.has_new = true;
                self.place = Place::Item;
            }
            (Place::Start | Place::Top | Place::Value(_) | Place::Text(..) | Place::Skip(..), _) => {}
        }
        Ok(())
    }
}

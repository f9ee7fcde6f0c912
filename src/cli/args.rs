//! The command line: every command, option and help text.

use std::path::PathBuf;

use clap::Args;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use clap::builder::PossibleValuesParser;

use crate::disk::Access;
use crate::disk::sessions::AGENTS;
use crate::patch::Dialect;
use crate::render::acp::AcpVersion;
use crate::render::links::LinkFormat;
use crate::report::Rung;
use crate::session::format::Format;
use crate::text::Charset;

use super::exit;

/// The patch and diff tool for edits made by AI coding agents
#[derive(Debug, Parser)]
#[command(
    name = "hunkwise",
    version,
    about,
    long_about = "The patch and diff tool for edits made by AI coding agents.\n\n\
        It previews a patch while the model is still writing it, applies patches, writes and edits all or nothing, and \
        draws the diff cards of stored session logs again, and takes recorded edits back.",
    after_long_help = examples(
        "hunkwise demo                              see all three jobs\n  \
         model | hunkwise preview                   tentative previews as the patch arrives\n  \
         hunkwise apply < fix.patch                 apply it, all or nothing\n  \
         hunkwise edit a.rs --old foo --new bar     replace one place\n  \
         hunkwise replay session.jsonl              draw the cards of a log\n  \
         hunkwise undo session.jsonl                take its last edit back"
    ),
    arg_required_else_help = true,
    subcommand_required = true,
    propagate_version = true,
)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub globals: Globals,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The heading of the options that every command takes, so that they don't stand between its own.
const GLOBAL: &str = "Global options";

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// The folder that relative paths start at and that no change may leave
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", default_value = ".")]
    pub root: PathBuf,
    /// When to use colours
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", value_enum, default_value = "auto")]
    pub color: ColorWhen,
    /// Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "THEME", value_enum, value_delimiter = ',')]
    pub theme: Vec<Theme>,
    /// Print to the terminal itself: no pager for diff, show and replay
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub no_pager: bool,
    /// When to make links of paths (OSC 8): auto only on terminals that are known to take them
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", value_enum, default_value = "auto")]
    pub hyperlinks: When,
    /// What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one:
    /// default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FORMAT", value_parser = LinkFormat::parse,
        default_value = "default")]
    pub hyperlink_format: LinkFormat,
    /// Whether code is coloured by the syntax of its language, where there are 256 colours or a page
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "WHEN", value_enum, default_value = "auto")]
    pub syntax: SyntaxWhen,
    /// Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub full: bool,
    /// Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// Print nothing but errors
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
}

/// When to colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal only, unless the environment says otherwise
    Auto,
    /// Also into a file or a pipe
    Always,
    /// Not even on a terminal
    Never,
}

/// When to do what only some terminals take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// Where it is known to be right
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// When to colour by syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SyntaxWhen {
    /// Where the language is known by the file's name, and up to some size
    Auto,
    /// Not at all
    Never,
}

/// Which colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// Dark or light, as the terminal says when it is asked
    Auto,
    /// For a dark terminal
    Dark,
    /// For a light terminal
    Light,
    /// Blue and orange
    #[value(alias = "colour-blind", alias = "daltonized")]
    ColorBlind,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show tentative previews of a patch while it is being written; writes no file
    Preview(PreviewArgs),
    /// Apply a patch, all of it or nothing
    Apply(ApplyArgs),
    /// Create or overwrite one file
    Write(WriteArgs),
    /// Replace a text in one file
    Edit(EditArgs),
    /// Draw the diff cards of stored session logs; touches no file that the logs name
    Replay(ReplayArgs),
    /// Take back edits that a session log records
    #[command(long_about = "Take back edits that a session log records.\n\n\
        Where a file still is what the recorded call left, the record's bytes come back: content, line endings, mode and \
        name. Where it was changed since, the call's hunks are taken back if each of them stands exactly once; otherwise \
        the undo is refused, all of it, and says what changed. New files go, with the folders that were made for them if \
        they are empty.\n\n\
        An undo is a call itself, appended to the same log: a second undo takes the call before back, and \
        'undo --call ID' of an undo brings back what that undo took away.\n\n\
        The log may also be another agent's. Its calls are taken back by the texts or hunks that it holds, and a call of \
        which it holds too little is refused. Nothing is appended to it: --log FILE keeps the undo in a log of its own.")]
    Undo(UndoArgs),
    /// Draw a patch as it stands, a card for each file edit; looks at no file that it names
    Show(ShowArgs),
    /// Compare two files or two folders
    Diff(DiffArgs),
    /// Preview, apply and replay a built-in patch in a temporary folder
    #[command(after_long_help = exit::HELP)]
    Demo,
    /// Print the completion script of a shell
    #[command(after_long_help = exit::HELP)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all of them into a folder
    #[command(after_long_help = exit::HELP)]
    Man {
        /// The folder that all pages are written to; without it the main page is printed
        dir: Option<PathBuf>,
    },
    /// Print the JSON schema of an output, or the names of all schemas
    #[command(after_long_help = exit::HELP)]
    Schema {
        /// The schema: outcome, preview, card, error, record, session or stat; without it the names are printed
        name: Option<String>,
    },
}

/// How a patch's text arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Transport {
    /// Told from the first complete line
    Auto,
    /// The patch itself
    Text,
    /// A model's stream as server-sent events; each call of a tool that edits files is one patch
    Sse,
    /// The same events as JSON Lines; also an agent's log while it is being written
    Jsonl,
    /// JSON Lines {"t":MILLISECONDS,"delta":"text"}, whose times stand for the clock
    Tape,
}

/// How a preview is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PreviewOutput {
    /// For people
    Card,
    /// JSON Lines, schema hunkwise/preview/v1
    Json,
    /// Codex's patch_apply_updated events, as JSON Lines
    Codex,
    /// The Agent Client Protocol's session/update messages, as JSON Lines
    Acp,
}

/// How cards are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CardOutput {
    /// For people
    Card,
    /// JSON Lines, schema hunkwise/card/v1
    Json,
    /// One patch that git applies; what a log does not record is left out, with a note
    Patch,
    /// Counts of changed lines; with --json a row a file of each call, schema hunkwise/stat/v1
    Stat,
    /// Counts as JSON
    #[value(skip)]
    StatRows,
    /// Old and new beside each other, from 60 columns on
    SideBySide,
    /// One page with an index, without script and without anything from elsewhere
    Html,
    /// Markdown, as for a pull request
    Markdown,
    /// The Agent Client Protocol's session/update messages, one a card, as JSON Lines
    Acp,
    /// The same of its second version
    #[value(skip)]
    SecondAcp,
}

/// A version of the Agent Client Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolVersion {
    /// The first
    #[value(name = "1")]
    One,
    /// The second, a draft
    #[value(name = "2")]
    Two,
}

impl From<ProtocolVersion> for AcpVersion {
    fn from(version: ProtocolVersion) -> Self {
        match version {
            ProtocolVersion::One => AcpVersion::One,
            ProtocolVersion::Two => AcpVersion::Two,
        }
    }
}

impl CardOutput {
    /// Returns the output for a version of the protocol.
    #[must_use]
    pub fn of_version(self, version: ProtocolVersion) -> Self {
        match (self, version) {
            (CardOutput::Acp, ProtocolVersion::Two) => CardOutput::SecondAcp,
            _ => self,
        }
    }

    /// Returns how the same is printed as JSON.
    pub fn as_json(self) -> Self {
        if self == CardOutput::Stat { CardOutput::StatRows } else { CardOutput::Json }
    }
}

/// A patch format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// Codex's envelope: *** Begin Patch to *** End Patch
    ApplyPatch,
    /// What diff -u and git diff write: --- and +++ names, @@ hunks
    Unified,
    /// The blocks of aider, Cline and Roo: <<<<<<< SEARCH to >>>>>>> REPLACE
    SearchReplace,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::ApplyPatch => Dialect::ApplyPatch,
            DialectName::Unified => Dialect::Unified,
            DialectName::SearchReplace => Dialect::SearchReplace,
        }
    }
}

/// The most lenient level of matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RungName {
    /// Every old line is equal
    Exact,
    /// Blanks at line ends do not count
    TrailingBlanks,
    /// The indentation may differ by one prefix or one unit
    Indentation,
    /// Typographic quotes, dashes, spaces and composed characters equal their plain forms
    Unicode,
    /// A few context lines at the outer ends of a hunk may differ or be missing
    Context,
}

impl From<RungName> for Rung {
    fn from(name: RungName) -> Self {
        match name {
            RungName::Exact => Rung::Exact,
            RungName::TrailingBlanks => Rung::TrailingBlanks,
            RungName::Indentation => Rung::Indentation,
            RungName::Unicode => Rung::Unicode,
            RungName::Context => Rung::Context,
        }
    }
}

/// Options that decide where hunks go and what is refused.
#[derive(Debug, Clone, Copy, Args)]
pub struct MatchArgs {
    /// The most lenient way of matching that may decide where a hunk goes; each allows all before it
    #[arg(long = "match", value_name = "RUNG", value_enum, default_value = "context")]
    pub most_lenient: RungName,
    /// Where a hunk fits several places take the first, as Codex does, instead of refusing
    #[arg(long)]
    pub first_match: bool,
    /// Pass over hunks that are applied already, instead of refusing
    #[arg(long)]
    pub skip_applied: bool,
    /// Let an added or moved file replace one that is there
    #[arg(long)]
    pub allow_overwrite: bool,
}

/// Arguments of `preview`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "model | hunkwise preview                    redrawn in place on a terminal\n  \
     model | hunkwise preview --json             one JSON line an event\n  \
     model | hunkwise preview --fail-fast        end with status 1 as soon as a hunk can't fit\n  \
     model | hunkwise preview --record run.tape  keep the stream with its times\n  \
     hunkwise preview run.tape                   the same previews again\n  \
     curl -sN ... | hunkwise preview             the calls of a model's own stream"
))]
pub struct PreviewArgs {
    /// The patch or the tape; standard input if absent or -
    pub input: Option<PathBuf>,
    /// The least time between two previews, such as 500ms, 2s or 0
    #[arg(long, value_name = "TIME", default_value = "500ms", value_parser = interval)]
    pub interval: u64,
    /// The patch format; without it the text tells
    #[arg(long, value_name = "DIALECT", value_enum)]
    pub dialect: Option<DialectName>,
    /// How the patch's text arrives
    #[arg(long, value_name = "KIND", value_enum, default_value = "auto")]
    pub transport: Transport,
    /// Also preview patches of any dialect that stand in a model's text, in its stream or as plain input: apply_patch
    /// envelopes, SEARCH/REPLACE blocks, and unified diffs in Markdown fences
    #[arg(long)]
    pub text_patches: bool,
    /// End with status 1 as soon as something can't fit the files; without it that is shown, and the status is 0
    #[arg(long)]
    pub fail_fast: bool,
    /// Look at no file: show only what the patch says, without line numbers
    #[arg(long)]
    pub no_locate: bool,
    /// The encoding of the files, as for apply
    #[arg(long, value_name = "NAME", value_parser = charset)]
    pub encoding: Option<Charset>,
    /// Write the stream with its times to this file, as a tape
    #[arg(long, value_name = "TAPE")]
    pub record: Option<PathBuf>,
    /// How to print
    #[arg(long, value_name = "KIND", value_enum, default_value = "card")]
    pub output: PreviewOutput,
    /// The version of the protocol that --output acp speaks
    #[arg(long, value_name = "VERSION", value_enum, default_value = "1")]
    pub acp_version: ProtocolVersion,
    /// Where hunks may go.
    #[command(flatten)]
    pub matching: MatchArgs,
}

/// Options of every command that changes files.
#[derive(Debug, Clone, Args)]
pub struct ChangeArgs {
    /// Write nothing; say what would be done, with the same exit status
    #[arg(long, visible_alias = "dry-run")]
    pub check: bool,
    /// Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without
    /// this)
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// The id of the call in the log and in JSON; a log numbers its calls if it is absent
    #[arg(long, value_name = "ID")]
    pub call_id: Option<String>,
    /// Also change files that have no write permission
    #[arg(long)]
    pub force: bool,
    /// Write through the file: keeps hard links and owner, but is not atomic
    #[arg(long)]
    pub in_place: bool,
    /// Don't wait until the disk has it: survives a killed process, not a power loss
    #[arg(long)]
    pub no_sync: bool,
    /// Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old
    /// bytes of a file out of the log: that it can't be undone then is said
    #[arg(long, value_name = "BYTES", default_value_t = 10 << 20)]
    pub max_text: usize,
    /// The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark
    /// or the bytes tell, and where they only let guess it, nothing but ASCII is added
    #[arg(long, value_name = "NAME", value_parser = charset)]
    pub encoding: Option<Charset>,
    /// Allow changes inside of .git, .hg and .jj
    #[arg(long)]
    pub allow_git_dir: bool,
}

impl ChangeArgs {
    /// Returns what the change may do beyond what is safe for any.
    pub fn access(&self) -> Access {
        Access { force: self.force, allow_git_dir: self.allow_git_dir }
    }
}

/// Arguments of `apply`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "hunkwise apply < fix.patch                  all of it, or nothing\n  \
     hunkwise apply --check fix.patch            would it fit?\n  \
     hunkwise apply --json --log run.jsonl fix.patch   report before and after, and log it"
))]
pub struct ApplyArgs {
    /// The patch; standard input if absent or -
    pub patch: Option<PathBuf>,
    /// The patch format; without it the text tells
    #[arg(long, value_name = "DIALECT", value_enum)]
    pub dialect: Option<DialectName>,
    /// Take the patch back: what it adds goes, what it removes comes again
    #[arg(long, short = 'R')]
    pub reverse: bool,
    /// Drop N leading parts of each path of a unified diff; without it a/ and b/ are dropped where every path has one
    #[arg(long, short = 'p', value_name = "N")]
    pub strip: Option<usize>,
    /// Accept a patch that holds no file edit
    #[arg(long)]
    pub allow_empty: bool,
    /// Read a stream and apply each call as it completes, one commit a call; results are JSON Lines with --json
    #[arg(long, value_name = "KIND", value_enum)]
    pub transport: Option<Transport>,
    /// With --transport: end at the first call that is refused
    #[arg(long, requires = "transport")]
    pub stop: bool,
    /// Where hunks may go.
    #[command(flatten)]
    pub matching: MatchArgs,
    /// How files are written.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Arguments of `write`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "hunkwise write src/new.rs < new.rs          create or overwrite\n  \
     hunkwise write conf --if-absent < conf.new  only create\n  \
     hunkwise write a.txt --expect-sha256 HEX < new   only if the file is still the one that was read"
))]
pub struct WriteArgs {
    /// The file to write
    pub path: PathBuf,
    /// Take the content from this file instead of standard input
    #[arg(long, value_name = "FILE")]
    pub content_file: Option<PathBuf>,
    /// Refuse if the file is there already
    #[arg(long)]
    pub if_absent: bool,
    /// Refuse unless the file as it stands has this SHA-256
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    pub expect_sha256: Option<Sha256Hex>,
    /// Convert line endings, byte order mark and encoding to those of the file that is replaced
    #[arg(long)]
    pub keep_style: bool,
    /// How files are written.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Arguments of `edit`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "hunkwise edit a.rs --old 'foo()' --new 'bar()'           the text must stand once\n  \
     hunkwise edit a.rs --old foo --new bar --replace-all     every place\n  \
     hunkwise edit a.rs --old foo --new bar --expect-count 3  every place, and three of them\n  \
     echo '{\"file_path\":\"a.rs\",\"old_string\":\"foo\",\"new_string\":\"bar\"}' | hunkwise edit --args -"
))]
pub struct EditArgs {
    /// The file to edit; with --args the arguments name it
    #[arg(required_unless_present = "args", conflicts_with = "args")]
    pub path: Option<PathBuf>,
    /// The text to replace, which must stand exactly once; LF in it stands for LF and CRLF
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["old_file", "args"], allow_hyphen_values = true)]
    pub old: Option<String>,
    /// Take the text to replace from this file, byte for byte
    #[arg(long, value_name = "FILE", conflicts_with = "old")]
    pub old_file: Option<PathBuf>,
    /// The text that comes in its place, literally
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["new_file", "args"], allow_hyphen_values = true)]
    pub new: Option<String>,
    /// Take the new text from this file, byte for byte
    #[arg(long, value_name = "FILE", conflicts_with = "new")]
    pub new_file: Option<PathBuf>,
    /// Take path and texts from a tool call's arguments as JSON; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["old", "old_file", "new", "new_file", "replace_all", "expect_count"])]
    pub args: Option<PathBuf>,
    /// Replace the text wherever it stands, not only once
    #[arg(long)]
    pub replace_all: bool,
    /// Replace the text wherever it stands, but refuse unless that is in exactly N places
    #[arg(long, value_name = "N")]
    pub expect_count: Option<usize>,
    /// Refuse unless the file as it stands has this SHA-256
    #[arg(long, value_name = "HEX", value_parser = sha256)]
    pub expect_sha256: Option<Sha256Hex>,
    /// How files are written.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Arguments of `replay`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "hunkwise replay                                     the sessions of all agents, newest first\n  \
     hunkwise replay --latest --agent claude             the newest one's edits\n  \
     hunkwise replay session.jsonl                       every edit, as it was recorded\n  \
     hunkwise replay ~/.codex/sessions --output stat     of all logs below a folder\n  \
     hunkwise replay --follow session.jsonl              and those to come, until Ctrl-C\n  \
     hunkwise replay --output stat sessions/*.jsonl      a line a call, totals a file and a session\n  \
     hunkwise replay --output patch session.jsonl        as a patch that git applies\n  \
     hunkwise replay --status failed --path '*.rs' --json session.jsonl"
))]
pub struct ReplayArgs {
    /// The logs, drawn one after the other; of a folder all logs below it; - is standard input. Without any, what is
    /// piped in, or else the sessions that agents keep in their usual places are listed, newest first
    pub logs: Vec<PathBuf>,
    /// Read the paths of more logs and folders from this file, one a line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// Draw the session that was written last
    #[arg(long, conflicts_with_all = ["logs", "files_from"])]
    pub latest: bool,
    /// Of the sessions that agents keep only those of this one
    #[arg(long, value_name = "NAME", conflicts_with_all = ["logs", "files_from"], value_parser = agents())]
    pub agent: Option<String>,
    /// The logs' format, or auto to find it out from their first lines; generic finds patches in any JSON or text
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = log_formats())]
    pub format: String,
    /// How to print
    #[arg(long, value_name = "KIND", value_enum, default_value = "card")]
    pub output: CardOutput,
    /// The version of the protocol that --output acp speaks
    #[arg(long, value_name = "VERSION", value_enum, default_value = "1")]
    pub acp_version: ProtocolVersion,
    /// Only cards that name a file like this, or one below a folder like this; without a slash a name anywhere; * also
    /// matches /; with ! in front none like this; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub path: Vec<String>,
    /// Only cards of these statuses, separated by commas; with ! in front none of this status
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses())]
    pub status: Vec<String>,
    /// Only cards of these tools, separated by commas; in capitals or not
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub tool: Vec<String>,
    /// Only the card of this call; may be given several times
    #[arg(long, value_name = "ID")]
    pub call: Vec<String>,
    /// Only cards of these turns: N, N..M, N.. or ..M
    #[arg(long, value_name = "N..M", value_parser = turns)]
    pub turn: Option<Turns>,
    /// One card a file, with what all calls together changed; with --output patch one patch of the files as they were
    /// before. Calls that are left out by other options are passed over
    #[arg(long, conflicts_with = "follow")]
    pub net: bool,
    /// Go on as the logs grow, until Ctrl-C; what is not there yet is waited for, and new logs in a folder are read
    #[arg(long, short)]
    pub follow: bool,
    /// With --follow: look at the logs this often and don't rely on the system to tell of changes, such as 200ms
    #[arg(long, value_name = "TIME", requires = "follow", value_parser = interval)]
    pub poll: Option<u64>,
    /// End with status 1 if something in a log was not understood
    #[arg(long)]
    pub strict: bool,
}

/// Returns what --format takes: all formats that there are.
fn log_formats() -> PossibleValuesParser {
    PossibleValuesParser::new(["auto"].into_iter().chain(Format::ALL.into_iter().map(Format::name)))
}

/// Returns what --agent takes.
fn agents() -> PossibleValuesParser {
    PossibleValuesParser::new(AGENTS.iter().map(|agent| agent.name))
}

/// Returns what --status takes.
fn statuses() -> PossibleValuesParser {
    const NAMES: [&str; 6] = ["applied", "partial", "failed", "rejected", "held", "unknown"];
    const NONE_OF: [&str; 6] = ["!applied", "!partial", "!failed", "!rejected", "!held", "!unknown"];
    let none_of = NONE_OF.into_iter().map(|name| PossibleValue::new(name).hide(true));
    PossibleValuesParser::new(NAMES.into_iter().map(PossibleValue::new).chain(none_of))
}

/// Arguments of `undo`.
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("which").args(["last", "call", "turn"]),
    after_long_help = examples(
        "hunkwise undo session.jsonl                 the last call that is in effect\n  \
         hunkwise undo --check session.jsonl         would it fit?\n  \
         hunkwise undo --last 3 session.jsonl        the last three calls, all or nothing\n  \
         hunkwise undo --call call-4 session.jsonl   this one; of an undo: bring back what it took away\n  \
         hunkwise undo --turn 7 session.jsonl        all that one run, or one turn of a stream, changed"
    )
)]
pub struct UndoArgs {
    /// The session log; one from standard input (-) or a pipe, or of another agent, is only read, and nothing is logged
    /// without --log
    #[arg(value_name = "LOG")]
    pub source: PathBuf,
    /// Take back the last N calls that are in effect, newest first; undos are passed over [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub last: Option<usize>,
    /// Take back the call of this id; of an undo: bring back what it took away
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Take back what these turns changed: N, N..M, N.. or ..M
    #[arg(long, value_name = "N..M", value_parser = turns)]
    pub turn: Option<Turns>,
    /// How files are written. The log is LOG itself, if hunkwise wrote it, unless --log names another.
    #[command(flatten)]
    pub change: ChangeArgs,
}

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "hunkwise show fix.patch\n  \
     hunkwise show --output stat < fix.patch\n  \
     git diff | hunkwise show --output apply-patch        the same change, as a model of Codex writes it\n  \
     hunkwise diff --output patch old new | hunkwise show --output search-replace"
))]
pub struct ShowArgs {
    /// The patch; standard input if absent or -
    pub patch: Option<PathBuf>,
    /// The patch format; without it the text tells
    #[arg(long, value_name = "DIALECT", value_enum)]
    pub dialect: Option<DialectName>,
    /// How to print
    #[arg(long, value_name = "KIND", value_enum, default_value = "card")]
    pub output: ShowOutput,
}

/// How `show` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ShowOutput {
    /// For people
    Card,
    /// JSON Lines, schema hunkwise/card/v1
    Json,
    /// Counts of changed lines
    Stat,
    /// Old and new beside each other, from 60 columns on
    SideBySide,
    /// One page with an index, without script and without anything from elsewhere
    Html,
    /// Markdown, as for a pull request
    Markdown,
    /// The patch written anew in Codex's envelope; what that can't say is refused, and nothing is printed
    ApplyPatch,
    /// The patch written anew as a unified diff with right counts, with git's headers where they are needed
    Unified,
    /// The patch written anew as the blocks of aider
    SearchReplace,
}

impl ShowOutput {
    /// Returns how cards are printed, or the dialect in which the patch is written.
    pub fn kind(self) -> Result<CardOutput, Dialect> {
        match self {
            ShowOutput::Card => Ok(CardOutput::Card),
            ShowOutput::Json => Ok(CardOutput::Json),
            ShowOutput::Stat => Ok(CardOutput::Stat),
            ShowOutput::SideBySide => Ok(CardOutput::SideBySide),
            ShowOutput::Html => Ok(CardOutput::Html),
            ShowOutput::Markdown => Ok(CardOutput::Markdown),
            ShowOutput::ApplyPatch => Err(Dialect::ApplyPatch),
            ShowOutput::Unified => Err(Dialect::Unified),
            ShowOutput::SearchReplace => Err(Dialect::SearchReplace),
        }
    }
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(
    "hunkwise diff old.rs new.rs                 a card\n  \
     hunkwise diff --output patch before after > change.patch   two folders, as a patch that git applies\n  \
     hunkwise diff --output stat before after    counts of changed lines\n  \
     git show HEAD:a.rs | hunkwise diff - a.rs   what has changed since\n  \
     hunkwise diff --quiet before after          only the exit status"
))]
pub struct DiffArgs {
    /// The file or folder before; - is standard input, /dev/null a file that is not there
    pub old: PathBuf,
    /// The file or folder after; a folder beside a file stands for the file of the same name in it
    pub new: PathBuf,
    /// How to print
    #[arg(long, value_name = "KIND", value_enum, default_value = "card")]
    pub output: CardOutput,
    /// The version of the protocol that --output acp speaks
    #[arg(long, value_name = "VERSION", value_enum, default_value = "1")]
    pub acp_version: ProtocolVersion,
    /// How many unchanged lines a patch shows around a change; cards always have three
    #[arg(long, value_name = "N")]
    pub context: Option<usize>,
}

/// A SHA-256 that was given in hex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sha256Hex(pub [u8; 32]);

/// An inclusive range of turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turns {
    /// The first turn.
    pub first: u64,
    /// The last one.
    pub last: u64,
}

fn examples(lines: &str) -> String {
    format!("Examples:\n  {lines}\n\n{}", exit::HELP)
}

fn interval(text: &str) -> Result<u64, String> {
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 1.0),
        (None, Some(number)) => (number, 1000.0),
        (None, None) => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number.is_finite() && (0.0..=1e9).contains(&number) => Ok((number * factor) as u64),
        _ => Err("give a time like 500ms or 2s".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number from 1 on".to_owned()),
    }
}

fn charset(label: &str) -> Result<Charset, String> {
    Charset::for_label(label).ok_or_else(|| {
        format!("give a name of the WHATWG Encoding Standard, such as {}", Charset::SOME_NAMES)
    })
}

fn sha256(text: &str) -> Result<Sha256Hex, String> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|digit| digit as u8)).collect();
    let bytes = digits.map(|digits| {
        digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).unwrap_or(&0)).collect::<Vec<_>>()
    });
    match bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok()) {
        Some(bytes) if text.len() == 64 => Ok(Sha256Hex(bytes)),
        _ => Err("give 64 hexadecimal digits".to_owned()),
    }
}

fn turns(text: &str) -> Result<Turns, String> {
    let number = |text: &str, default: u64| if text.is_empty() { Some(default) } else { text.parse().ok() };
    let parsed = match text.split_once("..") {
        Some((first, last)) => number(first, 0).zip(number(last.strip_prefix('=').unwrap_or(last), u64::MAX)),
        None => text.parse().ok().map(|turn| (turn, turn)),
    };
    match parsed {
        Some((first, last)) if first <= last => Ok(Turns { first, last }),
        _ => Err("give a turn, or a range like 2..5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn values_are_read_or_refused() {
        assert_eq!(interval("500ms"), Ok(500));
        assert_eq!(interval("1.5s"), Ok(1500));
        assert_eq!(interval("0"), Ok(0));
        assert!(interval("-1").is_err() && interval("soon").is_err() && interval("").is_err());
        assert_eq!(turns("2..5"), Ok(Turns { first: 2, last: 5 }));
        assert_eq!(turns("3"), Ok(Turns { first: 3, last: 3 }));
        assert_eq!(turns("..4"), Ok(Turns { first: 0, last: 4 }));
        assert!(turns("5..2").is_err() && turns("x").is_err());
        assert_eq!(sha256(&"0a".repeat(32)), Ok(Sha256Hex([10; 32])));
        assert!(sha256("0a").is_err() && sha256(&"g".repeat(64)).is_err());
    }
}

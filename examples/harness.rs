//! A harness that previews a tool call while the model writes it, and applies it when it is complete.
//!
//! `harness TOOL [FOLDER] < ARGUMENTS`: the arguments of one call of the tool come on standard input, in pieces, as a
//! model's stream brings them; the files are those below the folder. What is known is printed at most twice a second,
//! then what was done, as JSON.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of the library's users reads files and prints"
)]

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use std::time::Instant;

use hunkwise::disk::Access;
use hunkwise::disk::CommitOptions;
use hunkwise::disk::Journal;
use hunkwise::disk::JournalOptions;
use hunkwise::disk::Looks;
use hunkwise::disk::Root;
use hunkwise::disk::commit;
use hunkwise::patch::FileEdit;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::plan::outcome;
use hunkwise::plan::outcome::Detail;
use hunkwise::report::CommandName;
use hunkwise::report::PreviewEvent;
use hunkwise::session::Input;
use hunkwise::session::Live;

/// The least time between two previews.
const INTERVAL_MS: u64 = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let tool = arguments.next().ok_or("usage: harness TOOL [FOLDER] < ARGUMENTS")?;
    let root = Root::open(Path::new(&arguments.next().unwrap_or_else(|| ".".to_owned())))?;

    // While the arguments arrive: the library reads no clock and opens no file by itself, it is told both.
    let mut live = Live::new(Input::args(&tool), None, INTERVAL_MS, Some(Options::default()));
    let start = Instant::now();
    let mut show = |event: &PreviewEvent| println!("{}", serde_json::to_string(event).unwrap_or_default());
    let mut fill = |planner: &mut Planner, edit: &FileEdit| {
        let mut looks = Looks::new(&root);
        planner.fill(edit, &mut |want| looks.answer(want, Access::default()));
    };
    let mut piece = [0; 4096];
    loop {
        let length = std::io::stdin().lock().read(&mut piece)?;
        if length == 0 {
            break;
        }
        let now_ms = u64::try_from(start.elapsed().as_millis())?;
        live.push(&piece[..length], now_ms, &mut fill, &mut show);
        // A real harness would also call `live.tick` when `live.due` has come and nothing arrives.
    }
    live.finish(&mut fill, &mut show);
    if let Some(problem) = live.malformed() {
        return Err(problem.message.clone().into());
    }
    let patch = live.into_patch();

    // Now for real. Nobody else writes in this root while the journal is open, and what a killed run has left is made
    // good first.
    let folders = [state_folder()];
    let until = Instant::now() + Duration::from_secs(10);
    let wait = || {
        std::thread::sleep(Duration::from_millis(5));
        Instant::now() < until
    };
    let (journal, _recovered) = Journal::open(&root, &JournalOptions { folders: &folders, wait: &wait })?;
    let mut planner = Planner::new(Options::default());
    let mut looks = Looks::new(&root);
    let mut problems = Vec::new();
    for (index, edit) in patch.edits.iter().enumerate() {
        planner.fill(edit, &mut |want| looks.answer(want, Access::default()));
        if let Err(more) = planner.plan(index + 1, edit) {
            problems.extend(more);
        }
    }
    let (command, detail) = (CommandName::Edit, Detail { texts: false, max_text_bytes: 0 });
    if let Some(error) = outcome::error_report(problems) {
        println!("{}", serde_json::to_string(&outcome::refused(error, command, false))?);
        return Err("nothing was written".into());
    }
    let plan = planner.finish();
    let options = CommitOptions {
        sync: true,
        in_place: false,
        read_since_ns: None,
        interrupted: &|| false,
        journal: Some(&journal),
        log_entry: None,
    };
    commit(&root, &plan, &options)?;
    journal.close()?;
    println!("{}", serde_json::to_string(&outcome::of_plan(&plan, command, false, detail))?);
    Ok(())
}

/// Where journals lie: outside of the tree that is changed.
fn state_folder() -> PathBuf {
    std::env::temp_dir().join("hunkwise-harness")
}

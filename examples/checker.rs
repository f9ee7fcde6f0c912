//! A checker that says what a patch of any dialect would do, and writes nothing.
//!
//! `checker PATCH FOLDER`: prints each file with its counts, or every reason why the patch does not fit. The files need
//! not lie on a disk: the planner asks for paths and takes what it is given.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of the library's users reads files and prints"
)]

use std::error::Error;
use std::process::ExitCode;

use hunkwise::patch::Dialect;
use hunkwise::patch::parse;
use hunkwise::plan::FileState;
use hunkwise::plan::Given;
use hunkwise::plan::Options;
use hunkwise::plan::Planner;
use hunkwise::plan::Want;
use hunkwise::plan::outcome;
use hunkwise::plan::outcome::Detail;
use hunkwise::report::CommandName;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [patch, folder] = arguments.as_slice() else { return Err("usage: checker PATCH FOLDER".into()) };

    let parsed = parse(&std::fs::read(patch)?, Dialect::Auto);
    let mut problems = Vec::from_iter(parsed.malformed);
    let mut planner = Planner::new(Options::default());
    for (index, edit) in parsed.patch.edits.iter().enumerate() {
        planner.fill(edit, &mut |want| given(folder, want));
        if let Err(more) = planner.plan(index + 1, edit) {
            problems.extend(more);
        }
    }
    if let Some(error) = outcome::error_report(problems) {
        for problem in &error.problems {
            println!("{}: {}", problem.path.as_deref().unwrap_or(patch), problem.message);
        }
        return Ok(ExitCode::FAILURE);
    }
    let detail = Detail { texts: false, max_text_bytes: 0 };
    for file in outcome::of_plan(&planner.finish(), CommandName::Apply, true, detail).files {
        println!("{:?} {} +{} -{}", file.operation, file.path, file.added, file.removed);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says what stands at a path. This one follows links and looks out of the folder: what a checker may read, it decides;
/// `hunkwise::disk::Looks` answers with all the care that writing takes.
fn given(folder: &str, want: &Want) -> Given {
    let path = format!("{folder}/{}", want.path.shown());
    let state = match std::fs::read(&path) {
        Ok(bytes) => FileState::of_bytes(bytes),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => FileState::Absent,
        Err(_) => FileState::Other("a file that can't be read"),
    };
    Given::new(want.path.clone(), state)
}

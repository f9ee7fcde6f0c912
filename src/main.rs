//! The command-line tool; see `hunkwise --help`.

fn main() -> std::process::ExitCode {
    hunkwise::cli::main()
}

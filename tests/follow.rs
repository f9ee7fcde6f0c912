//! `replay --follow` on logs that grow: every test waits for lines, never for time, and runs once with the system's
//! events and once with the timer alone.

#![cfg(feature = "cli")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "a test writes files, starts programs and may fail"
)]

#[expect(dead_code, reason = "other tests use the rest")]
mod support;

use std::fs;
use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::io::Read;
use std::io::Write;
use std::process::Child;
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use rustix::process::Pid;
use rustix::process::Signal;
use rustix::process::kill_process;
use serde_json::Value;
use support::Place;

/// Nothing here takes that long on a machine that works.
const LONG: Duration = Duration::from_secs(20);

/// With events, and with nothing but the timer.
const WAYS: [&[&str]; 2] = [&[], &["--poll", "20ms"]];

fn header(session: &str) -> String {
    format!("{{\"type\":\"session\",\"version\":0,\"id\":\"{session}\",\"createdAt\":1,\"cwd\":\"/w\"}}\n")
}

fn call(id: &str) -> String {
    let arguments = r#"{\"file_path\":\"a\",\"old_string\":\"o\",\"new_string\":\"n\"}"#;
    format!(
        "{{\"type\":\"tool/call\",\"data\":{{\"turn\":1,\"callId\":\"{id}\",\"name\":\"edit\",\"arguments\":\"{arguments}\"}}}}\n"
    )
}

fn result(id: &str) -> String {
    format!(
        "{{\"type\":\"tool/result\",\"data\":{{\"turn\":1,\"message\":{{\"source\":{{\"callId\":\"{id}\"}},\"content\":[{{\"type\":\"tool-result\",\"toolCallId\":\"{id}\",\"content\":[],\"isError\":false}}]}}}}}}\n"
    )
}

fn edit(id: &str) -> String {
    call(id) + &result(id)
}

fn append(place: &Place, name: &str, text: &str) {
    let file = File::options().append(true).create(true).open(place.root().join(name));
    file.and_then(|mut file| file.write_all(text.as_bytes())).expect("the log grows");
}

/// The lines of a stream, as they come.
fn lines(stream: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// A replay that follows.
struct Following {
    child: Child,
    stdout: mpsc::Receiver<String>,
    stderr: mpsc::Receiver<String>,
}

impl Following {
    fn start(place: &Place, args: &[&str], way: &[&str]) -> Self {
        let mut command = place.command(&[&["replay", "--follow"], args, way].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let stdout = lines(child.stdout.take().expect("its output"));
        let stderr = lines(child.stderr.take().expect("its messages"));
        Following { child, stdout, stderr }
    }

    /// Waits for the next card, which must be of this call.
    #[track_caller]
    fn card(&self, call_id: &str) -> Value {
        let line = self.stdout.recv_timeout(LONG).expect("a card");
        let card: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(card["source"]["callId"], call_id, "{line}");
        card
    }

    /// Waits for a line of standard output.
    #[track_caller]
    fn line(&self, wanted: &str) {
        assert_eq!(self.stdout.recv_timeout(LONG).expect("a line"), wanted);
    }

    /// Waits for a message that says this.
    #[track_caller]
    fn says(&self, words: &str) {
        let line = self.stderr.recv_timeout(LONG).expect("a message");
        assert!(line.contains(words), "{line} lacks {words}");
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it gets the signal");
    }

    /// Waits for the end; returns the status, and the cards and messages that nobody waited for.
    fn end(mut self) -> (Option<i32>, Vec<String>, Vec<String>) {
        let start = Instant::now();
        drop(self.child.stdin.take());
        loop {
            match self.child.try_wait().expect("its status") {
                Some(status) => {
                    return (status.code(), self.stdout.iter().collect(), self.stderr.iter().collect());
                }
                None if start.elapsed() > LONG => {
                    self.child.kill().expect("it is killed");
                    panic!("it did not end");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    fn interrupted(self) -> (Vec<String>, Vec<String>) {
        self.signal(Signal::INT);
        let (status, stdout, stderr) = self.end();
        assert_eq!(status, Some(130), "{stdout:?} {stderr:?}");
        (stdout, stderr)
    }
}

#[test]
fn a_card_comes_when_its_result_is_whole() {
    for way in WAYS {
        let place = Place::with(&[("log", &(header("s") + &edit("1"))), ("other", &header("o"))]);
        let following = Following::start(&place, &["log", "other", "--json"], way);
        assert_eq!(following.card("1")["source"]["log"], "log");
        append(&place, "log", &call("2"));
        let line = result("2");
        let (half, rest) = line.split_at(line.len() / 2);
        append(&place, "log", half);
        // What comes in the other log shows that the half line was looked at.
        append(&place, "other", &edit("x"));
        assert_eq!(following.card("x")["source"]["log"], "other");
        append(&place, "log", rest);
        assert_eq!(following.card("2")["status"], "applied");
        append(&place, "log", &call("never"));
        assert_eq!(following.interrupted(), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_log_that_is_not_there_is_waited_for() {
    for way in WAYS {
        let place = Place::new();
        let following = Following::start(&place, &["log", "--json"], way);
        following.says("log is not there yet");
        append(&place, "log", &header("s"));
        following.says("log is there now");
        append(&place, "log", &edit("1"));
        following.card("1");
        following.interrupted();
    }
}

#[test]
fn what_happens_to_a_log_is_survived_and_said() {
    for way in WAYS {
        let place = Place::with(&[("log", &(header("one") + &edit("1")))]);
        let log = place.root().join("log");
        let following = Following::start(&place, &["log", "--json"], way);
        following.card("1");
        // Another session in the same file.
        fs::write(&log, header("two") + &edit("1") + &edit("2")).expect("it is written anew");
        following.says("written anew");
        following.card("1");
        following.card("2");
        // Replaced by a rename, with the same session and more of it.
        fs::write(place.root().join("new"), header("two") + &edit("1") + &edit("2") + &edit("3"))
            .expect("a file");
        fs::rename(place.root().join("new"), &log).expect("it is replaced");
        following.says("was replaced");
        following.card("3");
        append(&place, "log", &edit("4"));
        following.card("4");
        // Rotated: the old file gets one more line.
        fs::rename(&log, place.root().join("log.1")).expect("it is moved");
        following.says("is gone");
        append(&place, "log.1", &edit("late"));
        following.card("late");
        append(&place, "log", &(header("three") + &edit("1")));
        following.says("was replaced");
        following.card("1");
        following.says("4 repeated calls or results passed over");
        // Deleted and made again.
        fs::remove_file(&log).expect("it is deleted");
        following.says("is gone");
        append(&place, "log", &(header("four") + &edit("1")));
        following.says("was replaced");
        following.card("1");
        assert_eq!(following.interrupted(), (Vec::new(), Vec::new()));
    }
}

#[test]
fn a_call_without_result_ends_with_its_log() {
    for way in WAYS {
        let place = Place::with(&[("log", &(header("one") + &call("open") + &edit("1")))]);
        let following = Following::start(&place, &["log", "--json"], way);
        following.card("1");
        fs::write(place.root().join("log"), header("two") + &edit("2")).expect("it is written anew");
        assert_eq!(following.card("open")["status"], "unknown");
        following.card("2");
        following.interrupted();
    }
}

#[test]
fn a_pipe_is_read_on() {
    let place = Place::with(&[("log", &(header("s") + &edit("1")))]);
    let mut following = Following::start(&place, &["-", "--json"], &[]);
    let mut stdin = following.child.stdin.take().expect("its input");
    stdin.write_all((header("p") + &edit("1")).as_bytes()).expect("it reads");
    following.card("1");
    stdin.write_all((edit("2") + &call("open")).as_bytes()).expect("it reads");
    following.card("2");
    drop(stdin);
    assert_eq!(following.card("open")["status"], "unknown");
    assert_eq!(following.end().0, Some(0));
}

#[test]
fn a_closed_output_ends_it_without_another_card() {
    for way in WAYS {
        let place = Place::with(&[("log", &header("s"))]);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        let mut command = place.command(&[&["replay", "--follow", "log"], way].concat());
        let mut child =
            command.stdout(writer).stderr(Stdio::null()).stdin(Stdio::null()).spawn().expect("it starts");
        drop(command);
        drop(reader);
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("its status") {
                break status;
            }
            assert!(start.elapsed() < LONG, "it did not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn a_stuck_output_does_not_hold_up_the_end() {
    let place = Place::new();
    let edits: String = (0..5000).map(|number| edit(&number.to_string())).collect();
    append(&place, "log", &(header("s") + &edits));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = place.command(&["replay", "--follow", "log", "--json"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).stdin(Stdio::null()).spawn();
    drop(command);
    let mut child = child.expect("it starts");
    // The first byte shows that it prints; nobody reads the rest.
    let mut first = [0];
    (&reader).read_exact(&mut first).expect("a byte");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it gets the signal");
    assert_eq!(child.wait().expect("its status").code(), Some(130));
}

#[test]
fn what_is_no_log_is_said_and_the_others_go_on() {
    for way in WAYS {
        let place = Place::with(&[("log", &(header("s") + &edit("1"))), ("database", "SQLite format 3\0")]);
        let following = Following::start(&place, &["database", "log", "--output", "stat"], way);
        following.says("SQLite database");
        following.says("export the session");
        following.line("==> log <==");
        following.line("applied      +1     -1  edit a");
        append(&place, "log", &edit("2"));
        following.line("applied      +1     -1  edit a");
        let (stdout, _) = following.interrupted();
        let totals =
            ["", " a | 4 ++--", " 1 file changed, 2 insertions(+), 2 deletions(-)", " 2 calls: 2 applied"];
        assert_eq!(stdout, totals);
        let following = Following::start(&place, &["database"], way);
        assert_eq!(following.end().0, Some(2));
    }
}

#[test]
fn new_logs_in_a_folder_are_followed_too() {
    for way in WAYS {
        let place = Place::with(&[("logs/a", &(header("a") + &edit("1"))), ("logs/text", "no log\n")]);
        let following = Following::start(&place, &["logs", "--json"], way);
        assert_eq!(following.card("1")["source"]["log"], "logs/a");
        fs::create_dir_all(place.root().join("logs/deep/er")).expect("a folder");
        append(&place, "logs/deep/er/b", &(header("b") + &edit("2")));
        assert_eq!(following.card("2")["source"]["log"], "logs/deep/er/b");
        append(&place, "logs/deep/er/b", &edit("3"));
        following.card("3");
        append(&place, "logs/a", &edit("4"));
        assert_eq!(following.card("4")["source"]["log"], "logs/a");
        append(&place, "logs/text", "still none\n");
        assert_eq!(following.interrupted(), (Vec::new(), Vec::new()));
    }
}

//! Which cards of a replay are drawn.

use globset::Glob;
use globset::GlobMatcher;

use crate::report::Card;
use crate::report::CardStatus;
use crate::text::path::within;

use super::args::ReplayArgs;
use super::args::Turns;
use super::fail::Fail;

/// What a card must hold to be drawn; what is not asked for is not looked at.
#[derive(Debug, Default)]
pub struct Filter {
    paths: Choice<PathGlob>,
    statuses: Choice<CardStatus>,
    tools: Vec<String>,
    calls: Vec<String>,
    turns: Option<Turns>,
}

/// What is wanted, and what is not; without anything wanted, all is but that.
#[derive(Debug)]
struct Choice<T> {
    wanted: Vec<T>,
    unwanted: Vec<T>,
}

impl<T> Default for Choice<T> {
    fn default() -> Self {
        Choice { wanted: Vec::new(), unwanted: Vec::new() }
    }
}

impl<T> Choice<T> {
    /// Reads words, of which those that begin with an exclamation mark say what is not wanted.
    fn read(words: &[String], read: impl Fn(&str) -> Result<T, Fail>) -> Result<Self, Fail> {
        let mut choice = Choice::default();
        for word in words {
            match word.strip_prefix('!') {
                Some(word) => choice.unwanted.push(read(word)?),
                None => choice.wanted.push(read(word)?),
            }
        }
        Ok(choice)
    }

    fn is_empty(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    fn allows(&self, mut is_like: impl FnMut(&T) -> bool) -> bool {
        !self.unwanted.iter().any(&mut is_like) && (self.wanted.is_empty() || self.wanted.iter().any(is_like))
    }
}

impl Filter {
    /// Tells whether anything is asked for.
    pub fn is_any(&self) -> bool {
        let Filter { paths, statuses, tools, calls, turns } = self;
        !(paths.is_empty() && statuses.is_empty() && tools.is_empty() && calls.is_empty() && turns.is_none())
    }

    /// Reads what was asked for.
    pub fn new(args: &ReplayArgs) -> Result<Self, Fail> {
        Ok(Filter {
            paths: Choice::read(&args.path, PathGlob::new)?,
            statuses: Choice::read(&args.status, |word| {
                status(word).ok_or_else(|| Fail::usage(format!("unknown status '{word}'")))
            })?,
            tools: args.tool.clone(),
            calls: args.call.clone(),
            turns: args.turn,
        })
    }

    /// Tells whether a card is drawn; `root` is the folder of its session.
    pub fn wants(&self, card: &Card, root: Option<&str>) -> bool {
        self.wants_call(card) && self.wants_paths(card, root)
    }

    /// Tells whether a card names a file that is wanted.
    pub fn wants_paths(&self, card: &Card, root: Option<&str>) -> bool {
        self.paths.allows(|glob| {
            let paths = card.files.iter().flat_map(|file| file.from.iter().chain([&file.path]));
            paths.into_iter().any(|path| glob.is_like(path, card.source.folder.as_deref(), root))
        })
    }

    /// Tells whether a card is of a call that is wanted, whatever its files.
    pub fn wants_call(&self, card: &Card) -> bool {
        let source = &card.source;
        self.statuses.allows(|status| *status == card.status)
            && (self.tools.is_empty()
                || self.tools.iter().any(|tool| tool.eq_ignore_ascii_case(&source.tool)))
            && (self.calls.is_empty() || self.calls.iter().any(|call| source.call_id.as_ref() == Some(call)))
            && self.turns.is_none_or(|turns| {
                source.turn.is_some_and(|turn| (turns.first..=turns.last).contains(&turn))
            })
    }
}

/// Returns the status of that name.
fn status(name: &str) -> Option<CardStatus> {
    Some(match name {
        "applied" => CardStatus::Applied,
        "partial" => CardStatus::Partial,
        "failed" => CardStatus::Failed,
        "rejected" => CardStatus::Rejected,
        "held" => CardStatus::Held,
        "unknown" => CardStatus::Unknown,
        _ => return None,
    })
}

/// A glob for paths, as people know it from .gitignore: it also means all that lies below what it names, and without a
/// slash it means a name anywhere. `*` matches `/` too.
#[derive(Debug)]
struct PathGlob {
    matcher: GlobMatcher,
    is_name: bool,
    is_absolute: bool,
}

impl PathGlob {
    fn new(text: &str) -> Result<Self, Fail> {
        let pattern = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
        let pattern = if pattern.is_empty() { text } else { pattern };
        let glob = Glob::new(pattern).map_err(|error| Fail::usage(format!("--path: {error}")))?;
        let (is_name, is_absolute) = (!pattern.contains('/'), pattern.starts_with('/'));
        Ok(PathGlob { matcher: glob.compile_matcher(), is_name, is_absolute })
    }

    /// Tells whether the glob means a path: as the log writes it, relative to the folder of the session, or absolute.
    fn is_like(&self, path: &str, folder: Option<&str>, root: Option<&str>) -> bool {
        let is_meant = |path: Option<String>| path.is_some_and(|path| self.means(&path));
        self.means(path)
            || is_meant(within(root, folder, path))
            || self.is_absolute && is_meant(within(Some("/"), folder, path).map(|path| format!("/{path}")))
    }

    fn means(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        self.is_name && path.split('/').any(|name| self.matcher.is_match(name))
            || ends.into_iter().any(|end| self.matcher.is_match(&path[..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_mean_what_people_expect() {
        let check = |glob: &str, path: &str, wanted: bool| {
            let glob = PathGlob::new(glob).unwrap_or_else(|fail| panic!("{fail}"));
            assert_eq!(glob.is_like(path, Some("/w"), Some("/w")), wanted, "{glob:?} {path}");
        };
        check("*.rs", "/w/src/a.rs", true);
        check("a.rs", "/w/src/a.rs", true);
        check("a.rs", "/w/src/ba.rs", false);
        check("src/*.rs", "/w/src/a.rs", true);
        check("src/*.rs", "src/a.rs", true);
        check("./src/a.rs", "/w/src/a.rs", true);
        check("src", "/w/src/deep/a.rs", true);
        check("src/", "/w/src/deep/a.rs", true);
        check("deep", "/w/src/deep/a.rs", true);
        check("src/deep", "/w/src/deep/a.rs", true);
        check("sr", "/w/src/a.rs", false);
        check("/w/src/a.rs", "/w/src/a.rs", true);
        check("/w/src/*", "src/a.rs", true);
        check("/v/*", "/w/src/a.rs", false);
        check("**/a.rs", "/w/src/a.rs", true);
        check("{a,b}.rs", "b.rs", true);
        check("/", "/w/a", false);
        assert!(PathGlob::new("[").is_err());
    }

    #[test]
    fn unwanted_goes_before_wanted() {
        let choice = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            Choice::read(&words, |word| Ok(word.to_owned())).unwrap_or_else(|fail| panic!("{fail}"))
        };
        let check = |words: &[&str], word: &str| choice(words).allows(|known| known == word);
        assert!(check(&[], "a"));
        assert!(check(&["a", "b"], "b") && !check(&["a"], "b"));
        assert!(check(&["!a"], "b") && !check(&["!a"], "a"));
        assert!(!check(&["a", "!a"], "a"));
    }
}

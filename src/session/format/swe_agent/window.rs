//! The lines of the open file that a step shows.
//!
//! ```text
//! window = "[File: " PATH " (" N " lines total)]" ["(" N " more lines above)"] (N ":" line)* ["(" N " more lines below)"]
//! ```

use std::collections::BTreeMap;

/// What is known of the open file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Window {
    pub path: String,
    /// The lines that were shown, by their 1-based numbers.
    pub lines: BTreeMap<usize, String>,
}

impl Window {
    /// Returns the last window in an observation.
    pub fn last(observation: &str) -> Option<Self> {
        const START: &str = "[File: ";
        let start = observation
            .rmatch_indices(START)
            .map(|(at, _)| at)
            .find(|&at| at == 0 || observation.as_bytes()[at - 1] == b'\n')?;
        let mut lines = observation[start + START.len()..].lines();
        let (path, _) = lines.next()?.rsplit_once(" (")?;
        let mut window = Window { path: path.to_owned(), lines: BTreeMap::new() };
        for line in lines {
            let is_more = line.starts_with('(') && line.contains(" more lines ");
            let numbered = line.split_once(':').and_then(|(number, text)| Some((number.parse().ok()?, text)));
            match numbered {
                Some((number, text)) => {
                    window.lines.insert(number, text.to_owned());
                }
                None if is_more => {}
                None => break,
            }
        }
        Some(window)
    }

    /// Returns the lines from one number to another, both included; `None` if not all of them were shown.
    pub fn between(&self, first: usize, last: usize) -> Option<Vec<&str>> {
        // So long a range was never shown, and is not to be counted up.
        if last.saturating_sub(first) > self.lines.len() {
            return None;
        }
        (first..=last).map(|number| self.lines.get(&number).map(String::as_str)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_lines_are_known_by_their_numbers() {
        let shown = "[File: a (9 lines total)]\n1:old\n-----\n\n[File: /w/b c.py (99 lines total)]\n(3 more lines above)\n4:x: 1\n5:\n(4 more lines below)\n7:no";
        let window = Window::last(shown).unwrap();
        assert_eq!((window.path.as_str(), window.lines.len()), ("/w/b c.py", 3));
        assert_eq!(window.between(4, 5), Some(vec!["x: 1", ""]));
        assert_eq!((window.between(4, 6), window.between(3, 4)), (None, None));
        assert_eq!(window.between(5, 4), Some(Vec::new()));
        assert_eq!(window.between(1, usize::MAX), None);
        assert_eq!(Window::last("the [File: a (1 lines total)]"), None);
        assert_eq!(Window::last("[File: a]"), None);
    }
}

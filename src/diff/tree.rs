//! Two trees of files: which file of the one belongs to which of the other.
//!
//! Files pair by their path. Of those that are on one side only, some were renamed: first those with the same
//! content, then those that share at least half of their lines; where there are too many of them, only those that kept
//! their last name are compared. Nothing is read here; whoever compares the trees is
//! told which contents are wanted, and gives digests and [`Profile`]s of them. The answer depends on the trees
//! alone, and so does whether the search is worth its work.

use std::cmp::Ordering;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::hash::Hash;

use foldhash::fast::FixedState;

use crate::text::PathText;

/// From how many percent of common lines on two files are the same one under another name; as git has it.
const RENAME_PERCENT: u64 = 50;
/// How many pairs of files are looked at for renames.
const PAIR_LIMIT: u64 = 1 << 24;
/// How many bytes of files are compared with each other, counted once for each pair: some seconds.
const WORK_LIMIT_BYTES: u64 = 1 << 33;
/// How many bytes the files have together that profiles are made of, which stay in memory until the search ends.
const PROFILE_LIMIT_BYTES: u64 = 1 << 28;

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// A file of so many bytes.
    File(u64),
    /// A symbolic link.
    Link,
}

/// One path of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The path, relative to the top of its tree.
    pub path: PathText,
    /// What stands there.
    pub kind: NodeKind,
}

/// What became of one path; the numbers are indexes into the two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    /// It is in both trees, and a file or a link in both.
    Both(usize, usize),
    /// It is in the old tree only.
    Deleted(usize),
    /// It is in the new tree only.
    Created(usize),
    /// It has another path in the new tree; so many percent are the same.
    Renamed(usize, usize, u8),
}

/// Pairs two trees by path; both are sorted by the bytes of their paths, and so is the answer.
///
/// A file where a link was is one that is deleted and one that is created.
pub fn pair(old: &[Node], new: &[Node]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(old.len().max(new.len()));
    let (mut left, mut right) = (0, 0);
    loop {
        let order = match (old.get(left), new.get(right)) {
            (None, None) => return pairs,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => old.path.bytes().cmp(new.path.bytes()),
        };
        match order {
            Ordering::Less => pairs.push(Pair::Deleted(left)),
            Ordering::Greater => pairs.push(Pair::Created(right)),
            Ordering::Equal if is_link(&old[left]) == is_link(&new[right]) => {
                pairs.push(Pair::Both(left, right));
            }
            Ordering::Equal => pairs.extend([Pair::Deleted(left), Pair::Created(right)]),
        }
        left += usize::from(order != Ordering::Greater);
        right += usize::from(order != Ordering::Less);
    }
}

fn is_link(node: &Node) -> bool {
    node.kind == NodeKind::Link
}

/// Which side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// Before.
    Old,
    /// After.
    New,
}

/// A file that a search for renames wants to know more of: its side and its index there.
pub type Wanted = (Side, usize);

/// How far a search for changed files under other names goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Every file is compared with every other.
    All,
    /// Only files with the same last name are compared: there are too many.
    SameName,
    /// Nothing is compared: even of those there are too many.
    None,
}

/// The search for renamed files among those that are in one tree only.
#[derive(Debug)]
pub struct RenameSearch<'a> {
    old: &'a [Node],
    new: &'a [Node],
    /// Files without a partner, as indexes into the trees. Empty ones are left out: they have nothing to know them by.
    deleted: Vec<usize>,
    created: Vec<usize>,
    created_by_name: HashMap<&'a [u8], Vec<usize>>,
    reach: Reach,
    found: Vec<(usize, usize, u8)>,
}

impl<'a> RenameSearch<'a> {
    /// Begins a search.
    pub fn new(old: &'a [Node], new: &'a [Node], pairs: &[Pair]) -> Self {
        let candidates = |nodes: &[Node], index_of: fn(&Pair) -> Option<usize>| -> Vec<usize> {
            pairs.iter().filter_map(index_of).filter(|&index| size(&nodes[index]) > 0).collect()
        };
        let deleted = |pair: &Pair| if let Pair::Deleted(index) = pair { Some(*index) } else { None };
        let created = |pair: &Pair| if let Pair::Created(index) = pair { Some(*index) } else { None };
        RenameSearch {
            old,
            new,
            deleted: candidates(old, deleted),
            created: candidates(new, created),
            created_by_name: HashMap::new(),
            reach: Reach::None,
            found: Vec::new(),
        }
    }

    /// Returns the files whose content may stand on the other side as it is: a file there has the same size.
    pub fn wants_digests(&self) -> Vec<Wanted> {
        let sizes = |nodes: &[Node], indexes: &[usize]| -> Vec<u64> {
            let mut sizes: Vec<u64> = indexes.iter().map(|&index| size(&nodes[index])).collect();
            sizes.sort_unstable();
            sizes
        };
        let (old_sizes, new_sizes) = (sizes(self.old, &self.deleted), sizes(self.new, &self.created));
        let has = |sizes: &[u64], node: &Node| sizes.binary_search(&size(node)).is_ok();
        let deleted = self.deleted.iter().filter(|&&index| has(&new_sizes, &self.old[index]));
        let created = self.created.iter().filter(|&&index| has(&old_sizes, &self.new[index]));
        let old = deleted.map(|&index| (Side::Old, index));
        old.chain(created.map(|&index| (Side::New, index))).collect()
    }

    /// Pairs files of equal content by their digests. Of several, one of the same name comes first, then the first.
    pub fn take_identical<D: Eq + Hash>(&mut self, digests: &HashMap<Wanted, D>) {
        let mut same: HashMap<&D, Vec<usize>> = HashMap::new();
        for &old in &self.deleted {
            if let Some(digest) = digests.get(&(Side::Old, old)) {
                same.entry(digest).or_default().push(old);
            }
        }
        let mut is_renamed = vec![false; self.old.len()];
        let mut created = Vec::new();
        for &new in &self.created {
            let sources = digests.get(&(Side::New, new)).and_then(|digest| same.get_mut(digest));
            let name = last_name(&self.new[new]);
            let best = |sources: &Vec<usize>| {
                let by_name = sources.iter().position(|&old| last_name(&self.old[old]) == name);
                by_name.or((!sources.is_empty()).then_some(0))
            };
            match sources.and_then(|sources| best(sources).map(|place| sources.remove(place))) {
                Some(old) => {
                    is_renamed[old] = true;
                    self.found.push((old, new, 100));
                }
                None => created.push(new),
            }
        }
        self.created = created;
        self.deleted.retain(|&old| !is_renamed[old]);
    }

    /// Returns the files that may have been renamed and changed, and how far the search will go.
    pub fn wants_profiles(&mut self) -> (Reach, Vec<Wanted>) {
        for &new in &self.created {
            self.created_by_name.entry(last_name(&self.new[new])).or_default().push(new);
        }
        for reach in [Reach::All, Reach::SameName] {
            if let Some(wanted) = self.affordable(reach) {
                self.reach = reach;
                return (reach, wanted);
            }
        }
        self.reach = Reach::None;
        (Reach::None, Vec::new())
    }

    /// Returns the files that a search that goes so far compares, or `None` if that is too much.
    fn affordable(&self, reach: Reach) -> Option<Vec<Wanted>> {
        let mut has_partner = (vec![false; self.old.len()], vec![false; self.new.len()]);
        let (mut looked_at, mut work) = (0_u64, 0_u64);
        for old in &self.deleted {
            let created = self.created_beside(*old, reach);
            looked_at += created.len() as u64;
            if looked_at > PAIR_LIMIT {
                return None;
            }
            for new in self.near_in_size(*old, created) {
                has_partner.0[*old] = true;
                has_partner.1[new] = true;
                work = work.saturating_add(size(&self.old[*old])).saturating_add(size(&self.new[new]));
            }
        }
        let deleted = self.deleted.iter().filter(|&&index| has_partner.0[index]);
        let created = self.created.iter().filter(|&&index| has_partner.1[index]);
        let sizes = deleted.clone().map(|&index| size(&self.old[index]));
        let sizes = sizes.chain(created.clone().map(|&index| size(&self.new[index])));
        let read = sizes.fold(0_u64, u64::saturating_add);
        let old = deleted.map(|&index| (Side::Old, index));
        let wanted = old.chain(created.map(|&index| (Side::New, index)));
        (work <= WORK_LIMIT_BYTES && read <= PROFILE_LIMIT_BYTES).then(|| wanted.collect())
    }

    /// Pairs files that share enough lines, the most similar first; of equally similar ones those of the same name
    /// come first, then by path.
    pub fn take_similar(&mut self, profiles: &HashMap<Wanted, Profile>) {
        let mut ranked = Vec::new();
        for &old in &self.deleted {
            let Some(before) = profiles.get(&(Side::Old, old)) else { continue };
            for new in self.near_in_size(old, self.created_beside(old, self.reach)) {
                let Some(after) = profiles.get(&(Side::New, new)) else { continue };
                let percent = before.similarity(after);
                if u64::from(percent) >= RENAME_PERCENT {
                    let is_same_name = last_name(&self.old[old]) == last_name(&self.new[new]);
                    ranked.push((Reverse(percent), !is_same_name, old, new));
                }
            }
        }
        ranked.sort_unstable();
        let mut is_used = (vec![false; self.old.len()], vec![false; self.new.len()]);
        for (Reverse(percent), _, old, new) in ranked {
            if !is_used.0[old] && !is_used.1[new] {
                is_used.0[old] = true;
                is_used.1[new] = true;
                self.found.push((old, new, percent));
            }
        }
    }

    /// Returns `pairs` with the renames in the places of their new paths.
    pub fn finish(self, pairs: &[Pair]) -> Vec<Pair> {
        let mut source: Vec<Option<(usize, u8)>> = vec![None; self.new.len()];
        let mut is_renamed = vec![false; self.old.len()];
        for (old, new, percent) in self.found {
            source[new] = Some((old, percent));
            is_renamed[old] = true;
        }
        let with_rename = |pair: &Pair| match *pair {
            Pair::Deleted(old) if is_renamed[old] => None,
            Pair::Created(new) => {
                Some(source[new].map_or(*pair, |(old, percent)| Pair::Renamed(old, new, percent)))
            }
            other => Some(other),
        };
        pairs.iter().filter_map(with_rename).collect()
    }

    /// Returns the created files that a deleted one is compared with.
    fn created_beside(&self, old: usize, reach: Reach) -> &[usize] {
        match reach {
            Reach::All => &self.created,
            Reach::SameName => self.created_by_name.get(last_name(&self.old[old])).map_or(&[], Vec::as_slice),
            Reach::None => &[],
        }
    }

    /// Iterates over those of `created` whose size alone does not rule out that they are similar enough.
    fn near_in_size<'c>(
        &'c self,
        old: usize,
        created: &'c [usize],
    ) -> impl Iterator<Item = usize> + use<'c, 'a> {
        let old_size = size(&self.old[old]);
        created.iter().copied().filter(move |&new| {
            let new_size = size(&self.new[new]);
            old_size.min(new_size).saturating_mul(100) / old_size.max(new_size).max(1) >= RENAME_PERCENT
        })
    }
}

fn size(node: &Node) -> u64 {
    match node.kind {
        NodeKind::File(bytes) => bytes,
        NodeKind::Link => 0,
    }
}

fn last_name(node: &Node) -> &[u8] {
    node.path.bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// Which lines a file has, and how often: enough to tell how much two files share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The hash of a line without its ending, and how many bytes such lines have together; sorted by hash.
    lines: Vec<(u64, u64)>,
    bytes: u64,
}

impl Profile {
    /// Makes the profile of a content.
    pub fn of(content: &[u8]) -> Self {
        let hasher = FixedState::default();
        let mut lines: Vec<(u64, u64)> = content
            .split_inclusive(|&byte| byte == b'\n')
            .map(|line| {
                let text = line.strip_suffix(b"\n").unwrap_or(line);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                (hasher.hash_one(text), line.len() as u64)
            })
            .collect();
        lines.sort_unstable();
        lines.dedup_by(|next, line| {
            let is_same = next.0 == line.0;
            line.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        lines.shrink_to_fit();
        Profile { lines, bytes: content.len() as u64 }
    }

    /// Returns how much of the larger of two files the other has too, in percent; less than 100, which is kept for
    /// equal contents.
    pub fn similarity(&self, other: &Profile) -> u8 {
        let mut shared = 0;
        let mut theirs = other.lines.iter().peekable();
        for (hash, bytes) in &self.lines {
            while theirs.next_if(|(other, _)| other < hash).is_some() {}
            if let Some((_, other)) = theirs.next_if(|(other, _)| other == hash) {
                shared += bytes.min(other);
            }
        }
        // At most 99.
        (shared.saturating_mul(100) / self.bytes.max(other.bytes).max(1)).min(99) as u8
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A tree from paths and contents, in the order of the paths.
    fn nodes(files: &[(&str, &str)]) -> Vec<Node> {
        let node = |(path, content): &(&str, &str)| Node {
            path: PathText::from(*path),
            kind: if *content == "->" { NodeKind::Link } else { NodeKind::File(content.len() as u64) },
        };
        files.iter().map(node).collect()
    }

    fn compare(old: &[(&str, &str)], new: &[(&str, &str)]) -> Vec<Pair> {
        let (old_nodes, new_nodes) = (nodes(old), nodes(new));
        let pairs = pair(&old_nodes, &new_nodes);
        let mut search = RenameSearch::new(&old_nodes, &new_nodes, &pairs);
        let content = |(side, index): Wanted| if side == Side::Old { old[index].1 } else { new[index].1 };
        let digests = search.wants_digests().into_iter().map(|wanted| (wanted, content(wanted))).collect();
        search.take_identical(&digests);
        let profile = |wanted| (wanted, Profile::of(content(wanted).as_bytes()));
        let profiles = search.wants_profiles().1.into_iter().map(profile).collect();
        search.take_similar(&profiles);
        search.finish(&pairs)
    }

    #[test]
    fn paths_pair_in_the_order_of_their_bytes() {
        let old = nodes(&[("a", "1"), ("a.x", "1"), ("a/b", "1"), ("l", "->"), ("m", "x")]);
        let new = nodes(&[("a", "2"), ("a/b", "1"), ("b", "333"), ("l", "file"), ("m", "x")]);
        assert_eq!(
            pair(&old, &new),
            [
                Pair::Both(0, 0),
                Pair::Deleted(1),
                Pair::Both(2, 1),
                Pair::Created(2),
                Pair::Deleted(3),
                Pair::Created(3),
                Pair::Both(4, 4),
            ]
        );
    }

    #[test]
    fn equal_content_is_a_rename_and_the_same_name_comes_first() {
        let old = [("a/one", "text\n"), ("a/two", "text\n"), ("e", "")];
        let new = [("b/two", "text\n"), ("b/zzz", "text\n"), ("f", "")];
        assert_eq!(
            compare(&old, &new),
            [Pair::Renamed(1, 0, 100), Pair::Renamed(0, 1, 100), Pair::Deleted(2), Pair::Created(2)]
        );
        assert_eq!(compare(&[("l", "->")], &[("m", "->")]), [Pair::Deleted(0), Pair::Created(0)]);
    }

    #[test]
    fn the_most_similar_file_is_taken_once() {
        let old = [("a", "1\n2\n3\n4\n")];
        let new = [("b", "1\n2\n3\nx\n"), ("c", "1\n2\nx\ny\n")];
        assert_eq!(compare(&old, &new), [Pair::Renamed(0, 0, 75), Pair::Created(1)]);
        assert_eq!(compare(&old, &new[1..]), [Pair::Renamed(0, 0, 50)]);
        assert_eq!(compare(&old, &[("b", "1\nx\ny\nz\n")]), [Pair::Deleted(0), Pair::Created(0)]);
    }

    #[test]
    fn another_order_or_ending_is_similar_but_not_the_same() {
        let similarity =
            |old: &str, new: &str| Profile::of(old.as_bytes()).similarity(&Profile::of(new.as_bytes()));
        assert_eq!(similarity("1\n2\n", "2\n1\n"), 99);
        assert_eq!(similarity("1\n2\n", "1\r\n2\r\n"), 66);
        assert_eq!(similarity("1\n1\n1\n", "1\n2\n3\n"), 33);
        assert_eq!(similarity("", ""), 0);
    }

    #[test]
    fn a_search_that_is_too_much_goes_by_names_or_is_not_made() {
        let many = |folder: &str, count: usize, bytes| -> Vec<Node> {
            let path = |number| PathText::from(format!("{folder}/{number:05}").as_str());
            (0..count).map(|number| Node { path: path(number), kind: NodeKind::File(bytes) }).collect()
        };
        let wants = |count, bytes| {
            let (old, new) = (many("a", count, bytes), many("b", count, bytes));
            let pairs = pair(&old, &new);
            let mut search = RenameSearch::new(&old, &new, &pairs);
            let (reach, wanted) = search.wants_profiles();
            (reach, wanted.len())
        };
        assert_eq!(wants(4096, 1), (Reach::All, 8192));
        assert_eq!(wants(4097, 1), (Reach::SameName, 8194));
        assert_eq!(wants(4096, 1000), (Reach::SameName, 8192));
        assert_eq!(wants(1, PROFILE_LIMIT_BYTES / 2), (Reach::All, 2));
        assert_eq!(wants(1, PROFILE_LIMIT_BYTES), (Reach::None, 0));
    }

    proptest! {
        #[test]
        fn every_file_is_in_one_pair(
            old in prop::collection::btree_map("[ab]{1,3}", "[xy\n]{0,6}", 0..8),
            new in prop::collection::btree_map("[ab]{1,3}", "[xy\n]{0,6}", 0..8),
        ) {
            let list = |tree: &std::collections::BTreeMap<String, String>| -> Vec<(String, String)> {
                tree.clone().into_iter().collect()
            };
            let (old, new) = (list(&old), list(&new));
            let borrow = |list: &'_ [(String, String)]| -> Vec<(&'static str, &'static str)> {
                list.iter().map(|(path, text)| {
                    let leak = |text: &String| -> &'static str { Box::leak(text.clone().into_boxed_str()) };
                    (leak(path), leak(text))
                }).collect()
            };
            let pairs = compare(&borrow(&old), &borrow(&new));
            let mut seen = (vec![0; old.len()], vec![0; new.len()]);
            for pair in pairs {
                let (left, right) = match pair {
                    Pair::Both(left, right) | Pair::Renamed(left, right, _) => (Some(left), Some(right)),
                    Pair::Deleted(left) => (Some(left), None),
                    Pair::Created(right) => (None, Some(right)),
                };
                left.iter().for_each(|&index| seen.0[index] += 1);
                right.iter().for_each(|&index| seen.1[index] += 1);
            }
            prop_assert!(seen.0.iter().chain(&seen.1).all(|&count| count == 1));
        }
    }
}

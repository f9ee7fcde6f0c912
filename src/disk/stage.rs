//! New content in a temporary beside its target: written in one pass, with the attributes of the file it replaces.
//!
//! A temporary is readable by its owner only until it is finished. Carried over are owner, group, all mode bits and,
//! on Linux and macOS, extended attributes with access lists among them. Times are not: the content is new.

use std::fs::File;
use std::io;
use std::io::IoSlice;
use std::io::Write;
use std::os::fd::AsFd;

use rustix::fs::Gid;
use rustix::fs::Mode;
use rustix::fs::Uid;

use super::folder::raw;
use crate::plan::After;
use crate::plan::Attributes;
use crate::plan::FoundFile;

/// How many pieces one write gathers; the system takes at most 1024.
const LIMIT_PIECES: usize = 256;

/// The mode of a temporary that is not finished, if not everybody may read it.
const PRIVATE_MODE: u32 = 0o600;

/// From this size on it pays to ask for the space at once; for small files it is one more call.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LARGE_BYTES: u64 = 1024 * 1024;

/// Asks for the space that a file needs before it is written.
///
/// ext4 otherwise finds the blocks while the file gets its name: committing a 60 MB file took 44 to 53 ms, and takes 15
/// to 30 ms this way.
/// A file system that can't do this, or has no space, says so when the file is written.
pub(crate) fn reserve(file: &File, length: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if length as u64 >= LARGE_BYTES {
        let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::KEEP_SIZE, 0, length as u64);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = (file, length);
}

/// Writes the bytes that a file has afterwards; those that stay are copied out of the preimage, never built anew.
pub(crate) fn write_content(file: &mut File, before: Option<&FoundFile>, after: &After) -> io::Result<()> {
    let preimage = before.map_or(&[][..], |found| found.document.bytes());
    match after {
        After::Same => file.write_all(preimage),
        After::Whole(document) => file.write_all(document.bytes()),
        After::Spliced(splices) => write_pieces(file, splices.pieces(preimage)),
    }
}

/// Returns the bytes that a file has afterwards, in memory of their own.
pub(crate) fn content(before: Option<&FoundFile>, after: &After) -> Vec<u8> {
    let preimage = before.map_or(&[][..], |found| found.document.bytes());
    match after {
        After::Same => preimage.to_vec(),
        After::Whole(document) => document.bytes().to_vec(),
        After::Spliced(splices) => splices.pieces(preimage).collect::<Vec<_>>().concat(),
    }
}

/// Returns how many bytes a file has afterwards.
pub(crate) fn content_length(before: Option<&FoundFile>, after: &After) -> usize {
    let preimage_length = before.map_or(0, |found| found.document.bytes().len());
    match after {
        After::Same => preimage_length,
        After::Whole(document) => document.bytes().len(),
        After::Spliced(splices) => splices.postimage_len(preimage_length),
    }
}

fn write_pieces<'a>(file: &mut File, mut pieces: impl Iterator<Item = &'a [u8]>) -> io::Result<()> {
    loop {
        let mut gathered: Vec<IoSlice<'_>> = pieces.by_ref().take(LIMIT_PIECES).map(IoSlice::new).collect();
        if gathered.is_empty() {
            return Ok(());
        }
        let mut unwritten = gathered.as_mut_slice();
        while !unwritten.is_empty() {
            match file.write_vectored(unwritten) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => IoSlice::advance_slices(&mut unwritten, length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Gives `to` the owner, the group and the extended attributes of `from`; the mode comes last and apart, since a
/// change of owner takes setuid bits away.
pub(crate) fn carry_over(from: impl AsFd, to: &File) -> io::Result<()> {
    let (old, new) = (rustix::fs::fstat(&from)?, rustix::fs::fstat(to)?);
    let owner = (old.st_uid != new.st_uid).then(|| Uid::from_raw(old.st_uid));
    let group = (old.st_gid != new.st_gid).then(|| Gid::from_raw(old.st_gid));
    if owner.is_some() || group.is_some() {
        rustix::fs::fchown(to, owner, group)?;
    }
    attributes::carry_over(from.as_fd(), to.as_fd())
}

/// Returns the mode that a temporary is made with: what everybody may read in the end need not be hidden before.
pub(crate) fn first_mode(mode: u32) -> u32 {
    if mode & 0o444 == 0o444 { mode & 0o777 } else { PRIVATE_MODE }
}

/// Sets all mode bits.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(raw(mode)))?)
}

/// Tells what is known of an open file's extended attributes.
pub(crate) fn attributes_of(file: &File) -> Attributes {
    attributes::of(file.as_fd())
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::io;
    use std::os::fd::BorrowedFd;

    use rustix::fs::XattrFlags;
    use rustix::io::Errno;

    use crate::plan::Attributes;

    /// The system makes these from the content; nobody else may set them.
    const OF_THE_CONTENT: [&[u8]; 2] = [b"security.ima", b"security.evm"];

    /// A folder may give an access list to what is made in it, which a file that had none must not get.
    const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

    pub(super) fn of(file: BorrowedFd<'_>) -> Attributes {
        match rustix::fs::flistxattr_query(file) {
            Ok(0) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Attributes::None,
            _ => Attributes::Unknown,
        }
    }

    /// Gives `to` the extended attributes of `from`.
    pub(super) fn carry_over(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> io::Result<()> {
        let wanted = names(from)?;
        let given = names(to)?;
        if wanted.is_empty() && given.is_empty() {
            return Ok(());
        }
        for name in split(&wanted).filter(|name| !OF_THE_CONTENT.contains(name)) {
            let value = value(from, name)?;
            // A label that the system has set already may not be set again, even to itself.
            if split(&given).any(|other| other == name) && self::value(to, name)? == value {
                continue;
            }
            rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty())?;
        }
        if split(&given).any(|name| name == ACCESS_LIST) && !split(&wanted).any(|name| name == ACCESS_LIST) {
            rustix::fs::fremovexattr(to, ACCESS_LIST)?;
        }
        Ok(())
    }

    fn split(names: &[u8]) -> impl Iterator<Item = &[u8]> {
        names.split(|&byte| byte == 0).filter(|name| !name.is_empty())
    }

    fn names(file: BorrowedFd<'_>) -> io::Result<Vec<u8>> {
        let length = match rustix::fs::flistxattr_query(file) {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(Vec::new()),
            Err(errno) => return Err(errno.into()),
        };
        let mut names = vec![0; length];
        let filled = if length == 0 { 0 } else { rustix::fs::flistxattr(file, names.as_mut_slice())? };
        names.truncate(filled);
        Ok(names)
    }

    fn value(file: BorrowedFd<'_>, name: &[u8]) -> io::Result<Vec<u8>> {
        let length = rustix::fs::fgetxattr_query(file, name)?;
        let mut value = vec![0; length];
        let filled = if length == 0 { 0 } else { rustix::fs::fgetxattr(file, name, value.as_mut_slice())? };
        value.truncate(filled);
        Ok(value)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod attributes {
    use crate::plan::Attributes;

    pub(super) fn of(_: std::os::fd::BorrowedFd<'_>) -> Attributes {
        Attributes::None
    }

    /// There is no portable way to read them here.
    pub(super) fn carry_over(
        _: std::os::fd::BorrowedFd<'_>,
        _: std::os::fd::BorrowedFd<'_>,
    ) -> std::io::Result<()> {
        Ok(())
    }
}

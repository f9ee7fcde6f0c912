//! Blocks of a log as it is stored in, its bytes out: gzip and zstd are told by their first bytes and taken apart, all
//! else passes as it is.
//!
//! A gzip log may have many members, a zstd log many frames and skippable ones between them: writers that append make a
//! new one for every batch. What was decoded before a cut or a damage is handed out, wherever the blocks are cut. Memory
//! is bounded by the window of the stream, which has a cap; how much comes out has none, since it is not held.

use std::fmt;

use flate2::Decompress;
use flate2::FlushDecompress;
use flate2::Status;
use thiserror::Error;
use zstd::zstd_safe;
use zstd::zstd_safe::DCtx;
use zstd::zstd_safe::DParameter;
use zstd::zstd_safe::InBuffer;
use zstd::zstd_safe::OutBuffer;
use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;

/// The largest window of a zstd frame that is taken, as a power of two: what zstd itself takes without being asked.
const ZSTD_WINDOW_LOG: u32 = 27;

/// How much is decoded at a time; a whole block of zstd must fit.
const OUT_BYTES: usize = 128 << 10;

/// How much of a zstd frame is asked for first: its magic number and the byte that tells how long its header is.
const ZSTD_FRAME_START_BYTES: usize = 5;

/// The header of a zstd block. The library asks for a block and the next header at once; it is given the block alone,
/// since what it decodes in a call that fails is lost.
const ZSTD_BLOCK_HEADER_BYTES: usize = 3;

const GZIP_MAGIC: &[u8] = b"\x1F\x8B";
const ZSTD_MAGIC: &[u8] = b"\x28\xB5\x2F\xFD";

/// Tells whether bytes begin a compressed input.
#[cfg(feature = "cli")]
pub fn is_compressed(first: &[u8]) -> bool {
    first.starts_with(GZIP_MAGIC) || first.starts_with(ZSTD_MAGIC) || is_skippable(first)
}

/// How a log is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Members of gzip.
    Gzip,
    /// Frames of zstd.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
        })
    }
}

/// Why a compressed log could not be decoded to its end. Offsets count bytes of the compressed log from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Damage {
    /// It ends in the middle of a frame or member, as after a crash of its writer.
    #[error("the {compression} stream is cut off: it ends at byte {offset_bytes} in the middle of a frame")]
    Torn {
        /// How it is stored.
        compression: Compression,
        /// Where it ends.
        offset_bytes: u64,
    },
    /// It is not what it says.
    #[error("the {compression} stream is damaged at byte {offset_bytes}: {cause}")]
    Corrupt {
        /// How it is stored.
        compression: Compression,
        /// Where the part begins that can't be decoded.
        offset_bytes: u64,
        /// What the decoder says.
        cause: String,
    },
    /// To decode it would take more memory than any writer has a reason to ask for.
    #[error("the zstd frame at byte {offset_bytes} needs a window of more than {} MiB", (1_u64 << ZSTD_WINDOW_LOG) >> 20)]
    Window {
        /// Where the header of the frame was read.
        offset_bytes: u64,
    },
}

/// Takes a stored log apart.
#[derive(Debug)]
pub struct Unpack {
    state: State,
    /// Offset of the next byte of the input.
    offset_bytes: u64,
}

#[derive(Debug)]
enum State {
    /// The first bytes, too few to tell.
    Undecided(Vec<u8>),
    Plain,
    Gzip(Gzip),
    Zstd(Zstd),
    Damaged(Damage),
}

impl Default for Unpack {
    fn default() -> Self {
        Unpack { state: State::Undecided(Vec::new()), offset_bytes: 0 }
    }
}

impl Unpack {
    /// Takes the next block; lends what comes out of it, in pieces.
    pub fn push(&mut self, block: &[u8], take: &mut dyn FnMut(&[u8])) {
        if let State::Undecided(first) = &mut self.state {
            first.extend_from_slice(block);
            let first = std::mem::take(first);
            if is_short_of_magic(&first) {
                self.state = State::Undecided(first);
                return;
            }
            self.state = State::of(&first);
            self.decode(&first, take);
        } else {
            self.decode(block, take);
        }
    }

    fn decode(&mut self, block: &[u8], take: &mut dyn FnMut(&[u8])) {
        let start = self.offset_bytes;
        self.offset_bytes += block.len() as u64;
        let result = match &mut self.state {
            State::Plain => {
                take(block);
                return;
            }
            State::Gzip(gzip) => gzip.push(block, start, take),
            State::Zstd(zstd) => zstd.push(block, start, take),
            State::Undecided(_) | State::Damaged(_) => return,
        };
        if let Err(damage) = result {
            self.state = State::Damaged(damage);
        }
    }

    /// Tells whether nothing more will come out, whatever is pushed.
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Damaged(_))
    }

    /// Ends the input; returns why it is not whole.
    pub fn finish(mut self, take: &mut dyn FnMut(&[u8])) -> Option<Damage> {
        let torn = |compression| Damage::Torn { compression, offset_bytes: self.offset_bytes };
        match self.state {
            State::Undecided(first) if GZIP_MAGIC == first => {
                self.offset_bytes = first.len() as u64;
                Some(Damage::Torn { compression: Compression::Gzip, offset_bytes: self.offset_bytes })
            }
            State::Undecided(first) => {
                if !first.is_empty() {
                    take(&first);
                }
                None
            }
            State::Plain => None,
            State::Gzip(gzip) => gzip.is_open().then(|| torn(Compression::Gzip)),
            State::Zstd(zstd) => zstd.is_open().then(|| torn(Compression::Zstd)),
            State::Damaged(damage) => Some(damage),
        }
    }
}

impl State {
    fn of(first: &[u8]) -> Self {
        if first.starts_with(GZIP_MAGIC) {
            return State::Gzip(Gzip::default());
        }
        if first.starts_with(ZSTD_MAGIC) || is_skippable(first) {
            return Zstd::new().map_or_else(State::Damaged, State::Zstd);
        }
        State::Plain
    }
}

/// Tells whether the bytes are the magic number of a zstd frame that holds nothing for us.
fn is_skippable(first: &[u8]) -> bool {
    matches!(first, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// Tells whether more bytes could make a magic number of these.
fn is_short_of_magic(first: &[u8]) -> bool {
    let skippable: &[u8] = &[first.first().copied().unwrap_or(0x50), 0x2A, 0x4D, 0x18];
    let begins = |magic: &[u8]| first.len() < magic.len() && magic.starts_with(first);
    let is_skippable = first.first().is_none_or(|byte| (0x50..=0x5F).contains(byte)) && begins(skippable);
    begins(GZIP_MAGIC) || begins(ZSTD_MAGIC) || is_skippable
}

/// Members of gzip.
struct Gzip {
    /// The open member; none between two, where padding may stand.
    member: Option<Decompress>,
    /// How much of the next member's magic number was seen.
    magic_seen: usize,
    out: Vec<u8>,
}

impl Default for Gzip {
    fn default() -> Self {
        Gzip { member: None, magic_seen: 0, out: vec![0; OUT_BYTES] }
    }
}

impl fmt::Debug for Gzip {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Gzip").field("is_open", &self.is_open()).finish_non_exhaustive()
    }
}

impl Gzip {
    fn is_open(&self) -> bool {
        self.member.is_some() || self.magic_seen > 0
    }

    fn push(&mut self, block: &[u8], start: u64, take: &mut dyn FnMut(&[u8])) -> Result<(), Damage> {
        let mut at = 0;
        while at < block.len() {
            if self.member.is_some() {
                at += self.inflate(&block[at..], start + at as u64, take)?;
                continue;
            }
            // Tapes and block devices pad with zeros.
            let byte = block[at];
            if byte == GZIP_MAGIC[self.magic_seen] {
                self.magic_seen += 1;
            } else if self.magic_seen > 0 || byte != 0 {
                return Err(Damage::Corrupt {
                    compression: Compression::Gzip,
                    offset_bytes: start + at as u64 - self.magic_seen as u64,
                    cause: "what follows a member is none".to_owned(),
                });
            }
            at += 1;
            if self.magic_seen == GZIP_MAGIC.len() {
                self.magic_seen = 0;
                let mut member = Decompress::new_gzip(15);
                // The magic number alone decodes to nothing and is never wrong.
                let _ = member.decompress(GZIP_MAGIC, &mut self.out, FlushDecompress::None);
                self.member = Some(member);
            }
        }
        Ok(())
    }

    /// Decodes what it can of the open member; returns how many bytes that took.
    fn inflate(&mut self, bytes: &[u8], start: u64, take: &mut dyn FnMut(&[u8])) -> Result<usize, Damage> {
        let Some(member) = &mut self.member else { return Ok(0) };
        let mut used = 0;
        loop {
            let (in_before, out_before) = (member.total_in(), member.total_out());
            let result = member.decompress(&bytes[used..], &mut self.out, FlushDecompress::None);
            used += usize::try_from(member.total_in() - in_before).unwrap_or_default();
            let decoded = usize::try_from(member.total_out() - out_before).unwrap_or_default();
            if decoded > 0 {
                take(&self.out[..decoded]);
            }
            match result {
                Ok(Status::StreamEnd) => {
                    self.member = None;
                    return Ok(used);
                }
                // A full buffer may hide more; else all that was given is used.
                Ok(_) if decoded == self.out.len() => {}
                Ok(_) => return Ok(bytes.len()),
                // What the decoder itself says differs with how the blocks are cut.
                Err(_) => {
                    return Err(Damage::Corrupt {
                        compression: Compression::Gzip,
                        offset_bytes: start + used as u64,
                        cause: "it does not decode, or not to what its checksum says".to_owned(),
                    });
                }
            }
        }
    }
}

/// Frames of zstd.
struct Zstd {
    context: DCtx<'static>,
    /// How much is still wanted before the next step.
    wanted_bytes: usize,
    /// Where that step's bytes begin.
    step_start: u64,
    /// Something of a frame was read, and not its end.
    is_open: bool,
    out: Vec<u8>,
}

impl fmt::Debug for Zstd {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Zstd").field("is_open", &self.is_open).finish_non_exhaustive()
    }
}

impl Zstd {
    fn new() -> Result<Self, Damage> {
        let refused = |cause: &str| Damage::Corrupt {
            compression: Compression::Zstd,
            offset_bytes: 0,
            cause: cause.to_owned(),
        };
        let mut context = DCtx::try_create().ok_or_else(|| refused("no memory to decode it"))?;
        context
            .init()
            .and_then(|_| context.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_LOG)))
            .map_err(|code| refused(zstd_safe::get_error_name(code)))?;
        Ok(Zstd {
            context,
            wanted_bytes: ZSTD_FRAME_START_BYTES,
            step_start: 0,
            is_open: false,
            out: vec![0; OUT_BYTES.max(DCtx::out_size())],
        })
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn push(&mut self, block: &[u8], start: u64, take: &mut dyn FnMut(&[u8])) -> Result<(), Damage> {
        let mut at = 0;
        while at < block.len() {
            let given = self.wanted_bytes.min(block.len() - at);
            let hint = self.step(&block[at..at + given], take)?;
            self.is_open = hint > 0;
            at += given;
            self.wanted_bytes -= given;
            if self.wanted_bytes == 0 {
                self.step_start = start + at as u64;
                self.wanted_bytes = match hint {
                    0 => ZSTD_FRAME_START_BYTES,
                    hint if hint > ZSTD_BLOCK_HEADER_BYTES => hint - ZSTD_BLOCK_HEADER_BYTES,
                    hint => hint,
                };
            }
        }
        Ok(())
    }

    /// Gives bytes of one step to the decoder; returns what it says it wants next, 0 at the end of a frame.
    fn step(&mut self, bytes: &[u8], take: &mut dyn FnMut(&[u8])) -> Result<usize, Damage> {
        let mut input = InBuffer::around(bytes);
        loop {
            let mut output = OutBuffer::around(&mut self.out[..]);
            let result = self.context.decompress_stream(&mut output, &mut input);
            let decoded = output.pos();
            let hint = result.map_err(|code| self.damage(code))?;
            if decoded > 0 {
                take(&self.out[..decoded]);
            }
            if input.pos() == bytes.len() && decoded < self.out.len() {
                return Ok(hint);
            }
        }
    }

    fn damage(&self, code: usize) -> Damage {
        let offset_bytes = self.step_start;
        if zstd_safe::is_error_kind(code, ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
            return Damage::Window { offset_bytes };
        }
        Damage::Corrupt {
            compression: Compression::Zstd,
            offset_bytes,
            cause: zstd_safe::get_error_name(code).to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;

    type Seen = (Vec<u8>, Option<Damage>);

    fn unpacked<'a>(blocks: impl IntoIterator<Item = &'a [u8]>) -> Seen {
        let mut plain = Vec::new();
        let mut unpack = Unpack::default();
        let mut take = |bytes: &[u8]| plain.extend_from_slice(bytes);
        for block in blocks {
            unpack.push(block, &mut take);
        }
        let damage = unpack.finish(&mut take);
        (plain, damage)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn skippable(length: u32) -> Vec<u8> {
        let mut frame = b"\x5A\x2A\x4D\x18".to_vec();
        frame.extend_from_slice(&length.to_le_bytes());
        frame.resize(8 + length as usize, b'x');
        frame
    }

    /// Bytes that do not compress to nearly nothing.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b'a' + (state >> 24) as u8 % 16
        };
        (0..length).map(|_| next()).collect()
    }

    fn check_cuts(packed: &[u8]) -> Seen {
        let whole = unpacked([packed]);
        for cut in 0..=packed.len() {
            assert_eq!(unpacked([&packed[..cut], &packed[cut..]]), whole, "{cut}");
        }
        assert_eq!(unpacked(packed.chunks(1)), whole);
        whole
    }

    #[test]
    fn members_and_frames_are_one_text_however_they_are_cut() {
        let padded = [gzip(b"one\n"), gzip(b""), gzip(b"two\n"), vec![0; 9]].concat();
        assert_eq!(check_cuts(&padded), (b"one\ntwo\n".to_vec(), None));
        let framed = [skippable(3), zstd(b"one\n"), zstd(b""), skippable(0), zstd(b"two\n")].concat();
        assert_eq!(check_cuts(&framed), (b"one\ntwo\n".to_vec(), None));
    }

    #[test]
    fn what_is_not_compressed_passes() {
        for text in [&b"{}\n"[..], b"", b"\x1F", b"\x28\xB5", b"P", b"P*M", b"(text)", b"\x1F\x8A"] {
            assert_eq!(check_cuts(text), (text.to_vec(), None));
        }
    }

    #[test]
    fn a_cut_keeps_what_was_decoded() {
        let text = noise(500_000);
        for (packed, compression) in [(gzip(&text), Compression::Gzip), (zstd(&text), Compression::Zstd)] {
            let half = &packed[..packed.len() / 2];
            let (plain, damage) = unpacked([half]);
            assert!(plain.len() > 100_000 && text.starts_with(&plain), "{compression} {}", plain.len());
            assert_eq!(damage, Some(Damage::Torn { compression, offset_bytes: half.len() as u64 }));
            assert_eq!(unpacked(half.chunks(1)), (plain, damage));
        }
        for packed in [[zstd(b"one\n"), zstd(b"two\n")].concat(), [gzip(b"one\n"), gzip(b"two\n")].concat()] {
            let first = packed.len() / 2;
            for cut in first..=packed.len() {
                let (plain, damage) = unpacked([&packed[..cut]]);
                assert!(plain.starts_with(b"one\n"), "{cut}");
                assert_eq!(damage.is_none(), cut == first || cut == packed.len(), "{cut}");
            }
        }
    }

    #[test]
    fn damage_is_named_with_its_place_however_it_is_cut() {
        let mut packed = zstd(&noise(300));
        let last = packed.len() - 1;
        packed[last] ^= 1;
        let packed = [zstd(b"one\n"), packed].concat();
        let (plain, damage) = check_cuts(&packed);
        assert_eq!(plain.len(), 304);
        let Some(Damage::Corrupt { offset_bytes, .. }) = damage else { panic!("{damage:?}") };
        assert!((packed.len() as u64 - 4..packed.len() as u64).contains(&offset_bytes), "{offset_bytes}");

        let mut packed = gzip(&noise(300));
        let last = packed.len() - 5;
        packed[last] ^= 1;
        let (plain, damage) = check_cuts(&packed);
        assert_eq!(plain.len(), 300);
        assert!(damage.unwrap().to_string().starts_with("the gzip stream is damaged at byte "));

        let (plain, damage) = check_cuts(&[zstd(b"one\n"), b"not a frame".to_vec()].concat());
        assert_eq!(plain, b"one\n");
        let offset = zstd(b"one\n").len();
        let wanted = format!("the zstd stream is damaged at byte {offset}: Unknown frame descriptor");
        assert_eq!(damage.unwrap().to_string(), wanted);
        let (plain, damage) = check_cuts(&[gzip(b"one\n"), b"\0\x1Fnot a member".to_vec()].concat());
        assert_eq!(plain, b"one\n");
        assert!(damage.unwrap().to_string().ends_with(": what follows a member is none"));
    }

    #[test]
    fn a_window_out_of_all_bounds_is_refused() {
        // Magic number, a header without content size, and a window of 2^40 bytes.
        let frame = b"\x28\xB5\x2F\xFD\x00\xF0\x01\x00\x00";
        let (plain, damage) = check_cuts(frame);
        assert_eq!(plain, b"");
        assert_eq!(
            damage.unwrap().to_string(),
            "the zstd frame at byte 5 needs a window of more than 128 MiB"
        );
    }

    #[test]
    fn a_bomb_comes_out_in_pieces() {
        let bomb = vec![0; 64 << 20];
        for packed in [gzip(&bomb), zstd(&bomb)] {
            let (mut total, mut largest) = (0, 0);
            let mut unpack = Unpack::default();
            unpack.push(&packed, &mut |bytes| {
                total += bytes.len();
                largest = largest.max(bytes.len());
            });
            assert_eq!(unpack.finish(&mut |_| {}), None);
            assert_eq!(total, bomb.len());
            assert!(largest <= 2 * OUT_BYTES, "{largest}");
        }
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(
            magic in prop::sample::select(vec![GZIP_MAGIC, ZSTD_MAGIC, b"\x50\x2A\x4D\x18", b""]),
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            cut: prop::sample::Index,
        ) {
            let input = [magic, &bytes].concat();
            let cut = cut.index(input.len() + 1);
            prop_assert_eq!(unpacked([&input[..cut], &input[cut..]]), unpacked([&input[..]]));
        }

        #[test]
        fn damaged_streams_decode_alike_however_they_are_cut(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
            is_gzip: bool,
            size in 1..40usize,
        ) {
            let text = noise(2000);
            let mut packed = if is_gzip { gzip(&text) } else { zstd(&text) };
            for (at, byte) in &changes {
                let at = at.index(packed.len());
                packed[at] = *byte;
            }
            prop_assert_eq!(unpacked(packed.chunks(size)), unpacked([&packed[..]]));
        }
    }
}

import type { Format } from '#crds/catalogue/formats.ts';
import { formatOfName } from '#crds/catalogue/formats.ts';
import { hasBytes } from '#worker-image/engine/containers/has-bytes.ts';
import { endOfId3Tags } from '#worker-image/engine/containers/id3.ts';
import { parseMpegAudioFrame, type MpegAudioFrame } from '#worker-image/engine/containers/mpeg-audio-frames.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Bytes behind the tags in which the first frame is searched. */
const SEARCHED_BYTES = 64 * 1024;

/**
 * Returns MP3 or AAC, or FLAC behind ID3 tags; null when the file is neither. MP3 and AAC have no signature: two
 * consecutive frames are required. Without tags and without a matching file name, the first one must be at offset 0.
 */
export async function formatOfMpegAudio(file: SniffedFile): Promise<Format | null> {
  const start = await endOfId3Tags(file);
  const bytes = await file.read(start, SEARCHED_BYTES);
  if (start > 0 && hasBytes(bytes, 'fLaC')) return 'flac';
  const named = formatOfName(file.filename);
  const isLenient = start > 0 || named === 'mp3' || named === 'aac';
  const isWhole = start + bytes.length >= file.size;
  for (let at = 0; at < (isLenient ? bytes.length : 1); at += 1) {
    const frame = firstOfTwoFrames(bytes, at, isWhole);
    if (frame === null) continue;
    if (frame.format === 'layer12') throw unsupported('MPEG audio of layer I or II');
    return frame.format;
  }
  if (start > 0) throw unsupported('an ID3 tag without MP3, AAC or FLAC after it');
  return null;
}

/** Returns the frame at the offset when another of its format follows, or when it ends the file. */
function firstOfTwoFrames(bytes: Buffer, at: number, isWhole: boolean): MpegAudioFrame | null {
  const frame = parseMpegAudioFrame(bytes, at);
  if (frame === null) return null;
  const next = at + frame.length;
  if (isWhole && next === bytes.length) return frame;
  return parseMpegAudioFrame(bytes, next)?.format === frame.format ? frame : null;
}

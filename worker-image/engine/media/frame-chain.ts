/**
 * Detects truncation of formats that are a chain of frames without a total length: each frame has its own length, and
 * the last one of a truncated file is longer than the bytes that are left.
 */
import type { FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { mpegAudioFrameBytes } from '#worker-image/engine/containers/mpeg-audio-frames.ts';

export interface FrameFormat {
  /** Tail window that always contains `MIN_CHAIN` frames, in bytes. */
  readonly tailBytes: number;
  /** Returns the bytes of the frame at the offset; 0 when none begins there, Infinity when its header is truncated. */
  readonly length: (bytes: Buffer, at: number) => number;
}

/** Minimum number of consecutive frames: fewer may be coincidence. */
const MIN_CHAIN = 3;

/** Returns whether the last frame is truncated. Other data behind the last frame, such as a tag, is no truncation. */
export async function endsInsideFrame(file: FileReader, { tailBytes, length }: FrameFormat): Promise<boolean> {
  const tail = await file.read(Math.max(0, file.size - tailBytes), tailBytes);
  for (let start = 0; start < tail.length; start += 1) {
    let [at, frames] = [start, 0];
    for (let bytes = length(tail, at); bytes > 0 && at < tail.length; bytes = length(tail, at)) {
      at += bytes;
      frames += 1;
    }
    if (frames >= MIN_CHAIN) return at > tail.length;
  }
  return false;
}

export const ADTS_FRAME: FrameFormat = {
  tailBytes: 64 * 1024,
  length: (bytes, at) => mpegAudioFrameBytes('aac', bytes, at),
};

export const MP3_FRAME: FrameFormat = {
  tailBytes: 64 * 1024,
  length: (bytes, at) => mpegAudioFrameBytes('mp3', bytes, at),
};

const START_CODE = 0x000001;
const PACK = 0xba;
const END = 0xb9;
const MPEG2_PACK_BYTES = 14;
const MPEG1_PACK_BYTES = 12;

/** Packs of MPEG program streams, and packets of up to 64 KiB with a length. Sources: ISO/IEC 13818-1 and 11172-1. */
export const PROGRAM_STREAM_PACKET: FrameFormat = {
  tailBytes: 512 * 1024,
  length: (bytes, at) => {
    if (at + 4 > bytes.length || bytes.readUIntBE(at, 3) !== START_CODE) return 0;
    const code = bytes.readUInt8(at + 3);
    if (code <= END) return code === END ? 4 : 0;
    if (at + MPEG2_PACK_BYTES > bytes.length) return Infinity;
    return code === PACK ? packBytes(bytes, at) : 6 + bytes.readUInt16BE(at + 4);
  },
};

function packBytes(bytes: Buffer, at: number): number {
  const isMpeg2 = bytes.readUInt8(at + 4) >> 6 === 1;
  return isMpeg2 ? MPEG2_PACK_BYTES + (bytes.readUInt8(at + 13) & 7) : MPEG1_PACK_BYTES;
}

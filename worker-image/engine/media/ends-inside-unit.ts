/**
 * Finds the cut of formats that are a chain of units with nothing that says how long the whole is: each unit says
 * its own length, and the last one of a file that was cut off is longer than what is there.
 */
import { mp3FrameBytes } from '#worker-image/engine/identify/mpeg-audio.ts';
import type { SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';

export interface Unit {
  /** A chain of some units surely stands in so many bytes. */
  readonly tailBytes: number;
  /** Bytes of the unit there; 0 when none begins, Infinity when the file ends within its header. */
  readonly length: (bytes: Buffer, at: number) => number;
}

/** A chain of so many units is no accident. */
const MIN_CHAIN = 3;

/** Whatever else stands behind the last unit, such as a tag, is no unit: nothing is missing then. */
export async function endsInsideUnit(file: SniffedFile, { tailBytes, length }: Unit): Promise<boolean> {
  const tail = await file.read(Math.max(0, file.size - tailBytes), tailBytes);
  for (let start = 0; start < tail.length; start += 1) {
    let [at, units] = [start, 0];
    for (let bytes = length(tail, at); bytes > 0 && at < tail.length; bytes = length(tail, at)) {
      at += bytes;
      units += 1;
    }
    if (units >= MIN_CHAIN) return at > tail.length;
  }
  return false;
}

const ADTS_HEADER_BYTES = 6;

/** ISO/IEC 13818-7: twelve bits mark a frame, thirteen are its length. */
export const ADTS_FRAME: Unit = {
  tailBytes: 64 * 1024,
  length: (bytes, at) => {
    if (at + ADTS_HEADER_BYTES > bytes.length) return bytes[at] === 0xff ? Infinity : 0;
    if ((bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return 0;
    return (bytes.readUInt32BE(at + 2) >> 5) & 0x1fff;
  },
};

/** ISO/IEC 11172-3: rate and sampling make a frame's length. */
export const MP3_FRAME: Unit = { tailBytes: 64 * 1024, length: mp3FrameBytes };

const START_CODE = 0x000001;
const PACK = 0xba;
const END = 0xb9;
const MPEG2_PACK_BYTES = 14;
const MPEG1_PACK_BYTES = 12;

/** ISO/IEC 13818-1 and 11172-1, program streams: packs, and packets of up to 64 KiB that say their length. */
export const PROGRAM_PACKET: Unit = {
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

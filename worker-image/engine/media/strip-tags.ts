/**
 * Takes the tags off sound by leaving bytes out, so that no header of a new writer makes the file larger. Sources: ID3v2.4,
 * ID3v1, APEv2, Lyrics3, RFC 9639.
 */
import { createReadStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { endOfTags } from '#worker-image/engine/identify/mpeg-audio.ts';
import { withSniffedFile, type SniffedFile } from '#worker-image/engine/identify/sniffed-file.ts';

/** Writes the frames of an MP3 or ADTS file to the path. */
export function stripFrames(input: string, output: string): Promise<void> {
  return withSniffedFile({ path: input, filename: null }, async (file) => {
    const start = await endOfTags(file);
    await write(output, { path: input, header: Buffer.alloc(0), start, end: await startOfEndTags(file, start) });
  });
}

const MARKER = Buffer.from('fLaC');
const BLOCK_HEAD_BYTES = 4;
const LAST_BLOCK = 0x80;
const BLOCK = { streamInfo: 0, seekTable: 3, comment: 4 } as const;

/** Writes a FLAC file to the path with the blocks alone that say how to decode it and where to seek. */
export function stripFlac(input: string, output: string): Promise<void> {
  return withSniffedFile({ path: input, filename: null }, async (file) => {
    const kept: Buffer[] = [];
    let at = (await endOfTags(file)) + MARKER.length;
    for (let isLast = false; !isLast;) {
      const head = await file.read(at, BLOCK_HEAD_BYTES);
      if (head.length < BLOCK_HEAD_BYTES) throw new Error('the blocks of the flac file have no end');
      isLast = (head.readUInt8(0) & LAST_BLOCK) !== 0;
      const type = head.readUInt8(0) & ~LAST_BLOCK;
      const payload = { start: at + BLOCK_HEAD_BYTES, bytes: head.readUIntBE(1, 3) };
      if (type === BLOCK.streamInfo || type === BLOCK.seekTable)
        kept.push(block(type, await file.read(payload.start, payload.bytes)));
      if (type === BLOCK.comment) kept.push(...channelMask(await file.read(payload.start, payload.bytes)));
      at = payload.start + payload.bytes;
    }
    const last = kept.at(-1);
    last?.writeUInt8(last.readUInt8(0) | LAST_BLOCK);
    const header = Buffer.concat([MARKER, ...kept]);
    await write(output, { path: input, header, start: at, end: await startOfEndTags(file, at) });
  });
}

function block(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(BLOCK_HEAD_BYTES);
  head.writeUInt8(type);
  head.writeUIntBE(payload.length, 1, 3);
  return Buffer.concat([head, payload]);
}

/** The one comment that says which speakers the channels are for; nothing without it. */
function channelMask(comments: Buffer): Buffer[] {
  const [entry] = /WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x[\da-f]{1,8}/i.exec(comments.toString('latin1')) ?? [];
  if (entry === undefined) return [];
  const payload = Buffer.alloc(12 + entry.length);
  payload.writeUInt32LE(1, 4);
  payload.writeUInt32LE(entry.length, 8);
  payload.write(entry, 12, 'latin1');
  return [block(BLOCK.comment, payload)];
}

interface Written {
  readonly path: string;
  readonly header: Buffer;
  readonly start: number;
  readonly end: number;
}

async function write(output: string, { path, header, start, end }: Written): Promise<void> {
  await using file = await open(output, 'w');
  await file.writeFile(header);
  if (end > start) await writeFile(file, createReadStream(path, { start, end: end - 1 }));
}

/** Tags at the end stand one behind the other, in any order. */
async function startOfEndTags(file: SniffedFile, start: number): Promise<number> {
  let end = file.size;
  for (;;) {
    const bytes = await endTagBytes(file, end);
    if (bytes === 0 || end - bytes < start) return end;
    end -= bytes;
  }
}

const ID3V1_BYTES = 128;
const ENHANCED_BYTES = 227;
const APE_BYTES = 32;
const APE_HAS_HEADER = 0x8000_0000;
const ID3V2_FOOTER_BYTES = 10;
const LYRICS_SIZE_DIGITS = 6;
const LYRICS1_BYTES = 5120;

/** Bytes of the tag that ends there; 0 for none. */
async function endTagBytes(file: SniffedFile, end: number): Promise<number> {
  const before = (bytes: number): Promise<Buffer> => file.read(Math.max(0, end - bytes), Math.min(bytes, end));
  const tail = await before(ID3V1_BYTES);
  const isAt = (fromEnd: number, name: string): boolean =>
    tail.length >= fromEnd && tail.toString('latin1', tail.length - fromEnd).startsWith(name);
  if (isAt(ID3V1_BYTES, 'TAG')) {
    const enhanced = (await before(ID3V1_BYTES + ENHANCED_BYTES)).toString('latin1', 0, 4);
    return ID3V1_BYTES + (enhanced === 'TAG+' ? ENHANCED_BYTES : 0);
  }
  if (isAt(APE_BYTES, 'APETAGEX')) {
    const footer = tail.subarray(-APE_BYTES);
    return footer.readUInt32LE(12) + (footer.readUInt32LE(20) >= APE_HAS_HEADER ? APE_BYTES : 0);
  }
  if (isAt(ID3V2_FOOTER_BYTES, '3DI')) {
    const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (tail.readUInt8(tail.length - 10 + at) & 0x7f), 0);
    return size + 2 * ID3V2_FOOTER_BYTES;
  }
  const mark = 'LYRICS200';
  if (isAt(mark.length, mark)) {
    const digits = tail.toString('latin1', tail.length - mark.length - LYRICS_SIZE_DIGITS, tail.length - mark.length);
    return /^\d+$/.test(digits) ? Number(digits) + LYRICS_SIZE_DIGITS + mark.length : 0;
  }
  if (!isAt(mark.length, 'LYRICSEND')) return 0;
  const lyrics = await before(LYRICS1_BYTES);
  const begin = lyrics.lastIndexOf('LYRICSBEGIN');
  return begin === -1 ? 0 : lyrics.length - begin;
}

/**
 * Removes the tags of MP3, ADTS and FLAC by copying the other bytes: ffmpeg would write a header that can make the file
 * larger. Sources: ID3v2.4, ID3v1, APEv2, Lyrics3, RFC 9639.
 */
import { createReadStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import { withFileReader, type FileReader } from '#worker-image/engine/containers/file-reader.ts';
import { endOfId3Tags, id3Size } from '#worker-image/engine/containers/id3.ts';

/** Writes the frames of an MP3 or ADTS file, without its tags, to `output`. */
export function stripFrames(input: string, output: string): Promise<void> {
  return withFileReader(input, async (file) => {
    const start = await endOfId3Tags(file);
    await write(output, { path: input, header: Buffer.alloc(0), start, end: await startOfEndTags(file, start) });
  });
}

const MARKER = Buffer.from('fLaC');
const BLOCK_HEAD_BYTES = 4;
const LAST_BLOCK = 0x80;
const BLOCK = { streamInfo: 0, seekTable: 3, comment: 4 } as const;

/** Writes a FLAC file to `output` with only the metadata blocks that decoding and seeking need. */
export function stripFlac(input: string, output: string): Promise<void> {
  return withFileReader(input, async (file) => {
    const kept: Buffer[] = [];
    let at = (await endOfId3Tags(file)) + MARKER.length;
    for (let isLast = false; !isLast;) {
      const head = await file.read(at, BLOCK_HEAD_BYTES);
      if (head.length < BLOCK_HEAD_BYTES) throw new Error('the metadata blocks of the flac file are truncated');
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

/** Returns a comment block with the channel mask, which assigns the channels to speakers; none without a mask. */
function channelMask(comments: Buffer): Buffer[] {
  const [entry] = /WAVEFORMATEXTENSIBLE_CHANNEL_MASK=0x[\da-f]{1,8}/i.exec(comments.toString('latin1')) ?? [];
  if (entry === undefined) return [];
  const payload = Buffer.alloc(12 + entry.length);
  payload.writeUInt32LE(1, 4);
  payload.writeUInt32LE(entry.length, 8);
  payload.write(entry, 12, 'latin1');
  return [block(BLOCK.comment, payload)];
}

interface StrippedFile {
  readonly path: string;
  readonly header: Buffer;
  readonly start: number;
  readonly end: number;
}

async function write(output: string, { path, header, start, end }: StrippedFile): Promise<void> {
  await using file = await open(output, 'w');
  await file.writeFile(header);
  if (end > start) await writeFile(file, createReadStream(path, { start, end: end - 1 }));
}

/** Returns the offset of the first of the consecutive tags at the end, in any order; `file.size` without one. */
async function startOfEndTags(file: FileReader, start: number): Promise<number> {
  let end = file.size;
  for (;;) {
    const bytes = await endTagBytes(file, end);
    if (bytes === 0 || end - bytes < start) return end;
    end -= bytes;
  }
}

/** Returns the bytes of the tag that ends at `end`; 0 when none does. */
async function endTagBytes(file: FileReader, end: number): Promise<number> {
  const start = Math.max(0, end - TAIL_BYTES);
  const tail = await file.read(start, end - start);
  return END_TAGS.map((bytesOf) => bytesOf(tail)).find((bytes) => bytes > 0) ?? 0;
}

/** Window at the end of the file, in bytes: the maximum size of Lyrics3v1, which is found by its start. */
const TAIL_BYTES = 5120;
const END_TAGS: readonly ((tail: Buffer) => number)[] = [
  id3v1Bytes,
  apeBytes,
  id3v2Bytes,
  lyrics3v2Bytes,
  lyrics3v1Bytes,
];

/** Returns whether the name begins `bytes` before the end. */
function isAt(tail: Buffer, bytes: number, name: string): boolean {
  return tail.length >= bytes && tail.subarray(-bytes).toString('latin1', 0, name.length) === name;
}

function id3v1Bytes(tail: Buffer): number {
  const [plain, enhanced] = [128, 227];
  if (!isAt(tail, plain, 'TAG')) return 0;
  return isAt(tail, plain + enhanced, 'TAG+') ? plain + enhanced : plain;
}

function apeBytes(tail: Buffer): number {
  const [mark, hasHeader] = [32, 0x8000_0000];
  if (!isAt(tail, mark, 'APETAGEX')) return 0;
  const footer = tail.subarray(-mark);
  return footer.readUInt32LE(12) + (footer.readUInt32LE(20) >= hasHeader ? mark : 0);
}

function id3v2Bytes(tail: Buffer): number {
  const mark = 10;
  return isAt(tail, mark, '3DI') ? id3Size(tail.subarray(-4)) + 2 * mark : 0;
}

function lyrics3v2Bytes(tail: Buffer): number {
  const [digits, mark] = [6, 'LYRICS200'];
  if (!isAt(tail, mark.length, mark)) return 0;
  const size = tail.subarray(-mark.length - digits).toString('latin1', 0, digits);
  return /^\d{6}$/.test(size) ? Number(size) + digits + mark.length : 0;
}

function lyrics3v1Bytes(tail: Buffer): number {
  const mark = 'LYRICSEND';
  const begin = isAt(tail, mark.length, mark) ? tail.lastIndexOf('LYRICSBEGIN') : -1;
  return begin === -1 ? 0 : tail.length - begin;
}

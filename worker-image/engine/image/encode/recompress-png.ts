/** Recompression of the pixel streams of an animated PNG. Frames, metadata and all other chunks stay. */
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { deflateSync, inflateSync } from 'node:zlib';
import {
  makePngChunk,
  PNG_SIGNATURE,
  readPngChunks,
  type PngChunk,
} from '#worker-image/engine/containers/png-chunks.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';
import { pixelBytes, readFramePixels, readImagePixels } from '#worker-image/engine/containers/png-pixels.ts';
import type { EncoderDeps } from '#worker-image/engine/image/encode/encoder.ts';

const SEQUENCE_BYTES = 4;

/**
 * Returns the recompressed file.
 * @throws MediaError processing_failed when a stream is damaged or unpacks to more than the pixels of its frame.
 * @throws the signal's reason on abort.
 */
export async function recompressAnimatedPng({ signal }: Pick<EncoderDeps, 'signal'>, file: Buffer): Promise<Buffer> {
  const chunks = readPngChunks(file);
  if (chunks === null) throw brokenFile('PNG', 'its end chunk is missing');
  const image = readImagePixels(chunks);
  const written: Buffer[] = [];
  let sequence = 0;
  let frame = image;
  for (const group of groupStreams(chunks)) {
    const [{ type, data, whole }] = group;
    if (type === 'fcTL') {
      frame = readFramePixels(data, image);
      written.push(makePngChunk(type, numbered(sequence++, data.subarray(SEQUENCE_BYTES))));
    } else if (type === 'IDAT') {
      written.push(makePngChunk(type, repack(group, 0, pixelBytes(image))));
    } else if (type === 'fdAT') {
      written.push(makePngChunk(type, numbered(sequence++, repack(group, SEQUENCE_BYTES, pixelBytes(frame)))));
    } else {
      written.push(whole);
    }
    if (isPixels(group[0])) {
      await yieldToEvents();
      signal.throwIfAborted();
    }
  }
  return Buffer.concat([PNG_SIGNATURE, ...written]);
}

type ChunkGroup = readonly [PngChunk, ...PngChunk[]];

/** Groups adjacent pixel chunks of one type, which are one stream. */
function groupStreams(chunks: readonly PngChunk[]): ChunkGroup[] {
  const groups: [PngChunk, ...PngChunk[]][] = [];
  for (const chunk of chunks) {
    const last = groups.at(-1);
    if (isPixels(chunk) && last?.[0].type === chunk.type) last.push(chunk);
    else groups.push([chunk]);
  }
  return groups;
}

function isPixels({ type }: PngChunk): boolean {
  return type === 'IDAT' || type === 'fdAT';
}

function repack(group: ChunkGroup, skip: number, maxOutputLength: number): Buffer {
  const packed = Buffer.concat(group.map(({ data }) => data.subarray(skip)));
  try {
    const smaller = deflateSync(inflateSync(packed, { maxOutputLength }), { level: 9 });
    return smaller.length < packed.length ? smaller : packed;
  } catch {
    throw brokenFile('PNG', 'a frame cannot be decompressed');
  }
}

function numbered(sequence: number, data: Buffer): Buffer {
  const number = Buffer.alloc(SEQUENCE_BYTES);
  number.writeUInt32BE(sequence);
  return Buffer.concat([number, data]);
}

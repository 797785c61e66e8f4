/** Recompression of the pixel streams of an animated PNG. Frames, metadata and all other chunks stay. */
import { deflateSync, inflateSync } from 'node:zlib';
import {
  makePngChunk,
  PNG_SIGNATURE,
  readPngChunks,
  type PngChunk,
} from '#worker-image/engine/containers/png-chunks.ts';
import { brokenFile } from '#worker-image/engine/containers/broken-file.ts';

const SEQUENCE_BYTES = 4;

/** Returns the recompressed file. @throws MediaError processing_failed when a stream is damaged or unpacks to more than `maxFrameBytes`. */
export function recompressAnimatedPng(file: Buffer, maxFrameBytes: number): Buffer {
  const chunks = readPngChunks(file);
  if (chunks === null) throw brokenFile('PNG', 'its end chunk is missing');
  let sequence = 0;
  const written = groupStreams(chunks).map((group) => {
    const [first] = group;
    if (first.type === 'IDAT') return makePngChunk('IDAT', repack(group, 0, maxFrameBytes));
    if (first.type === 'fdAT')
      return makePngChunk('fdAT', numbered(sequence++, repack(group, SEQUENCE_BYTES, maxFrameBytes)));
    if (first.type === 'fcTL') return makePngChunk('fcTL', numbered(sequence++, first.data.subarray(SEQUENCE_BYTES)));
    return first.whole;
  });
  return Buffer.concat([PNG_SIGNATURE, ...written]);
}

type ChunkGroup = readonly [PngChunk, ...PngChunk[]];

/** Groups adjacent pixel chunks of one type, which are one stream. */
function groupStreams(chunks: readonly PngChunk[]): ChunkGroup[] {
  const groups: [PngChunk, ...PngChunk[]][] = [];
  for (const chunk of chunks) {
    const last = groups.at(-1);
    const continues = (chunk.type === 'IDAT' || chunk.type === 'fdAT') && last?.[0].type === chunk.type;
    if (continues) last.push(chunk);
    else groups.push([chunk]);
  }
  return groups;
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

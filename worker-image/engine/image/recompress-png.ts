/** An animated PNG with its pixel streams packed tighter; every frame, and everything else in it, stays. */
import { deflateSync, inflateSync } from 'node:zlib';
import { makePngChunk, PNG_SIGNATURE, readPngChunks, type PngChunk } from '#worker-image/engine/image/png-chunks.ts';
import { brokenFile } from '#worker-image/engine/image/strip/strip-refusal.ts';

const SEQUENCE_BYTES = 4;

/** @throws MediaError processing_failed when a stream is damaged or unpacks to more than `maxFrameBytes`. */
export function recompressAnimatedPng(file: Buffer, maxFrameBytes: number): Buffer {
  const chunks = readPngChunks(file);
  if (chunks === null) throw brokenFile('PNG', 'its chunks do not lead to an end chunk');
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

type Group = readonly [PngChunk, ...PngChunk[]];

/** Neighbouring pixel chunks of one type are one stream. */
function groupStreams(chunks: readonly PngChunk[]): Group[] {
  const groups: [PngChunk, ...PngChunk[]][] = [];
  for (const chunk of chunks) {
    const last = groups.at(-1);
    const continues = (chunk.type === 'IDAT' || chunk.type === 'fdAT') && last?.[0].type === chunk.type;
    if (continues) last.push(chunk);
    else groups.push([chunk]);
  }
  return groups;
}

function repack(group: Group, skip: number, maxOutputLength: number): Buffer {
  const packed = Buffer.concat(group.map(({ data }) => data.subarray(skip)));
  try {
    const tighter = deflateSync(inflateSync(packed, { maxOutputLength }), { level: 9 });
    return tighter.length < packed.length ? tighter : packed;
  } catch {
    throw brokenFile('PNG', 'a frame does not unpack');
  }
}

function numbered(sequence: number, data: Buffer): Buffer {
  const number = Buffer.alloc(SEQUENCE_BYTES);
  number.writeUInt32BE(sequence);
  return Buffer.concat([number, data]);
}

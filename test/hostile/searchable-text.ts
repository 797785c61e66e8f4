import { inflateSync } from 'node:zlib';
import { strFromU8, unzipSync } from 'fflate';
import type { AttackOutcome } from '#test/hostile/attacked-engine.ts';

const STREAM = /stream\r?\n/g;

/** Returns the result and its message as text for a search, with ZIP entries and PDF streams decompressed. */
export function searchableText({ bytes, message }: Pick<AttackOutcome, 'bytes' | 'message'>): string {
  return [message, bytes.toString('latin1'), ...unzipped(bytes), ...inflated(bytes)].join('\n');
}

function unzipped(bytes: Buffer): string[] {
  if (!bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return [];
  return Object.values(unzipSync(bytes)).map((part) => strFromU8(part, true));
}

/** Returns the decompressed streams of a PDF. */
function inflated(bytes: Buffer): string[] {
  if (!bytes.subarray(0, 5).equals(Buffer.from('%PDF-'))) return [];
  return [...bytes.toString('latin1').matchAll(STREAM)].flatMap(({ index, 0: mark }) => {
    try {
      return [inflateSync(bytes.subarray(index + mark.length)).toString('latin1')];
    } catch {
      return [];
    }
  });
}

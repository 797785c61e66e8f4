import { inflateSync } from 'node:zlib';
import { strFromU8, unzipSync } from 'fflate';
import type { Outcome } from '#test/hostile/attacked-engine.ts';

const STREAM = /stream\r?\n/g;

/** Every text that a result holds, packed or not, for a search; whatever is no text is in it as well. */
export function wordsIn({ bytes, message }: Pick<Outcome, 'bytes' | 'message'>): string {
  return [message, bytes.toString('latin1'), ...unzipped(bytes), ...inflated(bytes)].join('\n');
}

function unzipped(bytes: Buffer): string[] {
  if (!bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return [];
  return Object.values(unzipSync(bytes)).map((part) => strFromU8(part, true));
}

/** The streams of a PDF. */
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

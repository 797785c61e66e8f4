import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Utf8Counter } from '#worker-image/engine/containers/utf8-counter.ts';

function countOf(...pieces: readonly Uint8Array[]): Utf8Counter {
  const counter = new Utf8Counter();
  for (const piece of pieces) counter.write(piece);
  return counter;
}

describe('Utf8Counter', () => {
  it('counts the sequences that a decoder replaces, whatever the pieces', () => {
    const bytes = fc.constantFrom(...Buffer.from('41808fbfc0c2dfe0a0e2ed9ff090f48ff5ff', 'hex'));
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 12 }), fc.nat(12), (values, at) => {
        const content = Buffer.from(values);
        const replaced = new TextDecoder().decode(content).match(/\ufffd/g)?.length ?? 0;
        expect(countOf(content.subarray(0, at), content.subarray(at)).invalid).toBe(replaced);
      }),
      { numRuns: 5000 },
    );
  });

  it.each<readonly [string, Buffer, boolean]>([
    ['ten characters for an invalid byte', Buffer.concat([Buffer.from('é日😀éééééééx'), Buffer.of(0xe9)]), true],
    ['nine characters', Buffer.concat([Buffer.from('ééééééééé'), Buffer.of(0xe9)]), false],
    [
      'nineteen characters for two invalid bytes',
      Buffer.concat([Buffer.from('é'.repeat(19)), Buffer.of(0xe9, 0x41, 0xe9)]),
      false,
    ],
    ['a mark', Buffer.from('efbbbfe9e9', 'hex'), true],
    ['Windows-1252', Buffer.from('Málaga, Ünal, Ã©, naïve', 'latin1'), false],
  ])('decides whether a text is UTF-8 for %s', (_what, content, isUtf8) => {
    expect(countOf(content).isMostlyUtf8(content)).toBe(isUtf8);
  });
});

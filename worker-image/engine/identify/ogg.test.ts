import { describe, expect, it } from 'vitest';
import { formatOfOgg } from '#worker-image/engine/identify/ogg.ts';

/** Returns a page with one packet; `first` marks the begin of a stream. */
function page(packet: string, first = true): Buffer {
  const header = Buffer.alloc(28);
  header.write('OggS', 'latin1');
  header[5] = first ? 2 : 0;
  header[26] = 1;
  header[27] = packet.length;
  return Buffer.concat([header, Buffer.from(packet, 'latin1')]);
}

const format = (...pages: readonly Buffer[]): string | null => formatOfOgg(Buffer.concat(pages));

describe('formatOfOgg', () => {
  it.each([
    ['OpusHead\x01', 'opus'],
    ['\x01vorbis', 'ogg'],
    ['\x7fFLAC', 'ogg'],
    ['Speex   1.2', 'ogg'],
  ])('of a stream that begins with %j is %s', (packet, expected) => {
    expect(format(page(packet))).toBe(expected);
    expect(format(page('fishead\0'), page(packet), page('data', false))).toBe(expected);
  });

  it('returns null for other bytes', () => {
    expect(format(Buffer.from('Oggs'))).toBeNull();
  });

  it.each<readonly [string, readonly Buffer[]]>([
    ['video beside audio', [page('\x01vorbis'), page('\x80theora')]],
    ['no known stream', [page('fishead\0')]],
    ['audio behind the first data', [page('fishead\0'), page('data', false), page('\x01vorbis')]],
    ['a truncated page', [page('\x01vorbis').subarray(0, 27)]],
    ['a packet that is truncated', [page('\x01vorbis').subarray(0, 30)]],
  ])('refuses a file with %s', (_what, pages) => {
    expect(() => format(...pages)).toThrow(expect.objectContaining({ code: 'unsupported_input' }));
  });
});

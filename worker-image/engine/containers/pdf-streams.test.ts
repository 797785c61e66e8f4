import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkStreams } from '#worker-image/engine/containers/pdf-streams.ts';

const CONTENT = Buffer.from('BT /F1 12 Tf (some text of a page) Tj ET '.repeat(40));

/** Returns a part of a PDF with one stream. */
function streamOf(filters: string, data: Buffer, end = '\nendstream\nendobj\n'): Buffer {
  return Buffer.concat([Buffer.from(`1 0 obj\n<</Length 2 0 R${filters}>>\nstream\n`), data, Buffer.from(end)]);
}

const deflated = deflateSync(CONTENT);
const FLATE = '/Filter/FlateDecode';

describe('checkStreams', () => {
  it.each([
    ['one filter', FLATE, deflated],
    ['a list of one filter', '/Filter [ /FlateDecode ]', deflated],
    ['no filter', '', Buffer.from('stream of text')],
    ['the filter of an image', '/Filter/DCTDecode', Buffer.from('\xff\xd8 stream \xff\xd9', 'latin1')],
  ])('reads a stream with %s', (_what, filters, data) => {
    expect(checkStreams(Buffer.concat([streamOf(filters, data), streamOf(FLATE, deflated)]))).toBe(true);
  });

  it('returns false for filters that it does not decode', () => {
    expect(checkStreams(streamOf('/Filter [/ASCII85Decode /FlateDecode]', deflated))).toBe(false);
  });

  it.each(
    deflated
      .toString('latin1')
      .split('')
      .map((_, at) => at),
  )('finds a wrong byte at %i', (at) => {
    const wrong = Buffer.from(deflated);
    wrong[at] = (wrong[at] ?? 0) ^ 0x55;
    expect(() => checkStreams(streamOf(FLATE, wrong))).toThrow('of the PDF at byte');
  });

  it('finds a truncated stream, and one without its end', () => {
    expect(() => checkStreams(streamOf(FLATE, deflated.subarray(0, -5), ''))).toThrow('is damaged');
    expect(() => checkStreams(streamOf(FLATE, deflated, '\nendobj\n'))).toThrow('has no end');
  });
});

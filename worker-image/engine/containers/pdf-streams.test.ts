import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { checkStreams } from '#worker-image/engine/containers/pdf-streams.ts';

const CONTENT = Buffer.from('BT /F1 12 Tf (some text of a page) Tj ET '.repeat(40));

/** Returns a part of a PDF with one stream, whose length is another object unless it is given. */
function streamOf(filters: string, data: Buffer, { end = '\nendstream\nendobj\n', length = '2 0 R' } = {}): Buffer {
  return Buffer.concat([Buffer.from(`1 0 obj\n<</Length ${length}${filters}>>\nstream\n`), data, Buffer.from(end)]);
}

const deflated = deflateSync(CONTENT);
const FLATE = '/Filter/FlateDecode';

describe('checkStreams', () => {
  it.each([
    ['one filter', FLATE, deflated],
    ['a list of one filter', '/Filter [ /FlateDecode ]', deflated],
  ])('reads a stream with %s', (_what, filters, data) => {
    expect(checkStreams(Buffer.concat([streamOf(filters, data), streamOf(FLATE, deflated)]))).toBe(true);
  });

  // The data looks like a stream that is damaged, and like one of another filter.
  it.each([
    ['no filter', ''],
    ['the filter of an image', '/Filter/DCTDecode'],
    ['a list of the filter of an image', '/Filter [/JPXDecode]'],
  ])('does not read inside of a stream with %s', (_what, filters) => {
    const data = Buffer.concat([streamOf(FLATE, Buffer.from('nothing')), streamOf('/Filter/Crypt', deflated)]);
    const whole = streamOf(filters, data, { length: String(data.length) });
    expect(checkStreams(Buffer.concat([whole, streamOf(FLATE, deflated)]))).toBe(true);
    expect(() => checkStreams(Buffer.concat([whole, streamOf(FLATE, deflated.subarray(1))]))).toThrow('is damaged');
  });

  it.each([
    ['another filter', streamOf('/Filter/LZWDecode', deflated)],
    ['two filters', streamOf('/Filter [/ASCII85Decode /FlateDecode]', deflated)],
    ['a filter in another object', streamOf('/Filter 3 0 R', deflated, { length: String(deflated.length) })],
    ['an image whose length is another object', streamOf('/Filter/DCTDecode', deflated)],
    ['an image of a wrong length', streamOf('/Filter/DCTDecode', deflated, { length: String(deflated.length - 20) })],
    ['no filter, whose length is another object', streamOf('', deflated)],
    ['a dictionary too long to be read', streamOf(`${FLATE}/Padding(${'x'.repeat(5000)})/Length 9`, deflated)],
  ])('returns false before it reads what follows a stream with %s', (_what, stream) => {
    expect(checkStreams(Buffer.concat([stream, streamOf(FLATE, Buffer.from('damaged'))]))).toBe(false);
  });

  it('returns false for streams that decompress to far more than the size of the file', () => {
    const many = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, () => large));
    const large = streamOf(FLATE, deflateSync(Buffer.alloc(60 * 1024 ** 2)));
    expect(checkStreams(many(4))).toBe(true);
    expect(checkStreams(many(5))).toBe(false);
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
    expect(() => checkStreams(streamOf(FLATE, deflated.subarray(0, -5), { end: '' }))).toThrow('is damaged');
    expect(() => checkStreams(streamOf(FLATE, deflated, { end: '\nendobj\n' }))).toThrow('has no end');
  });
});

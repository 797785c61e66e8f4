import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { readNclx } from '#worker-image/engine/containers/heif-colors.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

function box(type: string, ...content: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? bytes(part) : part)));
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const PRIMARY = box('pitm', '00000000 0001');
/** Primaries and transfer function as four hexadecimal digits each; then the matrix and the full range. */
const nclx = (numbers: string): Buffer => box('colr', Buffer.from('nclx'), numbers, '0006 80');
const [P3, PQ] = ['000c 000d', '0009 0010'];
const PROFILE = box('colr', Buffer.from('prof'), 'aabb');

/** @param own Numbers of the properties of item 1, which is shown; the others belong to item 2. */
function heif(properties: readonly Buffer[], own: readonly number[]): ReturnType<typeof fileReaderOf> {
  const others = properties.map((_, i) => i + 1).filter((number) => !own.includes(number));
  const entry = (id: string, numbers: readonly number[]): Buffer =>
    Buffer.concat([bytes(id), Buffer.from([numbers.length, ...numbers])]);
  const associations = box('ipma', '00000000 00000002', entry('0001', own), entry('0002', others));
  return fileReaderOf(box('meta', '00000000', PRIMARY, box('iprp', box('ipco', ...properties), associations)));
}

describe('readNclx', () => {
  it('returns the numbers of the image that is shown', async () => {
    expect(await readNclx(heif([nclx(PQ), nclx(P3)], [2]))).toEqual({ primaries: 12, transfer: 13 });
  });

  it('returns the numbers of the tiles when they agree', async () => {
    expect(await readNclx(heif([nclx(PQ), nclx(PQ)], []))).toEqual({ primaries: 9, transfer: 16 });
  });

  it.each([
    ['other images that disagree', heif([nclx(PQ), nclx(P3)], [])],
    ['an ICC profile', heif([PROFILE], [1])],
    ['a truncated box', heif([box('colr', Buffer.from('nclx'))], [1])],
    ['no image', fileReaderOf(box('moov'))],
    ['no associations', fileReaderOf(box('meta', '00000000', PRIMARY))],
    [
      'more associations than the file has',
      fileReaderOf(box('meta', '00000000', PRIMARY, box('iprp', box('ipma', '00000000 ffffffff')))),
    ],
  ])('returns unspecified colors for %s', async (_what, file) => {
    expect(await readNclx(file)).toEqual({ primaries: 2, transfer: 2 });
  });
});

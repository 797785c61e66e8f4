import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constants, deflateRawSync, deflateSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lzwOfZeros, runsOfZeros } from '#test/hostile/pdf-zero-encoders.ts';
import { refuseDecompressionBomb } from '#worker-image/engine/pdf/refuse-decompression-bomb.ts';

const MIB = 1024 ** 2;
let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stream-bomb-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('refuseDecompressionBomb', () => {
  it.each<[string, Buffer]>([
    ['nothing packed', Buffer.from('%PDF-1.7\n')],
    ['a stream of 60 MB', packed('/Filter /FlateDecode', Buffer.alloc(60 * MIB))],
    ['an image as large as it claims', packed(image(12_000, 12_000), Buffer.alloc(12_000 * 12_001))],
    ['a stream that is damaged', stream('/Filter /FlateDecode', Buffer.from([0x78, 0x9c, 1, 2, 3]))],
    ['a truncated stream', packed('/Filter /FlateDecode', randomBytes(MIB)).subarray(0, 5000)],
    [
      'repeated bytes whose end is not marked',
      Buffer.concat(
        Array.from({ length: 30 }, () => stream('/Length 2 /Filter /RunLengthDecode', Buffer.from([129, 0]))).concat(
          stream('', runsOfZeros(30 * MIB)),
        ),
      ),
    ],
    ['a packed file that is no stream', deflateSync(Buffer.alloc(200 * MIB))],
    [
      'much that is hardly packed',
      Buffer.concat(Array.from({ length: 40 }, () => packed('/Filter /FlateDecode', randomBytes(2 * MIB)))),
    ],
    [
      'ten thousand small streams',
      repeated(10_000, () => packed('/Length 9 0 R /Filter /FlateDecode', randomBytes(200))),
    ],
    [
      'ten thousand streams whose data is encrypted',
      repeated(10_000, () => stream('/Length 200 /Filter /FlateDecode', randomBytes(200))),
    ],
    [
      'two thousand streams of digits, whose length is another object',
      repeated(2000, () => {
        const digits = deflateSync(randomBytes(200)).toString('hex');
        return stream('/Length 9 0 R /Filter [/ASCIIHexDecode /FlateDecode]', Buffer.from(`${digits}>`));
      }),
    ],
    ['a hundred large streams', repeated(100, () => packed('/Filter /FlateDecode', randomBytes(70_000)))],
    ['text that repeats the keyword', Buffer.alloc(5 * MIB, '/Length 9 of a stream\n')],
  ])('accepts %s', async (_what, bytes) => {
    await expect(refuse(bytes)).resolves.toBeUndefined();
  });

  it.each<[string, Buffer]>([
    ['a stream of 70 MB', packed('/Filter /FlateDecode', Buffer.alloc(70 * MIB))],
    [
      'one with spaces behind its keyword',
      Buffer.from(
        packed('/Filter /FlateDecode', Buffer.alloc(70 * MIB))
          .toString('latin1')
          .replace('stream\n', 'stream \t\n'),
        'latin1',
      ),
    ],
    [
      'streams of 70 MB in all',
      Buffer.concat(Array.from({ length: 70 }, () => packed('/Filter/Fl', Buffer.alloc(MIB)))),
    ],
    ['a stream whose filter is an indirect object', packed('/Filter 9 0 R', Buffer.alloc(70 * MIB))],
    [
      'a stream whose claims end it early',
      withEarlyEnd(packed('/Length 10 /Filter /FlateDecode', Buffer.alloc(70 * MIB))),
    ],
    [
      'a stream packed twice',
      stream('/Filter [/FlateDecode /FlateDecode]', deflateSync(deflateSync(Buffer.alloc(70 * MIB)))),
    ],
    ['a stream of repeated bytes', stream('/Filter /RunLengthDecode', runsOfZeros(520 * MIB))],
    [
      'a stream of repeated bytes written as text',
      stream('/Filter [/AHx /Fl /RL]', Buffer.from(`${deflateSync(runsOfZeros(70 * MIB)).toString('hex')}>`)),
    ],
    ['a stream under LZW', stream('/Filter /LZWDecode', lzwOfZeros(70 * MIB))],
    ['an LZW stream whose filter is an indirect object', stream('/Filter 9 0 R', lzwOfZeros(70 * MIB))],
    [
      'a stream whose dictionary names a filter before its own',
      stream('/P << /Filter /AHx >> /Filter /LZW', lzwOfZeros(70 * MIB)),
    ],
    ['an image larger than it claims', packed(image(100, 100), Buffer.alloc(20 * MIB))],
    [
      'a stream behind 5 MB of other things',
      Buffer.concat([randomBytes(5 * MIB - 7), packed('/Filter /FlateDecode', Buffer.alloc(600 * MIB))]),
    ],
    ['overlapping streams that share damaged data', repeatedHeaders(1000, damagedZeros(3 * MIB))],
  ])('refuses %s', async (_what, bytes) => {
    await expect(refuse(bytes)).rejects.toMatchObject({ code: 'processing_failed' });
  });

  it.each<[string, Buffer]>([
    ['a list of filters that never ends, before each keyword', Buffer.alloc(5 * MIB, '/Filter[stream\n')],
    ['streams of digits that end nowhere', Buffer.alloc(5 * MIB, '1 0 obj<</Filter/AHx>>stream\n')],
    [
      'streams that decode to nothing and share their data',
      repeatedHeaders(20_000, Buffer.alloc(60_000, EMPTY_BLOCK), '1 0 obj<</Filter[/Fl/Fl]>>stream\n'),
    ],
  ])('limits the work of measuring %s', async (_what, bytes) => {
    await expect(refuse(bytes)).rejects.toMatchObject({
      code: 'processing_failed',
      message: expect.stringContaining('bytes of work, which is the maximum'),
    });
  });

  it('ends when it is aborted, where no keyword begins a stream', async () => {
    const controller = new AbortController();
    const check = refuse(Buffer.alloc(5 * MIB, 'stream\n'), controller.signal);
    controller.abort(new Error('aborted by the test'));
    await expect(check).rejects.toThrow('aborted by the test');
  });

  it('handles other events while it decodes short streams', async () => {
    const controller = new AbortController();
    const short = packed(image(1000, 1000), Buffer.alloc(1_001_000));
    const bytes = repeated(2000, () => short);
    setTimeout(() => controller.abort(new Error('aborted by the test')), 20);
    await expect(refuse(bytes, controller.signal)).rejects.toThrow('aborted by the test');
  });

  it('finds a stream at any offset relative to the read window', async () => {
    const bomb = packed(image(9, 9), Buffer.alloc(4 * MIB));
    for (let shift = 0; shift < 40; shift += 1) {
      const before = Buffer.alloc(4 * MIB - 20 - shift, '%');
      await expect(refuse(Buffer.concat([before, bomb])), `${shift}`).rejects.toMatchObject({
        code: 'processing_failed',
      });
    }
  });
});

async function refuse(bytes: Buffer, signal = new AbortController().signal): Promise<void> {
  const path = join(directory, 'a.pdf');
  await writeFile(path, bytes);
  await refuseDecompressionBomb(path, signal);
}

function repeated(times: number, make: () => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: times }, make));
}

/** Block of Deflate without data. */
const EMPTY_BLOCK = Buffer.from([0, 0, 0, 0xff, 0xff]);

/** Returns zlib data without its header, which ends with an invalid block. */
function damagedZeros(bytes: number): Buffer {
  const zeros = deflateRawSync(Buffer.alloc(bytes), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([zeros, Buffer.from([0xff])]);
}

/** Returns streams that continue into the next one, whose keyword and zlib header are a stored block, and share the last data. */
function repeatedHeaders(count: number, data: Buffer, keyword = 'stream\n'): Buffer {
  const head = Buffer.concat([Buffer.from(keyword), Buffer.from([0x78, 0x9c])]);
  const storedHead = Buffer.concat([Buffer.from([0, head.length, 0, ~head.length & 0xff, 0xff]), head]);
  return Buffer.concat([head, Buffer.alloc(storedHead.length * count, storedHead), data]);
}

function stream(entries: string, data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`1 0 obj\n<< ${entries} >>\nstream\r\n`),
    data,
    Buffer.from('\nendstream\nendobj\n'),
  ]);
}

function packed(entries: string, plain: Buffer): Buffer {
  return stream(entries, deflateSync(plain));
}

function image(width: number, height: number): string {
  return `/Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode`;
}

/** Inserts `endstream` into the data as a stored block of Deflate. */
function withEarlyEnd(bytes: Buffer): Buffer {
  const at = bytes.indexOf('stream\r\n') + 8;
  const words = Buffer.from('\nendstream\nendobj\n2 0 obj\n');
  const head = Buffer.from([0, words.length, 0, ~words.length & 0xff, 0xff]);
  return Buffer.concat([bytes.subarray(0, at + 2), head, words, bytes.subarray(at + 2)]);
}

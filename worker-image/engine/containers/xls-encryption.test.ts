import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { isEncryptedWorkbook } from '#worker-image/engine/containers/xls-encryption.ts';

/** Records of two bytes type, two bytes length, payload; the first is BOF. */
const BOF = '0908 0400 00000000';
const WRITE_PROTECT = '8600 0000';
const FILE_PASS = '2f00 0200 0000';
const OTHER = '4200 0200 0000';

describe('isEncryptedWorkbook', () => {
  it.each([
    ['FilePass behind the first record', BOF + FILE_PASS, true],
    ['FilePass behind WriteProtect', BOF + WRITE_PROTECT + FILE_PASS, true],
    ['FilePass behind another record', BOF + OTHER + FILE_PASS, false],
    ['no FilePass', BOF + OTHER, false],
    ['a truncated record', '090800', false],
  ])('decides on bare records with %s', async (_what, hex, expected) => {
    expect(await isEncryptedWorkbook(fileReaderOf(Buffer.from(hex.replaceAll(' ', ''), 'hex')))).toBe(expected);
  });
});

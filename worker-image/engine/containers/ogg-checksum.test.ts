import { describe, expect, it } from 'vitest';
import { fileReaderOf } from '#test/fixtures/memory-file-reader.ts';
import { verifyOggPages } from '#worker-image/engine/containers/ogg-checksum.ts';

/** The first page of an Opus file from ffmpeg. */
const PAGE = Buffer.from(
  '4f67675300020000000000000000b23ece3c00000000a0d5c9a201134f707573486561640102380180bb0000000000',
  'hex',
);

describe('verifyOggPages', () => {
  it('accepts whole pages with their checksums, more than are read at a time', async () => {
    const pages = fileReaderOf(Buffer.concat(Array.from({ length: 40_000 }, () => PAGE)));
    await expect(verifyOggPages(pages)).resolves.toBeUndefined();
  });

  it('refuses a page with any other byte', async () => {
    for (let at = 0; at < PAGE.length; at += 1) {
      const damaged = Buffer.from(PAGE);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      await expect(verifyOggPages(fileReaderOf(damaged)), `byte ${at}`).rejects.toThrow(
        'the Ogg page at byte 0 is damaged',
      );
    }
  });

  it.each([
    ['a truncated page', Buffer.concat([PAGE, PAGE.subarray(0, -1)])],
    ['bytes behind the last page', Buffer.concat([PAGE, Buffer.from('more')])],
  ])('refuses %s', async (_what, bytes) => {
    await expect(verifyOggPages(fileReaderOf(bytes))).rejects.toThrow(`the Ogg page at byte ${PAGE.length} is damaged`);
  });
});

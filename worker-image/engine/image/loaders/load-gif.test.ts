import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { engineDeps, freshDirectory } from '#test/fixtures/engine-work.ts';
import { gif } from '#test/hostile/forge-image.ts';
import { findCroppedScreen, isRecoverable, loadGif, widenScreen } from '#worker-image/engine/image/loaders/load-gif.ts';

const COVERED = { width: 1, height: 1 };

describe('findCroppedScreen', () => {
  it('returns a logical screen that is larger than the area covered by frames', () => {
    const screen = { width: 640, height: 480 };
    expect(findCroppedScreen(gif(screen, 1), COVERED)).toEqual(screen);
  });

  it('returns null when the frames cover the logical screen', () => {
    expect(findCroppedScreen(gif({ width: 1, height: 1 }, 1), COVERED)).toBeNull();
  });

  it('returns null for a truncated header', () => {
    expect(findCroppedScreen(Buffer.from('GIF89a'), COVERED)).toBeNull();
  });
});

describe('isRecoverable', () => {
  it.each([
    [640, 480, true, true],
    [640, 480, false, false],
    [641, 480, true, false],
  ])('returns for %i × %i with transparency %j: %j', (width, height, hasAlpha, expected) => {
    expect(isRecoverable({ width, height }, { hasAlpha })).toBe(expected);
  });
});

describe('widenScreen', () => {
  it('makes the screen of a copy one pixel wider', () => {
    const file = gif({ width: 640, height: 480 }, 1);
    expect(widenScreen(file, { width: 640, height: 480 }).readUInt16LE(6)).toBe(641);
    expect(file.readUInt16LE(6)).toBe(640);
  });
});

describe('loadGif', () => {
  const comment = Buffer.from('!\xfe\x05hello\0', 'latin1');

  it.each([
    ['a comment and bytes behind the trailer', [comment, Buffer.from(`;${'some text '.repeat(4)}`)]],
    ['bytes behind the trailer', [Buffer.from(';and some text')]],
    ['no trailer', [comment]],
  ])('reads a GIF with %s', async (_what, parts) => {
    const image = await sharp({ create: { width: 8, height: 6, channels: 3, background: '#369' } })
      .gif()
      .toBuffer();
    const directory = await freshDirectory();
    const path = join(directory, 'tail.gif');
    await writeFile(path, Buffer.concat([image.subarray(0, -1), ...parts]));
    const picture = await loadGif(engineDeps(), { path, format: 'gif', directory, maxPixels: 1_000_000 });
    await picture.verify(engineDeps());
    const source = await picture.decode(engineDeps());
    const pixels = await source.start({ animated: false, keepProfile: false }).removeAlpha().raw().toBuffer();
    expect([...pixels.subarray(0, 3)]).toEqual([0x33, 0x66, 0x99]);
  });
});

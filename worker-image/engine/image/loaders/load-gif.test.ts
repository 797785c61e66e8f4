import { describe, expect, it } from 'vitest';
import { gif } from '#test/hostile/forge-image.ts';
import { findCroppedScreen, isRecoverable, widenScreen } from '#worker-image/engine/image/loaders/load-gif.ts';

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

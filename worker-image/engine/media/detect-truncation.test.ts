import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/catalogue/formats.ts';
import { engineDeps, freshDirectory, workOn } from '#test/fixtures/engine-work.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';
import type { Facts } from '#worker-image/engine/handler.ts';
import { audioHandler } from '#worker-image/engine/media/audio-handler.ts';
import { withTruncationWarning } from '#worker-image/engine/media/detect-truncation.ts';

const TIMED = ['clip.mp4', 'clip.mov', 'clip.m4v', 'clip.3gp', 'talk.m4a', 'clip.mkv', 'clip.webm', 'clip.flv'];
const COUNTED = ['talk.flac', 'talk.mp3'];
const SIZED = ['clip.avi', 'clip.mpg', 'talk.wav', 'clip.wmv', 'talk.wma', 'talk.aac', 'talk.ogg', 'talk.opus'];

let directory: string;
beforeAll(async () => {
  directory = await freshDirectory();
});

/** Returns the warning for the first part of a sample, whose header declares 10 seconds. */
async function warningFor(
  name: string,
  { share, readable }: { share: number; readable: number },
): Promise<string | undefined> {
  const bytes = await sample(name);
  return warningForBytes(name, { bytes: bytes.subarray(0, Math.round(bytes.length * share)), readable });
}

async function warningForBytes(
  name: string,
  { bytes, readable }: { bytes: Buffer; readable: number },
): Promise<string | undefined> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  const { input } = await workOn({ path, format: name.split('.')[1] as Format, operation: 'convert' });
  const facts: Facts & { durationSeconds: number; probe: { claimedSeconds: number } } = {
    durationSeconds: readable,
    probe: { claimedSeconds: 10 },
  };
  return (await withTruncationWarning(input, facts)).warning;
}

function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../../api/data/samples/${name}`, import.meta.url));
}

describe('a WAV file whose data chunk declares less than the file contains', () => {
  it.each([1000, 1001])('is reported for a declared size of %i bytes', async (declared) => {
    const bytes = await sample('talk.wav');
    const body = bytes.indexOf('data') + 8;
    bytes.writeUInt32LE(declared, body - 4);
    expect(await warningForBytes('talk.wav', { bytes, readable: 10 })).toContain(
      `declares ${declared} bytes of samples, and ${bytes.length - body - declared} bytes follow them`,
    );
  });

  it('is not reported for a declared size of 0, with which ffmpeg reads to the end', async () => {
    const bytes = await sample('talk.wav');
    bytes.writeUInt32LE(0, bytes.indexOf('data') + 4);
    const path = join(directory, 'zero.wav');
    await writeFile(path, bytes);
    const facts = await audioHandler.inspect(engineDeps(), await workOn({ path, format: 'wav', operation: 'convert' }));
    expect(facts.warning).toBeUndefined();
    expect(facts.durationSeconds).toBeGreaterThan(1);
  });
});

describe('truncation of a media file', () => {
  it.each([...TIMED, ...COUNTED])('is reported with the remaining seconds in %s', async (name) => {
    expect(await warningFor(name, { share: 0.6, readable: 3.21 })).toBe(
      'The file is truncated: 3.21 of 10 seconds could be read. The result contains those.',
    );
  });

  it.each(SIZED)('is detected by sizes in %s', async (name) => {
    expect(await warningFor(name, { share: 0.6, readable: 3.21 })).toBe(
      'The file is truncated: its end is missing. The result contains what could be read.',
    );
  });

  it.each([...TIMED, ...COUNTED, ...SIZED])('is not reported for a complete %s', async (name) => {
    expect(await warningFor(name, { share: 1, readable: 10 })).toBeUndefined();
  });

  it.each(['talk.wav', 'clip.avi'])('is not reported for %s of unknown size', async (name) => {
    const bytes = await sample(name);
    bytes.writeUInt32LE(0xffff_ffff, 4);
    bytes.writeUInt32LE(0xffff_ffff, bytes.indexOf('data') + 4);
    expect(await warningForBytes(name, { bytes, readable: 10 })).toBeUndefined();
  });

  it('is not reported for a WAV with chunks, tags or a few other bytes behind its samples', async () => {
    const whole = await sample('talk.wav');
    const list = Buffer.alloc(8);
    list.write('LIST');
    list.writeUInt32LE(8000, 4);
    for (const more of [
      [list, Buffer.alloc(8000)],
      [Buffer.from('ID3\x03'), Buffer.alloc(8000)],
      [Buffer.alloc(4000)],
    ]) {
      const bytes = Buffer.concat([whole, ...more]);
      expect(await warningForBytes('talk.wav', { bytes, readable: 10 })).toBeUndefined();
    }
  });

  it('is not reported for an MKV of unknown size, or with other bytes behind it', async () => {
    const bytes = await sample('clip.mkv');
    const segment = bytes.indexOf(Buffer.from('18538067', 'hex')) + 4;
    const open = Buffer.from(bytes);
    open.fill(0xff, segment + 1, segment + 8);
    open[segment] = 1;
    expect(await warningForBytes('clip.mkv', { bytes: open.subarray(0, 5000), readable: 10 })).toBeUndefined();
    const more = Buffer.concat([bytes, Buffer.alloc(100)]);
    expect(await warningForBytes('clip.mkv', { bytes: more, readable: 10 })).toBeUndefined();
  });

  it('is detected in an MP3 without a frame count', async () => {
    const whole = await sample('talk.mp3');
    const bytes = Buffer.from(whole);
    bytes.write('none', Math.max(bytes.indexOf('Xing'), bytes.indexOf('Info')));
    expect(await warningForBytes('talk.mp3', { bytes, readable: 3 })).toBeUndefined();
    for (const missing of [1, 100, 5000])
      expect(await warningForBytes('talk.mp3', { bytes: bytes.subarray(0, -missing), readable: 10 })).toMatch(
        /truncated/,
      );
  });

  it.each(['talk.aac', 'talk.mp3'])('is not reported for %s with a tag behind its last frame', async (name) => {
    const bytes = Buffer.concat([await sample(name), Buffer.from('TAG'), Buffer.alloc(125, 0x20)]);
    expect(await warningForBytes(name, { bytes, readable: 10 })).toBeUndefined();
  });

  it('is not reported for an MP3 of a low sample rate, whose priming is long', async () => {
    const args = ['-f', 'lavfi', '-i', 'sine=duration=2:sample_rate=8000'];
    const { path } = await draw(engineDeps().run, directory, { format: 'mp3', args, name: 'low' });
    const work = await workOn({ path, format: 'mp3', operation: 'compress' });
    expect(await audioHandler.inspect(engineDeps(), work)).not.toHaveProperty('warning');
  });

  it('is detected when the file is inspected', async () => {
    const path = join(directory, 'cut.flac');
    const bytes = await sample('talk.flac');
    await writeFile(path, bytes.subarray(0, bytes.length / 2));
    const work = await workOn({ path, format: 'flac', operation: 'compress' });
    expect((await audioHandler.inspect(engineDeps(), work)).warning).toMatch(/truncated: 3\.\d+ of 8 seconds/);
  });
});

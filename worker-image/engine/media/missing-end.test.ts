import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Format } from '#crds/formats.ts';
import { engineDeps, freshDirectory, workOn } from '#test/fixtures/engine-work.ts';
import { draw } from '#test/fixtures/make-media-fixtures.ts';
import { NO_FACTS } from '#worker-image/engine/handler.ts';
import { audioHandler } from '#worker-image/engine/media/audio-handler.ts';
import { withWarning } from '#worker-image/engine/media/missing-end.ts';

const TIMED = ['clip.mp4', 'clip.mov', 'clip.m4v', 'clip.3gp', 'talk.m4a', 'clip.mkv', 'clip.webm', 'clip.flv'];
const COUNTED = ['talk.flac', 'talk.mp3'];
const SIZED = ['clip.avi', 'clip.mpg', 'talk.wav', 'clip.wmv', 'talk.wma', 'talk.aac', 'talk.ogg', 'talk.opus'];

let directory: string;
beforeAll(async () => {
  directory = await freshDirectory();
});

/** The warning for the first part of a sample, of which the header says 10 seconds. */
async function warningFor(
  name: string,
  { share, counted }: { share: number; counted: number },
): Promise<string | null> {
  const bytes = await sample(name);
  return warningForBytes(name, { bytes: bytes.subarray(0, Math.round(bytes.length * share)), counted });
}

async function warningForBytes(
  name: string,
  { bytes, counted }: { bytes: Buffer; counted: number },
): Promise<string | null> {
  const path = join(directory, name);
  await writeFile(path, bytes);
  const { input } = await workOn({ path, format: name.split('.')[1] as Format, operation: 'convert' });
  const facts = { ...NO_FACTS, durationSeconds: counted };
  return (await withWarning({ input }, { claimedSeconds: 10 }, facts)).warning;
}

function sample(name: string): Promise<Buffer> {
  return readFile(new URL(`../../../api/samples/files/${name}`, import.meta.url));
}

describe('a media file whose end is missing', () => {
  it.each([...TIMED, ...COUNTED])('is told with the seconds that are left, as in %s', async (name) => {
    expect(await warningFor(name, { share: 0.6, counted: 3.21 })).toBe(
      'The file ends early: 3.21 of 10 seconds could be read. The result holds those.',
    );
  });

  it.each(SIZED)('is told by its sizes, as in %s', async (name) => {
    expect(await warningFor(name, { share: 0.6, counted: 3.21 })).toBe(
      'The file ends early: its end is missing. The result holds what could be read.',
    );
  });

  it.each([...TIMED, ...COUNTED, ...SIZED])('is not seen in %s, which is whole', async (name) => {
    expect(await warningFor(name, { share: 1, counted: 10 })).toBeNull();
  });

  it.each(['talk.wav', 'clip.avi'])('is not seen in %s of a size that its writer left open', async (name) => {
    const bytes = await sample(name);
    bytes.writeUInt32LE(0xffff_ffff, 4);
    bytes.writeUInt32LE(0xffff_ffff, bytes.indexOf('data') + 4);
    expect(await warningForBytes(name, { bytes, counted: 10 })).toBeNull();
  });

  it('is not seen in an MKV of unknown size, or behind which other bytes follow', async () => {
    const bytes = await sample('clip.mkv');
    const segment = bytes.indexOf(Buffer.from('18538067', 'hex')) + 4;
    const open = Buffer.from(bytes);
    open.fill(0xff, segment + 1, segment + 8);
    open[segment] = 1;
    expect(await warningForBytes('clip.mkv', { bytes: open.subarray(0, 5000), counted: 10 })).toBeNull();
    const more = Buffer.concat([bytes, Buffer.alloc(100)]);
    expect(await warningForBytes('clip.mkv', { bytes: more, counted: 10 })).toBeNull();
  });

  it('is seen in an MP3 that does not count its frames', async () => {
    const whole = await sample('talk.mp3');
    const bytes = Buffer.from(whole);
    bytes.write('none', Math.max(bytes.indexOf('Xing'), bytes.indexOf('Info')));
    expect(await warningForBytes('talk.mp3', { bytes, counted: 3 })).toBeNull();
    for (const missing of [1, 100, 5000])
      expect(await warningForBytes('talk.mp3', { bytes: bytes.subarray(0, -missing), counted: 10 })).toMatch(/early/);
  });

  it.each(['talk.aac', 'talk.mp3'])('is not seen in %s with a tag behind its last frame', async (name) => {
    const bytes = Buffer.concat([await sample(name), Buffer.from('TAG'), Buffer.alloc(125, 0x20)]);
    expect(await warningForBytes(name, { bytes, counted: 10 })).toBeNull();
  });

  it('is not seen in an MP3 of a low rate, whose priming is long', async () => {
    const args = ['-f', 'lavfi', '-i', 'sine=duration=2:sample_rate=8000'];
    const { path } = await draw(engineDeps().run, directory, { format: 'mp3', args, name: 'low' });
    const work = await workOn({ path, format: 'mp3', operation: 'compress' });
    expect(await audioHandler.inspect(engineDeps(), work)).toMatchObject({ warning: null });
  });

  it('is seen when the file is inspected', async () => {
    const path = join(directory, 'cut.flac');
    const bytes = await sample('talk.flac');
    await writeFile(path, bytes.subarray(0, bytes.length / 2));
    const work = await workOn({ path, format: 'flac', operation: 'compress' });
    expect((await audioHandler.inspect(engineDeps(), work)).warning).toMatch(/ends early: 3\.\d+ of 8 seconds/);
  });
});

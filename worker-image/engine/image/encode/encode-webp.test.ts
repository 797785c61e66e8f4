import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { encodeWebp, exactWebpSettings, webpSettings } from '#worker-image/engine/image/encode/encode-webp.ts';
import { encoderQuality } from '#worker-image/engine/image/encode/quality-scale.ts';

describe('webpSettings', () => {
  it.each([
    ['graphic', true],
    ['photo', false],
  ] as const)('for a %s use sharp subsampling: %j', (content, isSharp) => {
    const settings = webpSettings({ quality: 75, content, encoders: encoderQuality(75, content) });
    expect(settings.smartSubsample).toBe(isSharp);
  });
});

describe('exactWebpSettings', () => {
  it('are lossless at quality 100 only', () => {
    expect(exactWebpSettings({ quality: 100 })).toMatchObject({ lossless: true });
    expect(exactWebpSettings({ quality: 99 })).toMatchObject({ nearLossless: true });
  });
});

/** Returns a graphic: bars of one color on white. */
function bars(): Sharp {
  const bar = { create: { width: 3, height: 60, channels: 3 as const, background: '#e02020' } };
  const page = sharp({ create: { width: 400, height: 100, channels: 3, background: '#fff' } });
  return page.composite(Array.from({ length: 30 }, (_, at) => ({ input: bar, left: 20 + at * 12, top: 20 })));
}

describe('encodeWebp', () => {
  it('writes every sample of a graphic at quality 100', async () => {
    const output = await outputOf(bars(), { quality: 100 });
    await encodeWebp(engineDeps(), output);
    const samples = await sharp(output.path).removeAlpha().raw().toBuffer();
    expect(samples.equals(await output.pipeline().removeAlpha().raw().toBuffer())).toBe(true);
  });

  it('leaves one file, the smaller of two for a graphic', async () => {
    const output = await outputOf(bars());
    await encodeWebp(engineDeps(), output);
    expect(await readdir(dirname(output.path))).toEqual(['input.png', 'output']);
    const lossy = await output.pipeline().webp({ quality: 57, effort: 4, smartSubsample: true }).toBuffer();
    expect((await readFile(output.path)).length).toBeLessThan(lossy.length);
  });
});

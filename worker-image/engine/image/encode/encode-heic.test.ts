import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { outputOf } from '#test/fixtures/encoder-output.ts';
import { engineDeps } from '#test/fixtures/engine-work.ts';
import { encodeHeic } from '#worker-image/engine/image/encode/encode-heic.ts';

const image = () => sharp({ create: { width: 64, height: 48, channels: 3, background: '#258' } });

describe('encodeHeic', () => {
  it('writes a HEIC of the size of the image', async () => {
    const output = await outputOf(image());
    await encodeHeic(engineDeps(), output);
    expect((await readFile(output.path)).toString('latin1', 4, 12)).toBe('ftypheic');
    expect(await sharp(output.path).metadata()).toMatchObject({ width: 64, height: 48, compression: 'hevc' });
  });

  it('throws the error of the tool when it wrote no file', async () => {
    const output = await outputOf(image(), { path: '/missing-folder/output.heic' });
    await expect(encodeHeic(engineDeps(), output)).rejects.toThrow('heif-enc exited with');
  });
});

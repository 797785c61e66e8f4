import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { deflateSync } from 'node:zlib';
import { makePngChunk } from '#worker-image/engine/containers/png-chunks.ts';
import { BT_709, colorSpaceOf, gamma } from '#worker-image/engine/image/color/color-space.ts';
import { makeIccProfile } from '#worker-image/engine/image/color/icc-profile.ts';

const IHDR_END = 33;

/** Returns a PNG with the profile. */
async function tagged(image: Sharp, profile: Buffer): Promise<Buffer> {
  const png = await image.png().toBuffer();
  const chunk = makePngChunk('iCCP', Buffer.concat([Buffer.from('test\0\0'), deflateSync(profile)]));
  return Buffer.concat([png.subarray(0, IHDR_END), chunk, png.subarray(IHDR_END)]);
}

const color = (background: string): Sharp => sharp({ create: { width: 8, height: 8, channels: 3, background } });

async function shown(png: Buffer): Promise<number[]> {
  return [...(await sharp(png).toColourspace('srgb').removeAlpha().raw().toBuffer()).subarray(0, 3)];
}

function near(found: readonly number[], wanted: readonly number[]): void {
  found.forEach((value, i) => expect(Math.abs(value - (wanted[i] ?? 0))).toBeLessThanOrEqual(2));
}

describe('makeIccProfile', () => {
  it('describes linear samples', async () => {
    const profile = makeIccProfile({ primaries: BT_709, ...gamma(1) }, 'rgb');
    near(await shown(await tagged(color('rgb(55, 55, 128)'), profile)), [128, 128, 188]);
  });

  it('describes gray', async () => {
    const profile = makeIccProfile({ primaries: BT_709, ...gamma(1) }, 'gray');
    near(await shown(await tagged(color('rgb(55, 55, 55)').toColourspace('b-w'), profile)), [128, 128, 128]);
  });

  it("describes Display P3 as libvips' own profile does", async () => {
    const wanted = [200, 90, 60];
    const p3 = color(`rgb(${wanted.join(', ')})`).withIccProfile('p3', { attach: false });
    const displayP3 = colorSpaceOf({ primaries: 12, transfer: 13 });
    if (displayP3 === null) throw new Error('Display P3 is missing');
    near(await shown(await tagged(p3, makeIccProfile(displayP3, 'rgb'))), wanted);
  });
});

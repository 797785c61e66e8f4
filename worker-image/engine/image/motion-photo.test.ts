import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';
import { hasMotionVideo, MOTION_PHOTO_WARNING } from '#worker-image/engine/image/motion-photo.ts';

const VIDEO = Buffer.from('\0\0\0\x18ftypmp42', 'latin1');

function xmp(property: string): string {
  return `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:GCamera="http://ns.google.com/photos/1.0/camera/" ${property}/></rdf:RDF></x:xmpmeta>`;
}

const image = sharp({
  create: {
    width: 160,
    height: 120,
    channels: 3,
    background: '#888',
    noise: { type: 'gaussian', mean: 128, sigma: 30 },
  },
});

async function pathOf(name: string, parts: readonly (Buffer | string)[]): Promise<string> {
  const path = join(await freshDirectory(), name);
  await writeFile(path, Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1'))));
  return path;
}

async function jpeg(property: string | null, ...parts: readonly (Buffer | string)[]): Promise<string> {
  const named = property === null ? image.clone() : image.clone().withXmp(xmp(property));
  return pathOf('photo.jpg', [await named.jpeg({ quality: 98 }).toBuffer(), ...parts]);
}

describe('hasMotionVideo', () => {
  it.each<readonly [string, string | null, readonly (Buffer | string)[], boolean]>([
    ['a motion photo', 'GCamera:MotionPhoto="1"', [VIDEO], true],
    ['an older motion photo', 'GCamera:MicroVideo="1"', [VIDEO], true],
    ['a motion photo of Samsung', null, ['MotionPhoto_Data', VIDEO, 'SEFH.......SEFT'], true],
    ['other data of Samsung', null, ['Image_UTC_Data', 'SEFH.......SEFT'], false],
    ['a motion photo without its video', 'GCamera:MotionPhoto="1"', [], false],
    ['a photo with another file behind it', null, ['MotionPhoto_Data', VIDEO], false],
    ['a photo that is no motion photo', 'GCamera:MotionPhoto="0"', [VIDEO], false],
  ])('recognizes %s', async (_what, property, parts, expected) => {
    expect(await hasMotionVideo(await jpeg(property, ...parts))).toBe(expected);
  });
});

describe('a motion photo', () => {
  it.each([
    ['compress', {}],
    ['convert', { convert: { to: 'png' as const } }],
    ['strip_metadata', {}],
  ] as const)('loses its video by %s, with a warning', async (operation, options) => {
    const warnings = async (path: string, format: 'jpg' | 'avif'): Promise<readonly string[]> =>
      (await runHandler(imageHandler, await workOn({ path, format, operation, options }))).warnings;
    const box = Buffer.concat([Buffer.from([0, 0, 0, 8 + VIDEO.length]), Buffer.from('mpvd'), VIDEO]);
    const avif = await image.clone().avif({ effort: 0, quality: 90 }).toBuffer();
    expect(await warnings(await jpeg('GCamera:MotionPhoto="1"', VIDEO), 'jpg')).toEqual([MOTION_PHOTO_WARNING]);
    expect(await warnings(await pathOf('photo.avif', [avif, box]), 'avif')).toEqual([MOTION_PHOTO_WARNING]);
    expect(await warnings(await pathOf('photo.avif', [avif]), 'avif')).toEqual([]);
  });
});

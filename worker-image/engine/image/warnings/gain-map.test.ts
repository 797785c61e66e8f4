import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshDirectory, runHandler, workOn } from '#test/fixtures/engine-work.ts';
import { GAIN_MAP_WARNING } from '#worker-image/engine/image/warnings/gain-map.ts';
import { imageHandler } from '#worker-image/engine/image/image-handler.ts';

const XMP =
  '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
  '<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"/></rdf:RDF></x:xmpmeta>';

let withMap = '';
let without = '';

beforeAll(async () => {
  const directory = await freshDirectory();
  withMap = join(directory, 'with.jpg');
  without = join(directory, 'without.jpg');
  const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
  const picture = sharp({ create: { width: 160, height: 120, channels: 3, background: '#888', noise } });
  const map = await picture.clone().resize(40, 30).greyscale().jpeg().toBuffer();
  await writeFile(withMap, Buffer.concat([await picture.clone().withXmp(XMP).jpeg({ quality: 98 }).toBuffer(), map]));
  await writeFile(without, await picture.clone().jpeg({ quality: 98 }).toBuffer());
});

describe('a JPEG with a gain map', () => {
  it.each([
    ['compress', {}],
    ['convert', { convert: { to: 'png' as const } }],
    ['strip_metadata', {}],
  ] as const)('loses the gain map by %s, with a warning', async (operation, options) => {
    const warnings = async (path: string): Promise<readonly string[]> =>
      (await runHandler(imageHandler, await workOn({ path, format: 'jpg', operation, options }))).warnings;
    expect(await warnings(withMap)).toEqual([GAIN_MAP_WARNING]);
    expect(await warnings(without)).toEqual([]);
  });
});

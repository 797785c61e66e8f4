/** Pictures with a second one that tells screens of high dynamic range how much brighter to show which part. */
import { readFile } from 'node:fs/promises';
import type { Format } from '#crds/formats.ts';

/** Google's and Adobe's, Apple's two, and ISO 21496-1's names for it. */
const MARKS = [
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'urn:com:apple:photo:2020:aux:hdrgainmap',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'urn:iso:std:iso:ts:21496:-1',
];
const HOLDERS: readonly Format[] = ['jpg', 'heic', 'avif'];

export const GAIN_MAP_WARNING =
  'The picture holds a gain map for screens of high dynamic range, which is not carried over: it looks as on an ordinary screen.';

/** Whether the file holds a gain map beside the picture that every program shows. */
export async function hasGainMap({ path, format }: { path: string; format: Format }): Promise<boolean> {
  if (!HOLDERS.includes(format)) return false;
  const bytes = await readFile(path);
  return MARKS.some((mark) => bytes.includes(mark)) || (format !== 'jpg' && bytes.subarray(0, 65_536).includes('tmap'));
}

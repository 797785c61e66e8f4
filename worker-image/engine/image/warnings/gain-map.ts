/** Gain maps: second images by which screens of high dynamic range show parts of the first one brighter. */

/** Names of Google and Adobe, of Apple twice, and of ISO 21496-1. */
const GAIN_MAP_NAMES = [
  'http://ns.adobe.com/hdr-gain-map/1.0/',
  'urn:com:apple:photo:2020:aux:hdrgainmap',
  'http://ns.apple.com/HDRGainMap/1.0/',
  'urn:iso:std:iso:ts:21496:-1',
];
/** Bytes that hold the list of items of a HEIF. */
const ITEM_LIST_BYTES = 65_536;

export const GAIN_MAP_WARNING =
  'The image has a gain map for HDR screens, which was dropped: the result shows standard dynamic range.';

/** Returns whether the file names a gain map beside the image that every program shows. */
export function namesGainMap(file: Buffer): boolean {
  return GAIN_MAP_NAMES.some((name) => file.includes(name));
}

/** Returns whether a HEIF names a gain map or lists an item that is one. */
export function containsGainMapItem(heif: Buffer): boolean {
  return namesGainMap(heif) || heif.subarray(0, ITEM_LIST_BYTES).includes('tmap');
}

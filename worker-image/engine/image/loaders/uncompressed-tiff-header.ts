import { TIFF_TAG } from '#worker-image/engine/containers/tiff.ts';

interface UncompressedTiff {
  readonly width: number;
  readonly height: number;
  readonly samples: 1 | 3;
  readonly orientation: number;
  readonly profile: Buffer | null;
}

const [SHORT, LONG, BYTES] = [3, 4, 7];
const HEADER_BYTES = 8;
const ENTRY_BYTES = 12;

/** Returns the bytes before the samples of an uncompressed little-endian TIFF of 16 bits in one strip. */
export function uncompressedTiffHeader({ width, height, samples, orientation, profile }: UncompressedTiff): Buffer {
  const tags: (readonly [tag: number, type: number, value: number, count?: number])[] = [
    [TIFF_TAG.width, LONG, width],
    [TIFF_TAG.height, LONG, height],
    [TIFF_TAG.bits, SHORT, 16],
    [TIFF_TAG.compression, SHORT, 1],
    [TIFF_TAG.photometric, SHORT, samples === 3 ? 2 : 1],
    [TIFF_TAG.offsets, LONG, 0],
    [TIFF_TAG.orientation, SHORT, orientation],
    [TIFF_TAG.samples, SHORT, samples],
    [TIFF_TAG.rowsPerStrip, LONG, height],
    [TIFF_TAG.lengths, LONG, width * height * samples * 2],
    ...(profile === null ? [] : [[TIFF_TAG.profile, BYTES, 0, profile.length] as const]),
  ];
  const end = HEADER_BYTES + 2 + tags.length * ENTRY_BYTES + 4;
  const depths = Buffer.from(Uint16Array.from({ length: 4 }, () => 16).buffer);
  const positions = new Map<number, number>([
    [TIFF_TAG.bits, end],
    [TIFF_TAG.profile, end + depths.length],
    [TIFF_TAG.offsets, end + depths.length + (profile?.length ?? 0)],
  ]);
  const directory = Buffer.alloc(end);
  directory.write('II*\0\x08\0\0\0', 'latin1');
  directory.writeUInt16LE(tags.length, HEADER_BYTES);
  tags.forEach(([tag, type, value, count = 1], index) => {
    const at = HEADER_BYTES + 2 + index * ENTRY_BYTES;
    const isList = tag === TIFF_TAG.bits && samples > 1;
    directory.writeUInt16LE(tag, at);
    directory.writeUInt16LE(type, at + 2);
    directory.writeUInt32LE(isList ? samples : count, at + 4);
    directory.writeUInt32LE(tag === TIFF_TAG.bits && !isList ? value : (positions.get(tag) ?? value), at + 8);
  });
  return Buffer.concat([directory, depths, ...(profile === null ? [] : [profile])]);
}

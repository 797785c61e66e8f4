import { readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';

export interface PngImageData {
  readonly width: number;
  readonly height: number;
  /** 1 for gray, 3 for RGB. */
  readonly channels: 1 | 3;
  readonly bits: number;
  /** The zlib stream of filtered rows. */
  readonly data: Buffer;
}

const GRAY = 0;
const RGB = 2;

/** Returns size and compressed rows of a gray or RGB PNG without interlace, as written for embedding. */
export function readPngImage(png: Buffer): PngImageData {
  const chunks = readPngChunks(png);
  const header = chunks?.[0]?.data;
  if (chunks === null || header === undefined) throw new Error('The PNG written for embedding is not complete.');
  const colorType = header.readUInt8(9);
  if ((colorType !== GRAY && colorType !== RGB) || header.readUInt8(12) !== 0) {
    throw new Error(`The PNG written for embedding has color type ${colorType}, interlace ${header.readUInt8(12)}.`);
  }
  return {
    width: header.readUInt32BE(0),
    height: header.readUInt32BE(4),
    channels: colorType === GRAY ? 1 : 3,
    bits: header.readUInt8(8),
    data: Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)),
  };
}

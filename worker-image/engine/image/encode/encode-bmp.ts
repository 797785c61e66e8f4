/** BMP of 24 bits per pixel, the variant that every program reads. */
import { writeWhole } from '#worker-image/engine/written-file.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';

export const encodeBmp: Encoder = async (_deps, { source, pipeline, path }) => {
  const { data, info } = await pipeline()
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const density = source.metadata.density ?? 72;
  return writeWhole(path, bmpFile({ width, height, data: channels === 3 ? data : grayToRgb(data, channels), density }));
};

function grayToRgb(gray: Buffer, channels: number): Buffer {
  const data = Buffer.allocUnsafe((gray.length / channels) * 3);
  for (let i = 0, o = 0; i < gray.length; i += channels, o += 3) data.fill(gray[i] ?? 0, o, o + 3);
  return data;
}

const HEADERS = 54;
const METRES_PER_INCH = 0.0254;
/** Maximum density that the header holds, in pixels per metre. */
const MAX_DENSITY = 2 ** 31 - 1;

/** Returns the file for RGB samples, rows top down. `density` is in pixels per inch. */
function bmpFile(pixels: { width: number; height: number; data: Buffer; density: number }): Buffer {
  const { width, height, data } = pixels;
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const file = Buffer.alloc(HEADERS + rowBytes * height);
  writeHeaders(file, pixels);
  for (let y = 0; y < height; y += 1) {
    let o = HEADERS + rowBytes * (height - 1 - y);
    for (let i = y * width * 3, end = i + width * 3; i < end; i += 3, o += 3) {
      file[o] = data[i + 2] ?? 0;
      file[o + 1] = data[i + 1] ?? 0;
      file[o + 2] = data[i] ?? 0;
    }
  }
  return file;
}

function writeHeaders(
  file: Buffer,
  { width, height, density }: { width: number; height: number; density: number },
): void {
  const perMetre = Math.min(MAX_DENSITY, Math.round(density / METRES_PER_INCH));
  file.write('BM', 0, 'latin1');
  file.writeUInt32LE(file.length, 2);
  file.writeUInt32LE(HEADERS, 10);
  file.writeUInt32LE(40, 14);
  file.writeInt32LE(width, 18);
  file.writeInt32LE(height, 22);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  file.writeUInt32LE(file.length - HEADERS, 34);
  file.writeInt32LE(perMetre, 38);
  file.writeInt32LE(perMetre, 42);
}

/** PDF of one page that shows one image. */
import type { Metadata, Sharp } from 'sharp';
import { MediaError } from '#crds/contract/media-error.ts';
import { jpegFrameMarker } from '#worker-image/engine/containers/jpeg-headers.ts';
import { PdfWriter } from '#worker-image/engine/containers/pdf-writer.ts';
import { readPngChunks } from '#worker-image/engine/containers/png-chunks.ts';
import type { Encoder } from '#worker-image/engine/image/encode/encoder.ts';
import { resolutionOf } from '#worker-image/engine/image/encode/resolution.ts';
import { stripJpeg } from '#worker-image/engine/image/strip/strip-jpeg.ts';
import { sharp } from '#worker-image/engine/image/libvips-picture.ts';
import { writeWhole } from '#worker-image/engine/written-file.ts';
import type { ImageSize, Picture, Resolution } from '#worker-image/engine/image/picture.ts';
import { readWhole } from '#worker-image/engine/image/read-whole.ts';

/** An image object of the PDF without its position in the file. */
interface EmbeddedImage {
  readonly width: number;
  readonly height: number;
  /** 1 for gray, 3 for RGB. */
  readonly channels: number;
  /** Entries of the stream's dictionary beside size, color space and length. */
  readonly entries: string;
  readonly data: Buffer;
  /** ICC profile; null for sRGB and for gray without a profile. */
  readonly profile: Buffer | null;
  readonly softMask: EmbeddedImage | null;
}

const POINTS_PER_INCH = 72;
/** Longest side of a page that PDF readers show, in points. */
const MAX_PAGE_POINTS = 14_400;
/** Resolutions from that of screens to that of line scans, in pixels per inch. */
const DENSITY = { min: 72, max: 2400 } as const;
const LOSSY_QUALITY = 92;
const OPAQUE = 255;

type Matrix = (w: number, h: number) => number[];

const UPRIGHT: Matrix = (w, h) => [w, 0, 0, h, 0, 0];

/** Matrices that draw the unit square upright on a page of w × h points, by EXIF orientation. */
const MATRICES: Readonly<Record<number, Matrix>> = {
  1: UPRIGHT,
  2: (w, h) => [-w, 0, 0, h, w, 0],
  3: (w, h) => [-w, 0, 0, -h, w, h],
  4: (w, h) => [w, 0, 0, -h, 0, h],
  5: (w, h) => [0, -h, -w, 0, w, h],
  6: (w, h) => [0, -h, w, 0, 0, h],
  7: (w, h) => [0, h, w, 0, 0, 0],
  8: (w, h) => [0, h, -w, 0, w, 0],
};

/**
 * Writes the file. A JPEG is embedded without its metadata and rotated by the page; other lossy images become a JPEG of high
 * quality; the rest is embedded losslessly. Transparency becomes a soft mask. The page has the size of the image at its own
 * resolution, limited to 72 to 2,400 pixels per inch.
 */
export const encodePdf: Encoder = async (_deps, { picture, source, keptProfile, pipeline, path }) => {
  const { metadata } = source;
  const keepsJpeg = isPlainJpeg(metadata) && isPdfCoding(await readWhole(picture.file.path));
  const image = keepsJpeg
    ? { ...(await embedOriginal(picture.file.path, metadata, pipeline)), profile: keptProfile ?? grayProfile(metadata) }
    : await embedPixels(picture, pipeline, metadata);
  const orientation = keepsJpeg ? (metadata.orientation ?? 1) : 1;
  const isSideways = orientation >= 5;
  const pixels = isSideways ? { width: image.height, height: image.width } : image;
  const page = pageSize(pixels, resolutionOf(source, DENSITY));
  const matrix = (MATRICES[orientation] ?? UPRIGHT)(page.width, page.height);
  return writeWhole(path, writePage(page, matrix, image));
};

/** Returns the size of the page, in points. */
function pageSize({ width, height }: ImageSize, { x, y }: Resolution): ImageSize {
  const [across, down] = [(width * POINTS_PER_INCH) / x, (height * POINTS_PER_INCH) / y];
  const scale = Math.min(1, MAX_PAGE_POINTS / Math.max(across, down));
  const points = (length: number): number => Math.max(1, Math.round(length * scale * 100) / 100);
  return { width: points(across), height: points(down) };
}

/** Returns whether every PDF reader shows the JPEG as it is: 8 bits, RGB or gray. */
function isPlainJpeg({ format, space, channels }: Metadata): boolean {
  return format === 'jpeg' && ((space === 'srgb' && channels === 3) || (space === 'b-w' && channels === 1));
}

const COLOR_SPACE_OFFSET = 16;

/** Returns the profile of gray samples, which other targets convert. */
function grayProfile({ icc, channels }: Metadata): Buffer | null {
  const isGray = channels === 1 && icc?.toString('latin1', COLOR_SPACE_OFFSET, COLOR_SPACE_OFFSET + 4) === 'GRAY';
  return isGray ? icc : null;
}

/** Frames with Huffman codes: baseline, extended and progressive. PDF readers show arithmetic codes as black. */
const PDF_FRAMES: readonly (number | null)[] = [0xc0, 0xc1, 0xc2];

function isPdfCoding(jpeg: Buffer): boolean {
  return PDF_FRAMES.includes(jpegFrameMarker(jpeg));
}

/** Returns the image of the file, after decoding it to prove that it is complete. */
async function embedOriginal(path: string, metadata: Metadata, pipeline: () => Sharp): Promise<EmbeddedImage> {
  await pipeline().stats();
  return embedJpeg(withoutMetadata(await readWhole(path)), metadata);
}

/** Returns a JPEG without location, further images and videos; as it is when its segments do not lead to an end marker. */
function withoutMetadata(jpeg: Buffer): Buffer {
  try {
    return stripJpeg(jpeg);
  } catch (error) {
    if (error instanceof MediaError) return jpeg;
    throw error;
  }
}

function embedJpeg(
  data: Buffer,
  { width, height, channels }: { width: number; height: number; channels: number },
): EmbeddedImage {
  return {
    width,
    height,
    channels,
    entries: '/BitsPerComponent 8 /Filter /DCTDecode',
    data,
    profile: null,
    softMask: null,
  };
}

async function embedPixels(
  { isLossy }: Pick<Picture, 'isLossy'>,
  pipeline: () => Sharp,
  { hasAlpha, space, bitsPerSample }: Pick<Metadata, 'hasAlpha' | 'space' | 'bitsPerSample'>,
): Promise<EmbeddedImage> {
  const softMask = hasAlpha ? await embedAlpha(pipeline) : null;
  const isGray = space === 'b-w' && !hasAlpha;
  const opaque = pipeline()
    .removeAlpha()
    .toColourspace(isGray ? 'b-w' : 'srgb');
  if (isGray && bitsPerSample === 1) return embedBits(opaque);
  if (isLossy) {
    const { data, info } = await opaque
      .jpeg({ quality: LOSSY_QUALITY, chromaSubsampling: '4:4:4', mozjpeg: true })
      .toBuffer({ resolveWithObject: true });
    return { ...embedJpeg(data, info), softMask };
  }
  return { ...embedPng(await opaque.png({ compressionLevel: 9 }).toBuffer()), softMask };
}

/** Returns gray with one bit per pixel. */
async function embedBits(gray: Sharp): Promise<EmbeddedImage> {
  const { data, info } = await gray.raw({ depth: 'uchar' }).toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const rowBytes = Math.ceil(width / 8);
  const rows = Buffer.alloc(rowBytes * height);
  for (let y = 0; y < height; y += 1) packBits(rows.subarray(y * rowBytes), data.subarray(y * width, (y + 1) * width));
  // To PNG, a row of packed bits is the same as a row of gray samples.
  const raw = { width: rowBytes, height, channels: 1 as const };
  const packed = sharp(rows, { raw, limitInputPixels: false }).toColourspace('b-w').png({ compressionLevel: 9 });
  return { ...embedPng(await packed.toBuffer()), width, entries: rowEntries({ channels: 1, bits: 1, width }) };
}

/** Writes a row of samples as bits, the first one in the highest bit of a byte. */
function packBits(bits: Buffer, samples: Buffer): void {
  for (let x = 0; x < samples.length; x += 1) {
    if ((samples[x] ?? 0) > OPAQUE / 2) bits[x >> 3] = (bits[x >> 3] ?? 0) | (0x80 >> (x & 7));
  }
}

/** Returns the transparency as a gray image; null when the image is opaque. */
async function embedAlpha(pipeline: () => Sharp): Promise<EmbeddedImage | null> {
  const alpha = (): Sharp => pipeline().toColourspace('srgb').extractChannel('alpha').toColourspace('b-w');
  const samples = await alpha().raw({ depth: 'uchar' }).toBuffer();
  if (samples.every((sample) => sample === OPAQUE)) return null;
  return embedPng(await alpha().png({ compressionLevel: 9 }).toBuffer());
}

/** PNG's numbers of the color types that are embedded. */
const GRAY = 0;
const RGB = 2;

/** Embeds the compressed rows of a gray or RGB PNG without interlace, which PDF reads with their predictors. */
export function embedPng(png: Buffer): EmbeddedImage {
  const chunks = readPngChunks(png);
  const header = chunks?.[0]?.data;
  if (chunks === null || header === undefined) throw new Error('The PNG written for embedding is not complete.');
  const [width, height, bits] = [header.readUInt32BE(0), header.readUInt32BE(4), header.readUInt8(8)];
  const [colorType, interlace] = [header.readUInt8(9), header.readUInt8(12)];
  if ((colorType !== GRAY && colorType !== RGB) || interlace !== 0)
    throw new Error(`The PNG written for embedding has color type ${colorType}, interlace ${interlace}.`);
  const channels = colorType === GRAY ? 1 : 3;
  const entries = rowEntries({ channels, bits, width });
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data));
  return { width, height, channels, entries, data, profile: null, softMask: null };
}

/** Returns the entries of a stream that holds the compressed rows of a PNG. */
function rowEntries({ channels, bits, width }: { channels: number; bits: number; width: number }): string {
  const parameters = `/DecodeParms << /Predictor 15 /Colors ${channels} /BitsPerComponent ${bits} /Columns ${width} >>`;
  return `/BitsPerComponent ${bits} /Filter /FlateDecode ${parameters}`;
}

function writePage(page: { width: number; height: number }, matrix: number[], image: EmbeddedImage): Buffer {
  const writer = new PdfWriter();
  const mask =
    image.softMask === null ? null : writer.addStream(imageEntries(image.softMask, null), image.softMask.data);
  const maskEntry = mask === null ? '' : ` /SMask ${mask} 0 R`;
  const profile = image.profile === null ? null : writer.addStream(`/N ${image.channels}`, image.profile);
  const imageObject = writer.addStream(`${imageEntries(image, profile)}${maskEntry}`, image.data);
  const content = writer.addStream('', Buffer.from(`q ${matrix.join(' ')} cm /I Do Q`));
  const pages = writer.reserve();
  const only = writer.add(
    `<< /Type /Page /Parent ${pages} 0 R /MediaBox [0 0 ${page.width} ${page.height}] ` +
      `/Resources << /XObject << /I ${imageObject} 0 R >> >> /Contents ${content} 0 R >>`,
  );
  writer.fill(pages, `<< /Type /Pages /Kids [${only} 0 R] /Count 1 >>`);
  return writer.finish(writer.add(`<< /Type /Catalog /Pages ${pages} 0 R >>`));
}

function imageEntries({ width, height, channels, entries }: EmbeddedImage, profile: number | null): string {
  const device = channels === 1 ? '/DeviceGray' : '/DeviceRGB';
  const space = profile === null ? device : `[/ICCBased ${profile} 0 R]`;
  return `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace ${space} ${entries}`;
}

/** Images: a landscape as a camera, a phone and the web store it, a drawing, a scan, an animation. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { drawRaw, RAW_FORMATS } from '#test/fixtures/draw-raw.ts';
import { graphic } from './graphic.ts';
import { landscape } from './landscape.ts';
import { sample, type Recipe } from './recipe.ts';
import { runTool } from './tools.ts';

const RAW_SIZE = { width: 360, height: 240 } as const;
const FRAMES = 12;

export const IMAGE_SAMPLES: readonly Recipe[] = [
  sample('photo.jpg', 'jpg', photo),
  sample('graphic.png', 'png', (at) => drawing(1600, 1000).png().toFile(join(at, 'graphic.png'))),
  sample('photo.heic', 'heic', (at) => runTool(at, 'heif-enc', ['-q', '55', '-o', 'photo.heic', 'photo.jpg'])),
  sample('photo.webp', 'webp', (at) => small(at).webp({ quality: 92 }).keepExif().toFile(join(at, 'photo.webp'))),
  sample('photo.avif', 'avif', (at) => small(at).avif({ quality: 80, effort: 4 }).toFile(join(at, 'photo.avif'))),
  sample('animation.gif', 'gif', animation),
  sample('scan.tiff', 'tiff', (at) =>
    drawing(1600, 1000)
      .flatten({ background: '#ffffff' })
      .greyscale()
      .tiff({ compression: 'lzw' })
      .toFile(join(at, 'scan.tiff')),
  ),
  sample('graphic.bmp', 'bmp', (at) => bitmap(at, 'graphic.bmp', 'scale=800:500')),
  ...RAW_FORMATS.map((format) =>
    sample(`photo.${format}`, format, async (at) => {
      const data = await landscape({ ...RAW_SIZE, seed: 3 })
        .raw()
        .toBuffer();
      await writeFile(join(at, `photo.${format}`), drawRaw(format, { ...RAW_SIZE, data }));
    }),
  ),
  // Over the limit of direct requests with a test key, so it tests jobs.
  sample('large-graphic.bmp', 'bmp', (at) => bitmap(at, 'large-graphic.bmp', 'scale=2560:1600:flags=neighbor')),
];

async function photo(directory: string): Promise<void> {
  const exif = {
    IFD0: {
      Make: 'Mediajobs',
      Model: 'Sample',
      Artist: 'The mediajobs project',
      ImageDescription: 'A made-up landscape',
    },
    IFD2: { DateTimeOriginal: '2026:05:17 09:41:00', FNumber: '8/1', ExposureTime: '1/250', ISOSpeedRatings: '100' },
    IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '47/1 25/1 0/1', GPSLongitudeRef: 'E', GPSLongitude: '10/1 58/1 0/1' },
  };
  await landscape({ width: 1920, height: 1280, seed: 3 })
    .withExif(exif)
    .jpeg({ quality: 95 })
    .toFile(join(directory, 'photo.jpg'));
}

function small(directory: string): Sharp {
  return sharp(join(directory, 'photo.jpg')).resize(960, 640);
}

function drawing(width: number, height: number): Sharp {
  return sharp(Buffer.from(graphic(width, height)));
}

/** A disc that crosses a drawing. */
async function animation(directory: string): Promise<void> {
  const [width, height] = [320, 200];
  const frames = await Promise.all(
    Array.from({ length: FRAMES }, (_, index) => {
      const x = 20 + (index * (width - 40)) / (FRAMES - 1);
      const disc = `<circle cx="${x}" cy="100" r="18" fill="#d9480f"/>`;
      return drawing(1600, 1000)
        .resize(width, height)
        .composite([
          {
            input: Buffer.from(
              `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${disc}</svg>`,
            ),
          },
        ])
        .flatten({ background: '#ffffff' })
        .removeAlpha()
        .raw()
        .toBuffer();
    }),
  );
  await sharp(Buffer.concat(frames), { raw: { width, height: height * FRAMES, channels: 3, pageHeight: height } })
    .gif({ loop: 0, delay: frames.map(() => 80), colours: 256, dither: 0.5 })
    .toFile(join(directory, 'animation.gif'));
}

async function bitmap(directory: string, name: string, scale: string): Promise<void> {
  const source = `${name}.png`;
  await drawing(1600, 1000).flatten({ background: '#ffffff' }).png().toFile(join(directory, source));
  const args = ['-i', source, '-vf', scale, '-frames:v', '1', '-pix_fmt', 'bgr24', name];
  await runTool(directory, 'ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}

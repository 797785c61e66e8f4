/** Files that are refused, at least one for each cause that lies in the file. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PLANS } from '#crds/catalogue/plans.ts';
import { blankPng } from './blank-png.ts';
import { landscape } from './landscape.ts';
import { silentFile } from './media.ts';
import type { Recipe } from './recipe.ts';
import { runTool } from './tools.ts';

/** Image over the pixel limit of every plan. */
const TOO_MANY_PAGES = PLANS.enterprise.maxPdfPages + 1;
const TOO_LONG_SECONDS = PLANS.enterprise.maxMediaSeconds + 1;

const failure = (name: string, format: Recipe['format'], error: Recipe['error'], make: Recipe['make']): Recipe => ({
  name,
  format,
  error,
  make,
});

export const FAILURE_SAMPLES: readonly Recipe[] = [
  failure('encrypted.pdf', 'pdf', 'encrypted_pdf', encryptedPdf),
  failure('corrupt.jpg', 'jpg', 'processing_failed', corruptPhoto),
  failure('too-many-pixels.png', 'png', 'limit_exceeded', (at) =>
    writeFile(join(at, 'too-many-pixels.png'), blankPng(10_000, 10_001)),
  ),
  failure('too-many-frames.gif', 'gif', 'limit_exceeded', (at) =>
    writeFile(join(at, 'too-many-frames.gif'), gif(2001)),
  ),
  failure('too-many-pages.pdf', 'pdf', 'limit_exceeded', tooManyPages),
  failure('too-long.flac', 'flac', 'limit_exceeded', (at) =>
    quiet(at, [
      '-f',
      'lavfi',
      '-i',
      'anullsrc=r=8000:cl=mono',
      '-t',
      String(TOO_LONG_SECONDS),
      '-c:a',
      'flac',
      '-frame_size',
      '65535',
      'too-long.flac',
    ]),
  ),
  failure('no-audio.m4a', 'm4a', 'processing_failed', silentFile),
  failure('no-video.mkv', 'mkv', 'processing_failed', (at) =>
    quiet(at, ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', '2', '-c:a', 'flac', 'no-video.mkv']),
  ),
  failure('broken.json', 'json', 'processing_failed', (at) =>
    writeFile(join(at, 'broken.json'), '[{"id": "0010", "name": "Ada"}, {"id": "0020", "name": \n'),
  ),
  failure('unknown.bin', null, 'unsupported_input', (at) =>
    writeFile(join(at, 'unknown.bin'), 'This is none of the formats.\n'),
  ),
];

async function encryptedPdf(directory: string): Promise<void> {
  await runTool(directory, 'qpdf', ['report.pdf', '--pages', '.', '1', '--', 'first-page.pdf']);
  const passwords = ['--encrypt', 'reader', 'owner', '256', '--'];
  await runTool(directory, 'qpdf', [...passwords, 'first-page.pdf', 'encrypted.pdf']);
}

/** Generates a file that is valid at both ends and random from the frame header on. */
async function corruptPhoto(directory: string): Promise<void> {
  const bytes = await landscape({ width: 320, height: 240, seed: 9 }).jpeg().toBuffer();
  const scan = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  bytes.fill(0xa5, scan + 2, bytes.length - 2);
  await writeFile(join(directory, 'corrupt.jpg'), bytes);
}

/** Returns a GIF with one pixel per frame. Source: the GIF89a specification. */
function gif(frames: number): Buffer {
  const head = Buffer.from('GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0', 'latin1');
  const frame = Buffer.from('\x21\xf9\x04\0\x05\0\0\0\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1');
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from(';')]);
}

async function tooManyPages(directory: string): Promise<void> {
  const ids = Array.from({ length: TOO_MANY_PAGES }, (_, i) => 3 + i);
  const kids = ids.map((id) => `${id} 0 R`).join(' ');
  const objects = [
    '1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj',
    `2 0 obj << /Type /Pages /Count ${ids.length} /Kids [${kids}] /MediaBox [0 0 200 200] >> endobj`,
    ...ids.map((id) => `${id} 0 obj << /Type /Page /Parent 2 0 R >> endobj`),
  ];
  const body = `%PDF-1.4\n${objects.join('\n')}\ntrailer << /Root 1 0 R /Size ${ids.length + 3} >>\n%%EOF\n`;
  await writeFile(join(directory, 'pages.pdf'), body);
  // qpdf writes the missing table of offsets and exits with 3, a warning.
  await runTool(directory, 'qpdf', [
    '--warning-exit-0',
    '--object-streams=generate',
    'pages.pdf',
    'too-many-pages.pdf',
  ]);
}

function quiet(directory: string, args: readonly string[]): Promise<void> {
  return runTool(directory, 'ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args]);
}

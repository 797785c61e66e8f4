/** What one file of each kind takes: seconds of CPU of everything that works for it, its own memory, and how long it is waited for. */
import { readFile } from 'node:fs/promises';
import { fetchPdfSamples } from '#test/bench/pdf-samples.ts';
import { csvPieces } from '../csv-pieces.ts';
import { makeSound, makeVideo } from '../media-samples.ts';
import { makeReport } from '../office-samples.ts';
import { photoOf } from '../photo-of-size.ts';
import type { Bench, Row } from '../row.ts';
import { conversion, direct, job, measureCases, measureSizedFile, type SizedFile } from '../sized-file.ts';

const MIB = 1024 ** 2;
const FILES: Readonly<Record<string, SizedFile>> = {
  'photo of 12 megapixels, jpg': direct('photo.jpg', { image: { format: 'jpg', resize: false } }, photo),
  'photo of 12 megapixels to webp': direct('photo.jpg', { image: { format: 'webp', resize: false } }, photo),
  'photo of 12 megapixels to avif': direct('photo.jpg', { image: { format: 'avif', resize: false } }, photo),
  'pdf of 14 pages': direct('paper.pdf', {}, paper),
  'the same photo as a job': job('photo.jpg', { image: { format: 'jpg', resize: false } }, photo),
  '10 MB of csv to json': conversion('rows.csv', 'json', async () => Buffer.from([...csvPieces(10 * MIB)].join(''))),
  'docx of 20 pages to pdf': conversion('report.docx', 'pdf', report),
  '5 min of mp3 to m4a': job('sound.mp3', { audio: { format: 'm4a' } }, async (bench) =>
    readFile((await makeSound(bench)).path),
  ),
  '10 s of 1080p to H.264': job('view.mp4', { video: { codec: 'h264' } }, video),
  '10 s of 1080p to H.265': job('view.mp4', { video: { codec: 'h265' } }, video),
};

export const sizing: Row = {
  title: 'What a file takes',
  about: `One file at a time through the running service. Seconds of CPU are those of all its processes, PostgreSQL and Redis too, less
what they take at rest; memory is the most that the processes of this one file held together.`,
  peers: [],
  columns: [
    { title: 'CPU seconds', metrics: ['cpu'], digits: 2, noise: true },
    { title: 'seconds', metrics: ['seconds'], digits: 2, noise: true },
    { title: 'MiB', metrics: ['memory'], digits: 0 },
  ],
  cases: Object.keys(FILES),
  measure: (bench) => measureCases(bench, FILES, measureSizedFile),
};

function photo(bench: Bench): Promise<Buffer> {
  return photoOf(bench, 12);
}

async function paper({ folder }: Bench): Promise<Buffer> {
  const samples = await fetchPdfSamples(folder);
  return readFile(samples.find(({ what }) => what.startsWith('paper'))?.path ?? '');
}

async function report({ folder }: Bench): Promise<Buffer> {
  return readFile(await makeReport(folder, 20));
}

async function video(bench: Bench): Promise<Buffer> {
  return readFile((await makeVideo(bench)).path);
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { FORMATS, formatOfName, KINDS, type Format, type Kind } from '#crds/formats.ts';
import { USUAL_WORK, type Work } from './usual-work.ts';

export interface FileToSend {
  readonly file: string;
  readonly work: Work;
}

const SAMPLES = fileURLToPath(new URL('../../api/samples', import.meta.url));

/** The format that shows best what the service does with a kind. */
const TYPICAL: Readonly<Record<Kind, Format>> = {
  video: 'mp4',
  word: 'docx',
  sheet: 'xlsx',
  presentation: 'pptx',
  pdf: 'pdf',
  image: 'jpg',
  audio: 'wav',
  table: 'csv',
  font: 'ttf',
};

/**
 * The given files, or one published sample of every kind, with what to do to each.
 * @throws when a file's extension stands for no format of the service.
 */
export function filesToSend(given: readonly string[]): FileToSend[] {
  const files = given.length > 0 ? given : sampleOfEveryKind();
  return files.map((file) => {
    const format = formatOfName(file);
    if (format === null) throw new Error(`${file}: its extension stands for no format of the service, so the demo does not know what to do with it.`);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`${file}: there is no such file.`);
    return { file, work: USUAL_WORK[FORMATS[format].kind] };
  });
}

/** The largest good sample of each kind's typical format. */
function sampleOfEveryKind(): string[] {
  const failing = failingSamples();
  const samples = readdirSync(SAMPLES).filter((name) => !failing.has(name));
  return KINDS.map((kind) => {
    const largest = samples
      .filter((name) => formatOfName(name) === TYPICAL[kind])
      .map((name) => path.join(SAMPLES, name))
      .toSorted((a, b) => statSync(b).size - statSync(a).size)[0];
    if (largest === undefined) throw new Error(`${SAMPLES} has no sample of the format ${TYPICAL[kind]}.`);
    return largest;
  });
}

/** Names of those that the service refuses on purpose. */
function failingSamples(): ReadonlySet<string> {
  const manifest = JSON.parse(readFileSync(path.join(SAMPLES, 'manifest.json'), 'utf8')) as { samples: readonly { name: string; error: string | null }[] };
  return new Set(manifest.samples.filter(({ error }) => error !== null).map(({ name }) => name));
}

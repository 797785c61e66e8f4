import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSamples } from '#api/samples/samples.ts';
import { FORMATS, formatOfName, KINDS } from '#crds/formats.ts';
import { USUAL_WORK, type Work } from './usual-work.ts';

export interface FileToSend {
  readonly file: string;
  readonly work: Work;
}

const SAMPLES = fileURLToPath(new URL('../../api/samples/files', import.meta.url));

/**
 * The given files, or one published sample of every kind, with what to do to each.
 * @throws when a file's extension stands for no format of the service.
 */
export function filesToSend(given: readonly string[]): FileToSend[] {
  const files = given.length > 0 ? given : sampleOfEveryKind();
  return files.map((file) => {
    const format = formatOfName(file);
    if (format === null)
      throw new Error(
        `${file}: its extension stands for no format of the service, so the demo does not know what to do with it.`,
      );
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`${file}: there is no such file.`);
    return { file, work: USUAL_WORK[FORMATS[format].kind] };
  });
}

/** The first good sample of every kind. */
function sampleOfEveryKind(): string[] {
  const good = loadSamples().all.filter((sample) => sample.expected_error === null);
  return KINDS.map((kind) => {
    const first = good.find((sample) => sample.kind === kind);
    if (first === undefined) throw new Error(`There is no sample of the kind ${kind}.`);
    return path.join(SAMPLES, first.name);
  });
}

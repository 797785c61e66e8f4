import { statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSamples } from '#api/samples/samples.ts';
import { FORMATS, formatOfName, KINDS } from '#crds/catalogue/formats.ts';
import { USUAL_WORK, type DemoWork } from './usual-work.ts';

export interface FileToSend {
  readonly file: string;
  readonly work: DemoWork;
}

const SAMPLES = fileURLToPath(new URL('../../api/data/samples', import.meta.url));

/**
 * Returns the given files, or one published sample of every kind, each with its operation.
 * @throws Error for a file whose extension is not a format of the service.
 */
export function filesToSend(given: readonly string[]): FileToSend[] {
  const files = given.length > 0 ? given : sampleOfEveryKind();
  return files.map((file) => {
    const format = formatOfName(file);
    if (format === null)
      throw new Error(
        `${file}: its extension is not that of a supported format. Pass files with a supported extension.`,
      );
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new Error(`${file}: there is no such file.`);
    return { file, work: USUAL_WORK[FORMATS[format].kind] };
  });
}

/** Returns the first sample of every kind that can be processed. */
function sampleOfEveryKind(): string[] {
  const good = loadSamples().all.filter((sample) => sample.expected_error === null);
  return KINDS.map((kind) => {
    const first = good.find((sample) => sample.kind === kind);
    if (first === undefined) throw new Error(`There is no sample of the kind ${kind}.`);
    return path.join(SAMPLES, first.name);
  });
}

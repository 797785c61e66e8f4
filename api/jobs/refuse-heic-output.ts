import { FORMATS, formatOfName, type Operation } from '#crds/formats.ts';
import { MediaError } from '#crds/media-error.ts';
import type { Features } from '#crds/media-job.ts';
import type { ResolvedOptions } from '#crds/options/options.ts';

interface AskedJob {
  readonly operation: Operation;
  readonly options: ResolvedOptions;
  readonly features: Features;
  /** Name or URL of the input; null: none was given. */
  readonly name: string | null;
}

/**
 * Refuses HEIC output that a job's options ask for. That of a HEIC file left at `original`, and video, are found by
 * the engine. Spec: Errors, feature_not_enabled.
 * @throws MediaError feature_not_enabled.
 */
export function refuseHeicOutput(job: AskedJob): void {
  const param = job.features.heicOutput ? null : heicOption(job);
  if (param === null) return;
  const message = 'HEIC output is in limited preview and not enabled for this account. Ask for another format.';
  throw new MediaError('feature_not_enabled', message, { param });
}

function heicOption({ operation, options, name }: AskedJob): string | null {
  if (operation === 'convert') return options.convert.to === 'heic' ? 'convert.to' : null;
  const asks = operation === 'compress' && options.image.format === 'heic' && mayBeImage(name);
  return asks ? 'image.format' : null;
}

/** Options of other kinds than the file's are ignored. */
function mayBeImage(name: string | null): boolean {
  const format = formatOfName(name);
  return format === null || FORMATS[format].kind === 'image';
}

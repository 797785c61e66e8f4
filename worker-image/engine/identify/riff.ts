import type { Format } from '#crds/catalogue/formats.ts';
import { riffForm } from '#worker-image/engine/containers/riff.ts';
import { unsupported } from '#worker-image/engine/identify/unsupported.ts';

/** Returns the format by the form type of a RIFF file; null when the file is not RIFF. */
export function formatOfRiff(head: Buffer): Format | null {
  const form = riffForm(head);
  if (form === null) return null;
  if (form === 'WEBP') return 'webp';
  if (form === 'WAVE') return 'wav';
  if (form === 'AVI ') return 'avi';
  throw unsupported(`a RIFF file of the form ${JSON.stringify(form)}`);
}

import { MediaError } from '#crds/contract/media-error.ts';

/** Maximum number of page breaks. Layout time grows with the square: 2,000 pages take seconds, 20,000 minutes. */
const MAX_BREAKS = 10_000;

/** Refuses a document with too many explicit page breaks. @throws MediaError limit_exceeded. */
export function refuseTooManyPages(breaks: number): void {
  if (breaks <= MAX_BREAKS) return;
  throw new MediaError(
    'limit_exceeded',
    `The document has more than ${MAX_BREAKS} page breaks, which take too long to lay out. Split it and send the parts.`,
  );
}

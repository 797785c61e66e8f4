import { MediaError } from '#crds/media-error.ts';

/** The time that LibreOffice takes grows with the square: 2,000 pages take seconds, 20,000 minutes. */
const MAX_BREAKS = 10_000;

/** @throws MediaError limit_exceeded for a document with so many page breaks of its own. */
export function refuseEndlessPages(breaks: number): void {
  if (breaks <= MAX_BREAKS) return;
  throw new MediaError(
    'limit_exceeded',
    `The document begins a new page more than ${MAX_BREAKS} times, which takes too long to lay out. Split it and send the parts.`,
  );
}

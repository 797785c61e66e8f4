/** Counts the hidden slides of a presentation, which a PDF omits. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { countInParts, omissionWarnings, wholeTags } from '#worker-image/engine/office/document-parts.ts';
import { hiddenElementCounter } from '#worker-image/engine/office/hidden-elements.ts';

interface SlideParts {
  /** Parts with slides; null for documents that are one file. */
  readonly names: RegExp | null;
  readonly countHidden: (part: Readable) => Promise<number>;
}

const POWERPOINT: SlideParts = { names: /^ppt\/slides\/[^/]+\.xml$/, countHidden: countHiddenSlide };
const countHiddenPages = hiddenElementCounter({
  element: 'draw:page',
  attribute: 'draw:style-name',
  properties: 'style:drawing-page-properties',
  hidden: /\bpresentation:visibility\s*=\s*["']hidden["']/,
});
const PARTS: Readonly<Partial<Record<Format, SlideParts>>> = {
  pptx: POWERPOINT,
  pptm: POWERPOINT,
  odp: { names: /^content\.xml$/, countHidden: countHiddenPages },
  fodp: { names: null, countHidden: countHiddenPages },
};

const ROOT = /<(?:\w+:)?sld(?=[\s>])([^<>]*)>/;
const HIDDEN = /\sshow\s*=\s*["'](?:0|false)["']/;

/** Returns the warning for the hidden slides of a presentation. */
export async function hiddenSlidesWarnings(path: string, format: Format): Promise<string[]> {
  const parts = PARTS[format];
  const hidden = parts === undefined ? 0 : await countInParts(path, parts.names, parts.countHidden);
  return omissionWarnings(hidden, 'hidden slide');
}

/** Returns 1 for a hidden slide of PowerPoint, else 0. */
async function countHiddenSlide(slide: Readable): Promise<number> {
  for await (const xml of wholeTags(slide)) {
    const root = ROOT.exec(xml)?.[1];
    if (root !== undefined) return Number(HIDDEN.test(root));
  }
  return 0;
}

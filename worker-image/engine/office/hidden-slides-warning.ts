/** Counts the hidden slides of a presentation, which a PDF omits. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { countInParts, wholeTags } from '#worker-image/engine/office/document-parts.ts';

const PACKAGES: readonly Format[] = ['pptx', 'pptm'];
const SLIDES = /^ppt\/slides\/[^/]+\.xml$/;
const ROOT = /<(?:\w+:)?sld(?=[\s>])([^<>]*)>/;
const HIDDEN = /\sshow\s*=\s*["'](?:0|false)["']/;

/** Returns the warning for hidden slides of a PowerPoint document. */
export async function hiddenSlidesWarnings(path: string, format: Format): Promise<string[]> {
  const hidden = PACKAGES.includes(format) ? await countInParts(path, SLIDES, countHidden) : 0;
  if (hidden === 0) return [];
  return [hidden === 1 ? 'A hidden slide was omitted.' : `${hidden} hidden slides were omitted.`];
}

/** Returns 1 for a hidden slide, else 0. */
async function countHidden(slide: Readable): Promise<number> {
  for await (const xml of wholeTags(slide)) {
    const root = ROOT.exec(xml)?.[1];
    if (root !== undefined) return Number(HIDDEN.test(root));
  }
  return 0;
}

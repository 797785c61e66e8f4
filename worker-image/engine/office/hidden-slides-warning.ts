/** Counts the hidden slides of a presentation, which a PDF omits. */
import type { Readable } from 'node:stream';
import type { Format } from '#crds/catalogue/formats.ts';
import { partsOf, wholeTags } from '#worker-image/engine/office/document-parts.ts';

const PACKAGES: readonly Format[] = ['pptx', 'pptm'];
const SLIDES = /^ppt\/slides\/[^/]+\.xml$/;
const ROOT = /<(?:\w+:)?sld(?=[\s>])([^<>]*)>/;
const HIDDEN = /\sshow\s*=\s*["'](?:0|false)["']/;

/** Returns the warning for hidden slides of a PowerPoint document. */
export async function hiddenSlidesWarnings(path: string, format: Format): Promise<string[]> {
  const hidden = PACKAGES.includes(format) ? await countHidden(path) : 0;
  if (hidden === 0) return [];
  return [hidden === 1 ? 'A hidden slide was omitted.' : `${hidden} hidden slides were omitted.`];
}

async function countHidden(path: string): Promise<number> {
  let hidden = 0;
  try {
    for await (const part of partsOf(path, SLIDES)) if (await isHidden(part)) hidden += 1;
  } catch {
    // LibreOffice opened the document, possibly with repairs: only the warning is missing.
  }
  return hidden;
}

async function isHidden(part: Readable): Promise<boolean> {
  for await (const xml of wholeTags(part)) {
    const root = ROOT.exec(xml)?.[1];
    if (root !== undefined) return HIDDEN.test(root);
  }
  return false;
}

/**
 * Refuses Word documents with embedded files of other formats (altChunk: HTML, RTF, text). Word merges them into the
 * document; LibreOffice merges Word documents only and silently omits the rest.
 */
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Format } from '#crds/catalogue/formats.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { partsOf, wholeTags } from '#worker-image/engine/office/document-parts.ts';

const RELATIONSHIP = /<(?:\w+:)?Relationship\s[^<>]*>/g;
const OF_CHUNK = /\/aFChunk["']/;
const ID = /\sId\s*=\s*["']([^"']*)["']/;
const WORD_DOCUMENT = /\sTarget\s*=\s*["'][^"']*\.do[ct][xm]["']/i;
const CHUNK = /<w:altChunk\s[^<>]*\br:id\s*=\s*["']([^"']*)["']/g;

/** Refuses a document that displays such a part. @throws MediaError processing_failed. */
export async function refuseAltChunks(path: string, format: Format): Promise<void> {
  if (format !== 'docx' && format !== 'docm') return;
  try {
    const foreign = new Set<string>();
    for await (const part of partsOf(path, /^word\/_rels\/document\.xml\.rels$/))
      for (const id of foreignChunks(await text(part))) foreign.add(id);
    if (foreign.size === 0) return;
    for await (const part of partsOf(path, /^word\/document\.xml$/)) await refuseAny(part, foreign);
  } catch (error) {
    // LibreOffice reports a damaged package.
    if (error instanceof MediaError) throw error;
  }
}

function foreignChunks(xml: string): string[] {
  const relationships = [...xml.matchAll(RELATIONSHIP)].map(([element]) => element);
  const chunks = relationships.filter((element) => OF_CHUNK.test(element));
  return chunks.filter((element) => !WORD_DOCUMENT.test(element)).map((element) => ID.exec(element)?.[1] ?? '');
}

async function refuseAny(part: Readable, foreign: ReadonlySet<string>): Promise<void> {
  for await (const xml of wholeTags(part)) {
    for (const [, id = ''] of xml.matchAll(CHUNK)) {
      if (foreign.has(id)) throw omittedChunk();
    }
  }
}

function omittedChunk(): MediaError {
  return new MediaError(
    'processing_failed',
    'The document embeds a file of another format, such as HTML (altChunk), which is not supported. Open it in Word, save it again and send that.',
  );
}

import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { renderPage } from '#api/docs/render-page.ts';

export interface Document {
  readonly mediaType: string;
  readonly body: Buffer;
  /** Strong entity tag with its quotes. */
  readonly etag: string;
}

/** Documents below `/docs` by path without leading slash; `''` is the root. Small enough to be kept in memory. */
export type Documentation = ReadonlyMap<string, Document>;

const FOLDER = fileURLToPath(new URL('../../docs/', import.meta.url));
/** Folder and names of the samples that the examples download. */
const SAMPLES = fileURLToPath(new URL('../data/samples/', import.meta.url));
const EXAMPLE_FILES = ['photo.jpg', 'people.csv', 'report.pdf', 'clip.mp4'];
const HTML = 'text/html; charset=utf-8';

/** Renders the project's `docs` folder. @param root path of the documentation on this server, such as `/docs`. */
export function loadDocumentation(root: string, folder: string = FOLDER): Documentation {
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  const pages = globSync('**/*.md', { cwd: folder }).map((file): [string, Document] => {
    const path = file.replace(/\.md$/, '').replace(/(^|\/)index$/, '');
    return [path, documentOf(HTML, Buffer.from(renderPage({ markdown: read(file).toString('utf8'), root, path })))];
  });
  const images = globSync('images/*.png', { cwd: folder }).map((file): [string, Document] => [
    file,
    documentOf('image/png', read(file)),
  ]);
  const samples = EXAMPLE_FILES.map((name): [string, Document] => [
    `samples/${name}`,
    documentOf('application/octet-stream', readFileSync(join(SAMPLES, name))),
  ]);
  return new Map([
    ...pages,
    ...images,
    ...samples,
    ['style.css', documentOf('text/css; charset=utf-8', read('style.css'))],
    ['openapi.json', documentOf('application/json; charset=utf-8', read('openapi.json'))],
  ]);
}

function documentOf(mediaType: string, body: Buffer): Document {
  return { mediaType, body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` };
}

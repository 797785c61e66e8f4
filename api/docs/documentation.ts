import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { renderPage } from '#api/docs/render-page.ts';
import { SITE_BASE } from '#api/docs/site-base.ts';

export interface Document {
  readonly mediaType: string;
  readonly body: Buffer;
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** Returns the body compressed with gzip, compressed at the first call; null where that would not make it smaller. */
  readonly gzip: () => Buffer | null;
  /** Hashes of the inline scripts of a page, as the content policy names them. */
  readonly scripts: readonly string[];
}

/** Documents below `/docs` by path without leading slash; `''` is the root. Small enough to be kept in memory. */
export type Documentation = ReadonlyMap<string, Document>;

const FOLDER = fileURLToPath(new URL('../../docs/', import.meta.url));
/** Folder of the site below the one of the pages; `hack/docs` builds it. */
const SITE = '.vitepress/dist';
/** Folder and names of the samples that the examples download. */
const SAMPLES = fileURLToPath(new URL('../data/samples/', import.meta.url));
const EXAMPLE_FILES = ['photo.jpg', 'people.csv', 'report.pdf', 'clip.mp4'];
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Types of the files of the site. The service serves no other file of its folder. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.html': HTML,
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': JSON_TYPE,
  '.txt': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
const BINARY = new Set(['.png']);
const COMPRESSIBLE = /^(text|application\/json)|svg/;

/**
 * Loads the documentation: the built site, or plain pages from the same Markdown where it is not built.
 * @param root path of the documentation on this server, such as `/docs`.
 */
export function loadDocumentation(root: string, folder: string = FOLDER, site = join(folder, SITE)): Documentation {
  const read = (path: string): Buffer => readFileSync(join(folder, path));
  const samples = EXAMPLE_FILES.map((name): [string, Document] => [
    `samples/${name}`,
    documentOf('application/octet-stream', readFileSync(join(SAMPLES, name))),
  ]);
  return new Map([
    ...(existsSync(join(site, 'index.html')) ? siteFiles(site, root) : plainPages(folder, root)),
    ...samples,
    ['style.css', documentOf('text/css; charset=utf-8', read('style.css'))],
    ['openapi.json', documentOf(JSON_TYPE, read('openapi.json'))],
  ]);
}

/** Returns the files of the built site, with the base that it was built for replaced by this server's. */
function siteFiles(site: string, root: string): [string, Document][] {
  return globSync('**/*.*', { cwd: site }).flatMap((file): [string, Document][] => {
    const type = extname(file);
    const mediaType = MEDIA_TYPES[type];
    if (mediaType === undefined) return [];
    const bytes = readFileSync(join(site, file));
    const body = BINARY.has(type) ? bytes : Buffer.from(bytes.toString('utf8').replaceAll(SITE_BASE, `${root}/`));
    return [[type === '.html' ? pathOf(file, type) : file, documentOf(mediaType, body)]];
  });
}

function plainPages(folder: string, root: string): [string, Document][] {
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  const pages = globSync('**/*.md', { cwd: folder }).map((file): [string, Document] => {
    const path = pathOf(file, '.md');
    return [path, documentOf(HTML, Buffer.from(renderPage({ markdown: read(file).toString('utf8'), root, path })))];
  });
  const images = globSync('images/*.png', { cwd: folder });
  return [...pages, ...images.map((file): [string, Document] => [file, documentOf('image/png', read(file))])];
}

/** Returns the path of a page below the root: that of its file, without extension and `index`. */
function pathOf(file: string, extension: string): string {
  return file.slice(0, -extension.length).replace(/(^|\/)index$/, '');
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

function documentOf(mediaType: string, body: Buffer): Document {
  let zipped: Buffer | null = null;
  const scripts = mediaType === HTML ? [...body.toString('utf8').matchAll(INLINE_SCRIPT)] : [];
  return {
    mediaType,
    body,
    gzip: () => (COMPRESSIBLE.test(mediaType) ? (zipped ??= gzipSync(body)) : null),
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    scripts: scripts.map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`),
  };
}

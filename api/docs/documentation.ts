import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { renderPage } from '#api/docs/render-page.ts';
import { SITE_BASE, SITE_NAME } from '#api/docs/site-base.ts';
import { escapeHtml } from '#crds/process/escape-html.ts';

export interface Document {
  readonly mediaType: string;
  readonly body: Buffer;
  /** Strong entity tag with its quotes. */
  readonly etag: string;
  /** Returns the body compressed with gzip, compressed at the first call; null where that would not make it smaller. */
  readonly gzip: () => Buffer | null;
  /** Hashes of the inline scripts of a page, as the content policy names them. */
  readonly scripts: readonly string[];
  /** Whether its name changes with its content. */
  readonly immutable: boolean;
}

/** Documents below `/docs` by path without leading slash; `''` is the root. Small enough to be kept in memory. */
export type Documentation = ReadonlyMap<string, Document>;

const FOLDER = fileURLToPath(new URL('../../docs/', import.meta.url));
/** Folder of the site below the one of the pages; `hack/docs` builds it. */
const SITE = '.vitepress/dist';
/** Folder and names of the samples that the examples download. */
const SAMPLES = fileURLToPath(new URL('../data/samples/', import.meta.url));
/** Folder of the icon of the pages that the site does not have, and of the rules that they share with the dashboard. */
const ASSETS = fileURLToPath(new URL('../dashboard/assets/', import.meta.url));
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

interface Installation {
  /** Path of the documentation on this server, such as `/docs`. */
  readonly root: string;
  /** Name of the installation. */
  readonly name: string;
}

/** Loads the documentation: the built site, or plain pages from the same Markdown where it is not built. */
export function loadDocumentation(installation: Installation): Documentation {
  const site = join(FOLDER, SITE);
  const read = (path: string): Buffer => readFileSync(join(FOLDER, path));
  const style = Buffer.concat([readFileSync(join(ASSETS, 'base.css')), read('style.css')]);
  const samples = EXAMPLE_FILES.map((name): [string, Document] => [
    `samples/${name}`,
    documentOf('application/octet-stream', readFileSync(join(SAMPLES, name))),
  ]);
  return new Map([
    ...(existsSync(join(site, 'index.html')) ? siteFiles(site, installation) : plainPages(installation)),
    ...samples,
    ['style.css', documentOf('text/css; charset=utf-8', style)],
    ['icon.svg', documentOf('image/svg+xml', readFileSync(join(ASSETS, 'icon.svg')))],
    ['openapi.json', documentOf(JSON_TYPE, read('openapi.json'))],
  ]);
}

/** Files with a hash of their content in their name. */
const HASHED = /^assets\//;

/** Returns the files of the built site, with the base and the name that it was built with replaced. */
function siteFiles(site: string, { root, name }: Installation): [string, Document][] {
  return globSync('**/*.*', { cwd: site }).flatMap((file): [string, Document][] => {
    const type = extname(file);
    const mediaType = MEDIA_TYPES[type];
    if (mediaType === undefined) return [];
    const bytes = readFileSync(join(site, file));
    const isNamed = bytes.includes(SITE_NAME);
    const text = (): string => bytes.toString('utf8').replaceAll(SITE_BASE, `${root}/`);
    const body = BINARY.has(type) ? bytes : Buffer.from(text().replaceAll(SITE_NAME, () => nameIn(type, name)));
    const document = { ...documentOf(mediaType, body), immutable: HASHED.test(file) && !isNamed };
    return [[type === '.html' ? pathOf(file, type) : file, document]];
  });
}

/** Returns the name for a file of a type. In scripts it is part of JSON in a string. */
function nameIn(type: string, name: string): string {
  const inString = (text: string): string => JSON.stringify(text).slice(1, -1);
  if (type === '.js') return inString(inString(name));
  return type === '.html' ? escapeHtml(name) : name;
}

function plainPages(installation: Installation): [string, Document][] {
  const read = (file: string): Buffer => readFileSync(join(FOLDER, file));
  const pages = globSync('**/*.md', { cwd: FOLDER }).map((file): [string, Document] => {
    const path = pathOf(file, '.md');
    const page = renderPage({ ...installation, markdown: read(file).toString('utf8'), path });
    return [path, documentOf(HTML, Buffer.from(page))];
  });
  const images = globSync('images/*.png', { cwd: FOLDER });
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
    immutable: false,
    etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
    scripts: scripts.map(([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`),
  };
}

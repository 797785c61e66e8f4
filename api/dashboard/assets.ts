import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Asset {
  readonly mediaType: string;
  readonly body: Buffer;
}

/** Style, scripts and icon, in one folder, because scripts import each other. */
export interface Assets {
  /** Assets by path below the dashboard. */
  readonly byPath: ReadonlyMap<string, Asset>;
  /** Path of each asset for pages, with `/dashboard`. */
  readonly pathOf: (name: AssetName) => string;
}

const MEDIA_TYPES = {
  'dashboard.css': 'text/css; charset=utf-8',
  'dashboard.js': 'text/javascript; charset=utf-8',
  'playground.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;
type AssetName = keyof typeof MEDIA_TYPES;

/** Reads the assets. Their folder is a hash of their content, so browsers may cache them indefinitely. */
export function loadAssets(): Assets {
  const read = Object.entries(MEDIA_TYPES).map(([name, mediaType]) => {
    const body = name === 'dashboard.css' ? Buffer.concat([readAsset('base.css'), readAsset(name)]) : readAsset(name);
    return { name, mediaType, body };
  });
  const hash = createHash('sha256');
  for (const { body } of read) hash.update(body);
  const folder = `/assets/${hash.digest('hex').slice(0, 12)}`;
  return {
    byPath: new Map(read.map(({ name, ...asset }) => [`${folder}/${name}`, asset])),
    pathOf: (name) => `/dashboard${folder}/${name}`,
  };
}

function readAsset(name: string): Buffer {
  return readFileSync(join(import.meta.dirname, 'assets', name));
}

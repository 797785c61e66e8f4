import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Asset {
  readonly mediaType: string;
  readonly body: Buffer;
}

/** Style, script and icon. Their paths contain a hash of the content, so browsers may cache them indefinitely. */
export interface Assets {
  /** Assets by path below the dashboard. */
  readonly byPath: ReadonlyMap<string, Asset>;
  /** Path of the style for pages, with `/dashboard`; likewise of script and icon. */
  readonly stylePath: string;
  readonly scriptPath: string;
  readonly iconPath: string;
}

/** Reads the assets and computes their paths. */
export function loadAssets(): Assets {
  const style = readAsset('dashboard.css', 'text/css; charset=utf-8');
  const script = readAsset('dashboard.js', 'text/javascript; charset=utf-8');
  const icon = readAsset('icon.svg', 'image/svg+xml');
  const byPath = new Map<string, Asset>([style, script, icon]);
  return {
    byPath,
    stylePath: `/dashboard${style[0]}`,
    scriptPath: `/dashboard${script[0]}`,
    iconPath: `/dashboard${icon[0]}`,
  };
}

function readAsset(name: string, mediaType: string): [string, Asset] {
  const body = readFileSync(join(import.meta.dirname, 'assets', name));
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return [`/assets/${hash}/${name}`, { mediaType, body }];
}

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Asset {
  readonly mediaType: string;
  readonly body: Buffer;
}

/** Style and script by path below the dashboard. The path holds a hash of the content, so it is kept for ever. */
export interface Assets {
  readonly get: (path: string) => Asset | undefined;
  /** Whole paths for pages. */
  readonly stylePath: string;
  readonly scriptPath: string;
  readonly iconPath: string;
}

export function loadAssets(): Assets {
  const style = readAsset('dashboard.css', 'text/css; charset=utf-8');
  const script = readAsset('dashboard.js', 'text/javascript; charset=utf-8');
  const icon = readAsset('icon.svg', 'image/svg+xml');
  const byPath = new Map<string, Asset>([style, script, icon]);
  return {
    get: (path) => byPath.get(path),
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

/** Python packages of the worker image with their licences, from the metadata of the installed packages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LicensedPackage } from './check-licences.ts';

/** Packages of the virtual environment on this machine that the images do not have. */
const NOT_IN_IMAGES = new Set(['pip', 'setuptools', 'wheel']);

/** Returns the packages in a folder `site-packages`. */
export function pythonLicences(folder: string): LicensedPackage[] {
  return readdirSync(folder)
    .filter((entry) => entry.endsWith('.dist-info'))
    .map((entry) => packageOf(readFileSync(join(folder, entry, 'METADATA'), 'utf8')))
    .filter(({ name }) => !NOT_IN_IMAGES.has(name));
}

function packageOf(metadata: string): LicensedPackage {
  const head = metadata.split('\n\n')[0] ?? '';
  const field = (name: string): string[] =>
    [...head.matchAll(new RegExp(`^${name}: *(.+)$`, 'gm'))].map(([, value = '']) => value.trim());
  const classifiers = field('Classifier').filter((value) => value.startsWith('License ::'));
  const stated = [field('License-Expression'), field('License').slice(0, 1), classifiers].find((one) => one.length > 0);
  return { kind: 'python', name: field('Name')[0] ?? '', licences: stated ?? [] };
}

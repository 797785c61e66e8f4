/** npm packages of an image with their licences, from the lock file. */
import { z } from 'zod';
import type { LicensedPackage } from './check-licences.ts';

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({
      license: z.string().optional(),
      dependencies: z.record(z.string(), z.string()).optional(),
      optionalDependencies: z.record(z.string(), z.string()).optional(),
    }),
  ),
});

/** Returns the packages of these names and everything that they depend on, optional packages included. */
export function npmLicences(lockText: string, names: readonly string[]): LicensedPackage[] {
  const { packages } = lockFile.parse(JSON.parse(lockText));
  const found = new Set<string>();
  const visit = (from: string, name: string): void => {
    const path = resolvePath(Object.keys(packages), from, name);
    if (path === null || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies } = packages[path] ?? {};
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(path, next);
  };
  for (const name of names) visit('', name);
  return [...found].map((path) => {
    const licence = packages[path]?.license;
    return {
      kind: 'npm',
      name: path.replace(/^.*node_modules\//, ''),
      licences: licence === undefined ? [] : [licence],
    };
  });
}

/** Returns the path that Node would load the package from; null for an optional package that is not installed. */
function resolvePath(paths: readonly string[], from: string, name: string): string | null {
  const path = `${from === '' ? '' : `${from}/`}node_modules/${name}`;
  if (paths.includes(path)) return path;
  if (from === '') return null;
  const parent = from.lastIndexOf('/node_modules/');
  return resolvePath(paths, parent === -1 ? '' : from.slice(0, parent), name);
}

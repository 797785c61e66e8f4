/**
 * Checks the licences of what the images contain against `hack/licences/reviewed.json`: npm packages by the lock file,
 * Python packages by their metadata, Debian packages by the list of those that the images install. What these bring
 * along is only known in an image: `--image FOLDER` checks the Debian packages in the root folder of one.
 * `--record` adds what is missing to the reviewed ones, for a person to read in the difference; it never adds AGPL.
 */
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES_BY_USE } from './debian-packages.ts';
import { IMAGE_PACKAGES } from './image-packages.ts';
import {
  keyOf,
  licenceProblems,
  refusedLicences,
  type LicensedPackage,
  type ReviewedLicences,
} from './licences/check-licences.ts';
import { licencesOfCopyright } from './licences/debian-copyright.ts';
import { npmLicences } from './licences/npm-licences.ts';
import { pythonLicences } from './licences/python-licences.ts';

const REVIEWED = 'hack/licences/reviewed.json';
const options = { image: { type: 'string' }, record: { type: 'boolean', default: false } } as const;
const { values } = parseArgs({ options });
const reviewed = JSON.parse(readFileSync(REVIEWED, 'utf8')) as ReviewedLicences;
const packages = values.image === undefined ? packagesOfCheckout() : debianPackages(values.image);
if (values.record) record();
const problems = values.record ? [] : [...licenceProblems(packages, reviewed), ...missingDebianPackages()];
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0)
  process.stderr.write(`Read the licences, then run: node hack/verify-licences.ts --record, and docs/licences.md\n`);
process.stdout.write(`licences: ${packages.length} packages, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function packagesOfCheckout(): LicensedPackage[] {
  const [python] = globSync('.tools/python/lib/*/site-packages');
  if (python === undefined) throw new Error('.tools/python has no packages: run hack/setup first');
  return [
    ...npmLicences(readFileSync('package-lock.json', 'utf8'), [
      ...IMAGE_PACKAGES.embedded,
      // Code of some of them is in the pages of the site.
      ...IMAGE_PACKAGES.documentation,
    ]),
    ...pythonLicences(python),
  ];
}

/** Returns the Debian packages of the image whose root is the folder, each with the licences in its copyright file. */
function debianPackages(root: string): LicensedPackage[] {
  const docs = join(root, 'usr/share/doc');
  const status = readFileSync(join(root, 'var/lib/dpkg/status'), 'utf8');
  const installed = status.split('\n\n').filter((entry) => /^Status: install ok installed$/m.test(entry));
  const names = installed.flatMap((entry) => /^Package: (.+)$/m.exec(entry)?.[1] ?? []);
  if (names.length < 50 || readdirSync(docs).length < 50) throw new Error(`${root} is not the root of an image`);
  return names.map((name) => {
    const file = join(docs, name, 'copyright');
    const licences = existsSync(file) ? licencesOfCopyright(readFileSync(file, 'latin1')) : [];
    return { kind: 'debian', name, licences };
  });
}

/** Returns the Debian packages that the images install by name and nobody has reviewed. */
function missingDebianPackages(): string[] {
  if (values.image !== undefined) return [];
  const list = [...PACKAGES_BY_USE.image, ...PACKAGES_BY_USE.imageServers];
  return list
    .filter((name) => reviewed[`debian ${name}`] === undefined)
    .map((name) => `debian ${name} is not reviewed: build the image, then check it with --image`);
}

function record(): void {
  const refused = packages.filter((one) => refusedLicences(one).length > 0);
  if (refused.length > 0) throw new Error(licenceProblems(refused, reviewed).join('\n'));
  const added = Object.fromEntries(packages.map((one) => [keyOf(one), one.licences]));
  const all = Object.entries({ ...reviewed, ...added }).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const lines = all.map(([key, licences]) => `  ${JSON.stringify(key)}: ${JSON.stringify(licences)}`);
  writeFileSync(REVIEWED, `{\n${lines.join(',\n')}\n}\n`);
}

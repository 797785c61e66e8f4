import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { IMAGE_PACKAGES } from '../image-packages.ts';
import { licenceProblems, refusedLicences, type LicensedPackage } from './check-licences.ts';
import { licencesOfCopyright } from './debian-copyright.ts';
import { npmLicences } from './npm-licences.ts';

const lockText = readFileSync('package-lock.json', 'utf8');
const reviewed = JSON.parse(readFileSync('hack/licences/reviewed.json', 'utf8'));
/** What Python packages write in place of a licence's name of SPDX. */
const OTHER_WORDS = new Set(['Apache License 2.0', 'dependency licenses']);
const ofWorker = () => npmLicences(lockText, IMAGE_PACKAGES.worker);

describe('the licence gate', () => {
  it('accepts the npm packages of the images', () => {
    expect(ofWorker().map(({ name }) => name)).toContain('@img/sharp-libvips-linux-x64');
    const names = [...IMAGE_PACKAGES.service, ...IMAGE_PACKAGES.documentation];
    expect(licenceProblems([...npmLicences(lockText, names), ...ofWorker()], reviewed)).toEqual([]);
  });

  it('fails when a package that an image needs changes to the AGPL', () => {
    const lock = JSON.parse(lockText);
    lock.packages['node_modules/yauzl'].license = 'AGPL-3.0-only';
    expect(licenceProblems(npmLicences(JSON.stringify(lock), IMAGE_PACKAGES.worker), reviewed)).toEqual([
      'npm yauzl: AGPL-3.0-only is not allowed in an image',
    ]);
  });

  it('fails when a dependency of a dependency is not reviewed', () => {
    const lock = JSON.parse(lockText);
    lock.packages['node_modules/yauzl'].dependencies.inner = '1.0.0';
    lock.packages['node_modules/yauzl/node_modules/inner'] = { version: '1.0.0', license: 'MIT' };
    expect(licenceProblems(npmLicences(JSON.stringify(lock), IMAGE_PACKAGES.worker), reviewed)).toEqual([
      'npm inner (MIT) is not reviewed',
    ]);
  });

  it('fails for an AGPL package even when it was recorded as reviewed', () => {
    const mupdf: LicensedPackage = { kind: 'debian', name: 'mupdf-tools', licences: ['AGPL-3+', 'ISC'] };
    expect(licenceProblems([mupdf], { 'debian mupdf-tools': ['AGPL-3+', 'ISC'] })).toEqual([
      'debian mupdf-tools: AGPL-3+ is not allowed in an image',
    ]);
  });

  it('fails for a reviewed package that has a further licence, or states none and is new', () => {
    const packages: LicensedPackage[] = [
      { kind: 'debian', name: 'tar', licences: ['GPL-3+', 'Unknown-1'] },
      { kind: 'python', name: 'new', licences: [] },
    ];
    expect(licenceProblems(packages, { 'debian tar': ['GPL-3+'] })).toEqual([
      'debian tar: Unknown-1 is not reviewed, unlike GPL-3+',
      'python new (no licence stated) is not reviewed',
    ]);
  });

  it('fails for a package whose licence was removed with its text', () => {
    const tar: LicensedPackage = { kind: 'debian', name: 'tar', licences: [] };
    expect(licenceProblems([tar], { 'debian tar': ['GPL-3+'] })).toEqual([
      'debian tar states no licence any more, unlike GPL-3+',
    ]);
  });

  it('accepts the choice of another licence than the AGPL', () => {
    const one: LicensedPackage = { kind: 'npm', name: 'x', licences: ['(MIT OR AGPL-3.0-only)'] };
    expect(refusedLicences(one)).toEqual([]);
  });

  it.each([
    [
      'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: AGPL-3+\n',
      ['AGPL-3+'],
    ],
    ['You may use it under the terms of the GNU\nAffero General Public License.', ['AGPL (text)']],
    [
      '"Secondary License" means the GNU General Public License, Version 2.0, or the GNU Affero General Public License',
      ['GPL (text)'],
    ],
  ])('reads the licences of a copyright file of Debian: %#', (text, expected) => {
    expect(licencesOfCopyright(text)).toEqual(expected);
  });
});

describe('docs/licences.md', () => {
  it('names every licence of the npm and Python packages in the images', () => {
    const page = readFileSync('docs/licences.md', 'utf8');
    const npm = npmLicences(lockText, IMAGE_PACKAGES.embedded).map(({ name }) => `npm ${name}`);
    const python = Object.keys(reviewed).filter((key) => key.startsWith('python '));
    const stated = [...npm, ...python].flatMap((key): string[] => reviewed[key]);
    const names = new Set(stated.flatMap((licence) => licence.split(/ AND | OR |, /)));
    expect([...names].filter((name) => !page.includes(name) && !OTHER_WORDS.has(name))).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { spdxDocument } from './spdx-document.ts';

const input = {
  name: 'image',
  version: '1.0.0',
  hash: 'a'.repeat(64),
  reviewed: {
    'npm @scope/x': ['MIT'],
    'debian libc6': ['GPL-2+', 'LGPL-2.1+'],
    'python Pillow': ['MIT-CMU OR Apache-2.0'],
  },
};

describe('the bill of materials', () => {
  it('names each package by its package URL and with its reviewed licences', () => {
    const lines = ['npm @scope/x 1.2.3', 'debian libc6 2.41-12+deb13u5', 'python Pillow 13.0.0'];
    const { packages } = spdxDocument({ ...input, lines });
    expect(packages).toMatchObject([
      { licenseComments: 'MIT', externalRefs: [{ referenceLocator: 'pkg:npm/%40scope/x@1.2.3' }] },
      { externalRefs: [{ referenceLocator: 'pkg:deb/debian/libc6@2.41-12%2Bdeb13u5?distro=trixie' }] },
      { externalRefs: [{ referenceLocator: 'pkg:pypi/pillow@13.0.0' }] },
    ]);
  });

  it('declares the licences that have a name in SPDX, and says the others in words', () => {
    const { packages } = spdxDocument({
      ...input,
      lines: ['npm @scope/x 1', 'debian libc6 2', 'python Pillow 3', 'npm y 4'],
    });
    const said = (packages as any[]).map(({ licenseDeclared, licenseComments }) => [licenseDeclared, licenseComments]);
    expect(said).toEqual([
      ['MIT', 'MIT'],
      ['NOASSERTION', 'GPL-2+; LGPL-2.1+'],
      ['MIT-CMU OR Apache-2.0', 'MIT-CMU OR Apache-2.0'],
      ['NOASSERTION', ''],
    ]);
  });

  it('is refused for a line that names no version', () => {
    expect(() => spdxDocument({ ...input, lines: ['npm x'] })).toThrow('not a package: npm x');
  });
});

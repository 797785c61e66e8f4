/** Bill of materials of an image in SPDX 2.3. */
import type { ReviewedLicences } from './check-licences.ts';

interface DocumentInput {
  readonly name: string;
  readonly version: string;
  /** Hash of the lines, which makes the document's address unique. */
  readonly hash: string;
  /** `kind name version`. */
  readonly lines: readonly string[];
  readonly reviewed: ReviewedLicences;
}

/** Date of every document, so that the same packages give the same bytes. */
const CREATED = '1970-01-01T00:00:00Z';

/** Licences of SPDX that npm and Python packages state. Debian's names are others. */
const SPDX_LICENCES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'LGPL-3.0-or-later',
  'MIT',
  'MIT-CMU',
  'MPL-2.0',
  'PSF-2.0',
  'Unlicense',
]);

/** Returns the document. @throws Error for a line that is not `kind name version`. */
export function spdxDocument({ name, version, hash, lines, reviewed }: DocumentInput): Record<string, unknown> {
  const packages = lines.map((line, index) => {
    const [kind, part, partVersion, ...rest] = line.split(' ');
    if (kind === undefined || part === undefined || partVersion === undefined || rest.length > 0)
      throw new Error(`not a package: ${line}`);
    const licences = reviewed[`${kind} ${part}`] ?? [];
    return {
      SPDXID: `SPDXRef-${index + 1}`,
      name: part,
      versionInfo: partVersion,
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseConcluded: 'NOASSERTION',
      licenseDeclared: declaredLicence(kind, licences),
      licenseComments: licences.join('; '),
      copyrightText: 'NOASSERTION',
      externalRefs: [
        {
          referenceCategory: 'PACKAGE-MANAGER',
          referenceType: 'purl',
          referenceLocator: purl(kind, part, partVersion),
        },
      ],
    };
  });
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${name}-${version}`,
    documentNamespace: `https://mediajobs.dev/spdx/${name}-${version}-${hash.slice(0, 16)}`,
    creationInfo: { created: CREATED, creators: [`Tool: mediajobs-write-sbom-${version}`] },
    packages,
    relationships: packages.map(({ SPDXID }) => ({
      spdxElementId: 'SPDXRef-DOCUMENT',
      relationshipType: 'DESCRIBES',
      relatedSpdxElement: SPDXID,
    })),
  };
}

/** Returns what the package states when that is an expression of SPDX. */
function declaredLicence(kind: string, [expression = '', ...more]: readonly string[]): string {
  const names = expression.split(/ (?:AND|OR) /);
  const isExpression = more.length === 0 && names.every((name) => SPDX_LICENCES.has(name));
  return kind !== 'debian' && isExpression ? expression : 'NOASSERTION';
}

/** Returns the package URL by which scanners find vulnerabilities. */
function purl(kind: string, name: string, version: string): string {
  const escaped = encodeURIComponent(version);
  if (kind === 'debian') return `pkg:deb/debian/${name}@${escaped}?distro=trixie`;
  if (kind === 'python') return `pkg:pypi/${name.toLowerCase().replaceAll('_', '-')}@${escaped}`;
  if (kind === 'npm') return `pkg:npm/${name.replace('@', '%40')}@${escaped}`;
  return `pkg:generic/${name}@${escaped}`;
}

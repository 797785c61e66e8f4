/**
 * Writes a bill of materials in SPDX 2.3 (JSON) of the packages on standard input, one per line as `hack/list-packages`
 * prints them: kind, name, version. Licences are those of `hack/licences/reviewed.json`; Debian's, whose names are not those of
 * SPDX, are comments alone. The same input gives the same bytes.
 *   hack/list-packages IMAGE | node hack/write-sbom.ts --name mediajobs-worker --version 0.1.0
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { ReviewedLicences } from './licences/check-licences.ts';
import { spdxDocument } from './licences/spdx-document.ts';

const { values } = parseArgs({ options: { name: { type: 'string' }, version: { type: 'string' } } });
const { name, version } = values;
if (name === undefined || version === undefined) throw new Error('give --name and --version of the image');
const lines = (await text(process.stdin)).trim().split('\n');
const reviewed = JSON.parse(readFileSync('hack/licences/reviewed.json', 'utf8')) as ReviewedLicences;
const hash = createHash('sha256').update(lines.join('\n')).digest('hex');
const document = spdxDocument({ name, version, hash, lines, reviewed });
process.stdout.write(`${JSON.stringify(document, null, 1)}\n`);

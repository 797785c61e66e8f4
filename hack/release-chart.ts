/**
 * Writes the chart as it is published, with what only the release knows: the registry and the digests of its images, the
 * icon, and the address of the repository where `package.json` has one.
 *   node hack/release-chart.ts --registry HOST/PATH --service sha256:… --worker sha256:… FOLDER
 */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { parseDocument, type Document } from 'yaml';

const CHART = 'charts/mediajobs';
const ICON = 'api/dashboard/assets/icon.svg';

interface Release {
  readonly registry: string;
  /** `sha256:…`, by image. */
  readonly digests: { readonly service: string; readonly worker: string };
  /** Address of the repository; null: the project has none. */
  readonly repository: string | null;
}

/** Writes the chart of the release to a new folder. */
export function writeChart(folder: string, release: Release): void {
  cpSync(CHART, folder, { recursive: true });
  edit(path.join(folder, 'values.yaml'), (values) => {
    values.setIn(['image', 'registry'], release.registry);
    for (const [name, digest] of Object.entries(release.digests)) values.setIn(['image', name, 'digest'], digest);
  });
  edit(path.join(folder, 'Chart.yaml'), (chart) => {
    // No host serves it: an address would be one more thing to keep alive.
    chart.set('icon', `data:image/svg+xml;base64,${readFileSync(ICON).toString('base64')}`);
    if (release.repository !== null) {
      chart.set('home', release.repository);
      chart.set('sources', [release.repository]);
    }
    const images = Object.entries(release.digests).map(
      ([name, digest]) => `- name: mediajobs-${name}\n  image: ${release.registry}/mediajobs-${name}@${digest}\n`,
    );
    chart.setIn(['annotations', 'artifacthub.io/images'], images.join(''));
  });
}

function edit(file: string, change: (document: Document) => void): void {
  const document = parseDocument(readFileSync(file, 'utf8'));
  change(document);
  writeFileSync(file, document.toString({ lineWidth: 0 }));
}

/** Returns the address of `repository` in package.json without the prefix and suffix that npm puts there. */
function repositoryOf(file: string): string | null {
  const { repository } = JSON.parse(readFileSync(file, 'utf8')) as { repository?: string | { url: string } };
  if (repository === undefined) return null;
  const url = typeof repository === 'string' ? repository : repository.url;
  return url.replace(/^git\+/, '').replace(/\.git$/, '');
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { registry: { type: 'string' }, service: { type: 'string' }, worker: { type: 'string' } },
  });
  const { registry, service, worker } = values;
  const [folder] = positionals;
  if (registry === undefined || service === undefined || worker === undefined || folder === undefined)
    throw new Error('hack/release-chart.ts --registry HOST/PATH --service sha256:… --worker sha256:… FOLDER');
  writeChart(folder, { registry, digests: { service, worker }, repository: repositoryOf('package.json') });
}

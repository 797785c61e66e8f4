import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { writeChart } from './release-chart.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mediajobs-chart-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RELEASE = {
  registry: 'registry.example.com/media',
  digests: { service: `sha256:${'5'.repeat(64)}`, worker: `sha256:${'7'.repeat(64)}` },
};

function written(name: string, repository: string | null): { chart: any; values: any; comments: string } {
  const target = path.join(folder, name);
  writeChart(target, { ...RELEASE, repository });
  const [chart, values] = ['Chart.yaml', 'values.yaml'].map((file) => readFileSync(path.join(target, file), 'utf8'));
  return { chart: parse(chart ?? ''), values: parse(values ?? ''), comments: values ?? '' };
}

describe('the published chart', () => {
  it('takes its images from the registry that it is published to, by digest', () => {
    const { chart, values, comments } = written('plain', null);
    expect(values.image).toMatchObject({
      registry: RELEASE.registry,
      service: { repository: 'mediajobs-service', digest: RELEASE.digests.service },
      worker: { repository: 'mediajobs-worker', digest: RELEASE.digests.worker },
    });
    expect(comments).toContain('# Default: the chart');
    expect(parse(chart.annotations['artifacthub.io/images'])).toEqual([
      { name: 'mediajobs-service', image: `${RELEASE.registry}/mediajobs-service@${RELEASE.digests.service}` },
      { name: 'mediajobs-worker', image: `${RELEASE.registry}/mediajobs-worker@${RELEASE.digests.worker}` },
    ]);
  });

  it('has the icon of the dashboard, which no host has to serve', () => {
    const [type, content = ''] = written('icon', null).chart.icon.split(',');
    expect(type).toBe('data:image/svg+xml;base64');
    expect(Buffer.from(content, 'base64')).toEqual(readFileSync('api/dashboard/assets/icon.svg'));
  });

  it('names the repository only where there is one', () => {
    expect(Object.keys(written('without', null).chart)).not.toContain('home');
    const address = 'https://git.example.com/media/jobs';
    expect(written('with', address).chart).toMatchObject({ home: address, sources: [address] });
  });
});

/**
 * The chart's alerts as Prometheus reads them: `alerts.yaml` beside this file has series and what fires on them.
 * promtool takes long to build: they are checked where `hack/cluster/build-binaries promtool` has made it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { CHART } from '#test/e2e/installation.ts';

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

/** Of the release `mediajobs` in the namespace `media`. */
function render(): string {
  const release = ['mediajobs', CHART, '--namespace', 'media', '--kube-version', '1.34.0'];
  const values = ['--set', 'evaluation.enabled=true,monitoring.prometheusRule.enabled=true'];
  const args = ['template', ...release, ...values, '--show-only', 'templates/monitoring.yaml'];
  const rule = parse(execFileSync('helm', args, { encoding: 'utf8' })) as { spec: object };
  return stringify(rule.spec);
}

/** Returns the queries of the Grafana dashboard as rules, with values for its variables. */
function dashboardRules(): string {
  const { panels } = JSON.parse(readFileSync('charts/mediajobs/files/dashboard.json', 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll(/\$\w+/g, 'media')));
  const rules = queries.map((expr, index) => ({ record: `dashboard:query_${index}`, expr }));
  return stringify({ groups: [{ name: 'dashboard', rules }] });
}

describe.runIf(hasPromtool)('the queries of the dashboard', () => {
  it('are well-formed', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'dashboard-'));
    const rules = join(folder.path, 'rules.yaml');
    await writeFile(rules, dashboardRules());
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', rules], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
  });
});

describe.runIf(hasPromtool)('the alerts', () => {
  it('are well-formed, and fire when they should and only then', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'alerts-'));
    const [rules, tests] = [join(folder.path, 'rules.yaml'), join(folder.path, 'tests.yaml')];
    await writeFile(rules, render());
    await copyFile('test/e2e/alerts.yaml', tests);
    for (const args of [
      ['check', 'rules', '--lint=all', '--lint-fatal', rules],
      ['test', 'rules', tests],
    ]) {
      const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
      expect(status, `promtool ${args.join(' ')}:\n${stdout}${stderr}`).toBe(0);
    }
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, 'verify-docs.ts');
/** A page whose name stands apart from missing sections: `verify-docs` reads this file, too. */
const PAGE = 'docs/reference/jobs.md';
const SOUND = {
  'package.json': '{"scripts":{"lint":"x"}}',
  'README.md': '# Start\nSee `api/a.ts`, `api/*.ts`, [jobs](docs/jobs.md#the-states), `npm run lint`.',
  'CONTRIBUTING.md': '# Tests\n`api/a.test.ts` “works”',
  'SECURITY.md': '# Security',
  'CHANGELOG.md': '# Changes',
  'api/a.ts': '// docs/reference/jobs.md#request',
  'api/a.test.ts': "it('works')",
  'api/metrics.ts': "'mediajobs_jobs_total'",
  'docs/jobs.md': '# Jobs\n## The states',
  'docs/reference/jobs.md': '# Request',
  'docs/operations.md': '# Alerts\n### Slow\nmediajobs_jobs_total\n',
  'charts/mediajobs/files/alerts.yaml': '- alert: Slow\n',
  'charts/mediajobs/files/dashboard.json': '{}',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'verify-docs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function verify(changed: Readonly<Record<string, string>> = {}): { status: number | null; stderr: string } {
  for (const [file, text] of Object.entries({ ...SOUND, ...changed })) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' });
  return { status, stderr };
}

describe('verify-docs', () => {
  it('accepts documents whose references all exist', () => {
    expect(verify()).toEqual({ status: 0, stderr: '' });
  });

  it('reports every kind of reference without a target', () => {
    const { status, stderr } = verify({
      'README.md': '# Start\n`api/gone.ts` [a](docs/gone.md) [b](docs/jobs.md#gone) `npm run gone`',
      'CONTRIBUTING.md': '`api/a.test.ts` “does nothing”',
      'api/a.ts': `// ${PAGE}#gone`,
      'docs/operations.md': '# Alerts\nmediajobs_gone_total\n',
    });
    expect(status).toBe(1);
    expect(stderr.trim().split('\n').toSorted()).toEqual([
      'CONTRIBUTING.md: api/a.test.ts has no test “does nothing”',
      'README.md: docs/jobs.md has no section #gone',
      'README.md: package.json has no script gone',
      'README.md: the link to docs/gone.md has no target',
      'README.md: there is no api/gone.ts',
      `api/a.ts: ${PAGE} has no section #gone`,
      'docs/operations.md: it lacks instructions for Slow',
      'docs/operations.md: no process has a metric mediajobs_gone_total',
    ]);
  });
});

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A comment `// Promise, SECTION: TEXT` before a test. */
const TAG = /^\s*\/\/ Promise, ([^:]+): (.+)$/;
const SECTIONS = [
  'What the service does',
  'Conventions and objects',
  'States',
  'Direct endpoints',
  'Uploads',
  'Jobs',
  'Presets, estimate, usage',
  'Authentication',
  'Events',
  'Limits and versions',
  'Bad input, case by case',
  'Settled where the interface leaves it open',
] as const;

const INTRODUCTION = `# Promises of the interface and their tests

\`docs/reference\` describes the interface. These tables list what it promises and the files of tests that show it. They
are generated from the comments \`// Promise, SECTION: TEXT\` before tests. Tests of this folder run against the whole
service over HTTPS, with real PostgreSQL, Redis and tools. What cannot be forced from outside is tested beside its source.
`;

/** Returns test/http/README.md from the tags in tests. @throws Error for a tag of an unknown section */
export function promiseTable(): string {
  const sections = new Map<string, Map<string, Set<string>>>(SECTIONS.map((name) => [name, new Map()]));
  for (const file of globSync('{api,controller,crds,test,worker-image}/**/*.test.ts').toSorted()) {
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const [, name = '', promise = ''] = TAG.exec(line) ?? [];
      if (name === '') continue;
      const promises = sections.get(name);
      if (promises === undefined) throw new Error(`${file}: no section is named ${name}`);
      promises.set(promise, (promises.get(promise) ?? new Set()).add(file));
    }
  }
  return [INTRODUCTION, ...[...sections].map(([name, promises]) => section(name, promises))].join('\n');
}

function section(name: string, promises: ReadonlyMap<string, ReadonlySet<string>>): string {
  const rows = [...promises].map(([promise, files]) => `| ${promise} | ${[...files].map(link).join(', ')} |`);
  return `## ${name}\n\n| promise | tests |\n|---|---|\n${rows.join('\n')}\n`;
}

function link(file: string): string {
  return `[${path.basename(file, '.test.ts')}](${path.relative('test/http', file)})`;
}

/**
 * Checks that the paths, scripts and tests that README, CONTRIBUTING, the decisions and the tables of tests cite are
 * there, and that operators read of metrics that exist and of every alert.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const FOLDERS = /^(\.ci|api|charts|controller|crds|docs|hack|test|worker-image)\//;
const OPERATIONS = 'docs/operations.md';
const ALERTS = 'charts/mediajobs/files/alerts.yaml';
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

const documents = ['README.md', 'CONTRIBUTING.md', ...globSync('{docs,hack/decisions,test}/**/*.md')];
const problems = documents.flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  const found = [missingPaths(text), missingLinks(file, text), missingScripts(text), missingTests(file, text)];
  return found.flat().map((problem) => `${file}: ${problem}`);
});
problems.push(...missingMetrics(), ...missingRunbooks());
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`docs: ${documents.length} documents, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Words in code type that begin with one of our folders; `*` and `<x>` stand for anything. */
function missingPaths(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]?.split(' ')[0] ?? '');
  const paths = new Set(spans.filter((span) => FOLDERS.test(span)).map((span) => span.replace(/[,.:;]$/, '')));
  return [...paths].filter((path) => !isThere(path)).map((path) => `there is no ${path}`);
}

function isThere(path: string): boolean {
  const pattern = path.replaceAll(/<[^>]+>|…/g, '*').replace(/\/$/, '');
  return pattern.includes('*') ? globSync(pattern).length > 0 : existsSync(pattern);
}

function missingLinks(file: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)].map((match) => match[1] ?? '');
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  return local
    .filter((target) => !existsSync(join(dirname(file), target)))
    .map((target) => `the link to ${target} leads nowhere`);
}

function missingScripts(text: string): string[] {
  const names = [...text.matchAll(/\bnpm run (?:--silent )?([a-z:]+)/g)].map((match) => match[1] ?? '');
  return names.filter((name) => !Object.hasOwn(scripts, name)).map((name) => `package.json has no script ${name}`);
}

/** After a file of tests in code type, names of its tests in “such quotes”. A file without its path stands beside the document. */
function missingTests(file: string, text: string): string[] {
  const cited = [...text.matchAll(/`([\w./-]+\.test\.ts)`((?:,? “[^”]+”)+)/g)];
  return cited.flatMap(([, name = '', quoted = '']) => {
    const path = name.includes('/') ? name : join(dirname(file), name);
    if (!existsSync(path)) return [`there is no ${path}`];
    const source = readFileSync(path, 'utf8').replaceAll(/\\(['"`])/g, '$1');
    const titles = [...quoted.matchAll(/“([^”]+)”/g)].map((match) => match[1] ?? '');
    return titles
      .filter((title) => !["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`)))
      .map((title) => `${path} has no test “${title}”`);
  });
}

/** Those that operators' page, alerts and dashboard name, but no process registers. */
function missingMetrics(): string[] {
  const sources = globSync('{api,controller,crds,worker-image}/**/*metrics.ts').map((file) =>
    readFileSync(file, 'utf8'),
  );
  const namesIn = (text: string, pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map((found) => found[1] ?? '');
  const whole = sources.flatMap((text) => namesIn(text, /'(mediajobs_\w+)'/g));
  // Of the queues of both processes.
  const ends = sources.flatMap((text) => namesIn(text, /\bname\('(\w+)'\)/g));
  const ofQueues = ends.flatMap((end) => ['controller', 'recorder'].map((of) => `mediajobs_${of}_queue_${end}`));
  const registered = new Set([...whole, ...ofQueues]);
  return [OPERATIONS, ALERTS, 'charts/mediajobs/files/dashboard.json'].flatMap((file) => {
    const named = new Set(namesIn(readFileSync(file, 'utf8'), /\b(mediajobs_\w+)/g));
    const unknown = [...named].filter((name) => !registered.has(name.replace(/_(count|bucket|sum)$/, '')));
    return unknown.map((name) => `${file}: no process has a metric ${name}`);
  });
}

/** Alerts without a heading of their own on the operators' page. */
function missingRunbooks(): string[] {
  const page = readFileSync(OPERATIONS, 'utf8');
  const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)].map((found) => found[1] ?? '');
  const missing = alerts.filter((alert) => !page.includes(`\n### ${alert}\n`));
  return missing.map((alert) => `${OPERATIONS}: nothing says what to do about ${alert}`);
}

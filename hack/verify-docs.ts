/**
 * Checks that the paths, links, scripts and tests that documents cite exist, that the sections of `docs/reference` that
 * source comments cite exist, that the operators' page names only metrics that exist, and that it covers every alert.
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

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...globSync('{docs,hack/decisions,test}/**/*.md'),
];
const sources = globSync('{api,charts,controller,crds,hack,test,worker-image}/**/*.{ts,py,sql,yaml,tpl}');
const problems = documents.flatMap((file) => {
  const text = readFileSync(file, 'utf8');
  const found = [missingPaths(text), missingLinks(file, text), missingScripts(text), missingTests(file, text)];
  return found.flat().map((problem) => `${file}: ${problem}`);
});
const references = [...documents, ...sources].flatMap(referencesIn);
const missingSections = references.filter(({ page, anchor }) => !hasSection(page, anchor));
problems.push(
  ...missingSections.map(({ file, page, anchor }) => `${file}: ${page} has no section #${anchor}`),
  ...missingMetrics(),
  ...missingRunbooks(),
);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(
  `docs: ${documents.length} documents, ${references.length} references, ${problems.length} problems\n`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

interface Reference {
  readonly file: string;
  readonly page: string;
  /** Empty when the whole page is cited. */
  readonly anchor: string;
}

/** Returns references to pages: `docs/reference/<page>.md#anchor` in any file, links between documents with an anchor. */
function referencesIn(file: string): Reference[] {
  const text = readFileSync(file, 'utf8');
  const cited = [...text.matchAll(/(?<![\w/])docs\/reference\/[\w-]+\.md(?:#([\w-]+))?/g)];
  const whole = cited.map(([reference, anchor = '']) => ({ file, page: reference.split('#')[0] ?? '', anchor }));
  if (!file.endsWith('.md')) return whole;
  const links = [...text.matchAll(/\]\(([\w./-]*)#([\w-]+)\)/g)];
  const between = links.map(([, path = '', anchor = '']) => ({
    file,
    page: path === '' ? file : join(dirname(file), path),
    anchor,
  }));
  return [...whole, ...between.filter(({ page }) => page.endsWith('.md'))];
}

function hasSection(page: string, anchor: string): boolean {
  return existsSync(page) && (anchor === '' || anchorsOf(page).has(anchor));
}

/** Returns the anchors that GitHub generates for the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const text = readFileSync(page, 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^#+ +(.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-');
    const repeated = Array.from({ length: 20 }, (_, index) => (index === 0 ? name : `${name}-${index}`));
    anchors.add(repeated.find((each) => !anchors.has(each)) ?? name);
  }
  return anchors;
}

/** Returns paths in code type that begin with one of our folders and do not exist; `*` and `<x>` match anything. */
function missingPaths(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]?.split(' ')[0] ?? '');
  const paths = new Set(spans.filter((span) => FOLDERS.test(span)).map((span) => span.replace(/[,.:;]$/, '')));
  return [...paths].filter((path) => !isThere(path)).map((path) => `there is no ${path}`);
}

function isThere(path: string): boolean {
  const pattern = path
    .replace(/#.*$/, '')
    .replaceAll(/<[^>]+>|…/g, '*')
    .replace(/\/$/, '');
  return pattern.includes('*') ? globSync(pattern).length > 0 : existsSync(pattern);
}

function missingLinks(file: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)#\s]+)(#[^)]*)?\)/g)].map((match) => match[1] ?? '');
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  return local
    .filter((target) => !existsSync(join(dirname(file), target)))
    .map((target) => `the link to ${target} has no target`);
}

function missingScripts(text: string): string[] {
  const names = [...text.matchAll(/\bnpm run (?:--silent )?([a-z:]+)/g)].map((match) => match[1] ?? '');
  return names.filter((name) => !Object.hasOwn(scripts, name)).map((name) => `package.json has no script ${name}`);
}

/** Returns missing tests: a test file in code type, then titles in “such quotes”. A file without its folder is beside the document. */
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

/** Returns the metrics that the operators' page, alerts and dashboard name, but no process registers. */
function missingMetrics(): string[] {
  const texts = globSync('{api,controller,crds,worker-image}/**/*metrics.ts').map((file) => readFileSync(file, 'utf8'));
  const namesIn = (text: string, pattern: RegExp): string[] =>
    [...text.matchAll(pattern)].map((found) => found[1] ?? '');
  const whole = texts.flatMap((text) => namesIn(text, /'(mediajobs_\w+)'/g));
  // Names that each of the two queues completes with its process.
  const ends = texts.flatMap((text) => namesIn(text, /\bname\('(\w+)'\)/g));
  const ofQueues = ends.flatMap((end) => ['controller', 'recorder'].map((of) => `mediajobs_${of}_queue_${end}`));
  const registered = new Set([...whole, ...ofQueues]);
  return [OPERATIONS, ALERTS, 'charts/mediajobs/files/dashboard.json'].flatMap((file) => {
    const named = new Set(namesIn(readFileSync(file, 'utf8'), /\b(mediajobs_\w+)/g));
    const unknown = [...named].filter((name) => !registered.has(name.replace(/_(count|bucket|sum)$/, '')));
    return unknown.map((name) => `${file}: no process has a metric ${name}`);
  });
}

/** Returns the alerts that have no heading on the operators' page. */
function missingRunbooks(): string[] {
  const page = readFileSync(OPERATIONS, 'utf8');
  const alerts = [...readFileSync(ALERTS, 'utf8').matchAll(/- alert: (\w+)/g)].map((found) => found[1] ?? '');
  const missing = alerts.filter((alert) => !page.includes(`\n### ${alert}\n`));
  return missing.map((alert) => `${OPERATIONS}: it lacks instructions for ${alert}`);
}

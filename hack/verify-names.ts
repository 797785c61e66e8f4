/**
 * Checks the names of files, identifiers and exported types, the beginnings of docstrings, and that no file contains a
 * path that exists on one machine only.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { checkFileName, checkNames, repeatedTypes } from './check-names.ts';

const FORBIDDEN = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'types', 'manager', 'service', 'index']);
/** Files that a tool finds by their name. */
const NAMED_BY_TOOLS = new Set(['docs/.vitepress/theme/index.ts']);
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** Checkouts and home folders, but not the same names inside a data folder. */
const MACHINE_PATH = /(?<![\w})>.*\]])\/(?:work|home|root|Users)\/|\.\.\/shared\b/;
/** Larger files are data, in bytes. */
const LARGEST_TEXT = 2_000_000;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && statSync(file, { throwIfNoEntry: false })?.isFile() === true);
if (files.length < 100) throw new Error(`only ${files.length} files were found: git sees another folder`);
const sources = files.filter((file) => file.endsWith('.ts'));
const exportedTypes = new Map<string, string[]>();
const problems = [
  ...files.flatMap((file) => [...nameProblems(file), ...pathProblems(file)]),
  ...sources.flatMap(identifierProblems),
  ...repeatedTypes(exportedTypes).map((repeated) => `several files export a type ${repeated}`),
];
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`names: ${files.length} files, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function nameProblems(file: string): string[] {
  if (!file.endsWith('.ts') || NAMED_BY_TOOLS.has(file)) return [];
  const name = fileName(file);
  if (FORBIDDEN.has(name)) return [`${file}: the name does not say which one thing is in it`];
  return KEBAB.test(name) ? [] : [`${file}: names are in kebab-case`];
}

function identifierProblems(file: string): string[] {
  const found = checkNames(file, readFileSync(file, 'utf8'));
  for (const type of found.exportedTypes) exportedTypes.set(type, [...(exportedTypes.get(type) ?? []), file]);
  return [...checkFileName(fileName(file)).map((problem) => `${file}: ${problem}`), ...found.problems];
}

function pathProblems(file: string): string[] {
  const bytes = readFileSync(file);
  if (bytes.length > LARGEST_TEXT || bytes.includes(0)) return [];
  return bytes
    .toString('utf8')
    .split('\n')
    .flatMap((line, index) => {
      const found = MACHINE_PATH.exec(line)?.[0];
      return found === undefined ? [] : [`${file}:${index + 1}: ${found} is a path of one machine`];
    });
}

function fileName(file: string): string {
  return path.basename(file, '.ts').replace(/\.(test|config)$/, '');
}

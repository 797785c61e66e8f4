/** Checks the names of files, and that none of them speaks of a path that exists on one machine only. */
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const FORBIDDEN = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'types', 'manager', 'service', 'index']);
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/;
/** Checkouts and home folders; a path inside a data folder is not meant. */
const MACHINE_PATH = /(?<![\w})>.*\]])\/(?:work|home|root|Users)\/|\.\.\/shared\b/;
const LARGEST_TEXT = 2_000_000;

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && statSync(file, { throwIfNoEntry: false })?.isFile() === true);
if (files.length < 100) throw new Error(`only ${files.length} files were found: git sees another folder`);
const problems = files.flatMap((file) => [...nameProblems(file), ...pathProblems(file)]);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`names: ${files.length} files, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function nameProblems(file: string): string[] {
  if (!file.endsWith('.ts')) return [];
  const name = path.basename(file, '.ts').replace(/\.(test|config)$/, '');
  if (FORBIDDEN.has(name)) return [`${file}: the name does not say which one thing is in it`];
  return KEBAB.test(name) ? [] : [`${file}: names are in kebab-case`];
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

/** Runs the examples of README and documentation as a reader pastes them. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { writeClientEnvironment } from '#api/embedded/client-environment.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** How programs are started. */
const PROGRAMS = {
  TypeScript: { extension: 'mts', command: process.execPath },
  // The packages of a checkout include `requests`, which Debian's Python may lack.
  Python: { extension: 'py', command: path.join(ROOT, '.tools/schemathesis/bin/python') },
} as const;
export type ProgramLanguage = keyof typeof PROGRAMS;

/** Returns a new folder, removed after the tests of the file. */
export function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'examples-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function textOf(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** Returns the blocks of a text in one language of its tabs, and those in the shell without a label. */
export function examplesIn(text: string, language: 'curl' | ProgramLanguage = 'curl'): string[] {
  const block = new RegExp(`^\`\`\`(?:sh|\\w+ \\[${language}\\])\\n([\\s\\S]*?)^\`\`\``, 'gm');
  return [...text.matchAll(block)].map(([, code = '']) => code);
}

/** Returns the shell command that lets clients trust a service. @param ca PEM. */
export function trust(folder: string, ca: string): string {
  const file = path.join(folder, 'ca.pem');
  writeFileSync(file, ca);
  return `. '${writeClientEnvironment(folder, file).file}'`;
}

/** Writes a program to the folder. Returns the shell command that runs it. */
export function commandFor(folder: string, language: ProgramLanguage, name: string, text: string): string {
  const { extension, command } = PROGRAMS[language];
  const file = path.join(folder, `${name}.${extension}`);
  writeFileSync(file, text);
  return `'${command}' '${file}'`;
}

/** Runs the blocks in one shell, as after one another in a terminal; the first failure ends it. */
export async function paste(
  folder: string,
  blocks: readonly string[],
  given: Readonly<Record<string, string>> = {},
): Promise<void> {
  const script = path.join(folder, '.pasted');
  writeFileSync(script, `set -euo pipefail\n${blocks.join('\n')}`);
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, ...given };
  const failed = (error: Error & { stdout: string; stderr: string }): never => {
    throw new Error(`${error.message}${error.stderr}${error.stdout}`);
  };
  await promisify(execFile)('bash', [script], { cwd: folder, env, maxBuffer: 8_000_000 }).catch(failed);
}

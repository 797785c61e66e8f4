/**
 * Secrets that the whole run is made with, and the search for them: in logs, metrics, arguments of processes, error
 * texts and the database, none may be found.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { randomWord } from '#crds/contract/ids.ts';
import { getText } from '#test/support/get-text.ts';
import { processesOf } from '#test/support/service-processes.ts';

export interface Canaries {
  /** Settings that hold secrets. */
  readonly settings: { readonly MEDIAJOBS_KEY_PEPPER: string; readonly MEDIAJOBS_ENCRYPTION_KEYS: string };
  /** Returns the text, which must not be found from now on. */
  add(name: string, secret: string): string;
  /** A new secret word of that name. */
  make(name: string): string;
  /** Names of those that are in the text, in clear or as hex, which is how PostgreSQL shows bytes. */
  foundIn(text: string): string[];
  /** Leaks so far, one sentence each. */
  readonly found: string[];
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const EVERY_MS = 500;

export function makeCanaries(): Canaries {
  const secrets = new Map<string, string>();
  const pepper = randomWord(LETTERS, 40);
  const key = randomBytes(32).toString('base64');
  secrets.set(pepper, 'key pepper').set(key, 'encryption key');
  const add = (name: string, secret: string): string => {
    secrets.set(secret, name);
    return secret;
  };
  return {
    settings: { MEDIAJOBS_KEY_PEPPER: pepper, MEDIAJOBS_ENCRYPTION_KEYS: `a:${key}` },
    add,
    make: (name) => add(name, `canary${randomWord(LETTERS, 26)}`),
    foundIn: (text) =>
      [...secrets]
        .filter(([secret]) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex')))
        .map(([, name]) => name),
    found: [],
  };
}

/** Looks at the arguments of the service's processes again and again. */
export function watchArguments(canaries: Canaries, data: string): { stop: () => void } {
  const timer = setInterval(() => {
    for (const { role, command } of processesOf(data)) {
      for (const name of canaries.foundIn(command)) canaries.found.push(`${name} in the arguments of ${role}`);
    }
  }, EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}

/** Searches logs, metrics and a dump of the database; what is found is added to `found`. */
export async function searchStores(
  canaries: Canaries,
  { folder, data, databaseUrl }: { folder: string; data: string; databaseUrl: string },
): Promise<void> {
  const look = (where: string, text: string): void => {
    for (const name of canaries.foundIn(text)) canaries.found.push(`${name} in ${where}`);
  };
  for (const log of readdirSync(path.join(data, 'log')))
    look(`the log ${log}`, readFileSync(path.join(data, 'log', log), 'utf8'));
  look('the log of the servers', readFileSync(path.join(folder, 'servers.log'), 'utf8'));
  const connection = JSON.parse(readFileSync(path.join(data, 'run', 'connection.json'), 'utf8')) as {
    ops: Record<string, string>;
  };
  for (const [name, url] of Object.entries(connection.ops))
    look(`the metrics of ${name}`, (await getText(`${url}/metrics`)).body);
  look(
    'the database',
    execFileSync('pg_dump', ['--data-only', databaseUrl], { maxBuffer: 1024 ** 3, encoding: 'utf8' }),
  );
}

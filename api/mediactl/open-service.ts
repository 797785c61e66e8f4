/** Access of mediactl to the database of a service: the one on a data folder, or the one of the environment. */
import type { Dependencies } from '#api/dependencies.ts';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Peppers } from '#api/accounts/api-key.ts';
import { dashboardUrlOf } from '#api/users/dashboard-url.ts';
import { CommandLineError } from '#api/mediactl/command-line-error.ts';
import { makeDatabase, type Database } from '#api/store/database.ts';
import { newId } from '#crds/contract/ids.ts';
import { systemClock } from '#crds/process/clock.ts';
import { loadConfig } from '#crds/process/config.ts';
import { makeLog } from '#crds/process/log.ts';
import { settings } from '#crds/process/settings.ts';

export interface MediactlService extends Pick<Dependencies, 'database' | 'clock' | 'newId'> {
  readonly peppers: Peppers;
  /** Public address of the service; null when it is unknown. */
  readonly baseUrl: string | null;
  /** Public URL of the dashboard; null when it is switched off or unknown. */
  readonly dashboardUrl: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const config = settings
  .pick({ DATABASE_URL: true, MEDIAJOBS_KEY_PEPPER: true, MEDIAJOBS_BASE_URL: true, MEDIAJOBS_DASHBOARD_URL: true })
  .partial({ MEDIAJOBS_BASE_URL: true });

/**
 * Connects to the database of a service.
 * @throws CommandLineError when the service on the folder does not run, or the database does not answer.
 * @throws ConfigError when the environment lacks a setting.
 */
export async function openService({
  data,
  env,
}: {
  data: string | undefined;
  env: Environment;
}): Promise<MediactlService> {
  const given = loadConfig(config, data === undefined ? env : await settingsOf(data));
  const database = makeDatabase({ url: given.DATABASE_URL, log: makeLog('mediactl', 'silent'), maxConnections: 1 });
  try {
    await requireTables(database, data);
  } catch (error) {
    await database.close();
    throw error;
  }
  const { MEDIAJOBS_BASE_URL: baseUrl, ...rest } = given;
  const dashboardUrl = baseUrl === undefined ? null : dashboardUrlOf({ ...rest, MEDIAJOBS_BASE_URL: baseUrl });
  return {
    database,
    clock: systemClock,
    newId,
    peppers: given.MEDIAJOBS_KEY_PEPPER,
    baseUrl: baseUrl ?? null,
    dashboardUrl,
  };
}

/** Reads the connection file of the running service and the secrets that its first start generated. */
async function settingsOf(data: string): Promise<Environment> {
  const connection = await readSettings(path.join(data, 'run', 'connection.json'), data);
  const secrets = await readSettings(path.join(data, 'secrets.json'), data);
  return { ...secrets, MEDIAJOBS_BASE_URL: connection['base_url'], ...connection };
}

async function readSettings(file: string, data: string): Promise<Environment> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Environment;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw notRunningError(data, error);
    const reason =
      code === 'EACCES' ? 'this user may not read it; run mediactl as the user that the service runs as' : message;
    throw new CommandLineError(`${file} cannot be read: ${reason}.`, { cause: error });
  }
}

async function requireTables(database: Database, data: string | undefined): Promise<void> {
  const tables = await database
    .query<{ there: boolean }>(`select to_regclass('api_keys') is not null as there`)
    .catch((error: unknown) => {
      if (data !== undefined) throw notRunningError(data, error);
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandLineError(`The database that DATABASE_URL names does not answer: ${reason}.`, { cause: error });
    });
  if (tables.rows[0]?.there === true) return;
  throw new CommandLineError(
    'The database has no tables of mediajobs yet: start the service on it once, then run this again.',
  );
}

function notRunningError(data: string, cause: unknown): CommandLineError {
  return new CommandLineError(
    `No service runs on the data folder ${data}: start it with \`hack/demo --serve --data ${data}\`, then run this again.`,
    { cause },
  );
}

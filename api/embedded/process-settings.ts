/** From what the operator gave and what this start made to the settings of each process. */
import type { Certificates } from '#api/embedded/certificates.ts';
import type { DataFolder } from '#api/embedded/data-folder.ts';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import type { Secrets } from '#api/embedded/secrets.ts';
import type { z } from 'zod';
import { settings, type SettingName } from '#crds/shared/settings.ts';

/** Any setting may be given; what is not, the start makes itself or the process has a default for. */
export const embeddedSettings = settings.partial();
export type EmbeddedSettings = z.infer<typeof embeddedSettings>;

export type SettingTexts = Readonly<Partial<Record<SettingName, string>>>;

export interface Ports {
  readonly https: number;
  readonly http: number;
  readonly engine: number;
  readonly files: number;
  readonly heartbeat: number;
  readonly ops: Readonly<Record<ProcessName, number>>;
}

interface SettingsInput {
  readonly given: SettingTexts;
  readonly folder: DataFolder;
  readonly ports: Ports;
  readonly secrets: Secrets;
  readonly certificates: Certificates;
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/** Settings of the whole service: the operator's, else this start's own. The ports are this start's. */
export function serviceSettings({
  given,
  folder,
  ports,
  secrets,
  certificates,
  databaseUrl,
  redisUrl,
}: SettingsInput): SettingTexts {
  return {
    MEDIAJOBS_BASE_URL: `https://localhost:${ports.https}`,
    MEDIAJOBS_TLS_CERT_FILE: certificates.certFile,
    MEDIAJOBS_TLS_KEY_FILE: certificates.keyFile,
    MEDIAJOBS_ENGINE_URL: `http://127.0.0.1:${ports.engine}`,
    ...(given.S3_BUCKET === undefined ? diskFiles(folder, ports) : {}),
    MEDIAJOBS_WORK_DIR: folder.in('work'),
    ...secrets,
    ...given,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    MEDIAJOBS_HTTPS_PORT: String(ports.https),
    MEDIAJOBS_HTTP_PORT: String(ports.http),
    MEDIAJOBS_ENGINE_PORT: String(ports.engine),
    MEDIAJOBS_HEARTBEAT_PORT: String(ports.heartbeat),
  };
}

function diskFiles(folder: DataFolder, ports: Ports): SettingTexts {
  return { MEDIAJOBS_FILES_DIR: folder.in('files'), MEDIAJOBS_FILES_URL: `http://127.0.0.1:${ports.files}` };
}

/** What one process gets. */
export function settingsOf(name: ProcessName, service: SettingTexts, ports: Ports): Record<string, string> {
  const all: SettingTexts = { ...service, MEDIAJOBS_OPS_PORT: String(ports.ops[name]) };
  const wanted = PROCESSES.find((entry) => entry.name === name)?.settings ?? [];
  return Object.fromEntries(wanted.flatMap((setting) => (all[setting] === undefined ? [] : [[setting, all[setting]]])));
}

/** The https port is `https`, or free when that is 0; the http port follows it. Other ports are free ones unless given. */
export function choosePorts(given: EmbeddedSettings, https: number, free: readonly number[]): Ports {
  const unused = [...free];
  const freePort = (): number => unused.shift() ?? 0;
  const chosen = https === 0 ? freePort() : https;
  const http = given.MEDIAJOBS_HTTP_PORT ?? (https === 0 ? 0 : https + 1);
  const firstOps = given.MEDIAJOBS_OPS_PORT ?? 0;
  const ops = PROCESSES.map(({ name }, index) => [name, firstOps === 0 ? freePort() : firstOps + index]);
  return {
    https: chosen,
    http: http === 0 ? freePort() : http,
    engine: given.MEDIAJOBS_ENGINE_PORT ?? freePort(),
    files: freePort(),
    heartbeat: given.MEDIAJOBS_HEARTBEAT_PORT ?? freePort(),
    ops: Object.fromEntries(ops) as Record<ProcessName, number>,
  };
}

/** Enough for every port that `choosePorts` may want. */
export const FREE_PORTS = 5 + PROCESSES.length;

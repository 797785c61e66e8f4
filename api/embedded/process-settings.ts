/** Settings of each process, from the operator's settings and the values of this start. */
import path from 'node:path';
import type { CertificateFiles } from '#api/embedded/certificates.ts';
import type { DataFolder } from '#api/embedded/data-folder.ts';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import type { Secrets } from '#api/embedded/secrets.ts';
import type { ServiceSockets } from '#api/embedded/service-sockets.ts';
import type { z } from 'zod';
import { settings, type SettingName } from '#crds/process/settings.ts';
import { socketUrl } from '#crds/process/start-request.ts';

/** Every setting is optional: missing ones are generated at the start or have a default in the process. */
export const embeddedSettings = settings.partial();
export type EmbeddedSettings = z.infer<typeof embeddedSettings>;

export type SettingTexts = Readonly<Partial<Record<SettingName, string>>>;

export interface Ports {
  readonly https: number;
  readonly http: number;
  /** Ports of metrics and health of each process; null: unix sockets serve them. */
  readonly ops: Readonly<Record<ProcessName, number>> | null;
}

interface SettingsInput {
  readonly given: SettingTexts;
  readonly folder: DataFolder;
  readonly ports: Ports;
  readonly sockets: ServiceSockets;
  readonly secrets: Secrets;
}

interface ServerInput {
  readonly certificates: CertificateFiles;
  readonly databaseUrl: string;
  readonly redisUrl: string;
}

/**
 * Returns the settings of the whole service but those of `serverSettings`: the operator's, else those of this start.
 * Ports and sockets are those of this start.
 */
export function ownSettings({ given, folder, ports, sockets, secrets }: SettingsInput): SettingTexts {
  return {
    MEDIAJOBS_BASE_URL: `https://localhost:${ports.https}`,
    MEDIAJOBS_ENGINE_URL: socketUrl(sockets.engine),
    ...(given.S3_BUCKET === undefined ? diskFiles(folder, sockets) : {}),
    MEDIAJOBS_WORK_DIR: folder.in('work'),
    ...secrets,
    ...withFullPaths(given),
    MEDIAJOBS_RUNS_SOCKET: sockets.runs,
    MEDIAJOBS_HTTPS_PORT: String(ports.https),
    MEDIAJOBS_HTTP_PORT: String(ports.http),
    MEDIAJOBS_ENGINE_SOCKET: sockets.engine,
    MEDIAJOBS_HEARTBEAT_SOCKET: sockets.heartbeat,
  };
}

/** Returns the settings that are known once servers and certificates are ready; `WORKERS` need none of them. */
export function serverSettings({ certificates, databaseUrl, redisUrl }: ServerInput): SettingTexts {
  return {
    MEDIAJOBS_TLS_CERT_FILE: certificates.certFile,
    MEDIAJOBS_TLS_KEY_FILE: certificates.keyFile,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  };
}

/** Resolves relative paths: the processes have another working directory than the supervisor. */
function withFullPaths(given: SettingTexts): SettingTexts {
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => [name, isPathSetting(name) ? path.resolve(text) : text]),
  );
}

/** Returns whether the setting names a file or a folder. */
export function isPathSetting(name: string): boolean {
  return name.endsWith('_FILE') || name.endsWith('_DIR');
}

/** Processes that open files. Each has a work folder of its own. */
export const WORKERS: readonly ProcessName[] = ['engine', 'runs'];
/** All others. */
export const OTHERS: readonly ProcessName[] = PROCESSES.map(({ name }) => name).filter(
  (name) => !WORKERS.includes(name),
);

function diskFiles(folder: DataFolder, sockets: ServiceSockets): SettingTexts {
  return { MEDIAJOBS_FILES_DIR: folder.in('files'), MEDIAJOBS_FILES_URL: socketUrl(sockets.files) };
}

/** Ports or sockets of metrics and health. */
type Ops = Pick<Ports, 'ops'> & { readonly sockets: Pick<ServiceSockets, 'ops'> };

export function settingsOf(name: ProcessName, service: SettingTexts, { ops, sockets }: Ops): Record<string, string> {
  const where: SettingTexts =
    ops === null ? { MEDIAJOBS_OPS_SOCKET: sockets.ops[name] } : { MEDIAJOBS_OPS_PORT: String(ops[name]) };
  const work = service.MEDIAJOBS_WORK_DIR;
  const all: SettingTexts = {
    ...service,
    ...where,
    ...(work === undefined || !WORKERS.includes(name) ? {} : { MEDIAJOBS_WORK_DIR: path.join(work, name) }),
  };
  const wanted = PROCESSES.find((entry) => entry.name === name)?.settings ?? [];
  return Object.fromEntries(wanted.flatMap((setting) => (all[setting] === undefined ? [] : [[setting, all[setting]]])));
}

/** Returns the URL of each process's metrics and health. */
export function opsUrls({ ops, sockets }: Ops): Record<ProcessName, string> {
  const urls = PROCESSES.map(({ name }) => [
    name,
    ops === null ? socketUrl(sockets.ops[name]) : `http://127.0.0.1:${ops[name]}`,
  ]);
  return Object.fromEntries(urls) as Record<ProcessName, string>;
}

/** Returns the ports of the service. `https` 0 means any free port; otherwise the http port is the next one by default. */
export function choosePorts(given: EmbeddedSettings, https: number, free: readonly number[]): Ports {
  const unused = [...free];
  const freePort = (): number => unused.shift() ?? 0;
  const chosen = https === 0 ? freePort() : https;
  const http = given.MEDIAJOBS_HTTP_PORT ?? (https === 0 ? 0 : https + 1);
  const firstOps = given.MEDIAJOBS_OPS_PORT;
  const ops = PROCESSES.map(({ name }, index) => [name, firstOps === 0 ? freePort() : (firstOps ?? 0) + index]);
  return {
    https: chosen,
    http: http === 0 ? freePort() : http,
    ops: firstOps === undefined ? null : (Object.fromEntries(ops) as Record<ProcessName, number>),
  };
}

/** Number of free ports that `choosePorts` may need. */
export const FREE_PORTS = 2 + PROCESSES.length;

/**
 * The whole service on one machine, without Kubernetes: `--data DIR --port P --ready FILE`. With `--sign-in-link` it
 * prints a link that signs in to the dashboard. Settings come from the environment (`docs/settings.md`). Exits with
 * code 0 after SIGTERM, and with code 1 and one sentence when it cannot start.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { copyCertificate } from '#api/embedded/certificate-copies.ts';
import { openCertificates, renewDaily, type CertificateFiles } from '#api/embedded/certificates.ts';
import { announce, announceEnd } from '#api/embedded/announce.ts';
import { removeConnection, writeConnection } from '#api/embedded/connection.ts';
import { openDataFolder, type DataFolder } from '#api/embedded/data-folder.ts';
import { freePorts, requirePort } from '#api/embedded/free-ports.ts';
import { openIdentities, type Identities } from '#api/embedded/identities.ts';
import { migrateDatabase } from '#api/embedded/migrate-database.ts';
import { PROCESSES } from '#api/embedded/process-list.ts';
import { processStarts } from '#api/embedded/process-starts.ts';
import { awaitPreviousRun } from '#api/embedded/previous-run.ts';
import {
  choosePorts,
  embeddedSettings,
  FREE_PORTS,
  opsUrls,
  OTHERS,
  ownSettings,
  serverSettings,
  WORKERS,
  type EmbeddedSettings,
  type Ports,
  type SettingTexts,
} from '#api/embedded/process-settings.ts';
import { openSecrets } from '#api/embedded/secrets.ts';
import { makeServiceSockets, type ServiceSockets } from '#api/embedded/service-sockets.ts';
import { shareFolders } from '#api/embedded/share-folders.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { makeTree, type Tree } from '#api/embedded/tree.ts';
import { warmCodeCache } from '#api/embedded/warm-code-cache.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';
import { extraCertificates } from '#api/outbound/trusted-certificates.ts';
import { systemClock } from '#crds/process/clock.ts';
import { ConfigError, loadConfig } from '#crds/process/config.ts';
import { settings } from '#crds/process/settings.ts';
import { missingTools } from '#worker-image/tools/find-tool.ts';

interface StartOptions {
  readonly data: string;
  /** HTTPS port; 0 for any free port. */
  readonly port: number;
  readonly readyFile: string | null;
  /** Whether to print a link that signs in to the dashboard. */
  readonly printsLink: boolean;
  readonly config: EmbeddedSettings;
}

const DEFAULT_PORT = 8443;

function report(sentence: string): void {
  process.stderr.write(`mediajobs: ${sentence}\n`);
}

async function main(): Promise<void> {
  const start = readStart();
  requireTools();
  await extraCertificates(start.config.MEDIAJOBS_EXTRA_CA_FILE ?? null);
  const folder = await openDataFolder({ report }, start.data);
  if (start.readyFile !== null) rmSync(start.readyFile, { force: true });
  await awaitPreviousRun(folder.in('run', 'processes.json'));
  const ports = choosePorts(start.config, start.port, await freePorts(FREE_PORTS));
  const host = start.config.MEDIAJOBS_LISTEN_HOST ?? '127.0.0.1';
  for (const port of [ports.https, ports.http]) await requirePort({ host, port });
  const identities = await openIdentities(folder);
  if (identities.users === null && process.getuid?.() === 0) report(identities.summary);
  const { sockets, remove: removeSockets } = makeServiceSockets(folder.path, identities.users);
  const tree = makeTree({ clock: systemClock, folder, users: identities.users, report });
  const stop = stopOnce(tree, folder, removeSockets);
  const end = (): never => process.exit(announceEnd(folder.path, start.readyFile));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop().then(end));
  try {
    await serve({ start, folder, ports, sockets, tree, identities });
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the options of the command line and the environment. @throws StartError, ConfigError when one is invalid. */
function readStart(): StartOptions {
  const { values } = parseArguments();
  if (values.data === undefined)
    throw new StartError('--data DIR is required: the folder for everything that the service stores.');
  const config = withoutDefaults(loadConfig(embeddedSettings, process.env));
  const port = values.port === undefined ? (config.MEDIAJOBS_HTTPS_PORT ?? DEFAULT_PORT) : Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_534) {
    throw new StartError(
      `--port ${values.port ?? port} is not a port: give a whole number from 0 (any free one) to 65534.`,
    );
  }
  const printsLink = values['sign-in-link'] ?? false;
  return { data: values.data, port, readyFile: values.ready ?? null, printsLink, config };
}

function parseArguments() {
  try {
    return parseArgs({
      options: {
        data: { type: 'string' },
        port: { type: 'string' },
        ready: { type: 'string' },
        'sign-in-link': { type: 'boolean' },
      },
    });
  } catch (error) {
    const usage = 'The arguments are --data DIR [--port P] [--ready FILE] [--sign-in-link].';
    throw new StartError(`${(error as Error).message} ${usage}`, { cause: error });
  }
}

function requireTools(): void {
  const missing = missingTools();
  if (missing.length > 0) throw new StartError(missing.map(({ problem }) => problem).join('\n  '));
}

function stopOnce(tree: Tree, folder: DataFolder, removeSockets: () => void): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  return () => {
    stopped ??= tree.stop().then(() => {
      removeConnection(folder.path);
      removeSockets();
      rmSync(folder.in('run', 'processes.json'), { force: true });
    });
    return stopped;
  };
}

interface ServeInput {
  readonly start: StartOptions;
  readonly folder: DataFolder;
  readonly ports: Ports;
  readonly sockets: ServiceSockets;
  readonly tree: Tree;
  readonly identities: Identities;
}

async function serve(input: ServeInput): Promise<void> {
  const { start, folder, ports, sockets, tree, identities } = input;
  const given = givenSettings();
  const secrets = openSecrets({ clock: systemClock }, folder.in('secrets.json'));
  const own = ownSettings({ given, folder, ports, sockets, secrets });
  await shareFolders(identities.users, {
    files: own.MEDIAJOBS_FILES_DIR ?? null,
    work: own.MEDIAJOBS_WORK_DIR ?? folder.in('work'),
  });
  const startWith = processStarts({ identities, ports, sockets, environment: process.env });
  const warm = warmCodeCache(
    PROCESSES.map(({ script }) => script),
    PROCESSES.flatMap(({ name }) => identities.users?.of(name).uid ?? []),
  );
  // The workers use no server, so they start meanwhile.
  const workers = warm.then(() => tree.startProcesses(WORKERS, startWith(own)));
  const others = openServers(input, { given, warm }).then(async (servers) => {
    const service = { ...own, ...servers.settings };
    await tree.startProcesses(OTHERS, startWith(service));
    return { ...servers, service };
  });
  const [{ caFile, databaseUrl, redisUrl, service }] = await Promise.all([others, workers]);
  const baseUrl = service.MEDIAJOBS_BASE_URL ?? '';
  const ready = { base_url: baseUrl, ca_file: caFile };
  const pepper = service.MEDIAJOBS_KEY_PEPPER ?? '';
  writeConnection(folder.path, {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    MEDIAJOBS_KEY_PEPPER: pepper,
    ...ready,
    http_url: `http://localhost:${ports.http}`,
    ops: opsUrls({ ops: ports.ops, sockets }),
  });
  if (start.readyFile !== null) writeFileAtomically(start.readyFile, `${JSON.stringify(ready)}\n`);
  await announce({
    baseUrl,
    config: start.config,
    folder: folder.path,
    caFile,
    summary: identities.summary,
    databaseUrl,
    printsLink: start.printsLink,
  });
}

interface OpenServers {
  /** Path of the authority's certificate. */
  readonly caFile: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Settings that name the servers and the certificate. */
  readonly settings: SettingTexts;
}

/** Starts the servers and migrates the database to this version's schema. */
async function openServers(
  { start, folder, tree, identities }: ServeInput,
  { given, warm }: { given: SettingTexts; warm: Promise<void> },
): Promise<OpenServers> {
  const [certificates, servers] = await Promise.all([
    openCertificates({ clock: systemClock }, folder.in('tls')),
    tree.startServers({ databaseUrl: start.config.DATABASE_URL, redisUrl: start.config.REDIS_URL }),
    warm,
  ]);
  renewDaily({ clock: systemClock, report }, folder.in('tls'));
  await migrateDatabase({ clock: systemClock }, servers.databaseUrl);
  const served = servedCertificate({ given, own: certificates, folder, identities });
  return { caFile: certificates.caFile, ...servers, settings: serverSettings({ certificates: served, ...servers }) };
}

interface CertificateInput {
  readonly given: SettingTexts;
  readonly own: CertificateFiles;
  readonly folder: DataFolder;
  readonly identities: Identities;
}

/** Returns the certificate files of the operator or of the data folder, as copies if the API has its own user. */
function servedCertificate({ given, own, folder, identities: { users } }: CertificateInput): CertificateFiles {
  const from = {
    certFile: path.resolve(given.MEDIAJOBS_TLS_CERT_FILE ?? own.certFile),
    keyFile: path.resolve(given.MEDIAJOBS_TLS_KEY_FILE ?? own.keyFile),
  };
  if (users === null) return from;
  return copyCertificate({ report }, { from, folder: folder.in('run', 'tls'), group: users.of('api').gid });
}

/** Returns the operator's settings as texts, without defaults. */
function givenSettings(): SettingTexts {
  return withoutDefaults(
    Object.fromEntries(
      Object.entries(process.env).filter(([name]) => Object.hasOwn(settings.shape, name)),
    ) as SettingTexts,
  );
}

/** Drops values that the environment does not set: each process has the same defaults. */
function withoutDefaults<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => (process.env[name] ?? '') !== '')) as Values;
}

await main().catch((error: unknown) => {
  const expected = error instanceof StartError || error instanceof ConfigError;
  report(expected ? error.message : String(error instanceof Error ? error.stack : error));
  process.exit(1);
});

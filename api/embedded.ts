/**
 * The whole service on one machine, without Kubernetes: `--data DIR --port P --ready FILE`; with `--sign-in-link` it
 * prints a link that signs in to the dashboard.
 * Settings come from the environment; the README's table has them. Ends cleanly with code 0 on SIGTERM,
 * with code 1 and one sentence when it cannot start.
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { dashboardUrlOf } from '#api/dashboard/dashboard-url.ts';
import { openCertificates } from '#api/embedded/certificates.ts';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import { removeConnection, writeConnection } from '#api/embedded/connection.ts';
import { openDataFolder, type DataFolder } from '#api/embedded/data-folder.ts';
import { freePorts, requirePort } from '#api/embedded/free-ports.ts';
import { migrateDatabase } from '#api/embedded/migrate-database.ts';
import { PROCESSES } from '#api/embedded/process-list.ts';
import { awaitPreviousRun } from '#api/embedded/previous-run.ts';
import {
  choosePorts,
  embeddedSettings,
  FREE_PORTS,
  serviceSettings,
  settingsOf,
  type EmbeddedSettings,
  type Ports,
  type SettingTexts,
} from '#api/embedded/process-settings.ts';
import { openSecrets } from '#api/embedded/secrets.ts';
import { signInLink } from '#api/embedded/sign-in-link.ts';
import { StartError } from '#api/embedded/start-error.ts';
import { makeTree, type Tree } from '#api/embedded/tree.ts';
import { warmCodeCache } from '#api/embedded/warm-code-cache.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';
import { systemClock } from '#crds/shared/clock.ts';
import { ConfigError, loadConfig } from '#crds/shared/config.ts';
import { settings } from '#crds/shared/settings.ts';
import { missingTools } from '#worker-image/tools/find-tool.ts';

interface Start {
  readonly data: string;
  /** 0: any free one. */
  readonly port: number;
  readonly readyFile: string | null;
  /** True: a link that signs in to the dashboard is printed. */
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
  const folder = await openDataFolder(start.data);
  if (start.readyFile !== null) rmSync(start.readyFile, { force: true });
  await awaitPreviousRun(folder.in('run', 'processes.json'));
  const ports = choosePorts(start.config, start.port, await freePorts(FREE_PORTS));
  const host = start.config.MEDIAJOBS_LISTEN_HOST ?? '127.0.0.1';
  for (const port of [ports.https, ports.http]) await requirePort({ host, port });
  const tree = makeTree({ clock: systemClock, folder, report });
  const stop = stopOnce(tree, folder);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => void stop().then(() => process.exit(0)));
  try {
    await serve({ start, folder, ports, tree });
  } catch (error) {
    await stop();
    throw error;
  }
}

function readStart(): Start {
  const { values } = parseArguments();
  if (values.data === undefined) throw new StartError('--data DIR is required: the folder that keeps everything.');
  const config = givenOf(loadConfig(embeddedSettings, process.env));
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
    throw new StartError(
      `${(error as Error).message} The arguments are --data DIR [--port P] [--ready FILE] [--sign-in-link].`,
      {
        cause: error,
      },
    );
  }
}

function requireTools(): void {
  const missing = missingTools();
  if (missing.length > 0) throw new StartError(missing.map(({ problem }) => problem).join('\n  '));
}

function stopOnce(tree: Tree, folder: DataFolder): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  return () => {
    stopped ??= tree.stop().then(() => {
      removeConnection(folder.path);
      rmSync(folder.in('run', 'processes.json'), { force: true });
    });
    return stopped;
  };
}

interface Serve {
  readonly start: Start;
  readonly folder: DataFolder;
  readonly ports: Ports;
  readonly tree: Tree;
}

async function serve({ start, folder, ports, tree }: Serve): Promise<void> {
  const secrets = openSecrets({ clock: systemClock }, folder.in('secrets.json'));
  const [certificates, servers] = await Promise.all([
    openCertificates({ clock: systemClock }, folder.in('tls')),
    tree.startServers({ databaseUrl: start.config.DATABASE_URL, redisUrl: start.config.REDIS_URL }),
    warmCodeCache(PROCESSES.map(({ script }) => script)),
  ]);
  await migrateDatabase({ clock: systemClock }, servers.databaseUrl);
  const service = serviceSettings({ given: givenSettings(), folder, ports, secrets, certificates, ...servers });
  await tree.startProcesses((name) => ({ ...systemEnvironment(), ...settingsOf(name, service, ports) }));
  const baseUrl = service.MEDIAJOBS_BASE_URL ?? '';
  const ready = { base_url: baseUrl, ca_file: certificates.caFile };
  const ops = Object.fromEntries(Object.entries(ports.ops).map(([name, port]) => [name, `http://127.0.0.1:${port}`]));
  const pepper = service.MEDIAJOBS_KEY_PEPPER ?? '';
  writeConnection(folder.path, {
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    MEDIAJOBS_KEY_PEPPER: pepper,
    ...ready,
    http_url: `http://localhost:${ports.http}`,
    ops,
  });
  if (start.readyFile !== null) writeFileAtomically(start.readyFile, `${JSON.stringify(ready)}\n`);
  process.stdout.write(
    `mediajobs serves at ${baseUrl} with its data in ${folder.path}; the CA is ${certificates.caFile}\n`,
  );
  const dashboardUrl = dashboardUrlOf({
    MEDIAJOBS_BASE_URL: baseUrl,
    MEDIAJOBS_DASHBOARD_URL: start.config.MEDIAJOBS_DASHBOARD_URL,
  });
  if (!start.printsLink || dashboardUrl === null) return;
  const link = `${dashboardUrl}${await signInLink({ clock: systemClock }, servers.databaseUrl)}`;
  process.stdout.write(`The dashboard is at ${dashboardUrl}; this link signs in once, within an hour: ${link}\n`);
}

/** The operator's settings as given, as texts. */
function givenSettings(): SettingTexts {
  return givenOf(
    Object.fromEntries(
      Object.entries(process.env).filter(([name]) => Object.hasOwn(settings.shape, name)),
    ) as SettingTexts,
  );
}

/** Without those that only have a default, which the process that reads them has, too. */
function givenOf<Values extends object>(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => (process.env[name] ?? '') !== '')) as Values;
}

/** What every process of ours gets besides its settings. */
function systemEnvironment(): Record<string, string> {
  const passed = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS'];
  const given = passed.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...(Object.fromEntries(given) as Record<string, string>), NODE_COMPILE_CACHE: CODE_CACHE };
}

await main().catch((error: unknown) => {
  const expected = error instanceof StartError || error instanceof ConfigError;
  report(expected ? error.message : String(error instanceof Error ? error.stack : error));
  process.exit(1);
});

/** Listener of the engine: a unix socket, or a port for callers that have a key of the installation. */
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { ConfigError } from '#crds/process/config.ts';
import { installationServer } from '#crds/process/installation-tls.ts';
import type { ListenAddress } from '#crds/process/ops-server.ts';
import type { SettingName, Settings } from '#crds/process/settings.ts';

export const ENGINE_LISTENER_SETTINGS = {
  MEDIAJOBS_ENGINE_SOCKET: true,
  MEDIAJOBS_ENGINE_HOST: true,
  MEDIAJOBS_ENGINE_PORT: true,
  MEDIAJOBS_ENGINE_KEYS: true,
} as const satisfies Partial<Record<SettingName, true>>;

interface EngineListener {
  /** Server that does not listen yet. */
  readonly server: Server;
  readonly address: ListenAddress;
}

/** Timeouts in milliseconds: for the headers of a request, none for its body. */
const TIMEOUTS = { requestTimeout: 0, headersTimeout: 10_000, connectionsCheckingInterval: 5000 } as const;

/** Returns the server and its address. @throws ConfigError for a port without a key: anyone could send files to it. */
export function engineListener(config: Pick<Settings, keyof typeof ENGINE_LISTENER_SETTINGS>): EngineListener {
  const { MEDIAJOBS_ENGINE_SOCKET: socket, MEDIAJOBS_ENGINE_KEYS: keys } = config;
  if (socket !== undefined) return { server: createServer(TIMEOUTS), address: { socket } };
  if (keys.length === 0) {
    throw new ConfigError([
      'MEDIAJOBS_ENGINE_KEYS: is required where the engine listens on a port: give the key that the API has, or MEDIAJOBS_ENGINE_SOCKET.',
    ]);
  }
  const address = { host: config.MEDIAJOBS_ENGINE_HOST, port: config.MEDIAJOBS_ENGINE_PORT };
  return { server: createTlsServer({ ...TIMEOUTS, ...installationServer(keys) }), address };
}

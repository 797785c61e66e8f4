/** Connections of the API to the engine: to its unix socket, or to its port with mutual TLS by an installation key. */
import { Agent, type ClientRequest, type RequestOptions } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { ConfigError } from '#crds/process/config.ts';
import { installationClient } from '#crds/process/installation-tls.ts';
import type { RingKey } from '#crds/process/ring-key.ts';
import { socketOf, startRequest } from '#crds/process/start-request.ts';

export interface EngineAddress {
  /** MEDIAJOBS_ENGINE_URL. */
  readonly url: string;
  /** MEDIAJOBS_ENGINE_KEYS; none are needed for a unix socket. */
  readonly keys: readonly RingKey[];
}

export interface EngineConnection {
  request(path: string, options: RequestOptions): ClientRequest;
  close(): void;
}

const KEPT = { keepAlive: true, maxFreeSockets: 16 } as const;

/**
 * Returns a pool of connections to the engine.
 * @throws ConfigError for a port without a key: any program that binds the port would receive the files.
 */
export function engineConnection({ url, keys }: EngineAddress): EngineConnection {
  const agent = agentFor(url, keys);
  return {
    request: (path, options) => startRequest(`${url.replace(/\/$/, '')}${path}`, { ...options, agent }),
    close: () => agent.destroy(),
  };
}

function agentFor(url: string, keys: readonly RingKey[]): Agent {
  if (socketOf(url) !== null) return new Agent(KEPT);
  if (!url.startsWith('https:') || keys.length === 0) {
    throw new ConfigError([
      'MEDIAJOBS_ENGINE_KEYS: is required for an engine on a port: give the key that the engine has. Its address then begins with https:.',
    ]);
  }
  return new TlsAgent({ ...KEPT, ...installationClient(keys), maxCachedSessions: 0 });
}

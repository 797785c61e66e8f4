import { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '#crds/process/config.ts';
import { engineListener } from '#worker-image/direct/engine-listener.ts';

type ListenerConfig = Parameters<typeof engineListener>[0];
const PORT = { MEDIAJOBS_ENGINE_SOCKET: undefined, MEDIAJOBS_ENGINE_HOST: '127.0.0.1', MEDIAJOBS_ENGINE_PORT: 8090 };
const KEY = { id: 'k1', key: Buffer.alloc(32, 1) };
const configOf = (more: Partial<ListenerConfig>): ListenerConfig => ({ ...PORT, MEDIAJOBS_ENGINE_KEYS: [], ...more });

describe('engineListener', () => {
  it('returns a plain server for a socket, even without a key', () => {
    const { server, address } = engineListener(configOf({ MEDIAJOBS_ENGINE_SOCKET: '/run/engine' }));
    expect(address).toEqual({ socket: '/run/engine' });
    expect(server).toBeInstanceOf(Server);
  });

  it('returns a TLS server for a port with a key', () => {
    const { server, address } = engineListener(configOf({ MEDIAJOBS_ENGINE_KEYS: [KEY] }));
    expect(address).toEqual({ host: '127.0.0.1', port: 8090 });
    expect(server).toBeInstanceOf(TlsServer);
  });

  it('refuses a port without a key and names the setting', () => {
    expect(() => engineListener(configOf({}))).toThrow(ConfigError);
    expect(() => engineListener(configOf({}))).toThrow('MEDIAJOBS_ENGINE_KEYS');
  });
});

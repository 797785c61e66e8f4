import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { opsAddress, startOpsServer } from '#crds/process/ops-server.ts';

describe('the ops server', () => {
  let missing: string | null;
  let hanging: string | null;
  let warning: string | null;
  let base: string;
  let close: () => Promise<void>;

  beforeEach(async () => {
    [missing, hanging, warning] = [null, null, null];
    const deps = {
      metrics: new Registry(),
      notReady: () => missing,
      notAlive: () => hanging,
      get warning() {
        return warning;
      },
    };
    const server = await startOpsServer(deps, { host: '127.0.0.1', port: 0 });
    base = `http://127.0.0.1:${server.port}`;
    close = server.close;
  });
  afterEach(() => close());
  const get = async (path: string): Promise<[number, string]> => {
    const response = await fetch(base + path);
    return [response.status, (await response.text()).trim()];
  };

  it('answers 200 while the process is ready and alive', async () => {
    expect(await get('/healthz')).toEqual([200, 'ok']);
    expect(await get('/livez')).toEqual([200, 'ok']);
    expect(await get('/readyz')).toEqual([200, 'ready']);
    expect((await get('/metrics'))[0]).toBe(200);
  });

  it('answers 503 with the reason on /readyz and /livez separately', async () => {
    missing = 'The database is missing.';
    expect(await get('/readyz')).toEqual([503, missing]);
    expect(await get('/livez')).toEqual([200, 'ok']);
    [missing, hanging] = [null, 'The event loop hangs.'];
    expect(await get('/livez')).toEqual([503, hanging]);
    expect(await get('/readyz')).toEqual([200, 'ready']);
  });

  it('adds the warning for operators to /readyz', async () => {
    warning = 'files are opened without isolation';
    expect(await get('/readyz')).toEqual([200, `ready; ${warning}`]);
  });

  it('answers 404 elsewhere', async () => {
    expect((await get('/'))[0]).toBe(404);
  });
});

describe('opsAddress', () => {
  const port = { MEDIAJOBS_OPS_HOST: '::', MEDIAJOBS_OPS_PORT: 9091 };

  it('returns the socket if there is one, otherwise host and port', () => {
    expect(opsAddress({ ...port, MEDIAJOBS_OPS_SOCKET: undefined })).toEqual({ host: '::', port: 9091 });
    expect(opsAddress({ ...port, MEDIAJOBS_OPS_SOCKET: '/run/ops' })).toEqual({ socket: '/run/ops' });
  });
});

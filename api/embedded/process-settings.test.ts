import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROCESSES, type ProcessName } from '#api/embedded/process-list.ts';
import {
  choosePorts,
  FREE_PORTS,
  opsUrls,
  ownSettings,
  serverSettings,
  settingsOf,
} from '#api/embedded/process-settings.ts';

const opsSockets = Object.fromEntries(PROCESSES.map(({ name }) => [name, `/run/ops-${name}/socket`]));
const SOCKETS = {
  engine: '/run/engine/socket',
  files: '/run/files/socket',
  heartbeat: '/run/heartbeat/socket',
  runs: '/run/runs/socket',
  ops: opsSockets as Record<ProcessName, string>,
};
const SECRETS = {
  MEDIAJOBS_KEY_PEPPER: 'pepper',
  MEDIAJOBS_ENCRYPTION_KEYS: 'encryption',
  MEDIAJOBS_LINK_KEYS: 'links',
  MEDIAJOBS_RECEIPT_KEYS: 'receipts',
};
const PORTS = { https: 8443, http: 8080, ops: null };
const OPS = { ops: null, sockets: SOCKETS };

const own = (given: Parameters<typeof ownSettings>[0]['given'] = {}) =>
  ownSettings({
    given,
    folder: { path: '/data', in: (...names) => path.join('/data', ...names) },
    ports: PORTS,
    sockets: SOCKETS,
    secrets: SECRETS,
  });
const SERVERS = serverSettings({
  certificates: { certFile: '/data/tls/cert.pem', keyFile: '/data/tls/key.pem' },
  databaseUrl: 'postgres://database',
  redisUrl: 'redis://redis',
});

describe('the settings of a process', () => {
  it.each(['engine', 'runs'] as const)('of the worker %s contain no secret, no database and no bucket', (name) => {
    const given = { S3_BUCKET: 'bucket', AWS_SECRET_ACCESS_KEY: 'secret' } as Parameters<typeof own>[0];
    const received = JSON.stringify(settingsOf(name, { ...own(given), ...SERVERS }, OPS));
    for (const value of [...Object.values(SECRETS), ...Object.values(SERVERS), 'bucket', 'secret'])
      expect(received).not.toContain(value);
  });

  it('give each worker a work folder and each process metrics of its own', () => {
    const all = { ...own(), ...SERVERS };
    expect(settingsOf('engine', all, OPS)).toMatchObject({
      MEDIAJOBS_WORK_DIR: '/data/work/engine',
      MEDIAJOBS_OPS_SOCKET: '/run/ops-engine/socket',
    });
    expect(settingsOf('runs', all, OPS)['MEDIAJOBS_WORK_DIR']).toBe('/data/work/runs');
    const ops = Object.fromEntries(PROCESSES.map(({ name }, index) => [name, 9000 + index])) as Record<
      ProcessName,
      number
    >;
    expect(settingsOf('api', all, { ops, sockets: SOCKETS })).toMatchObject({ MEDIAJOBS_OPS_PORT: '9000' });
    expect(opsUrls({ ops, sockets: SOCKETS }).api).toBe('http://127.0.0.1:9000');
    expect(opsUrls(OPS).engine).toContain('ops-engine');
  });
});

describe('the settings of the service', () => {
  it('are those of the operator, with full paths, except for its own ports and sockets', () => {
    const settings = own({
      MEDIAJOBS_BASE_URL: 'https://media.example',
      MEDIAJOBS_EXTRA_CA_FILE: 'ca.pem',
      MEDIAJOBS_HTTPS_PORT: '1',
      MEDIAJOBS_ENGINE_SOCKET: '/elsewhere',
    });
    expect(settings).toMatchObject({
      MEDIAJOBS_BASE_URL: 'https://media.example',
      MEDIAJOBS_EXTRA_CA_FILE: path.resolve('ca.pem'),
      MEDIAJOBS_HTTPS_PORT: '8443',
      MEDIAJOBS_ENGINE_SOCKET: '/run/engine/socket',
      MEDIAJOBS_FILES_DIR: '/data/files',
    });
  });

  it('have no folder for files when there is a bucket', () => {
    expect(own({ S3_BUCKET: 'bucket' })).not.toHaveProperty('MEDIAJOBS_FILES_DIR');
  });
});

describe('the ports of the service', () => {
  const free = Array.from({ length: FREE_PORTS }, (_, index) => 40_000 + index);

  it.each([
    ['the chosen port and the next one', {}, 8443, { https: 8443, http: 8444, ops: null }],
    ['free ones for port 0', {}, 0, { https: 40_000, http: 40_001, ops: null }],
    ['the http port of the operator', { MEDIAJOBS_HTTP_PORT: 80 }, 443, { https: 443, http: 80, ops: null }],
  ])('are %s', (_which, given, https, ports) => {
    expect(choosePorts(given, https, free)).toEqual(ports);
  });

  it.each([
    [9100, [9100, 9101, 9102, 9103, 9104]],
    [0, [40_000, 40_001, 40_002, 40_003, 40_004]],
  ])('include one for the metrics of each process from %i on', (first, expected) => {
    const { ops } = choosePorts({ MEDIAJOBS_OPS_PORT: first, MEDIAJOBS_HTTP_PORT: 80 }, 443, free);
    expect(Object.values(ops ?? {})).toEqual(expected);
  });
});

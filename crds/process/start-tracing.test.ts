import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

/** Prints which of the files' modules a process has loaded, of packages alone. */
const loadedBy = async (program: string): Promise<string[]> => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = new Set();
    registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
    ${program}
    const packages = [...loaded].flatMap((url) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1] ?? []);
    console.log(JSON.stringify([...new Set(packages)]));
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    env: { PATH: process.env['PATH'] },
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as string[];
};

const startedWith = (config: object): Promise<string[]> =>
  loadedBy(`
    const { startTracing } = await import('#crds/process/start-tracing.ts');
    const { makeLog } = await import('#crds/process/log.ts');
    await startTracing({ log: makeLog('test', 'silent') }, 'test', ${JSON.stringify(config)});`);

const ofOpenTelemetry = (packages: readonly string[]): string[] =>
  packages.filter((name) => name.startsWith('@opentelemetry/'));

const ENTRIES = ['api/main', 'api/recorder', 'api/courier', 'api/embedded-control', 'controller/main'];

describe('the SDK of OpenTelemetry', () => {
  it('is not loaded without an address', async () => {
    const packages = await startedWith({ MEDIAJOBS_TRACES_SHARE: 1 });
    expect(packages).toContain('pino');
    expect(ofOpenTelemetry(packages)).toEqual([]);
  });

  it('is loaded with an address', async () => {
    const url = 'http://127.0.0.1:1/v1/traces';
    const packages = await startedWith({ MEDIAJOBS_TRACES_SHARE: 1, MEDIAJOBS_TRACES_URL: url });
    expect(ofOpenTelemetry(packages)).toContain('@opentelemetry/sdk-trace');
  });

  it('is in no process that has read its modules and not its settings', async () => {
    // Without settings a process ends after its imports.
    const packages = await loadedBy(`
      for (const entry of ${JSON.stringify(ENTRIES)}) {
        const error = await import('#' + entry + '.ts').catch((thrown) => thrown);
        if (error?.name !== 'ConfigError') throw new Error(entry + ' started', { cause: error });
      }`);
    expect(packages).toEqual(expect.arrayContaining(['fastify', 'pg', '@kubernetes/client-node']));
    // Of prom-client, which has interfaces of it for exemplars.
    expect(ofOpenTelemetry(packages)).toEqual(['@opentelemetry/api']);
  });
});

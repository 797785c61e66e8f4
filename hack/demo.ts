/**
 * The main job on real input: starts the service on this machine, makes an account and a key, and sends
 * files through it as a caller would, with a receiver for the signed webhooks. Arguments: files to send;
 * without any, one sample of every kind.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { openCertificates } from '#api/embedded/certificates.ts';
import { runService, type RunningService } from '#api/embedded/run-service.ts';
import { systemClock } from '#crds/process/clock.ts';
import { filesToSend } from './demo-run/files-to-send.ts';
import { makeApiClient } from './demo-run/api-client.ts';
import { makeProgress, table, type DemoOutcome } from './demo-run/report.ts';
import { runFile } from './demo-run/run-file.ts';
import { startWebhookReceiver, type WebhookReceiver } from './demo-run/webhook-receiver.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Address to which the demo's webhooks are sent. */
const PRIVATE_TARGETS = '127.0.0.0/8,::1/128';

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Returns the number of files that failed. @param signal aborts at ctrl-C and SIGTERM. */
async function main(signal: AbortSignal): Promise<number> {
  const { positionals } = parseArgs({ allowPositionals: true, options: {} });
  const files = filesToSend(positionals);
  const data = path.join(ROOT, '.demo');
  const receiverFolder = path.join(data, 'receiver');
  mkdirSync(receiverFolder, { recursive: true, mode: 0o700 });
  const certificates = await openCertificates({ clock: systemClock }, receiverFolder);
  let secret = '';
  const receiver = await startWebhookReceiver(certificates, () => secret);
  say('Starting the service …');
  const settings = { MEDIAJOBS_PRIVATE_TARGETS: PRIVATE_TARGETS, MEDIAJOBS_EXTRA_CA_FILE: certificates.caFile };
  const onProblem = (line: string): void => void (signal.aborted || process.stderr.write(`${line}\n`));
  const service = await runService({ data, settings, signal, onProblem });
  try {
    const key = await makeKey(data);
    say(`The service answers at ${service.baseUrl}.`);
    const all = await runAll({ service, receiver, key, data, onSecret: (text) => (secret = text) }, files);
    if (signal.aborted) return 0;
    const outcomes = all.filter((one) => 'bytesOut' in one);
    say(`\n${table(outcomes)}`);
    const failures = all.filter((one) => 'problem' in one);
    for (const { file, problem } of failures) say(`Failed: ${file}: ${problem}`);
    say(AFTERWARDS);
    return failures.length;
  } finally {
    await receiver.close();
    await service.stop();
  }
}

const AFTERWARDS = `The results are in ${path.join(ROOT, '.demo', 'output')}.
To look around, keep the service running with: hack/demo --serve --data ${path.join(ROOT, '.demo')}
  dashboard      https://localhost:8443/dashboard (it prints a link that signs in)
  documentation  https://localhost:8443/docs`;

interface FailedFile {
  readonly file: string;
  readonly problem: string;
}

interface RunAllDeps {
  readonly service: RunningService;
  readonly receiver: WebhookReceiver;
  readonly key: string;
  readonly data: string;
  readonly onSecret: (secret: string) => void;
}

async function runAll(
  { service, receiver, key, data, onSecret }: RunAllDeps,
  files: ReturnType<typeof filesToSend>,
): Promise<(DemoOutcome | FailedFile)[]> {
  const api = makeApiClient({ baseUrl: service.baseUrl, ca: service.ca, key });
  const progress = makeProgress(process.stdout);
  const outcomes: (DemoOutcome | FailedFile)[] = [];
  try {
    onSecret((await api.call<{ secret: string }>('GET', '/v1/webhook_endpoints/signing_secret')).secret);
    for (const one of files) {
      const deps = { api, receiver, show: progress.show, outputFolder: path.join(data, 'output') };
      const name = path.basename(one.file);
      outcomes.push(await runFile(deps, one).catch((error: Error) => ({ file: name, problem: error.message })));
      progress.done();
    }
    return outcomes;
  } finally {
    await api.close();
  }
}

/** Creates an account with every feature and returns a live key of it. */
async function makeKey(data: string): Promise<string> {
  const mediactl = async <Output>(...args: string[]): Promise<Output> => {
    const script = path.join(ROOT, 'api', 'mediactl.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [script, '--data', data, '--json', ...args]);
    return JSON.parse(stdout) as Output;
  };
  const features = ['--feature', 'video', '--feature', 'heic_output'];
  const account = await mediactl<{ id: string }>(
    'account',
    'create',
    '--name',
    'demo',
    '--plan',
    'payg',
    '--payment-method',
    ...features,
  );
  const key = await mediactl<{ key: string }>(
    'key',
    'create',
    '--account',
    account.id,
    '--mode',
    'live',
    '--name',
    'demo',
  );
  return key.key;
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interruption.signal.aborted) return;
    say('\nStopping the service …');
    interruption.abort();
  });
}
const interrupted = once(interruption.signal, 'abort').then(() => null);
const work = main(interruption.signal);
const failures = await Promise.race([work, interrupted]).catch((error: Error) => {
  process.stderr.write(`\ndemo: ${error.message}\n`);
  return 1;
});
if (failures === null) {
  // The service stops by the same signal, and calls in flight fail.
  await work.catch(() => null);
  say('Stopped.');
  process.exit(130);
}
process.exit(failures === 0 ? 0 : 1);

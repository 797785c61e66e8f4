import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { TRANSFER_PATH, transferRequestSchema } from '#crds/contract/transfer-urls.ts';
import {
  outcomeReportSchema,
  standbyPollSchema,
  type AttemptId,
  type OutcomeReport,
  type RunSpec,
} from '#crds/contract/run-spec.ts';
import { OUTCOME_PATH, STANDBY_PATH } from '#crds/contract/worker-port.ts';
import { closeServer, listen, portOf } from '#crds/process/ops-server.ts';

export interface Beat {
  readonly percent: number;
  readonly authorization: string | undefined;
}

/** One object to fetch, one place to put, and the controller's port for heartbeats and transfers, on one free port. */
export interface StoreHost {
  readonly url: string;
  /** Transfers for which a URL was requested. */
  readonly granted: readonly string[];
  readonly beats: readonly Beat[];
  /** Tokens of standbys that asked for their run. */
  readonly standbys: readonly (string | undefined)[];
  /** Reports of outcomes. */
  readonly reports: readonly { readonly authorization: string | undefined; readonly body: OutcomeReport }[];
  /** Bodies of successful PUTs. */
  readonly outputs: readonly Buffer[];
  /** Method and status of every request but heartbeats. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

export interface StoreHostOptions {
  readonly input?: Buffer;
  readonly etag?: string;
  /** Statuses of the first requests of that method; `cut` ends the response in its middle. */
  readonly faults?: Readonly<Partial<Record<'GET' | 'PUT', readonly (number | 'cut')[]>>>;
  /** Status of every heartbeat. */
  readonly beatStatus?: number;
  /**
   * Returns the run of a standby that asks after the attempt that it has finished, or a status. Heartbeats below `/fenced`
   * are answered with 410.
   */
  readonly standby?: (finished: AttemptId | null) => RunSpec | number;
  /** Called with each heartbeat. */
  readonly onBeat?: (beat: Beat) => void;
  /** true: the input never ends. */
  readonly hangs?: boolean;
}

export async function startStoreHost(options: StoreHostOptions = {}): Promise<StoreHost> {
  const beats: Beat[] = [];
  const outputs: Buffer[] = [];
  const seen: string[] = [];
  const granted: string[] = [];
  const standbys: (string | undefined)[] = [];
  const reports: { authorization: string | undefined; body: OutcomeReport }[] = [];
  const faults = { GET: [...(options.faults?.GET ?? [])], PUT: [...(options.faults?.PUT ?? [])] };
  const server = createServer(
    (request, response) =>
      void readBody(request).then((body) => {
        if (request.url?.endsWith(TRANSFER_PATH) === true) return grant(response, body);
        if (request.url === STANDBY_PATH) return startStandby(request, response, body);
        if (request.url === OUTCOME_PATH) return report(request, response, body);
        if (request.method === 'POST') return beat(request, response, body);
        const method = request.method === 'PUT' ? 'PUT' : 'GET';
        const fault = faults[method].shift();
        const status = typeof fault === 'number' ? fault : statusOf(request, options);
        seen.push(`${method} ${status}`);
        if (status !== 200) return response.writeHead(status).end();
        if (method === 'GET') return serve(response, options, fault === 'cut');
        outputs.push(body);
        return response.writeHead(200).end();
      }),
  );
  const grant = (response: ServerResponse, body: Buffer): void => {
    const { transfer } = transferRequestSchema.parse(JSON.parse(body.toString()));
    granted.push(transfer.of);
    response.writeHead(200).end(JSON.stringify({ url: `http://127.0.0.1:${portOf(server)}/${transfer.of}` }));
  };
  const startStandby = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    standbys.push(request.headers.authorization);
    const { finished } = standbyPollSchema.parse(JSON.parse(body.toString()));
    const run = options.standby?.(finished) ?? 410;
    if (typeof run === 'number') response.writeHead(run).end();
    else response.writeHead(200).end(JSON.stringify(run));
  };
  const report = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    reports.push({
      authorization: request.headers.authorization,
      body: outcomeReportSchema.parse(JSON.parse(body.toString())),
    });
    response.writeHead(204).end();
  };
  const beat = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const { percent } = JSON.parse(body.toString()) as { percent: number };
    const noted = { percent, authorization: request.headers.authorization };
    beats.push(noted);
    options.onBeat?.(noted);
    response.writeHead(request.url?.startsWith('/fenced/') === true ? 410 : (options.beatStatus ?? 204)).end();
  };
  await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    granted,
    standbys,
    reports,
    beats,
    outputs,
    seen,
    close: () => closeServer(server),
  };
}

function statusOf(request: IncomingMessage, { input, etag }: StoreHostOptions): number {
  if (request.method === 'PUT') return 200;
  if (input === undefined) return 404;
  const wanted = request.headers['if-match'];
  return wanted === undefined || wanted === etag ? 200 : 412;
}

function serve(response: ServerResponse, { input = Buffer.alloc(0), hangs }: StoreHostOptions, isCut: boolean): void {
  response.writeHead(200, { 'content-length': input.length });
  if (hangs === true || isCut) {
    response.write(input.subarray(0, input.length >> 1), () => {
      if (isCut) response.destroy();
    });
  } else response.end(input);
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

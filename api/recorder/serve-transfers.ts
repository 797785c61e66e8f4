import { createServer, type IncomingMessage } from 'node:http';
import type { z } from 'zod';
import { readAttemptRequest } from '#crds/contract/attempt-request.ts';
import { RUN_INPUT_PATH, runInputRequestSchema, type DescribeInput } from '#crds/contract/run-input.ts';
import { TRANSFER_PATH, transferRequestSchema, type GrantTransfer } from '#crds/contract/transfer-urls.ts';
import type { Log } from '#crds/process/log.ts';
import { closeServer, listen, portOf, type ListenAddress } from '#crds/process/ops-server.ts';

const REQUEST_MS = 10_000;

interface Reply {
  readonly status: number;
  readonly body?: object;
}

/**
 * Serves transfer requests, which controllers forward, and the inputs of attempts, which controllers request: pods that
 * open callers' files cannot connect to this process. Every recorder does, whether or not it leads.
 */
export async function serveTransfers(
  deps: { readonly grant: GrantTransfer; readonly describe: DescribeInput; readonly log: Log },
  { address, key }: { readonly address: ListenAddress; readonly key: Buffer },
): Promise<{ readonly port: number | null; close(): Promise<void> }> {
  const handle = async <Body extends { jobId: string; attempt: number }>(
    request: IncomingMessage,
    schema: z.ZodType<Body>,
    act: (body: Body) => Promise<object | null>,
  ): Promise<Reply> => {
    const read = await readAttemptRequest(request, { key, schema });
    if ('status' in read) return read;
    const body = await act(read.body);
    return body === null ? { status: 410 } : { status: 200, body };
  };
  const respond = async (request: IncomingMessage): Promise<Reply> => {
    if (request.url === TRANSFER_PATH) return handle(request, transferRequestSchema, deps.grant);
    if (request.url === RUN_INPUT_PATH) return handle(request, runInputRequestSchema, deps.describe);
    return { status: 404 };
  };
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    respond(request).then(
      ({ status, body }) => {
        response.writeHead(status, body === undefined ? {} : { 'content-type': 'application/json' });
        response.end(body === undefined ? undefined : JSON.stringify(body));
      },
      (error: unknown) => {
        deps.log.error({ err: error, path: request.url }, 'request of a controller not handled');
        response.writeHead(503).end();
      },
    );
  });
  await listen(server, address);
  return { port: portOf(server), close: () => closeServer(server) };
}

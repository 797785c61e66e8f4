import { createServer } from 'node:http';
import { attemptEndpoint, replyWith, type AttemptEndpoint } from '#crds/contract/attempt-request.ts';
import { RUN_INPUT_PATH, runInputRequestSchema, type DescribeInput } from '#crds/contract/run-input.ts';
import { TRANSFER_PATH, transferRequestSchema, type GrantTransfer } from '#crds/contract/transfer-urls.ts';
import type { Log } from '#crds/process/log.ts';
import { closeServer, listen, portOf, type ListenAddress } from '#crds/process/ops-server.ts';

const REQUEST_MS = 10_000;

/**
 * Serves transfer requests, which controllers forward, and the inputs of attempts, which controllers request: pods that
 * open callers' files cannot connect to this process. Every recorder does, whether or not it leads.
 */
export async function serveTransfers(
  deps: { readonly grant: GrantTransfer; readonly describe: DescribeInput; readonly log: Log },
  { address, key }: { readonly address: ListenAddress; readonly key: Buffer },
): Promise<{ readonly port: number | null; close(): Promise<void> }> {
  const endpoints: ReadonlyMap<string | undefined, AttemptEndpoint> = new Map([
    [
      TRANSFER_PATH,
      attemptEndpoint({ key, schema: transferRequestSchema }, async (body) => replyWith(await deps.grant(body))),
    ],
    [
      RUN_INPUT_PATH,
      attemptEndpoint({ key, schema: runInputRequestSchema }, async (body) => replyWith(await deps.describe(body))),
    ],
  ]);
  const notFound: AttemptEndpoint = async () => ({ status: 404 });
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    const respond = endpoints.get(request.url) ?? notFound;
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

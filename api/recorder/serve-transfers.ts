import { createServer } from 'node:http';
import { attemptEndpoint, portListener, replyWith, type PortEndpoint } from '#crds/contract/attempt-request.ts';
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
  const endpoints: ReadonlyMap<string | undefined, PortEndpoint> = new Map([
    [
      TRANSFER_PATH,
      attemptEndpoint({ key, schema: transferRequestSchema }, async (body) => replyWith(await deps.grant(body))),
    ],
    [
      RUN_INPUT_PATH,
      attemptEndpoint({ key, schema: runInputRequestSchema }, async (body) => replyWith(await deps.describe(body))),
    ],
  ]);
  const listener = portListener(endpoints, { log: deps.log, failure: 'request of a controller not handled' });
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, listener);
  await listen(server, address);
  return { port: portOf(server), close: () => closeServer(server) };
}

import { createServer } from 'node:http';
import { readAttemptRequest } from '#crds/contract/attempt-request.ts';
import { TRANSFER_PATH, transferRequestSchema, type GrantTransfer } from '#crds/contract/transfer-urls.ts';
import type { Log } from '#crds/process/log.ts';
import { closeServer, listen, portOf, type ListenAddress } from '#crds/process/ops-server.ts';

const REQUEST_MS = 10_000;

/**
 * Serves transfer requests, which controllers forward: pods that open callers' files cannot connect to this process.
 * Every recorder does, whether or not it leads.
 */
export async function serveTransfers(
  { grant, log }: { readonly grant: GrantTransfer; readonly log: Log },
  { address, key }: { readonly address: ListenAddress; readonly key: Buffer },
): Promise<{ readonly port: number | null; close(): Promise<void> }> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    const respond = async (): Promise<void> => {
      if (request.url !== TRANSFER_PATH) return void response.writeHead(404).end();
      const read = await readAttemptRequest(request, { key, schema: transferRequestSchema });
      if ('status' in read) return void response.writeHead(read.status).end();
      const granted = await grant(read.body);
      if (granted === null) return void response.writeHead(410).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(granted));
    };
    respond().catch((error: unknown) => {
      log.error({ err: error }, 'transfer not granted');
      response.writeHead(503).end();
    });
  });
  await listen(server, address);
  return { port: portOf(server), close: () => closeServer(server) };
}

/**
 * Connections during an outage of DNS: a name whose look-up fails has the addresses that it had last.
 *
 * Without DNS a process that must open connections to PostgreSQL or the bucket is not ready, although both respond.
 * Names that callers choose are not concerned: their addresses are requested by `dns/promises`, and checked.
 */
import dns from 'node:dns';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '#crds/process/log.ts';

type Callback = (error: NodeJS.ErrnoException | null, ...addresses: unknown[]) => void;
type Reply = Parameters<Callback>;
/** `dns.lookup` in all its forms: host name, options if any, callback. */
type Lookup = (...call: readonly unknown[]) => void;

/** Time after which the last addresses are used while DNS has not answered, in milliseconds. */
const PATIENCE_MS = 250;

/** Replaces `dns.lookup`, by which all connections of this process find their addresses, also those of packages. */
export function keepLastAddresses(deps: { readonly log: Log }): void {
  dns.lookup = withLastAddresses(deps, dns.lookup as Lookup) as typeof dns.lookup;
}

/** Returns the look-up with a memory of each name's last addresses. A name that is absent in DNS has none. */
function withLastAddresses({ log }: { readonly log: Log }, lookup: Lookup): Lookup {
  const last = new Map<string, Reply>();
  const running = new Map<string, Promise<Reply>>();

  /** One look-up of a name at a time: they would occupy the threads of the file system while DNS is silent. */
  const ask = (name: string, request: readonly unknown[]): Promise<Reply> => {
    const requested =
      running.get(name) ??
      new Promise<Reply>((resolve) => lookup(...request, (...reply: Reply) => resolve(reply))).then((reply) => {
        running.delete(name);
        if (reply[0] === null) last.set(name, reply);
        return reply;
      });
    running.set(name, requested);
    return requested;
  };
  const replyTo = async (request: readonly unknown[]): Promise<Reply> => {
    const name = JSON.stringify(request);
    const known = last.get(name);
    if (known === undefined) return ask(name, request);
    const reply = await Promise.race([ask(name, request), wait(PATIENCE_MS, null, { ref: false })]);
    if (reply !== null && (reply[0] === null || reply[0].code === 'ENOTFOUND')) return reply;
    log.warn({ host: request[0], err: reply?.[0] ?? null }, 'DNS does not answer: the last known address is used');
    return known;
  };
  return (...call) => {
    const callback = call.at(-1) as Callback;
    void replyTo(call.slice(0, -1)).then((reply) => callback(...reply));
  };
}

/**
 * Resolution of callers' host names: the hosts file, then DNS with the search domains of resolv.conf. The queries are
 * sent by c-ares. `dns.lookup` would occupy one of a few threads until the name servers have responded, so that some
 * names with silent servers would stop all look-ups of the process, those of PostgreSQL and the bucket too.
 * Reasons: hack/decisions/0104-callers-names-by-c-ares.md.
 */
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { SafeFetchError } from '#api/outbound/safe-fetch-error.ts';

export interface ResolverConfig {
  /** Path of the hosts file. */
  readonly hostsFile: string;
  /** Path of resolv.conf, of which search domains and `ndots` are read here, and the name servers by c-ares. */
  readonly resolvConf: string;
  /** Timeout of the first query to a name server, in milliseconds; the second and last one has twice as long. */
  readonly timeoutMs: number;
  /** Name servers as `address:port` instead of those of resolv.conf. */
  readonly nameServers?: readonly string[];
}

/**
 * Returns every A and AAAA address of a name, IPv4 first. The abort of `signal` ends the queries.
 * @throws SafeFetchError name_not_found, whatever the name servers responded; the reason of the abort
 */
export async function resolveHost(
  config: ResolverConfig,
  { name, signal }: { name: string; signal: AbortSignal },
): Promise<readonly string[]> {
  const bare = name.replace(/\.$/, '').toLowerCase();
  const listed = addressesInHosts(await textOf(config.hostsFile), bare);
  if (listed.length > 0) return listed;
  let failure: unknown;
  const candidates = bare.length < name.length ? [bare] : namesToQuery(await textOf(config.resolvConf), bare);
  for (const candidate of candidates) {
    signal.throwIfAborted();
    try {
      return await queryAddresses(config, candidate, signal);
    } catch (error) {
      failure = error;
    }
  }
  signal.throwIfAborted();
  throw new SafeFetchError('name_not_found', 'the host name has no address', failure);
}

/** Queries for each server and record type, the first included. */
const TRIES = 2;
/** Upper limit of `ndots`, as in resolv.conf(5). */
const MAX_NDOTS = 15;

/** Returns the content of a configuration file. As for the system's resolver, a file that cannot be read is empty. */
function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}

/** Returns the words of each line without its comment. */
function wordsOfLines(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*$/, '')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

function addressesInHosts(text: string, name: string): readonly string[] {
  const lines = wordsOfLines(text).filter(([, ...names]) => names.some((listed) => listed.toLowerCase() === name));
  return [...new Set(lines.map(([address = '']) => address))].filter((address) => isIP(address) !== 0);
}

/** Returns the full names to query, in the order of resolv.conf(5): few dots mean a name within a search domain. */
function namesToQuery(text: string, name: string): readonly string[] {
  const lines = wordsOfLines(text);
  const domains = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain')?.slice(1) ?? [];
  const options = lines.filter(([keyword]) => keyword === 'options').flat();
  const ndots = Number(options.findLast((option) => /^ndots:\d+$/.test(option))?.slice('ndots:'.length) ?? 1);
  const qualified = domains.map((domain) => `${name}.${domain.replace(/\.$/, '')}`);
  const dots = name.split('.').length - 1;
  return dots >= Math.min(ndots, MAX_NDOTS) ? [name, ...qualified] : [...qualified, name];
}

/** Each look-up has a resolver of its own: `cancel` ends all queries of a resolver, and resolv.conf is read again. */
async function queryAddresses(
  { timeoutMs, nameServers }: ResolverConfig,
  name: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const replies = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = replies.flatMap((reply) => (reply.status === 'fulfilled' ? reply.value : []));
    const failed = replies.find((reply) => reply.status === 'rejected');
    if (addresses.length === 0 && failed !== undefined) throw failed.reason;
    return addresses;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

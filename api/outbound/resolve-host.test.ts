import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkedAddresses, type Resolve } from '#api/outbound/pinned-connector.ts';
import { resolveHost, type ResolverConfig } from '#api/outbound/resolve-host.ts';

/** Response to a query for A or AAAA: addresses, a response code, or none. */
type Response = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silent';

const RESPONSES: Readonly<Record<string, { readonly A: Response; readonly AAAA: Response }>> = {
  'both.test': { A: ['192.0.2.1', '192.0.2.2'], AAAA: ['2001:db8:0:0:0:0:0:1'] },
  'four.test': { A: ['192.0.2.1'], AAAA: [] },
  'six.test': { A: [], AAAA: ['2001:db8:0:0:0:0:0:1'] },
  'half.test': { A: ['192.0.2.1'], AAAA: 'SERVFAIL' },
  'half-silent.test': { A: ['192.0.2.1'], AAAA: 'silent' },
  'no-address.test': { A: [], AAAA: [] },
  'failing.test': { A: 'SERVFAIL', AAAA: 'SERVFAIL' },
  'silent.test': { A: 'silent', AAAA: 'silent' },
  'mixed.test': { A: ['8.8.8.8'], AAAA: ['fd00:0:0:0:0:0:0:1'] },
  'public.test': { A: ['8.8.8.8'], AAAA: ['2606:4700:0:0:0:0:0:1111'] },
  'bucket.media.svc.cluster.test': { A: ['192.0.2.7'], AAAA: [] },
  'bucket.media': { A: ['192.0.2.66'], AAAA: [] },
};

/** Names of all queries, in the order of their arrival. */
const queried: string[] = [];
const server = createSocket('udp4');
server.on('message', (query, { port, address }) => {
  const reply = replyTo(query);
  if (reply !== null) server.send(reply, port, address);
});
server.bind(0, '127.0.0.1');
await once(server, 'listening');
const directory = await mkdtemp(path.join(tmpdir(), 'mediajobs-resolver-'));
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true, force: true });
});

/** Returns the reply to a DNS query (RFC 1035); null: none is sent. */
function replyTo(query: Buffer): Buffer | null {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const name = labels.join('.').toLowerCase();
  const type = query.readUInt16BE(at + 1) === 28 ? 'AAAA' : 'A';
  queried.push(name);
  const response = RESPONSES[name]?.[type] ?? (name.startsWith('silent-') ? 'silent' : 'NXDOMAIN');
  if (response === 'silent') return null;
  const addresses = typeof response === 'string' ? [] : response;
  const code = response === 'NXDOMAIN' ? 3 : response === 'SERVFAIL' ? 2 : 0;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const data = type === 'A' ? address.split('.').map(Number) : address.split(':').flatMap(bytesOfGroup);
    return Buffer.from([0xc0, 12, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]);
  });
  return Buffer.concat([head, query.subarray(12, at + 5), ...records]);
}

function bytesOfGroup(group: string): number[] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 255];
}

/** Returns the configuration of a resolver that uses the server of this test. */
async function configured(files: { hosts?: string; resolvConf?: string } = {}): Promise<ResolverConfig> {
  const [hostsFile, resolvConf] = [path.join(directory, 'hosts'), path.join(directory, 'resolv.conf')];
  await writeFile(hostsFile, files.hosts ?? '');
  await writeFile(resolvConf, files.resolvConf ?? '');
  return { hostsFile, resolvConf, timeoutMs: 2000, nameServers: [`127.0.0.1:${server.address().port}`] };
}

const config = await configured();
const neverAborted = new AbortController().signal;
const resolve = (name: string, using = config): Promise<readonly string[]> =>
  resolveHost(using, { name, signal: neverAborted });
const NOT_FOUND = { name: 'SafeFetchError', reason: 'name_not_found', message: 'the host name has no address' };

describe('resolveHost', () => {
  it.each([
    ['both.test', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
    ['four.test', ['192.0.2.1']],
    ['six.test', ['2001:db8::1']],
    ['half.test', ['192.0.2.1']],
    ['BOTH.Test.', ['192.0.2.1', '192.0.2.2', '2001:db8::1']],
  ])('returns every A and AAAA address of %s', async (name, addresses) => {
    expect(await resolve(name)).toEqual(addresses);
  });

  it('returns the A addresses when the query for AAAA has no response', async () => {
    expect(await resolve('half-silent.test', { ...config, timeoutMs: 100 })).toEqual(['192.0.2.1']);
  });

  it.each(['absent.test', 'no-address.test', 'failing.test', 'silent.test'])(
    'throws name_not_found, which is retried, for %s',
    async (name) => {
      const resolving = resolve(name, { ...config, timeoutMs: name === 'silent.test' ? 100 : 2000 });
      await expect(resolving).rejects.toMatchObject({ ...NOT_FOUND, isTransient: true });
    },
  );

  it('throws name_not_found when no name server listens', async () => {
    await expect(resolve('four.test', { ...config, nameServers: ['127.0.0.1:1'] })).rejects.toMatchObject(NOT_FOUND);
  });

  it('resolves other names, and the process its own, while many names have no response', async () => {
    const patient = { ...config, timeoutMs: 600_000 };
    const abort = new AbortController();
    const silent = Array.from({ length: 100 }, (_, index) =>
      resolveHost(patient, { name: `silent-${index}.test`, signal: abort.signal }),
    );
    const ends = Promise.allSettled(silent);
    await expect.poll(() => new Set(queried.filter((name) => name.startsWith('silent-'))).size).toBe(100);
    expect(await resolve('four.test', patient)).toEqual(['192.0.2.1']);
    expect(await lookup('localhost', { all: true })).not.toEqual([]);
    const reason = new Error('the deadline has passed');
    abort.abort(reason);
    expect(new Set(await ends)).toEqual(new Set(silent.map(() => ({ status: 'rejected', reason }))));
  });

  it('sends no query for a name in the hosts file', async () => {
    const hosts = '# comment\n127.0.0.1\tlocalhost other.test # four.test\n::1 localhost\n127.0.0.9 Four.Test\n';
    const using = await configured({ hosts });
    const before = queried.length;
    expect(await resolve('localhost', using)).toEqual(['127.0.0.1', '::1']);
    expect(await resolve('localhost.', using)).toEqual(['127.0.0.1', '::1']);
    expect(await resolve('FOUR.test', using)).toEqual(['127.0.0.9']);
    expect(queried).toHaveLength(before);
    expect(await resolve('both.test', using)).toContain('192.0.2.1');
  });

  it('queries the search domains first for a name with fewer dots than ndots', async () => {
    const resolvConf =
      'nameserver 192.0.2.53\nsearch media.svc.cluster.test svc.cluster.test\noptions timeout:1 ndots:5\n';
    const using = await configured({ resolvConf });
    expect(await resolve('bucket', using)).toEqual(['192.0.2.7']);
    expect(await resolve('bucket.media', using)).toEqual(['192.0.2.7']);
    expect(await resolve('bucket.media.', using)).toEqual(['192.0.2.66']);
    expect(await resolve('four.test', using)).toEqual(['192.0.2.1']);
  });

  it('queries the search domains last for a name with a dot when ndots is not set', async () => {
    const using = await configured({ resolvConf: 'search media.svc.cluster.test\nsearch svc.cluster.test.\n' });
    expect(await resolve('bucket.media', using)).toEqual(['192.0.2.66']);
    const before = queried.length;
    await expect(resolve('bucket.absent', using)).rejects.toMatchObject(NOT_FOUND);
    expect(new Set(queried.slice(before))).toEqual(new Set(['bucket.absent', 'bucket.absent.svc.cluster.test']));
  });

  it('uses DNS when neither file can be read', async () => {
    const using = { ...config, hostsFile: path.join(directory, 'absent'), resolvConf: path.join(directory, 'absent') };
    expect(await resolve('four.test', using)).toEqual(['192.0.2.1']);
  });
});

describe('checkedAddresses with the addresses of DNS', () => {
  const byServer: Resolve = (name, signal) => resolveHost(config, { name, signal });
  const checked = (host: string): Promise<readonly string[]> =>
    checkedAddresses({ resolve: byServer, privateTargets: [] }, { host, signal: neverAborted });

  it('refuses a name with a public A and a private AAAA address', async () => {
    await expect(checked('mixed.test')).rejects.toMatchObject({ reason: 'forbidden_address' });
    expect(await checked('public.test')).toEqual(['8.8.8.8', '2606:4700::1111']);
  });
});

/** Clients that disconnect at any byte, by an end or a reset, with and without reading the response. */
import { once } from 'node:events';
import { connect as connectPlain } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import { expect, it } from 'vitest';
import { noise } from '#test/fixtures/noise.ts';
import { seededRandom } from '#test/faults/seeded-random.ts';
import { processesOf } from '#test/support/service-processes.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live, api } = await useService('scale');
const { port } = new URL(service.baseUrl);
const random = seededRandom('cut connections');
const CONNECTIONS = 400;
const AT_ONCE = 8;
/** Delays between the last byte and the disconnection, in milliseconds, so that it also happens during a response. */
const PAUSES_MS = [0, 0, 1, 5, 20, 100];

const photo = await noise(600, 400).jpeg().toBuffer();
const form = Buffer.concat([
  Buffer.from('--B\r\nContent-Disposition: form-data; name="options"\r\n\r\n{"image":{"quality":70}}\r\n'),
  Buffer.from('--B\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'),
  photo,
  Buffer.from('\r\n--B--\r\n'),
]);
const JSON_TYPE = 'Content-Type: application/json\r\n';
const FORM_TYPE = 'Content-Type: multipart/form-data; boundary=B\r\n';
const { id: uploadId } = (await api('POST', '/v1/uploads', { json: { size: photo.length } })).json() as { id: string };

const REQUESTS: readonly (readonly [request: string, body: Buffer | string, headers?: string])[] = [
  [`PUT /v1/uploads/${uploadId}/content`, photo],
  ['POST /v1/compress', photo],
  ['POST /v1/convert?to=webp', form, FORM_TYPE],
  ['POST /v1/uploads', '{"size":100}', JSON_TYPE],
  ['POST /v1/jobs', `{"operation":"compress","input":{"upload":"${uploadId}"}}`, JSON_TYPE],
  ['GET /v1/jobs?limit=100', ''],
  ['GET /v1/capabilities', ''],
  ['POST /sign-in', 'email=a%40b.example&password=x', 'Content-Type: application/x-www-form-urlencoded\r\n'],
];

it('disconnected clients end no process of the service, and the next request is served', async () => {
  // A process that is being started looks like the one that starts it until it runs its own program.
  const first = serving();
  await api('GET', '/v1/capabilities');
  const before = serving().filter((pid) => first.includes(pid));
  let left = CONNECTIONS;
  const client = async (): Promise<void> => {
    for (; left > 0; left -= 1) await sendAndCut();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  await expect.poll(serving).toEqual(before);
  await expect
    .poll(async () => (await api('POST', '/v1/compress', { body: photo })).status, { timeout: 30_000 })
    .toBe(200);
});

function serving(): readonly number[] {
  return processesOf(service.data)
    .filter(({ role }) => role === 'api' || role === 'engine' || role === 'control' || role === 'courier')
    .map(({ pid }) => pid)
    .toSorted((a, b) => a - b);
}

async function sendAndCut(): Promise<void> {
  const bytes = requestBytes();
  const end = random.below(3) === 0 ? bytes.length : random.below(bytes.length);
  const below = connectPlain(Number(port), '127.0.0.1').on('error', () => undefined);
  const socket = connect({ socket: below, servername: 'localhost', ca: service.ca }).on('error', () => undefined);
  const closed = once(below, 'close');
  await Promise.race([once(socket, 'secureConnect'), closed]);
  if (random.below(2) === 0) socket.resume();
  socket.write(bytes.subarray(0, end));
  await delay(random.pick(PAUSES_MS));
  if (random.below(2) === 0) below.resetAndDestroy();
  else socket.destroy();
  await closed;
}

/** Half of those with a body announce its length, the others send it as a chunk. */
function requestBytes(): Buffer {
  const [request, sent, headers = ''] = random.pick(REQUESTS);
  const body = Buffer.from(sent);
  const head = `${request} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${live}\r\n${headers}`;
  if (random.below(2) === 0) return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]);
  const size = body.length.toString(16);
  const [before, after] = body.length === 0 ? ['', '0\r\n\r\n'] : [`${size}\r\n`, '\r\n0\r\n\r\n'];
  return Buffer.concat([Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${before}`), body, Buffer.from(after)]);
}

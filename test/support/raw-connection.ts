import { connect } from 'node:tls';
import type { SharedService } from '#test/support/use-service.ts';

interface RawResponse {
  readonly status: number;
  /** Lower-case names; of several of one name, the last. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawConnection {
  send(bytes: string | Buffer): void;
  /** The next response on the connection; fails when it closes first. */
  next(): Promise<RawResponse>;
  /** Resolves when the server has closed it. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Opens a TLS connection that sends exactly the given bytes and reads the responses in order. */
export async function openRaw(service: Pick<SharedService, 'baseUrl' | 'ca'>): Promise<RawConnection> {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect({ host: hostname, port: Number(port), ca: service.ca });
  let received = '';
  let isClosed = false;
  let wake = (): void => undefined;
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    wake();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  const next = async (): Promise<RawResponse> => {
    for (;;) {
      const response = readResponse(received);
      if (response !== null) {
        received = received.slice(response.length);
        return response;
      }
      if (isClosed) throw new Error(`the connection closed after ${JSON.stringify(received.slice(0, 200))}`);
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { send: (bytes) => void socket.write(bytes), next, closed, close: () => void socket.destroy() };
}

/** Sends one request on its own connection. */
export async function rawRequest(
  service: Pick<SharedService, 'baseUrl' | 'ca'>,
  bytes: string | Buffer,
): Promise<RawResponse> {
  const connection = await openRaw(service);
  connection.send(bytes);
  try {
    return await connection.next();
  } finally {
    connection.close();
  }
}

/** The first whole response; null while it is not there yet. Answers to HEAD have no body and are not read here. */
function readResponse(received: string): (RawResponse & { readonly length: number }) | null {
  const end = received.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const [first = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const length = end + 4 + Number(headers['content-length'] ?? 0);
  if (received.length < length) return null;
  return { status: Number(first.split(' ')[1]), headers, body: received.slice(end + 4, length), length };
}

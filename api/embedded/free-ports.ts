import { randomInt } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { StartError } from '#api/embedded/start-error.ts';

/** Range below Linux's ephemeral ports: an outgoing connection could occupy one of those before it is bound. */
const [LOWEST, HIGHEST] = [15_000, 30_000];
const TRIES = 100;

/** Returns `count` different loopback ports that no program uses now. */
export async function freePorts(count: number): Promise<number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => holdAny(TRIES)));
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(held.map(release));
  return ports;
}

async function holdAny(tries: number): Promise<Server> {
  try {
    return await hold({ host: '127.0.0.1', port: randomInt(LOWEST, HIGHEST) });
  } catch (error) {
    if (tries <= 1) throw error;
    return holdAny(tries - 1);
  }
}

/** Checks that the port can be bound. @throws StartError with the reason when it cannot. */
export async function requirePort(address: { host: string; port: number }): Promise<void> {
  try {
    await release(await hold(address));
  } catch (error) {
    throw new StartError(
      `Port ${address.port} on ${address.host} cannot be used: ${reason(error)}. Choose another port.`,
      { cause: error },
    );
  }
}

function hold(address: { host: string; port: number }): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(address.port, address.host, () => resolve(server));
  });
}

function release(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function reason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return 'another program listens there';
  if (code === 'EACCES') return 'this user may not bind ports below 1024';
  return message;
}

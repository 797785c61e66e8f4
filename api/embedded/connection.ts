import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

const connectionSchema = z.object({
  DATABASE_URL: z.string(),
  REDIS_URL: z.string(),
  MEDIAJOBS_KEY_PEPPER: z.string(),
  base_url: z.string(),
  /** URL of the plain http port. */
  http_url: z.string(),
  ca_file: z.string(),
  /** URLs of `/metrics`, `/healthz` and `/readyz` of each process: `http+unix:`, or `http:` with MEDIAJOBS_OPS_PORT. */
  ops: z.record(z.string(), z.string()),
});

/** Addresses of a running service's processes and servers, for programs of the same machine. */
export type ServiceConnection = z.infer<typeof connectionSchema>;

export function connectionFile(dataFolder: string): string {
  return path.join(dataFolder, 'run', 'connection.json');
}

export function writeConnection(dataFolder: string, connection: ServiceConnection): void {
  const file = connectionFile(dataFolder);
  writeFileAtomically(file, `${JSON.stringify(connection, null, 2)}\n`, { isDurable: false });
}

/** Returns null when no service runs on the folder. After the service was killed, the addresses do not answer. */
export function readConnection(dataFolder: string): ServiceConnection | null {
  const file = connectionFile(dataFolder);
  return existsSync(file) ? connectionSchema.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
}

export function removeConnection(dataFolder: string): void {
  rmSync(connectionFile(dataFolder), { force: true });
}

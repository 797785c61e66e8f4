import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDiskFiles } from '#api/files/disk-files.ts';
import { startFileServer } from '#api/files/file-server.ts';
import type { FileStore } from '#api/files/file-store.ts';
import { systemClock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';
import { describeFileStore } from '#test/contract/file-store.ts';

describeFileStore('the store on disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'file-store-'));
  const linkKeys = [{ id: '1', key: Buffer.alloc(32, 7) }];
  // The server comes first: the store's URLs name the port that it got.
  const served = {
    get: (...args: Parameters<FileStore['get']>) => files.get(...args),
    put: (...args: Parameters<FileStore['put']>) => files.put(...args),
  };
  const log = makeLog('test', 'error');
  const server = await startFileServer(
    { files: served, linkKeys, clock: systemClock, log, maxBytes: 1024 ** 3 },
    { host: '127.0.0.1', port: 0 },
  );
  const files = await openDiskFiles({
    clock: systemClock,
    directory,
    baseUrl: `http://127.0.0.1:${server.port}`,
    linkKeys,
  });
  return {
    files,
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
});

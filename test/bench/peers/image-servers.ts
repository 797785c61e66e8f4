/** The service and its peers as image servers: each gets an image and its target format and size. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { availableParallelism } from 'node:os';
import { Pool } from 'undici';
import { ofDirectLane, startBenchService } from './bench-service.ts';
import { OURS } from './measured.ts';
import type { ReadyPeers } from './prepare-peers.ts';
import { freePort, startServerProcess } from './server-process.ts';

export interface ImageServer {
  readonly who: string;
  /** @throws Error when it returns no image. */
  readonly convert: (wish: ImageWish) => Promise<Buffer>;
  /** Processes whose memory counts: those that images pass through. */
  readonly pids: () => readonly number[];
  /** Processes whose CPU time counts, with what each does. */
  readonly processes: () => readonly { readonly pid: number; readonly role: string }[];
  readonly stop: () => Promise<void>;
}

export interface ImageWish {
  /** In the folder that the servers were started with. */
  readonly file: string;
  readonly bytes: Buffer;
  readonly format: 'jpg' | 'webp' | 'avif' | 'png' | 'gif';
  /** On the server's own scale; undefined for its default. */
  readonly quality?: number;
  /** Longest side, or the size that it has. */
  readonly side?: number;
}

/** @param folder - Folder of the images that peers read themselves. @throws Error when one does not start; no server runs then. */
export async function startImageServers(peers: ReadyPeers, folder: string): Promise<ImageServer[]> {
  const [thumbor, ipx, imgproxy] = [peers.get('thumbor'), peers.get('ipx'), peers.get('imgproxy')];
  const starts = [
    () => startOurs(folder),
    ...(thumbor === undefined ? [] : [() => startThumbor(thumbor.folder, folder)]),
    ...(ipx === undefined ? [] : [() => startIpx(ipx.folder, folder)]),
    startBare,
    ...(imgproxy === undefined ? [] : [() => startImgproxy(imgproxy.folder, folder)]),
  ];
  const servers: ImageServer[] = [];
  try {
    for (const start of starts) servers.push(await start());
    return servers;
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()));
    throw error;
  }
}

async function startOurs(folder: string): Promise<ImageServer> {
  const service = await startBenchService(folder);
  return {
    who: OURS,
    convert: async ({ file, bytes, format, quality, side }) => {
      const resize =
        side === undefined ? 'image.resize=false' : `image.resize.width=${side}&image.resize.height=${side}`;
      const wish = `image.format=${format}&${resize}${quality === undefined ? '' : `&image.quality=${quality}`}`;
      const response = await service.api('POST', `/v1/compress?${wish}&filename=${file}`, { body: bytes });
      if (response.status !== 200) throw new Error(`${OURS} answered ${response.status}: ${response.bytes.toString()}`);
      return response.bytes;
    },
    pids: () =>
      service
        .processes()
        .filter(ofDirectLane)
        .map(({ pid }) => pid),
    processes: service.processes,
    stop: service.stop,
  };
}

async function startThumbor(home: string, folder: string): Promise<ImageServer> {
  const settings = join(folder, 'thumbor.conf');
  await writeFile(
    settings,
    [
      "LOADER = 'thumbor.loaders.file_loader'",
      `FILE_LOADER_ROOT_PATH = '${folder}'`,
      "STORAGE = 'thumbor.storages.no_storage'",
      'MAX_AGE = 0',
      `ENGINE_THREADPOOL_SIZE = ${availableParallelism()}`,
    ].join('\n'),
  );
  const server = await startServer('thumbor', (port) => ({
    file: join(home, 'bin', 'thumbor'),
    args: [
      '--ip',
      '127.0.0.1',
      '--port',
      String(port),
      '--conf',
      settings,
      '--processes',
      String(availableParallelism()),
    ],
  }));
  return {
    ...server,
    convert: ({ file, format, quality, side }) => {
      const size = side === undefined ? '' : `fit-in/${side}x${side}/`;
      const filters = `filters:format(${format === 'jpg' ? 'jpeg' : format})${quality === undefined ? '' : `:quality(${quality})`}`;
      return server.get(`/unsafe/${size}${filters}/${file}`);
    },
  };
}

async function startIpx(home: string, folder: string): Promise<ImageServer> {
  const server = await startServer('ipx', (port) => ({
    file: process.execPath,
    args: [
      join(home, 'node_modules/ipx/bin/ipx.mjs'),
      'serve',
      '--dir',
      folder,
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
    ],
  }));
  return {
    ...server,
    convert: ({ file, format, quality, side }) => {
      const wish = [
        `f_${format}`,
        ...(quality === undefined ? [] : [`q_${quality}`]),
        ...(side === undefined ? [] : [`w_${side}`]),
        ...(file.endsWith('.gif') ? ['animated'] : []),
      ];
      return server.get(`/${wish.join(',')}/${file}`);
    },
  };
}

async function startBare(): Promise<ImageServer> {
  const server = await startServer('fastify + sharp', (port) => ({
    file: process.execPath,
    args: [new URL('./sharp-server.ts', import.meta.url).pathname],
    env: { PORT: String(port) },
  }));
  return {
    ...server,
    convert: ({ bytes, format, quality, side }) => {
      const wish = new URLSearchParams({
        format: format === 'jpg' ? 'jpeg' : format,
        ...(quality === undefined ? {} : { quality: String(quality) }),
        ...(side === undefined ? {} : { side: String(side) }),
      });
      return server.get(`/?${wish.toString()}`, bytes);
    },
  };
}

async function startImgproxy(binary: string, folder: string): Promise<ImageServer> {
  const server = await startServer('imgproxy', (port) => ({
    file: binary,
    args: [],
    env: {
      IMGPROXY_BIND: `127.0.0.1:${port}`,
      IMGPROXY_LOCAL_FILESYSTEM_ROOT: folder,
      IMGPROXY_MAX_SRC_RESOLUTION: '100',
      IMGPROXY_MAX_ANIMATION_FRAMES: '100',
    },
  }));
  return {
    ...server,
    convert: ({ file, format, quality, side }) => {
      const size = side === undefined ? '' : `rs:fit:${side}:${side}/`;
      const look = quality === undefined ? '' : `q:${quality}/`;
      return server.get(`/insecure/${size}${look}f:${format}/plain/local:///${file}`);
    },
  };
}

interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

interface PlainServer extends Omit<ImageServer, 'convert'> {
  /** With a body it is a POST. */
  readonly get: (path: string, body?: Buffer) => Promise<Buffer>;
}

async function startServer(who: string, program: (port: number) => Program): Promise<PlainServer> {
  const port = await freePort();
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64, bodyTimeout: 0, headersTimeout: 0 });
  const get = async (path: string, body?: Buffer): Promise<Buffer> => {
    const method = body === undefined ? 'GET' : 'POST';
    const headers = body === undefined ? {} : { 'content-type': 'application/octet-stream' };
    const response = await pool.request({ method, path, headers, body: body ?? null });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode !== 200) throw new Error(`${who} answered ${path} with ${response.statusCode}`);
    return bytes;
  };
  const isUp = async (): Promise<boolean> => {
    const { body } = await pool.request({ method: 'GET', path: '/' });
    await body.dump();
    return true;
  };
  const server = await startServerProcess({ who, ...program(port), isUp });
  return {
    who,
    get,
    pids: server.pids,
    processes: () => server.pids().map((pid) => ({ pid, role: 'server' })),
    stop: async () => {
      await pool.destroy();
      await server.stop();
    },
  };
}

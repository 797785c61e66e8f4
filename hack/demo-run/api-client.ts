import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Agent, request } from 'undici';

/** Client for the endpoints that the demo calls. */
export interface DemoClient {
  call<Body>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Body>;
  /** Creates an upload, sends the file's bytes, and returns the upload's id. */
  upload(file: string): Promise<string>;
  /** Downloads a signed link to a file and returns its size in bytes. */
  download(link: string, to: string): Promise<number>;
  close(): Promise<void>;
}

interface Upload {
  readonly id: string;
  readonly multipart: boolean;
  readonly url: string;
  readonly headers: Record<string, string>;
}

/** Returns a client whose calls throw an Error with code and message when the service refuses. */
export function makeApiClient({ baseUrl, ca, key }: { baseUrl: string; ca: string; key: string }): DemoClient {
  const dispatcher = new Agent({ connect: { ca } });
  const authorization = `Bearer ${key}`;

  const call = async <Body>(method: 'GET' | 'POST', where: string, body?: unknown): Promise<Body> => {
    const sent =
      body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { authorization, 'content-type': 'application/json' } };
    const response = await request(new URL(where, baseUrl), {
      dispatcher,
      method,
      headers: { authorization },
      ...sent,
    });
    return read<Body>(response, `${method} ${where}`);
  };

  const upload = async (file: string): Promise<string> => {
    const { size } = await stat(file);
    const made = await call<Upload>('POST', '/v1/uploads', { size, filename: path.basename(file) });
    if (made.multipart)
      throw new Error(`${file} has ${size} bytes and needs a multipart upload, which this demo does not support.`);
    const headers = { ...made.headers, authorization, 'content-length': String(size) };
    const response = await request(made.url, { dispatcher, method: 'PUT', headers, body: createReadStream(file) });
    await read(response, 'PUT of the upload');
    return made.id;
  };

  const download = async (link: string, to: string): Promise<number> => {
    const response = await request(link, { dispatcher });
    if (response.statusCode !== 200) await read(response, 'GET of the download link');
    await pipeline(response.body, createWriteStream(to));
    return (await stat(to)).size;
  };

  return { call, upload, download, close: () => dispatcher.close() };
}

async function read<Body>(
  response: { statusCode: number; body: { text(): Promise<string> } },
  what: string,
): Promise<Body> {
  const text = await response.body.text();
  if (response.statusCode < 400) return JSON.parse(text) as Body;
  const { error } = JSON.parse(text) as { error: { code: string; message: string; request_id: string } };
  throw new Error(
    `${what} was refused with ${response.statusCode} ${error.code}: ${error.message} (${error.request_id})`,
  );
}

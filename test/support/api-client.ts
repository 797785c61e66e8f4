import { Agent, type buildConnector, request as undiciRequest, type FormData } from 'undici';

export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** Parses the body as JSON. @throws SyntaxError when it is not JSON. */
  readonly json: () => Record<string, any>;
}

interface Sending {
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly body?: Buffer | string | FormData;
}

export interface ApiClient {
  (method: string, path: string, sending?: Sending): Promise<ApiResponse>;
  readonly close: () => Promise<void>;
}

interface CalledService {
  readonly baseUrl: string;
  /** PEM of its own certificate authority. */
  readonly ca?: string;
  /** Connection options that replace it. */
  readonly connection?: buildConnector.BuildOptions;
}

/** Calls the running service over HTTPS. */
export function makeApiClient(service: CalledService, key: string | null = null): ApiClient {
  const dispatcher = new Agent({ connect: service.connection ?? { ca: service.ca ?? '' }, allowH2: false });
  const call = async (method: string, path: string, sending: Sending = {}): Promise<ApiResponse> => {
    const token = sending.key === undefined ? key : sending.key;
    const url = path.startsWith('https:') ? path : `${service.baseUrl}${path}`;
    const { statusCode, headers, body } = await undiciRequest(url, {
      method: method as 'GET',
      dispatcher,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(sending.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...sending.headers,
      },
      body: (sending.json === undefined ? (sending.body ?? null) : JSON.stringify(sending.json)) as Buffer | null,
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    return {
      status: statusCode,
      headers,
      bytes,
      json: () => JSON.parse(bytes.toString('utf8')) as Record<string, any>,
    };
  };
  return Object.assign(call, { close: () => dispatcher.close() });
}

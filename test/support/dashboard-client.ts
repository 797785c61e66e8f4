import { Agent, request as undiciRequest } from 'undici';
import type { SharedService } from '#test/support/use-service.ts';

export interface DashboardResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Target of its redirect below the dashboard; null: no redirect. */
  readonly to: string | null;
}

interface Posting {
  readonly headers?: Readonly<Record<string, string>>;
  /** Token that replaces the page's own; null: none. */
  readonly formToken?: string | null;
}

export interface DashboardClient {
  readonly get: (below: string) => Promise<DashboardResponse>;
  /** Sends a form as it is on the page `from`, with its token. */
  readonly post: (
    below: string,
    fields: Readonly<Record<string, string>>,
    from: string,
    how?: Posting,
  ) => Promise<DashboardResponse>;
  readonly cookies: Map<string, string>;
  readonly close: () => Promise<void>;
}

/** Returns a browser without scripts that keeps cookies and sends forms. @param network loopback address (IPv4) to call from. */
export function makeDashboardClient(
  { baseUrl, ca }: Pick<SharedService, 'baseUrl' | 'ca'>,
  network: string | null = null,
): DashboardClient {
  const from = network === null ? {} : { localAddress: network };
  const dispatcher = new Agent({ connect: network === null ? { ca } : { ca, family: 4 }, ...from, allowH2: false });
  const cookies = new Map<string, string>();
  const call = async (
    method: 'GET' | 'POST',
    below: string,
    sent: { body?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<DashboardResponse> => {
    const { statusCode, headers, body } = await undiciRequest(`${baseUrl}/dashboard${below}`, {
      method,
      dispatcher,
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; '), ...sent.headers },
      body: sent.body ?? null,
    });
    for (const cookie of [headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = headers['location'];
    return {
      status: statusCode,
      headers,
      text: await body.text(),
      to: typeof location === 'string' ? location.replace(/^\/dashboard/, '') : null,
    };
  };
  return {
    get: (below) => call('GET', below),
    post: async (below, fields, from, { headers = {}, formToken } = {}) => {
      const token = formToken === undefined ? tokenOf((await call('GET', from)).text) : formToken;
      const form = new URLSearchParams({ ...fields, ...(token === null ? {} : { form_token: token }) });
      const type = { 'content-type': 'application/x-www-form-urlencoded' };
      return call('POST', below, { body: form.toString(), headers: { ...type, ...headers } });
    },
    cookies,
    close: () => dispatcher.close(),
  };
}

/** Returns the token of the page's first form. */
export function tokenOf(text: string): string {
  return /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
}

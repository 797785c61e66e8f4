import type { ApiClient } from '#test/support/api-client.ts';

/** Returns the client with another default key. */
export function withKey(api: ApiClient, key: string): ApiClient {
  const call = (...[method, path, sending]: Parameters<ApiClient>): ReturnType<ApiClient> =>
    api(method, path, { key, ...sending });
  return Object.assign(call, { close: api.close });
}

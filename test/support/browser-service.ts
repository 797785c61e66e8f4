/** Vitest's global set-up of `test/browser`: an OpenID Connect provider, and the service that signs people in with it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { TestProject } from 'vitest/node';
import { closeServer, listen } from '#crds/process/ops-server.ts';
import { provideService } from '#test/support/shared-service.ts';

const CLIENT = { id: 'mediajobs', secret: 'secret-of-the-test-client' };

export default async function startService(project: TestProject): Promise<() => Promise<void>> {
  // The service needs the provider's address, the provider that of the service: its handler is set later.
  const server = createServer((request, response) => void provider?.callback()(request, response));
  let provider: Provider | null = null;
  await listen(server, { host: '127.0.0.1', port: 0 });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = await provideService(project, {
    MEDIAJOBS_OIDC_ISSUER: issuer,
    MEDIAJOBS_OIDC_CLIENT_ID: CLIENT.id,
    MEDIAJOBS_OIDC_CLIENT_SECRET: CLIENT.secret,
    MEDIAJOBS_GRAFANA_URL: 'https://grafana.example.com/d/mediajobs',
  });
  const { baseUrl } = project.getProvidedContext().service;
  provider = makeProvider(issuer, `${baseUrl}/dashboard/provider/callback`);
  return async () => {
    await stop();
    await closeServer(server);
  };
}

/** Its own pages ask for a login; whoever that is, the address of that name is verified. */
function makeProvider(issuer: string, redirectUrl: string): Provider {
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUrl] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: sub !== 'unverified' }),
    }),
    cookies: { keys: ['any'] },
  });
  return provider;
}

import { expect, it } from 'vitest';
import { exceptionsIn } from '#api/embedded/announce.ts';
import { embeddedSettings } from '#api/embedded/process-settings.ts';

it('the start says which private networks and certificates of its own the service accepts', () => {
  const config = embeddedSettings.parse({
    MEDIAJOBS_PRIVATE_TARGETS: '127.0.0.0/8,::1/128',
    MEDIAJOBS_EXTRA_CA_FILE: '/etc/ca.pem',
  });
  expect(exceptionsIn(config)).toEqual([
    'Webhooks, input.url and output.url may use the private networks 127.0.0.0/8, ::1/128 (MEDIAJOBS_PRIVATE_TARGETS)',
    'Webhooks, input.url and output.url also trust the certificates in /etc/ca.pem (MEDIAJOBS_EXTRA_CA_FILE)',
  ]);
});

it('the start says nothing of them where there are none', () => {
  expect(exceptionsIn(embeddedSettings.parse({}))).toEqual([]);
});

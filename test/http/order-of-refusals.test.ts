/** A request with several faults is refused for the first one, in the same order at every endpoint. */
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from '#crds/contract/error-codes.ts';
import { expectRefusal } from '#test/support/expect-refusal.ts';
import { useService } from '#test/support/use-service.ts';

const { service, test, api, makeAccount } = await useService('scale');

const OLD = { 'svc-version': '2020-01-01' };

describe('the first problem determines the refusal', () => {
  // Promise, Settled where the interface leaves it open: One order of refusals: path, key, account, version, limits, body
  it.each([
    ['a path that is none, before the key', 'GET', '/v1/nope', {}, 'not_found'],
    ['a method, before the key', 'PUT', '/v1/jobs', {}, 'bad_request'],
    ['a missing key, before the version', 'GET', '/v1/jobs', OLD, 'missing_key'],
    ['a malformed key, before the version', 'GET', '/v1/jobs', { ...OLD, authorization: 'Bearer x' }, 'invalid_key'],
  ] as const)('%s', async (_what, method, path, headers, code) => {
    const response = await api(method, path, { key: null, headers });
    expectRefusal(response, code, method === 'PUT' ? { status: 405 } : {});
  });

  // Promise, Settled where the interface leaves it open: One order of refusals: path, key, account, version, limits, body
  it('the account, before its address: payment, suspension, allow-list, version', async () => {
    const other = await makeAccount('scale');
    const made = await service.mediactl(
      'key',
      'create',
      '--account',
      other.account,
      '--mode',
      'live',
      '--name',
      'x',
      '--allow',
      '10.0.0.0/8',
    );
    const refusedFor = async (code: ErrorCode): Promise<void> => {
      expectRefusal(await api('POST', '/v1/compress', { key: String(made['key']), headers: OLD, body: 'x' }), code);
    };
    await service.mediactl('account', 'set', other.account, '--suspended', '--unpaid-invoice', '--spend-cap', '0');
    await refusedFor('payment_required');
    await service.mediactl('account', 'set', other.account, '--no-unpaid-invoice');
    await refusedFor('spend_cap_reached');
    await service.mediactl('account', 'set', other.account, '--spend-cap', '100');
    await refusedFor('account_suspended');
    await service.mediactl('account', 'set', other.account, '--no-suspended');
    await refusedFor('ip_not_allowed');
  }, 180_000);

  // Promise, Settled where the interface leaves it open: One order of refusals: path, key, account, version, limits, body
  it('the version, before the body', async () => {
    for (const path of ['/v1/jobs', '/v1/compress']) {
      expectRefusal(await api('POST', path, { headers: OLD, body: '{' }), 'unsupported_version');
    }
  });

  // Promise, Settled where the interface leaves it open: One order of refusals: path, key, account, version, limits, body
  it.each([
    ['JSON, before the Idempotency-Key', '{', '', 'bad_request', null],
    ['the Idempotency-Key, before the fields', '{}', '', 'bad_request', 'Idempotency-Key'],
    ['the fields, before the preset', '{"operation":"compress","preset":"nope"}', 'a', 'bad_request', 'input'],
    [
      'the preset, before the options',
      '{"operation":"compress","input":{"upload":"upl_x"},"preset":"nope","options":{"image":{"quality":101}}}',
      'b',
      'bad_request',
      'preset',
    ],
    [
      'the options, before the upload',
      '{"operation":"compress","input":{"upload":"upl_x"},"options":{"image":{"quality":101}}}',
      'c',
      'invalid_options',
      'image.quality',
    ],
    ['the upload', '{"operation":"compress","input":{"upload":"upl_x"}}', 'd', 'not_found', 'input.upload'],
  ] as const)('of a job: %s', async (_what, body, key, code, param) => {
    const response = await api('POST', '/v1/jobs', { body, headers: { 'idempotency-key': key } });
    expectRefusal(response, code);
    expect(response.json()['error'].param).toBe(param);
  });

  it('of a direct request: its options, before its length and its file', async () => {
    expectRefusal(await api('POST', '/v1/compress?nope=1', { headers: { 'content-length': '0' } }), 'invalid_options');
    expectRefusal(await api('POST', '/v1/compress', { key: test, headers: { 'content-length': '0' } }), 'missing_file');
  });
});

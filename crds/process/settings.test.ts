import { describe, expect, it } from 'vitest';
import { settings, type SettingName } from '#crds/process/settings.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

function parse(name: SettingName, text: string): unknown {
  return settings.shape[name].parse(text);
}

describe('settings', () => {
  it.each<[SettingName, string, unknown]>([
    [
      'MEDIAJOBS_ENCRYPTION_KEYS',
      `new:${KEY}, old:${KEY}`,
      ['new', 'old'].map((id) => ({ id, key: Buffer.alloc(32, 7) })),
    ],
    ['MEDIAJOBS_HEARTBEAT_KEY', KEY, Buffer.alloc(32, 7)],
    ['MEDIAJOBS_TRUSTED_PROXIES', '10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
    ['MEDIAJOBS_KEY_PEPPER', `${'a'.repeat(32)},${'b'.repeat(32)}`, ['a'.repeat(32), 'b'.repeat(32)]],
    ['MEDIAJOBS_WORKER_POD', '{"image":"worker"}', { image: 'worker' }],
    ['S3_PATH_STYLE', 'true', true],
    ['MEDIAJOBS_ENGINE_URL', 'http+unix://%2Frun%2Fengine', 'http+unix://%2Frun%2Fengine'],
    ['MEDIAJOBS_DASHBOARD_URL', 'off', 'off'],
    ['MEDIAJOBS_RUNS_AT_ONCE', '4', 4],
  ])('parse %s=%s', (name, text, value) => {
    expect(parse(name, text)).toEqual(value);
  });

  it.each<[SettingName, string]>([
    ['MEDIAJOBS_ENCRYPTION_KEYS', ''],
    ['MEDIAJOBS_ENCRYPTION_KEYS', `id:${KEY.slice(4)}`],
    ['MEDIAJOBS_KEY_PEPPER', 'short'],
    ['MEDIAJOBS_PRIVATE_TARGETS', '10.0.0.1'],
    ['MEDIAJOBS_WORKER_POD', '{'],
    ['MEDIAJOBS_ENGINE_URL', 'http://engine:8090'],
    ['MEDIAJOBS_FILES_URL', 'https://files'],
    ['MEDIAJOBS_OPS_SOCKET', 'relative/socket'],
    ['MEDIAJOBS_RUNS_AT_ONCE', '0'],
    ['MEDIAJOBS_HTTPS_PORT', '1.5'],
  ])('refuse %s=%s', (name, text) => {
    expect(() => parse(name, text)).toThrow();
  });

  it('have a description for the documentation each', () => {
    for (const [name, field] of Object.entries(settings.shape)) expect(field.meta()?.description, name).toMatch(/\.$/);
  });
});

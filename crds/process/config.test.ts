import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '#crds/process/config.ts';
import { settings } from '#crds/process/settings.ts';

const schema = settings.pick({ DATABASE_URL: true, MEDIAJOBS_HTTPS_PORT: true, MEDIAJOBS_TRUSTED_PROXIES: true });

function problemsOf(env: Record<string, string | undefined>): readonly string[] {
  try {
    loadConfig(schema, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('loadConfig', () => {
  it('returns the settings of the schema with defaults, and ignores others', () => {
    const env = { DATABASE_URL: 'postgres://db', MEDIAJOBS_HTTP_PORT: 'ignored', PATH: '/bin' };
    expect(loadConfig(schema, env)).toEqual({
      DATABASE_URL: 'postgres://db',
      MEDIAJOBS_HTTPS_PORT: 8443,
      MEDIAJOBS_TRUSTED_PROXIES: [],
    });
  });

  it('counts empty text as not set', () => {
    expect(loadConfig(schema, { DATABASE_URL: 'a', MEDIAJOBS_HTTPS_PORT: '' }).MEDIAJOBS_HTTPS_PORT).toBe(8443);
    expect(problemsOf({ DATABASE_URL: '' })).toEqual(['DATABASE_URL: is required.']);
  });

  it('throws all problems at once', () => {
    const env = { MEDIAJOBS_HTTPS_PORT: '70000', MEDIAJOBS_TRUSTED_PROXIES: '10.0.0.0/40', MEDIAJOBS_HTTPS_PROT: '1' };
    expect(problemsOf(env)).toEqual([
      'MEDIAJOBS_HTTPS_PROT: unknown setting; did you mean MEDIAJOBS_HTTPS_PORT.',
      'DATABASE_URL: is required.',
      expect.stringMatching(/^MEDIAJOBS_HTTPS_PORT: .*65535/),
      'MEDIAJOBS_TRUSTED_PROXIES: each entry must be a CIDR such as 10.0.0.0/8 or fd00::/8.',
    ]);
  });

  it('suggests nothing for an unknown setting that resembles none', () => {
    expect(problemsOf({ DATABASE_URL: 'a', MEDIAJOBS_XYZ: '1' })).toEqual(['MEDIAJOBS_XYZ: unknown setting.']);
  });
});

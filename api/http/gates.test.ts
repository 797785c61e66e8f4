import { expect, it } from 'vitest';
import { refuseVersion } from '#api/http/gates.ts';
import { API_VERSION } from '#api/interface-version.ts';

it.each([undefined, API_VERSION])('refuseVersion accepts the version %s', (version) => {
  expect(() => refuseVersion({ version })).not.toThrow();
});

it.each(['', '2020-01-01', `${API_VERSION} `])(
  'refuseVersion refuses the version "%s" and names those that exist',
  (version) => {
    expect(() => refuseVersion({ version })).toThrow(
      expect.objectContaining({
        code: 'unsupported_version',
        param: 'Svc-Version',
        message: expect.stringContaining(API_VERSION),
      }),
    );
  },
);

import { describe, expect, it } from 'vitest';
import { checkFormToken, formTokenOf } from '#api/dashboard/form-token.ts';

const expected = formTokenOf('cookie of a browser');
const own = ['https://media.example.com'];
const good = { token: expected, expected, origin: own[0], fetchSite: 'same-origin', own };

describe('a form', () => {
  it.each([
    ['of one of our pages', good],
    ['of a browser that sends no origin', { ...good, origin: undefined, fetchSite: undefined }],
  ])('%s is accepted', (_what, posted) => {
    expect(() => checkFormToken(posted)).not.toThrow();
  });

  it.each([
    ['without a token', { ...good, token: null }],
    ['with another browser’s token', { ...good, token: formTokenOf('another cookie') }],
    ['with a token that has an appended character', { ...good, token: `${expected}x` }],
    ['of another site', { ...good, fetchSite: 'cross-site' }],
    ['of another host on the same domain', { ...good, fetchSite: 'same-site' }],
    ['of another origin', { ...good, origin: 'https://evil.example' }],
    ['of a hidden origin', { ...good, origin: 'null' }],
  ])('%s is refused', (_what, posted) => {
    expect(() => checkFormToken(posted)).toThrow('Nothing was changed');
  });
});

import { describe, expect, it } from 'vitest';
import { ID_PREFIXES, isId, newId, randomWord, type IdKind } from '#crds/contract/ids.ts';

describe('ids', () => {
  // Promise, Conventions and objects: A field that does not apply is null; times in UTC with milliseconds; ids of 20 letters and digits
  it.each(Object.entries(ID_PREFIXES) as [IdKind, string][])('of a %s begin with %s_', (kind, prefix) => {
    const id = newId(kind);
    expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-z]{20}$`));
    expect(isId(kind, id)).toBe(true);
  });

  it.each([
    'upl_0000000000000000000a',
    'job_000000000000000000',
    'job_0000000000000000000A',
    'job_0000000000000000000a\n',
  ])('of a job do not have the form %j', (text) => {
    expect(isId('job', text)).toBe(false);
  });

  it('are different', () => {
    expect(newId('job')).not.toBe(newId('job'));
  });
});

describe('randomWord', () => {
  it('contains characters of its alphabet only', () => {
    expect(randomWord('ab', 100)).toMatch(/^[ab]{100}$/);
    expect(randomWord('ab', 0)).toBe('');
  });
});

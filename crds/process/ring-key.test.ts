import { expect, it } from 'vitest';
import { parseRingKey } from '#crds/process/ring-key.ts';

it('parseRingKey returns the id and the bytes of an entry', () => {
  const key = Buffer.alloc(32, 9);
  expect(parseRingKey(`2026a:${key.toString('base64')}`)).toEqual({ id: '2026a', key });
});

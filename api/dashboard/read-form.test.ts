import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { readForm } from '#api/dashboard/read-form.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

const read = (body: string): Promise<URLSearchParams> =>
  readForm({ raw: Readable.from([Buffer.from(body)]) } as unknown as FastifyRequest);

describe('a form', () => {
  it('is parsed with repeated fields', async () => {
    const form = await read('name=a+b&feature=video&feature=heic%5Foutput');
    expect([form.get('name'), form.getAll('feature')]).toEqual(['a b', ['video', 'heic_output']]);
  });

  it('that is too long is refused with status 413', async () => {
    await expect(read(`name=${'a'.repeat(LIMITS.jsonBodyBytes)}`)).rejects.toMatchObject({
      code: 'bad_request',
      status: 413,
    });
  });

  it('with a NUL character is refused with the name of the field', async () => {
    await expect(read('a=1&name=a%00b')).rejects.toThrow('The field `name` contains a NUL character.');
  });
});

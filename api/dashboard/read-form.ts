import type { FastifyRequest } from 'fastify';
import { atPace } from '#api/http/body-pace.ts';
import { MediaError } from '#crds/media-error.ts';
import { LIMITS } from '#crds/plans.ts';

/** The fields of a form as browsers send them. @throws MediaError bad_request when it is too long or holds a NUL. */
export async function readForm({ raw }: FastifyRequest): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of atPace(raw) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMITS.jsonBodyBytes)
      throw new MediaError('bad_request', `The form has over ${LIMITS.jsonBodyBytes / 1024} KB.`, { status: 413 });
    chunks.push(chunk);
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  for (const [name, value] of form) {
    if (value.includes('\0')) throw new MediaError('bad_request', `The field \`${name}\` holds a NUL character.`);
  }
  return form;
}

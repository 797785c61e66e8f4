import type { FastifyRequest } from 'fastify';
import { withMinimumPace } from '#api/http/body-pace.ts';
import { MediaError } from '#crds/contract/media-error.ts';
import { LIMITS } from '#crds/catalogue/plans.ts';

/** Parses a URL-encoded form. @throws MediaError bad_request when it is too long or contains U+0000. */
export async function readForm({ raw }: FastifyRequest): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of withMinimumPace(raw) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMITS.jsonBodyBytes)
      throw new MediaError('bad_request', `The form is larger than ${LIMITS.jsonBodyBytes / 1024} KB.`, {
        status: 413,
      });
    chunks.push(chunk);
  }
  const form = new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
  for (const [name, value] of form) {
    if (value.includes('\0')) throw new MediaError('bad_request', `The field \`${name}\` contains a NUL character.`);
  }
  return form;
}

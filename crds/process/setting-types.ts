/** Types of settings that several settings share. */
import { z } from 'zod';
import { isCidr } from '#crds/process/cidr.ts';
import { parseRingKey } from '#crds/process/ring-key.ts';
import { visibleLine } from '#crds/process/visible-text.ts';

export const port = z.coerce.number().int().min(0).max(65_535);
export const socket = z.string().startsWith('/', 'must be an absolute path').optional();
export const count = z.coerce.number().int().min(1);
export const url = z.url();
export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true');
/** Key of 32 bytes in base64. */
export const key = z
  .base64()
  .length(44)
  .transform((text) => Buffer.from(text, 'base64'));
/** Text on one line without invisible characters. */
export const shortText = z
  .string()
  .trim()
  .min(1)
  .max(40)
  .refine((text) => visibleLine(text) === text, { message: 'must have no invisible characters' });
export const isSocketUrl = (text: string): boolean => /^http\+unix:\/\/%2f[^/?#]+$/i.test(text);

const list = z
  .string()
  .transform((text) => text.split(',').map((entry) => entry.trim()))
  .transform((entries) => entries.filter((entry) => entry !== ''));
export const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `must be JSON: ${(error as Error).message}` });
    return z.NEVER;
  }
});
export const cidrs = list.refine((entries) => entries.every((entry) => isCidr(entry)), {
  message: 'each entry must be a CIDR such as 10.0.0.0/8 or fd00::/8',
});
/** Key ring `id:base64,id:base64` of 32 bytes each. The first key is used for new values, the others for old ones. */
export const keyRing = list
  .pipe(
    z.array(z.string().regex(/^[0-9a-z]{1,16}:[A-Za-z0-9+/]{43}=$/, 'each entry must be id:base64 of 32 bytes')).min(1),
  )
  .transform((entries) => entries.map((entry) => parseRingKey(entry)));
const pepper = z.string().min(32, 'each entry must have at least 32 characters');
export const pepperRing = list.pipe(z.tuple([pepper], pepper));

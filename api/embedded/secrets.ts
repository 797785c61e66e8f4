import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '#api/embedded/start-error.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';

/** As settings of the same names take them. */
const secretsSchema = z.object({
  MEDIAJOBS_KEY_PEPPER: z.string(),
  MEDIAJOBS_ENCRYPTION_KEYS: z.string(),
  MEDIAJOBS_LINK_KEYS: z.string(),
});
export type Secrets = z.infer<typeof secretsSchema>;

/**
 * The secrets of a data folder, made at its first start. Without the file nothing stored can be read
 * again, so a damaged one is never replaced.
 * @throws StartError when the file is there and cannot be read.
 */
export function openSecrets(file: string): Secrets {
  if (!existsSync(file)) writeFileAtomically(file, `${JSON.stringify(newSecrets(), null, 2)}\n`);
  try {
    return secretsSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new StartError(
      `The secrets in ${file} cannot be read: put the file back from a backup, or start with an empty data folder.`,
      { cause: error },
    );
  }
}

function newSecrets(): Secrets {
  const ring = (): string => `1:${randomBytes(32).toString('base64')}`;
  return {
    MEDIAJOBS_KEY_PEPPER: randomBytes(32).toString('base64url'),
    MEDIAJOBS_ENCRYPTION_KEYS: ring(),
    MEDIAJOBS_LINK_KEYS: ring(),
  };
}

import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { StartError } from '#api/embedded/start-error.ts';
import { writeFileAtomically } from '#api/embedded/write-file.ts';
import { newKeyRing, newPassword, newReceiptKey } from '#api/installation-secrets/new-keys.ts';
import type { Clock } from '#crds/process/clock.ts';

/** Values of the settings of the same names. */
const secretsSchema = z.object({
  MEDIAJOBS_KEY_PEPPER: z.string(),
  MEDIAJOBS_ENCRYPTION_KEYS: z.string(),
  MEDIAJOBS_LINK_KEYS: z.string(),
  MEDIAJOBS_RECEIPT_KEYS: z.string(),
});
export type Secrets = z.infer<typeof secretsSchema>;

/** Data folders of versions without receipts have no receipt keys. */
const storedSchema = secretsSchema.partial({ MEDIAJOBS_RECEIPT_KEYS: true });

/**
 * Returns the secrets of a data folder. Creates them at its first start, and adds receipt keys when they are missing.
 * Stored data cannot be read without them, so a damaged file is never replaced.
 * @throws StartError when the file exists and cannot be read.
 */
export function openSecrets({ clock }: { readonly clock: Clock }, file: string): Secrets {
  const stored = existsSync(file) ? readSecrets(file) : newSecrets();
  const keys = stored.MEDIAJOBS_RECEIPT_KEYS;
  if (keys !== undefined) return { ...stored, MEDIAJOBS_RECEIPT_KEYS: keys };
  const secrets = { ...stored, MEDIAJOBS_RECEIPT_KEYS: newReceiptKey(clock.now()) };
  writeFileAtomically(file, `${JSON.stringify(secrets, null, 2)}\n`);
  return secrets;
}

type StoredSecrets = z.infer<typeof storedSchema>;

function readSecrets(file: string): StoredSecrets {
  try {
    return storedSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new StartError(
      `The secrets in ${file} cannot be read: put the file back from a backup, or start with an empty data folder.`,
      { cause: error },
    );
  }
}

function newSecrets(): StoredSecrets {
  return {
    MEDIAJOBS_KEY_PEPPER: newPassword(),
    MEDIAJOBS_ENCRYPTION_KEYS: newKeyRing(),
    MEDIAJOBS_LINK_KEYS: newKeyRing(),
  };
}

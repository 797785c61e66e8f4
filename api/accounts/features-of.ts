import type { Account } from '#api/accounts/account.ts';
import type { Features } from '#crds/media-job.ts';

/** The account's features as they travel with its work. */
export function featuresOf({ features }: Pick<Account, 'features'>): Features {
  return { video: features.includes('video'), heicOutput: features.includes('heic_output') };
}

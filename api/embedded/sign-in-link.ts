import { makeDatabase } from '#api/store/database.ts';
import { firstOperator } from '#api/users/first-operator.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { makeSignInLink } from '#api/users/reset-user.ts';
import { newId } from '#crds/contract/ids.ts';
import type { Clock } from '#crds/process/clock.ts';
import { makeLog } from '#crds/process/log.ts';

/** Returns a link below the dashboard's address that signs the first operator in once. */
export async function signInLink({ clock }: { readonly clock: Clock }, databaseUrl: string): Promise<string> {
  const database = makeDatabase({ url: databaseUrl, log: makeLog('embedded', 'silent'), maxConnections: 1 });
  try {
    const { id } = await firstOperator({ database, clock, newId });
    return (await makeSignInLink({ database, clock }, { caller: MEDIACTL, input: { name: id } })).link.path;
  } finally {
    await database.close();
  }
}

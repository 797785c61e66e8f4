import { makeDatabase } from '#api/store/database.ts';
import { inviteUser } from '#api/users/invite-user.ts';
import { makeLink } from '#api/users/one-time-link.ts';
import { newId } from '#crds/ids.ts';
import type { Clock } from '#crds/shared/clock.ts';
import { makeLog } from '#crds/shared/log.ts';

/** Who the first link of an installation signs in. */
const FIRST_OPERATOR = 'operator@localhost';

/** A link that signs the first operator in to the dashboard once; below its address. */
export async function signInLink({ clock }: { readonly clock: Clock }, databaseUrl: string): Promise<string> {
  const database = makeDatabase({ url: databaseUrl, log: makeLog('embedded', 'silent'), maxConnections: 1 });
  try {
    const deps = { database, clock, newId };
    const { user } = await inviteUser(deps, {
      email: FIRST_OPERATOR,
      membership: null,
      operator: true,
      by: 'operator',
    });
    return (await makeLink(deps, { userId: user.id, purpose: 'sign_in' })).path;
  } finally {
    await database.close();
  }
}

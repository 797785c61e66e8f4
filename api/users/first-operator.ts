import type { Dependencies } from '#api/dependencies.ts';
import { insertUser, selectUsersByEmail } from '#api/users/user-rows.ts';

/** Address of the user whom the first link of an installation signs in. */
const FIRST_OPERATOR = 'operator@localhost';

/** Returns the first operator of an installation; creates it when it is missing. Ignores members of its address. */
export async function firstOperator({
  database,
  clock,
  newId,
}: Pick<Dependencies, 'database' | 'clock' | 'newId'>): Promise<{ readonly id: string }> {
  const known = (await selectUsersByEmail(database, FIRST_OPERATOR)).find(({ operator }) => operator);
  if (known !== undefined) return known;
  const made = { id: newId('user'), email: FIRST_OPERATOR, operator: true, password: null, identity: null };
  await insertUser(database, { ...made, createdAt: clock.now() });
  return made;
}

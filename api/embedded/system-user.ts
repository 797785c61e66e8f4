import { readFileSync } from 'node:fs';
import { StartError } from '#api/embedded/start-error.ts';

export interface SystemUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the first of the named users that exists, for servers that must not run as root; null when the caller is not
 * root: then the server runs as the caller.
 * @throws StartError when none of them exists.
 */
export function unprivilegedUser(names: readonly string[]): SystemUser | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8').split('\n').map(parseUser);
  for (const name of names) {
    const user = users.find((candidate) => candidate.name === name);
    if (user !== undefined) return user;
  }
  throw new StartError(
    `None of the users ${names.join(', ')} exists on this machine, but PostgreSQL and Redis must not run as root. Run hack/setup, which creates them.`,
  );
}

function parseUser(line: string): SystemUser {
  const [name = '', , uid, gid] = line.split(':');
  return { name, uid: Number(uid), gid: Number(gid) };
}

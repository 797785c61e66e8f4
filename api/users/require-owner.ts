import type { Role } from '#api/users/user.ts';
import { MediaError } from '#crds/contract/media-error.ts';

/** Checks the role in the transaction of a change. @throws MediaError bad_request (403) unless it is owner. */
export function requireOwner(role: Role | null): void {
  if (role === 'owner') return;
  throw new MediaError('bad_request', 'Only an owner of the account may do this. Ask one of its owners.', {
    status: 403,
  });
}

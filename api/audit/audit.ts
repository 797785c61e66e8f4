/**
 * The audit log. Each verb records its change in the transaction that makes the change, so neither exists without the
 * other. Changes of jobs with an API key are not recorded: programs make them by the thousand, and each job shows its own
 * key and end.
 */
import { insertAudit } from '#api/audit/audit-rows.ts';
import type { Queryable } from '#api/store/database.ts';

/** Person or program that makes a change. */
export type Actor = PersonActor | { readonly kind: 'mediactl' } | KeyActor;

/** A signed-in person. */
export interface PersonActor {
  readonly kind: 'person';
  readonly user: { readonly id: string; readonly email: string };
  /** IP address of the client. */
  readonly address: string;
}

/** A program that sends a key of the account. */
export interface KeyActor {
  readonly kind: 'api_key';
  readonly keyId: string;
  /** IP address of the client. */
  readonly address: string;
}

export const MEDIACTL = { kind: 'mediactl' } as const satisfies Actor;

interface AuditedChange {
  readonly at: Date;
  /** Name of the action, such as `key.create`. */
  readonly action: string;
  /** Id or name of the changed thing. */
  readonly target: string | null;
  /** Account that the change concerns; null: none or several. */
  readonly accountId: string | null;
}

/** Records a change in the transaction that makes it. */
export async function recordAudit(tx: Queryable, actor: Actor, change: AuditedChange): Promise<void> {
  switch (actor.kind) {
    case 'person': {
      const { user, address } = actor;
      return insertAudit(tx, { ...change, userId: user.id, email: user.email, address });
    }
    case 'mediactl':
      return insertAudit(tx, { ...change, userId: null, email: 'mediactl', address: '' });
    case 'api_key':
      if (change.action.startsWith('job.')) return;
      return insertAudit(tx, { ...change, userId: null, email: actor.keyId, address: actor.address });
  }
}

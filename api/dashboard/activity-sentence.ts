import { html, type Content, type Html } from '#api/dashboard/html.ts';
import type { ShownAuditEntry } from '#api/audit/audit-rows.ts';

type Phrase = readonly [before: string, after?: string];

/** What each action did, around its target. An action without a phrase is shown by its name. */
const PHRASES: ReadonlyMap<string, Phrase> = new Map<string, Phrase>([
  ['account.change', ['changed plan, payment or features of the account']],
  ['account.create', ['created the account']],
  ['account.reactivate', ['reactivated the account']],
  ['account.spend_cap', ['set the spend cap to']],
  ['account.suspend', ['suspended the account']],
  ['job.cancel', ['canceled the job']],
  ['job.delete_files', ['deleted the files of the job']],
  ['key.create', ['created the key']],
  ['key.revoke', ['revoked the key']],
  ['member.accept', ['accepted the invitation of']],
  ['member.change', ['changed the role of']],
  ['member.invite', ['invited']],
  ['member.leave', ['left the account:']],
  ['member.remove', ['removed', 'from the account']],
  ['member.withdraw', ['withdrew the invitation of']],
  ['password.change', ['changed the password of']],
  ['password.reset', ['set a new password for']],
  ['preset.delete', ['deleted the preset']],
  ['preset.save', ['saved the preset']],
  ['second_step.off', ['switched off the second step of']],
  ['second_step.on', ['switched on the second step of']],
  ['session.end', ['ended other sessions']],
  ['user.remove', ['removed the person']],
  ['user.reset', ['made a link to reset the password of']],
  ['user.sign_in_link', ['made a link to sign in for']],
  ['webhook.create', ['added the webhook endpoint']],
  ['webhook.delete', ['deleted the webhook endpoint']],
  ['webhook.pause', ['paused the webhook endpoint']],
  ['webhook.resume', ['resumed the webhook endpoint']],
  ['webhook.resend', ['sent the event', 'again']],
  ['webhook.resend_dropped', ['sent all dropped events of', 'again']],
  ['webhook.rotate', ['replaced the secret of the webhook endpoint']],
  ['webhook.send_now', ['sent the event', 'without waiting']],
  ['webhook.test', ['sent a test to the webhook endpoint']],
]);

/** Returns an entry of the audit log as a sentence; its targets link to their pages. @param names of keys by their ids. */
export function activitySentence(
  { email, action, target, accountId, isTargetDeleted }: ShownAuditEntry,
  names: ReadonlyMap<string, string> = new Map(),
): Html {
  const [before, after] = PHRASES.get(action) ?? signInPhrase(action);
  const account = isTargetDeleted ? null : accountId;
  return html`<strong>${actorName(email, names)}</strong> ${before}
    ${target !== null && targetLink(target, account, names)} ${after ?? null}`;
}

function actorName(email: string, names: ReadonlyMap<string, string>): Content {
  const name = names.get(email);
  if (name !== undefined) return `API key “${name}”`;
  return email.startsWith('key_') ? html`API key <code>${email}</code>` : email;
}

function signInPhrase(action: string): Phrase {
  const how = /^sign_in\.(\w+)$/.exec(action)?.[1];
  return how === undefined ? [`did ${action}:`] : [`signed in (${how.replaceAll('_', ' ')})`];
}

const PAGES: readonly (readonly [prefix: string, page: string])[] = [
  ['job_', 'jobs'],
  ['whk_', 'webhooks'],
  ['evt_', 'deliveries'],
];

function targetLink(target: string, accountId: string | null, names: ReadonlyMap<string, string>): Content {
  const name = names.get(target);
  if (name !== undefined) return html`<a href="/dashboard/accounts/${accountId ?? ''}/keys">“${name}”</a>`;
  const page = PAGES.find(([prefix]) => target.startsWith(prefix))?.[1];
  if (page === undefined || accountId === null) return html`<code class="break">${target}</code>`;
  return html`<a href="/dashboard/accounts/${accountId}/${page}/${target}"><code>${target}</code></a>`;
}

import { describe, expect, it } from 'vitest';
import { activitySentence } from '#api/dashboard/activity-sentence.ts';
import type { ShownAuditEntry } from '#api/audit/audit-rows.ts';

const ENTRY: ShownAuditEntry = {
  id: 1,
  isTargetDeleted: false,
  at: new Date('2026-01-01T00:00:00Z'),
  userId: 'usr_1',
  email: 'ada@example.com',
  address: '192.0.2.1',
  accountId: 'acc_1',
  action: 'key.create',
  target: null,
};
const read = (change: Partial<ShownAuditEntry>, names?: ReadonlyMap<string, string>): string =>
  activitySentence({ ...ENTRY, ...change }, names)
    .markup.replaceAll(/\s+/g, ' ')
    .trim();

describe('an entry of the audit log', () => {
  it('is a sentence with its target between the words of the action', () => {
    expect(read({ action: 'member.remove', target: 'grace@example.com' })).toBe(
      '<strong>ada@example.com</strong> removed <code class="break">grace@example.com</code> from the account',
    );
  });

  it.each([
    ['job_1', 'jobs'],
    ['whk_1', 'webhooks'],
    ['evt_1', 'deliveries'],
  ])('links %s to its page', (target, page) => {
    expect(read({ target })).toContain(
      `<a href="/dashboard/accounts/acc_1/${page}/${target}"><code>${target}</code></a>`,
    );
    expect(read({ target, accountId: null })).not.toContain('<a ');
  });

  it('links a webhook endpoint unless it was deleted', () => {
    expect(read({ action: 'webhook.pause', target: 'whk_1' })).toContain('<a ');
    expect(read({ action: 'webhook.pause', target: 'whk_1', isTargetDeleted: true })).not.toContain('<a ');
  });

  it('shows keys by their names, as the actor and as the target', () => {
    const names = new Map([['key_1', 'Build <server>']]);
    const sentence = read({ email: 'key_1', target: 'key_1' }, names);
    expect(sentence).toContain('API key “Build &lt;server&gt;”');
    expect(sentence).toContain('<a href="/dashboard/accounts/acc_1/keys">“Build &lt;server&gt;”</a>');
    expect(read({ email: 'key_2' }, names)).toContain('API key <code>key_2</code>');
  });

  it('names how somebody signed in, and an unknown action', () => {
    expect(read({ action: 'sign_in.one_time_link' })).toContain('signed in (one time link)');
    expect(read({ action: 'account.rename' })).toContain('did account.rename:');
  });
});

import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import {
  attemptKey,
  buildTicketSecret,
  encodedInput,
  INPUT_KEY,
  isOwnedBy,
  ticketOf,
} from '#crds/media-jobs/ticket-secret.ts';
import { mockObject } from '#test/support/mock-api-server.ts';
import { buildTicket } from '#test/support/build-media-job.ts';

const owner = mockObject('job-1', 1);
const secretOf = (ticket = buildTicket()): KubeObject =>
  buildTicketSecret({ owner, name: 'job-1-x', ticket, labels: { team: 'media' } }) as KubeObject;

describe('the Secret of a ticket', () => {
  it('contains the whole ticket', () => {
    expect(ticketOf(secretOf())).toEqual(buildTicket());
  });

  it('has one key for the input and one for each attempt', () => {
    expect(Object.keys(secretOf()['data'] as object)).toEqual([INPUT_KEY, ...[1, 2, 3].map((at) => attemptKey(at))]);
  });

  it('contains a ticket without its input until the input is stored', () => {
    const suspended = buildTicket({ inputEtag: null, filename: null });
    const secret = secretOf(suspended);
    expect(ticketOf(secret)).toEqual(suspended);
    const { inputEtag, filename } = buildTicket();
    const data = { ...(secret['data'] as object), ...encodedInput({ inputEtag, filename }) };
    expect(ticketOf({ ...secret, data })).toEqual(buildTicket());
  });

  it.each([
    ['without data', {}],
    ['without an input', { [attemptKey(1)]: Buffer.from('{}').toString('base64') }],
    ['with an input that is not JSON', { [INPUT_KEY]: Buffer.from('{').toString('base64') }],
  ])('is refused %s', (_what, data) => {
    expect(() => ticketOf({ ...secretOf(), data })).toThrow();
  });

  it('belongs to the MediaJob with the same uid only', () => {
    expect(isOwnedBy(secretOf(), owner)).toBe(true);
    expect(isOwnedBy(secretOf(), mockObject('job-1', 1, { uid: 'another' }))).toBe(false);
    expect(isOwnedBy(mockObject('job-1-x', 1), owner)).toBe(false);
  });
});

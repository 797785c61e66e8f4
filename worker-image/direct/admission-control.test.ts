import { beforeEach, describe, expect, it } from 'vitest';
import { SLOW_BODY_MS, type LaneAdmission, AdmissionControl } from '#worker-image/direct/admission-control.ts';

const WORK_MS = 100;
let now: number;
let control: AdmissionControl;

beforeEach(() => {
  now = 0;
  open(2, 4);
});

function open(children: number, queue: number): void {
  const spool = { requests: 1000, bytes: 1e9 };
  control = new AdmissionControl({ nowMs: () => now }, { children, queue, spool });
}

function admit(tenant: string): LaneAdmission | null {
  return control.acquire({ tenant, bytes: 1, onRevoke: () => undefined });
}

/** Returns the admissions of simultaneous requests; the shed ones are missing. */
function admitAll(count: number, tenantOf: (n: number) => string = () => 'a'): LaneAdmission[] {
  const answers = Array.from({ length: count }, (_, n) => admit(tenantOf(n)));
  return answers.filter((admission) => admission !== null);
}

function releaseAll(admissions: readonly LaneAdmission[]): void {
  for (const admission of admissions) admission.release();
}

/** Processes one file after the other, each after the same wait. */
function serve(count: number, waitedMs: number, workMs = WORK_MS): void {
  for (let file = 0; file < count; file += 1) {
    const admission = admit('a');
    admission?.started(waitedMs);
    now += workMs;
    admission?.ended();
    admission?.release();
  }
}

describe('admission control of one tenant', () => {
  it('admits as many requests as processes and queue hold, and another one after a release', () => {
    const admitted = admitAll(6);
    expect(admitted).toHaveLength(6);
    admitted[0]?.release();
    expect(admitAll(1)).toHaveLength(1);
  });

  it('admits another request when a file is processed, before its result is read', () => {
    const admitted = admitAll(6);
    admitted[0]?.complete();
    admitted[0]?.ended();
    expect(admitAll(2)).toHaveLength(1);
  });

  it('releases an admission once only', () => {
    const admitted = admitAll(6);
    admitted[0]?.release();
    admitted[0]?.release();
    expect(admitAll(2)).toHaveLength(1);
  });

  it('admits as many as can be processed at once while it is overloaded', () => {
    releaseAll(admitAll(7));
    expect(admitAll(7)).toHaveLength(2);
  });

  it.each([
    { waited: 0, files: 3, admitted: 2 },
    { waited: 0, files: 4, admitted: 3 },
    { waited: 0, files: 8, admitted: 5 },
    { waited: 0, files: 20, admitted: 6 },
    { waited: 0.1 * WORK_MS, files: 5, admitted: 2 },
    { waited: WORK_MS, files: 5, admitted: 2 },
  ])('admits more while processes are idle and it is overloaded: %o', ({ waited, files, admitted }) => {
    serve(1, 0);
    releaseAll(admitAll(7));
    serve(files, waited);
    expect(admitAll(7)).toHaveLength(admitted);
  });

  it('admits fewer when files wait for long and it is overloaded', () => {
    serve(1, 0);
    releaseAll(admitAll(7));
    serve(8, 0);
    serve(2, WORK_MS / 2);
    expect(admitAll(7)).toHaveLength(3);
  });

  it('is normal again when no request was shed for 5 seconds', () => {
    releaseAll(admitAll(7));
    now += 4999;
    releaseAll(admitAll(2));
    now += 1;
    expect(admitAll(7)).toHaveLength(6);
  });

  it('is normal again after a minute, even if requests are shed all the time', () => {
    const admitted = admitAll(7);
    for (; now < 59_000; now += 1000) {
      for (const admission of admitted) admission.complete();
      expect(admitAll(1)).toHaveLength(0);
    }
    releaseAll(admitted);
    now = 60_000;
    expect(admitAll(7)).toHaveLength(6);
  });

  it('admits no more requests than start within 30 seconds', () => {
    open(2, 100);
    serve(1, 0, 10_000);
    expect(admitAll(200)).toHaveLength(8);
  });

  it('admits no waiting request without a queue', () => {
    open(2, 0);
    expect(admitAll(3)).toHaveLength(2);
  });
});

describe('admission control of slow bodies', () => {
  it('does not count a body that is still received after 2 seconds', () => {
    admitAll(6);
    now += SLOW_BODY_MS;
    expect(admitAll(1)).toHaveLength(1);
  });

  it('counts a slow body again once it is complete', () => {
    const admitted = admitAll(6);
    now += SLOW_BODY_MS;
    for (const admission of admitted) admission.complete();
    expect(admitAll(1)).toHaveLength(0);
  });
});

describe('admission control between tenants', () => {
  it('admits a second tenant up to its share while the first one fills the lane', () => {
    admitAll(6);
    expect(admitAll(10, () => 'b')).toHaveLength(3);
  });

  it('admits a second tenant while the first one overloads the lane', () => {
    admitAll(7);
    expect(admitAll(5, () => 'b')).toHaveLength(1);
  });

  it('sheds requests over the bound when every tenant has one', () => {
    expect(admitAll(20, String)).toHaveLength(6);
  });

  it('exceeds the bound at most by as many requests as it allows, however many tenants there are', () => {
    admitAll(6);
    expect(admitAll(100, (n) => `tenant ${n}`).length).toBeLessThanOrEqual(6);
  });
});

import { expect, it } from 'vitest';
import { jobSpanId, jobTraceparent } from '#crds/contract/job-trace.ts';

it('jobTraceparent keeps version, trace and flags of the request and names the span of the job', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const span = jobSpanId('job_1');
  expect(span).toMatch(/^[0-9a-f]{16}$/);
  expect(jobTraceparent('job_1', traceparent)).toBe(`00-0af7651916cd43dd8448eb211c80319c-${span}-01`);
  expect(jobSpanId('job_1')).toBe(span);
  expect(jobSpanId('job_2')).not.toBe(span);
});

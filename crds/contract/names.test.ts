import { expect, it } from 'vitest';
import { jobIdOfName, mediaJobName } from '#crds/contract/names.ts';

it('the name of a MediaJob and the id of its job determine each other', () => {
  expect(mediaJobName('job_0000000000000000000a')).toBe('job-0000000000000000000a');
  expect(jobIdOfName('job-0000000000000000000a')).toBe('job_0000000000000000000a');
});

import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Project order. Files of one project are adjacent, because a worker serves one project. */
const PROJECTS = ['crash', 'service', 'measured', 'parts'];

/** Files that run much longer than the others, the longest first: started last, one would keep one worker busy alone. */
const LONG = [
  'test/matrix/matrix.test.ts',
  'test/hostile/hostile-files.test.ts',
  'test/matrix/samples.test.ts',
  'test/matrix/canaries.test.ts',
  'test/boundaries/tools-in-isolation.test.ts',
  'test/properties/engine-files.test.ts',
  'worker-image/engine/media/audio-handler.test.ts',
  'worker-image/engine/image/image-handler.test.ts',
  'test/boundaries/hostile-child.test.ts',
  'worker-image/engine/media/video-handler.test.ts',
];

/** Sorts files by project, and the long ones of a project before the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byDuration = await BaseSequencer.prototype.sort.call(this, files);
    return byDuration.toSorted((one, other) => orderOf(one) - orderOf(other));
  }
}

function orderOf({ project, moduleId }: TestSpecification): number {
  const at = LONG.findIndex((file) => moduleId.endsWith(file));
  return PROJECTS.indexOf(project.name) * (LONG.length + 1) + (at === -1 ? LONG.length : at);
}

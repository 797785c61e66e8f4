/** The folder behind `MEDIAJOBS_FAULTS_DIR`: what a test arms, and what has fired. */
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Fault, FaultPoint } from '#crds/process/fault-point.ts';
import { until } from '#test/faults/until.ts';

export interface FaultFolder {
  readonly directory: string;
  arm(point: FaultPoint, fault: Fault): void;
  /** Resolves when a process has come by. */
  fired(point: FaultPoint, seconds?: number): Promise<void>;
  hasFired(point: FaultPoint): boolean;
  /** Resumes the held process. */
  release(point: FaultPoint): void;
  /** Disarms all fault points and resumes all processes. */
  clear(): void;
}

export function makeFaultFolder(directory: string): FaultFolder {
  const file = (name: string): string => path.join(directory, name);
  const hasFired = (point: FaultPoint): boolean => existsSync(file(`${point}.claimed`));
  return {
    directory,
    arm: (point, fault) => {
      rmSync(file(`${point}.claimed`), { force: true });
      writeFileSync(file(`${point}.new`), fault);
      renameSync(file(`${point}.new`), file(point));
    },
    fired: async (point, seconds = 60) => {
      await until(`${point} is reached`, () => hasFired(point), { seconds, everyMs: 10 });
    },
    hasFired,
    release: (point) => rmSync(file(`${point}.claimed`), { force: true }),
    clear: () => {
      for (const name of readdirSync(directory)) rmSync(file(name), { force: true });
    },
  };
}

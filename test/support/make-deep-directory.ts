import { execFileSync } from 'node:child_process';

const SCRIPT = `
import os, sys
os.chdir(sys.argv[1])
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
`;

/** Creates directories in the folder whose path is longer than the kernel accepts (PATH_MAX, 4,096 bytes). */
export function makeDeepDirectory(folder: string): void {
  execFileSync('python3', ['-c', SCRIPT, folder]);
}

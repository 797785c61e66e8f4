/** Processes of the service on one machine and the settings that each one receives: only those that it needs. */
import { fileURLToPath } from 'node:url';
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import { API_SETTINGS, CONTROL_SETTINGS, COURIER_SETTINGS } from '#api/entry-settings.ts';
import { bundledScript } from '#crds/process/bundled-script.ts';
import { PROCESS_SETTINGS } from '#crds/process/process-settings.ts';
import type { SettingName } from '#crds/process/settings.ts';

export type ProcessName = 'engine' | 'runs' | 'control' | 'courier' | 'api';

interface ProcessEntry {
  readonly name: ProcessName;
  /** In the image of one machine that of the bundle, otherwise the source. */
  readonly script: string;
  readonly settings: readonly SettingName[];
}

/** In the order in which they stop: processes that accept work first. */
export const PROCESSES: readonly ProcessEntry[] = [
  { name: 'api', script: scriptOf('api/main.ts'), settings: namesOf(API_SETTINGS) },
  { name: 'control', script: scriptOf('api/embedded-control.ts'), settings: namesOf(CONTROL_SETTINGS) },
  { name: 'courier', script: scriptOf('api/courier.ts'), settings: namesOf(COURIER_SETTINGS) },
  {
    name: 'runs',
    script: scriptOf('controller/embedded-runs.ts'),
    settings: [
      ...namesOf(PROCESS_SETTINGS),
      'MEDIAJOBS_ISOLATION',
      'MEDIAJOBS_OFFICE_READY',
      'MEDIAJOBS_RUNS_AT_ONCE',
      'MEDIAJOBS_RUNS_READY',
      'MEDIAJOBS_RUNS_SOCKET',
      'MEDIAJOBS_WORK_DIR',
    ],
  },
  {
    name: 'engine',
    script: scriptOf('worker-image/serve-direct.ts'),
    settings: [
      'MEDIAJOBS_OPS_SOCKET',
      'MEDIAJOBS_OPS_HOST',
      'MEDIAJOBS_OPS_PORT',
      'MEDIAJOBS_LOG_LEVEL',
      'MEDIAJOBS_FAULTS_DIR',
      'MEDIAJOBS_ENGINE_SOCKET',
      'MEDIAJOBS_ENGINE_CHILDREN',
      'MEDIAJOBS_ENGINE_QUEUE',
      'MEDIAJOBS_ENGINE_SPOOL_MB',
      'MEDIAJOBS_ENGINE_FILES_PER_CHILD',
      'MEDIAJOBS_ISOLATION',
      'MEDIAJOBS_WORK_DIR',
    ],
  },
];

function scriptOf(path: string): string {
  return bundledScript(fileURLToPath(new URL(`../../${path}`, import.meta.url)), CODE_CACHE);
}

function namesOf(picked: Readonly<Partial<Record<SettingName, true>>>): SettingName[] {
  return Object.keys(picked) as SettingName[];
}

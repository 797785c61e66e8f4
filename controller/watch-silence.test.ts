import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { makeLog } from '#crds/process/log.ts';
import { jobIdOfName } from '#crds/contract/names.ts';
import { makeControllerMetrics } from '#controller/metrics.ts';
import { runName, type Run } from '#controller/runs.ts';
import { CLUSTER_TIMING } from '#controller/timing.ts';
import { watchSilence } from '#controller/watch-silence.ts';

const START = Date.parse('2026-01-01T00:00:00Z');

describe('watchSilence', () => {
  it('suspends the rule while twenty attempts are silent, shows it as a metric, and resumes it', async () => {
    let seconds = 0;
    let heardUntil = 20;
    const at = (second: number): Date => new Date(START + second * 1000);
    const runs = Array.from({ length: 20 }, (_, job): Run => {
      const owner = { name: `job-${job}`, uid: `uid-${job}` };
      const status = { state: 'active', startedAt: at(0), isOnReadyNode: true } as const;
      return { name: runName(owner.name, 1), owner, attempt: 1, node: 'node-1', status };
    });
    const heard = new Set(runs.map(({ owner }) => jobIdOfName(owner.name)));
    const registry = new Registry();
    const stopping = new AbortController();
    const seen: string[] = [];
    const { rule, ended } = watchSilence(
      {
        runs: { list: async () => runs },
        heartbeats: {
          since: at(-100),
          last: (jobId) =>
            heard.has(jobId) ? { firstAt: at(0), lastAt: at(Math.min(seconds, heardUntil)), percent: 1 } : null,
        },
        clock: { now: () => at(seconds) },
        time: {
          async wait(ms) {
            const metric = await registry.getSingleMetric('mediajobs_controller_silence_rule_suspended')?.get();
            seen.push(`${seconds}: ${rule().isSuspended} ${metric?.values[0]?.value}`);
            seconds += ms / 1000;
            if (seconds === 320) heardUntil = Infinity;
            if (seconds > 325) stopping.abort();
          },
        },
        log: makeLog('test', 'silent'),
        metrics: makeControllerMetrics(registry),
        timing: CLUSTER_TIMING,
      },
      stopping.signal,
    );
    await ended;
    expect(seen).toContain('45: false 0');
    expect(seen).toContain('50: true 1');
    expect(seen).toContain('315: true 1');
    expect(seen).toContain('320: false 0');
    expect(rule().resumedAt).toEqual(at(320));
  });
});

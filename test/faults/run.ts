/**
 * The fault suite: `[--list] [--all] [--only NAME,…] [--seed N] [--seeds N] [--minutes N]`. Without arguments it runs a
 * sample of some minutes. A failed run prints how to repeat it. Last line: N passed, N failed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openAccount, type FaultAccount } from '#test/faults/account.ts';
import { searchStores } from '#test/faults/canaries.ts';
import { checkEverything, finishEverything } from '#test/faults/check-everything.ts';
import { SCENARIOS } from '#test/faults/scenarios.ts';
import type { Scenario, Stage } from '#test/faults/scenario.ts';
import { seededRandom } from '#test/faults/seeded-random.ts';
import { checkLongAfter } from '#test/faults/check-long-after.ts';
import { whyNoBucket } from '#test/faults/kept-files.ts';
import { openWorld, type World } from '#test/faults/world.ts';

const { values } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
  },
});
if (values.list) {
  for (const { name, breaks } of SCENARIOS) process.stdout.write(`${name.padEnd(28)}${breaks}\n`);
  process.exit(0);
}
const SAMPLE_MINUTES = 3;
const SEEDS = 20;
/** Share of the rounds of races that a sample runs. */
const SAMPLE_SHARE = 0.04;
/** A world collects rows and accounts: a new one after some runs keeps runs comparable. */
const RUNS_PER_WORLD = 60;
const LONGEST_RUN_MINUTES = 30;

const failures: string[] = [];
let passed = 0;
let world: World | null = null;
let runsInWorld = 0;
const startedAt = performance.now();
const endsAt =
  startedAt + Number(values.minutes ?? (values.all || values.only !== undefined ? Infinity : SAMPLE_MINUTES)) * 60_000;

const planned = plannedRuns();
say(`${planned.length} runs of ${new Set(planned.map(([{ name }]) => name)).size} scenarios`);
for (const [index, [scenario, seed]] of planned.entries()) {
  if (performance.now() > endsAt) {
    say('the time is over; the remaining runs are skipped');
    break;
  }
  const files = scenario.files === 'bucket' && whyNoBucket() === null ? 'bucket' : 'disk';
  if (runsInWorld >= RUNS_PER_WORLD || (world !== null && isInBucket(world) !== (files === 'bucket')))
    await closeWorld();
  world ??= await openWorld({ files });
  await attempt(world, { scenario, seed, nth: index + 1 });
}
await closeWorld();
for (const failure of failures) process.stdout.write(`${failure}\n`);
process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
process.exit(failures.length === 0 ? 0 : 1);

function isInBucket({ files }: World): boolean {
  return files.proxy !== null;
}

/** Returns all seeds of each scenario; a sample has one seed of each, another one every day. @throws Error for an unknown name */
function plannedRuns(): (readonly [Scenario, number])[] {
  const names = values.only?.split(',') ?? null;
  const unknown = names?.filter((name) => !SCENARIOS.some((scenario) => scenario.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`No scenario is named ${unknown.join(', ')}. List them with hack/faults --list.`);
  const chosen = SCENARIOS.filter(({ name, slow }) => names?.includes(name) ?? (values.all || slow !== true));
  if (values.seed !== undefined) return chosen.map((scenario) => [scenario, Number(values.seed)] as const);
  const today = Math.floor(Date.now() / 86_400_000);
  return chosen.flatMap((scenario) => {
    const seeds = scenario.seeds ?? SEEDS;
    const count = Number(values.seeds ?? (values.all ? seeds : 1));
    const first = values.all || names !== null ? 1 : 1 + (today % seeds);
    return Array.from({ length: count }, (_, index) => [scenario, first + index] as const);
  });
}

async function attempt(
  here: World,
  { scenario, seed, nth }: { scenario: Scenario; seed: number; nth: number },
): Promise<void> {
  const began = performance.now();
  const notes: string[] = [];
  const problems = await Promise.race([runOnce(here, scenario, { seed, notes }), tooLong()]).catch((error: unknown) => [
    error instanceof Error ? (error.stack ?? error.message) : String(error),
  ]);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  if (problems.length === 0) passed += 1;
  else noteFailure(`${scenario.name} seed ${seed} (hack/faults --only ${scenario.name} --seed ${seed})`, problems);
  say(
    `${nth}/${planned.length} ${problems.length === 0 ? 'ok    ' : 'FAILED'} ${scenario.name} seed ${seed}, ${seconds} s: ${scenario.breaks}${notes.map((note) => `\n         ${note}`).join('')}`,
  );
  if (problems.length > 0) {
    say(`         ${problems.slice(0, 8).join('\n         ')}`);
    await closeWorld({ keep: true });
  }
}

/** Adds a line to the list at the end; the details are printed when it happens. */
function noteFailure(what: string, problems: readonly string[]): void {
  failures.push(`failed: ${what}: ${problems[0]?.split('\n', 1)[0]}`);
}

/** Resolves with a problem after the longest time of a run, so that a run that hangs does not block the others. */
async function tooLong(): Promise<string[]> {
  await delay(LONGEST_RUN_MINUTES * 60_000, null, { ref: false });
  return [`it has not ended within ${LONGEST_RUN_MINUTES} minutes`];
}

async function runOnce(
  here: World,
  scenario: Scenario,
  { seed, notes }: { seed: number; notes: string[] },
): Promise<string[]> {
  runsInWorld += 1;
  const accounts: FaultAccount[] = [];
  const newAccount: Stage['newAccount'] = async (plan = scenario.plan ?? 'enterprise') => {
    const account = await openAccount(here, plan);
    accounts.push(account);
    await account.call('GET', '/v1/webhook_endpoints/signing_secret');
    return account;
  };
  const [account, stranger] = [await newAccount(), await newAccount('scale')];
  await scenario.run({
    world: here,
    account,
    newAccount,
    random: seededRandom(`${scenario.name} ${seed}`),
    rounds: (all) => (values.all ? all : Math.max(1, Math.round(all * SAMPLE_SHARE))),
    note: (text) => notes.push(text),
  });
  await here.heal();
  await finishEverything(here, accounts);
  const problems = await checkEverything(here, {
    accounts,
    stranger,
    repeats: scenario.repeats ?? 0,
    extraBuckets: scenario.extraBuckets ?? 0,
  });
  await Promise.all(accounts.map((one) => one.close()));
  return problems;
}

/** Closes the world and checks what only its end shows: expired files and records, and leaked secrets. */
async function closeWorld({ keep = false } = {}): Promise<void> {
  const ending = world;
  world = null;
  runsInWorld = 0;
  if (ending === null) return;
  const problems = keep ? [] : await lastProblems(ending).catch((error: unknown) => [String(error)]);
  if (problems.length > 0) noteFailure('the end of a world', problems);
  else if (!keep) passed += 1;
  if (!keep)
    say(
      `${problems.length === 0 ? 'ok    ' : 'FAILED'} end of a world: expired files and records are deleted, no secret is found${problems.map((one) => `\n         ${one}`).join('')}`,
    );
  const kept = keep || problems.length > 0;
  await ending.close({ keep: kept }).catch((error: unknown) => say(`closing failed: ${String(error)}`));
  if (kept) say(`         its folder is kept: ${ending.folder}`);
}

async function lastProblems(ending: World): Promise<string[]> {
  await ending.heal();
  await searchStores(ending.canaries, { folder: ending.folder, data: ending.data, databaseUrl: ending.postgres.url() });
  const found = [...new Set(ending.canaries.found)].map((one) => `no-secret-shown: ${one}`);
  const isolation = [...new Set(ending.isolation.problems)].map((one) => `decoders-isolated: ${one}`);
  if (ending.isolation.observations() === 0) isolation.push('decoders-isolated: no decoding process was observed');
  return [...found, ...isolation, ...(await checkLongAfter(ending))];
}

function say(line: string): void {
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1).padStart(5);
  process.stdout.write(`${minutes} min ${line}\n`);
}

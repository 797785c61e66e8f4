/**
 * The fault suite: `[--all] [--only NAME,…] [--seed N] [--seeds N] [--minutes N]`. Without arguments a sample that
 * takes minutes.
 * A failing run says how to repeat it. Last line: N passed, N failed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openAccount, type TestAccount } from '#test/faults/account.ts';
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
    only: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
  },
});
const SAMPLE_MINUTES = 3;
const SEEDS = 20;
/** Of the rounds of races, in a sample. */
const SAMPLE_SHARE = 0.04;
/** A world gathers rows and accounts: a new one now and then keeps runs alike. */
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
    say('the time is up; the rest is left out');
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

/** All seeds of one scenario after the other; in a sample one of them for each, another one every day. */
function plannedRuns(): (readonly [Scenario, number])[] {
  const names = values.only?.split(',') ?? null;
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

/** For the list at the end; the whole story was told when it happened. */
function noteFailure(what: string, problems: readonly string[]): void {
  failures.push(`failed: ${what}: ${problems[0]?.split('\n', 1)[0]}`);
}

/** A run that hangs must not keep the others from their turn. */
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
  const accounts: TestAccount[] = [];
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

/** What only the end of a world shows: files and records that time should have taken, and secrets that leaked. */
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
      `${problems.length === 0 ? 'ok    ' : 'FAILED'} end of a world: files and records of long ago are gone, no secret is found anywhere${problems.map((one) => `\n         ${one}`).join('')}`,
    );
  const kept = keep || problems.length > 0;
  await ending.close({ keep: kept }).catch((error: unknown) => say(`closing failed: ${String(error)}`));
  if (kept) say(`         its folder stays: ${ending.folder}`);
}

async function lastProblems(ending: World): Promise<string[]> {
  await ending.heal();
  await searchStores(ending.canaries, { folder: ending.folder, data: ending.data, databaseUrl: ending.postgres.url() });
  const found = [...new Set(ending.canaries.found)].map((one) => `I10: ${one}`);
  const walls = [...new Set(ending.walls.problems)].map((one) => `I11: ${one}`);
  if (ending.walls.looks() === 0) walls.push('I11: no process that decodes was ever seen');
  return [...found, ...walls, ...(await checkLongAfter(ending))];
}

function say(line: string): void {
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1).padStart(5);
  process.stdout.write(`${minutes} min ${line}\n`);
}

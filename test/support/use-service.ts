import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, inject } from 'vitest';
import { createAccount } from '#api/accounts/create-account.ts';
import { createKey } from '#api/accounts/create-key.ts';
import { MEDIACTL } from '#api/audit/audit.ts';
import { openService } from '#api/mediactl/open-service.ts';
import { makeDatabase } from '#api/store/database.ts';
import type { PlanName } from '#crds/catalogue/plans.ts';
import { makeLog } from '#crds/process/log.ts';
import { makeApiClient, type ApiClient } from '#test/support/api-client.ts';

/** The running service that the tests of `test/http` share; each file has an account of its own. */
export interface SharedService {
  readonly baseUrl: string;
  readonly httpUrl: string;
  /** PEM. */
  readonly ca: string;
  readonly data: string;
  readonly databaseUrl: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    service: SharedService;
  }
}

export interface TestAccount {
  readonly account: string;
  readonly live: string;
  readonly test: string;
}

interface UsedService extends TestAccount {
  readonly service: SharedService & {
    /** Runs `mediactl --data … --json`. Returns its output. */
    readonly mediactl: (...words: string[]) => Promise<Record<string, any>>;
    readonly query: (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  };
  /** Calls the API, by default with the file's live key. */
  readonly api: ApiClient;
  /** Another account, with every feature. */
  readonly makeAccount: (plan?: PlanName) => Promise<TestAccount>;
  readonly newKey: (key: { mode: 'live' | 'test'; allow?: readonly string[] }) => Promise<{ id: string; key: string }>;
}

const run = promisify(execFile);
const MEDIACTL_PATH = new URL('../../api/mediactl.ts', import.meta.url).pathname;

export async function useService(plan: PlanName = 'growth'): Promise<UsedService> {
  const shared = inject('service');
  const mediactl = async (...words: string[]): Promise<Record<string, any>> => {
    const { stdout } = await run(process.execPath, [MEDIACTL_PATH, '--data', shared.data, ...words, '--json']);
    return JSON.parse(stdout) as Record<string, any>;
  };
  // In this process: a command for each would be most of the time of many tests.
  const inside = await openService({ data: shared.data, env: {} });
  const newKey = async (
    accountId: string,
    mode: 'live' | 'test',
    allowList: readonly string[] = [],
  ): Promise<{ id: string; key: string }> => {
    const { row, keyText } = await createKey(inside, {
      caller: MEDIACTL,
      input: { accountId, mode, name: 'test', allowList },
    });
    return { id: row.id, key: keyText };
  };
  const makeAccount = async (ofPlan: PlanName = 'payg'): Promise<TestAccount> => {
    const settings = { name: 'test', plan: ofPlan, paymentMethod: true, features: ['video', 'heic_output'] } as const;
    const { id: account } = await createAccount(inside, { caller: MEDIACTL, input: settings });
    const [live, test] = [await newKey(account, 'live'), await newKey(account, 'test')];
    return { account, live: live.key, test: test.key };
  };
  const own = await makeAccount(plan);
  const api = makeApiClient(shared, own.live);
  const database = makeDatabase({ url: shared.databaseUrl, log: makeLog('test', 'error'), maxConnections: 2 });
  afterAll(async () => {
    await api.close();
    await Promise.all([database.close(), inside.database.close()]);
  });
  return {
    ...own,
    service: {
      ...shared,
      mediactl,
      query: async (sql, values = []) => (await database.query<Record<string, unknown>>(sql, values)).rows,
    },
    api,
    makeAccount,
    newKey: ({ mode, allow }) => newKey(own.account, mode, allow),
  };
}

import { describe, expect, it } from 'vitest';
import { anyLength, makeDatabase, PREPARED, type Queryable } from '#api/store/database.ts';
import { makeLog } from '#crds/process/log.ts';
import { testDatabase } from '#test/support/database.ts';

const database = await testDatabase();
const log = makeLog('test', 'silent');
await database.query('create table counters (id text primary key, value integer not null)');
const setCounter = (id: string, value: number) =>
  database.query('insert into counters values ($1, $2) on conflict (id) do update set value = $2', [id, value]);
const counter = async (id: string) =>
  (await database.query<{ value: number }>('select value from counters where id = $1', [id])).rows[0]?.value;
const add = (on: Queryable, id: string) => on.query('update counters set value = value + 1 where id = $1', [id]);

describe('query', () => {
  it.each([
    ['int8', `9007199254740991::int8`, 9_007_199_254_740_991],
    ['negative int8', `-9007199254740991::int8`, -9_007_199_254_740_991],
    ['numeric', `10.5::numeric`, 10.5],
    ['date', `'2026-02-01'::date`, '2026-02-01'],
    ['timestamptz', `'2026-10-01 02:00:00.123+02'::timestamptz`, new Date('2026-10-01T00:00:00.123Z')],
    ['jsonb', `'{"a": [1]}'::jsonb`, { a: [1] }],
    ['text[]', `'{a,"b c"}'::text[]`, ['a', 'b c']],
    ['null', 'null::int8', null],
  ])('reads %s', async (_type, expression, value) => {
    expect((await database.query(`select ${expression} as value`)).rows).toStrictEqual([{ value }]);
  });

  it('rejects an int8 above Number.MAX_SAFE_INTEGER', async () => {
    await expect(database.query('select 9007199254740992::int8')).rejects.toThrow('too large for a number');
  });

  it('writes text, bytes, times and arrays', async () => {
    const values = ['ä', Buffer.from([0, 255]), new Date(1), ['x', 'y']];
    const { rows } = await database.query(
      'select $1::text as a, $2::bytea as b, $3::timestamptz as c, $4::text[] as d',
      values,
    );
    expect(rows).toStrictEqual([{ a: values[0], b: values[1], c: values[2], d: values[3] }]);
  });

  it('returns the number of changed rows', async () => {
    await setCounter('rows', 0);
    expect((await add(database, 'rows')).rowCount).toBe(1);
    expect((await add(database, 'no such')).rowCount).toBe(0);
  });
});

describe('a prepared statement with an array', () => {
  it('is not planned at each execution', async () => {
    const single = makeDatabase({ url: database.url, log, maxConnections: 1 });
    const text = `select value from counters where id = any (${anyLength('$1::text[]')})`;
    for (let count = 0; count < 10; count += 1) await single.query(text, [['no such']], PREPARED);
    const plans = await single.findRow('select custom_plans::int, generic_plans::int from pg_prepared_statements');
    expect(plans).toStrictEqual({ custom_plans: 5, generic_plans: 5 });
    await single.close();
  });
});

describe('a transaction', () => {
  it('executes no statement after its rollback', async () => {
    await setCounter('late', 0);
    const rollback = Promise.withResolvers<void>();
    let late: Promise<unknown> = Promise.resolve();
    const failing = database.transaction(async (tx) => {
      late = rollback.promise.then(() => add(tx, 'late'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    rollback.resolve();
    await expect(late).rejects.toThrow('the transaction was rolled back');
    expect(await counter('late')).toBe(0);
  });

  it('commits all changes or none', async () => {
    await setCounter('all', 0);
    await expect(
      database.transaction(async (tx) => {
        await add(tx, 'all');
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await counter('all')).toBe(0);
    expect(await database.transaction(async (tx) => (await add(tx, 'all')).rowCount)).toBe(1);
    expect(await counter('all')).toBe(1);
  });

  it('is retried after a deadlock, so that both transactions commit', async () => {
    await setCounter('left', 0);
    await setCounter('right', 0);
    const bothHoldOne = Promise.withResolvers<void>();
    let holding = 0;
    let tries = 0;
    const crossing = (first: string, second: string) =>
      database.transaction(async (tx) => {
        tries += 1;
        await add(tx, first);
        holding += 1;
        if (holding === 2) bothHoldOne.resolve();
        await bothHoldOne.promise;
        await add(tx, second);
      });
    await Promise.all([crossing('left', 'right'), crossing('right', 'left')]);
    expect([await counter('left'), await counter('right')]).toStrictEqual([2, 2]);
    expect(tries).toBeGreaterThan(2);
  });

  it('is run at most 5 times after serialization failures', async () => {
    let tries = 0;
    const failing = database.transaction(async (tx) => {
      tries += 1;
      await tx.query(`do $$ begin raise exception 'conflict' using errcode = '40001'; end $$`);
    });
    await expect(failing).rejects.toThrow('conflict');
    expect(tries).toBe(5);
  });

  it('is not retried after another error', async () => {
    let tries = 0;
    const failing = database.transaction(async (tx) => {
      tries += 1;
      await tx.query('select 1/0');
    });
    await expect(failing).rejects.toThrow('division by zero');
    expect(tries).toBe(1);
  });
});

describe('a lost connection', () => {
  const own = (application: string) =>
    makeDatabase({ url: `${database.url}&application_name=${application}`, log, maxConnections: 1 });
  const pidOf = async (on: Queryable) =>
    (await on.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
  const end = (pid: number | undefined) => database.query('select pg_terminate_backend($1, 5000)', [pid]);

  it('is replaced when it is idle', async () => {
    const lossy = own('idle');
    const pid = await pidOf(lossy);
    await end(pid);
    await expect.poll(() => pidOf(lossy).catch(() => pid)).not.toBe(pid);
    await lossy.close();
  });

  it('fails the transaction that used it and no later one', async () => {
    const lossy = own('busy');
    const failing = lossy.transaction(async (tx) => {
      await end(await pidOf(tx));
      return pidOf(tx);
    });
    await expect(failing).rejects.toThrow();
    expect(await lossy.transaction((tx) => pidOf(tx))).toBeTypeOf('number');
    await lossy.close();
  });

  it('makes a repeatable transaction run again', async () => {
    await setCounter('repeatable', 0);
    const lossy = own('repeatable');
    let runs = 0;
    const value = await lossy.transaction(
      async (tx) => {
        runs += 1;
        if (runs === 1) await end(await pidOf(tx));
        await add(tx, 'repeatable');
        return runs;
      },
      { repeatable: true },
    );
    expect([value, await counter('repeatable')]).toEqual([2, 1]);
    await lossy.close();
  });

  it('does not make a repeatable transaction run again when its own work throws', async () => {
    let runs = 0;
    const failing = database.transaction(
      async () => {
        runs += 1;
        throw new Error('refused');
      },
      { repeatable: true },
    );
    await expect(failing).rejects.toThrow('refused');
    expect(runs).toBe(1);
  });
});

describe('makeDatabase', () => {
  const onSocket = new URL(database.url);
  const folder = onSocket.searchParams.get('host') ?? '';
  const [user, name] = [onSocket.searchParams.get('user') ?? '', onSocket.pathname.slice(1)];

  it.each([
    ['a socket folder in the query', `postgresql:///${name}?host=${folder}&user=${user}`],
    ['a socket folder as host', `postgresql://${user}@${encodeURIComponent(folder)}/${name}`],
    [
      'a socket folder as host, and the port that names the socket',
      `postgresql://${user}@${encodeURIComponent(folder)}:5432/${name}`,
    ],
  ])('connects by %s', async (_form, url) => {
    const other = makeDatabase({ url, log, maxConnections: 1 });
    expect((await other.query('select current_database() as name')).rows).toStrictEqual([{ name }]);
    await other.close();
  });

  it('limits statements and idle transactions', async () => {
    const { rows } = await database.query(
      `select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`,
    );
    expect(rows).toStrictEqual([{ statement: '30s', idle: '30s' }]);
  });

  it('can be closed twice', async () => {
    const other = makeDatabase({ url: database.url, log, maxConnections: 1 });
    await Promise.all([other.close(), other.close()]);
    await expect(other.query('select 1')).rejects.toThrow();
  });
});

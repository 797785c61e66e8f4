/** SQL that creates and reads jobs for callers. */
import type { Job, JobStatus } from '#api/jobs/job.ts';
import { anyLength, PREPARED, type Queryable } from '#api/store/database.ts';
import { plainUrlUntilEnd } from '#api/webhooks/plain-url-rows.ts';
import type { NewUrl } from '#api/webhooks/stored-url.ts';

/** Column of each field of a Job. */
const COLUMNS = {
  id: 'id',
  accountId: 'account_id',
  keyId: 'key_id',
  livemode: 'livemode',
  operation: 'operation',
  status: 'status',
  percent: 'percent',
  attempt: 'attempt',
  disruptions: 'disruptions',
  createdAt: 'created_at',
  startedAt: 'started_at',
  completedAt: 'completed_at',
  uploadId: 'upload_id',
  inputKey: 'input_key',
  inputEtag: 'input_etag',
  inputFilename: 'input_filename',
  inputSize: 'input_size',
  inputStored: 'input_stored',
  options: 'options',
  limits: 'limits',
  features: 'features',
  plainWebhookUrl: 'webhook_url',
  sealedWebhookUrl: 'sealed_webhook_url',
  retentionSeconds: 'retention_seconds',
  metadata: 'metadata',
  traceparent: 'traceparent',
  dispatch: 'dispatch',
  outputKey: 'output_key',
  outputUpload: 'delivery',
  report: 'report',
  result: 'result',
  error: 'error',
  billed: 'billed',
  expiresAt: 'expires_at',
  filesDeletedAt: 'files_deleted_at',
} as const satisfies Readonly<Record<Exclude<keyof Job, 'sendsOutput'>, string>>;

/** Select list of a Job. */
export const JOB_COLUMNS = [
  ...Object.entries(COLUMNS).map(([field, column]) => `${column} as "${field}"`),
  'output_target is not null as "sendsOutput"',
].join(', ');

const NEW_JOB_FIELDS = [
  'id',
  'accountId',
  'keyId',
  'livemode',
  'operation',
  'createdAt',
  'uploadId',
  'inputKey',
  'inputEtag',
  'inputFilename',
  'inputSize',
  'inputStored',
  'options',
  'limits',
  'features',
  'retentionSeconds',
  'metadata',
  'traceparent',
] as const satisfies readonly (keyof typeof COLUMNS)[];

export interface NewJob extends Pick<Job, (typeof NEW_JOB_FIELDS)[number]> {
  readonly webhookUrl: Pick<NewUrl, 'plainUrl' | 'sealedUrl'> | null;
  /** URL of the input, encrypted. */
  readonly inputUrl: Buffer | null;
  /** URL and headers of the upload, encrypted. */
  readonly outputTarget: Buffer | null;
  readonly reservedMicroUsd: number;
}

/** Columns of a new job, with the function that returns the value. */
const NEW_JOB_VALUES: readonly (readonly [column: string, value: (job: NewJob) => unknown])[] = [
  ...NEW_JOB_FIELDS.map((field) => [COLUMNS[field], (job: NewJob) => job[field]] as const),
  ['input_url', (job) => job.inputUrl],
  ['output_target', (job) => job.outputTarget],
  ['reserved_micro_usd', (job) => job.reservedMicroUsd],
  [COLUMNS.sealedWebhookUrl, (job) => job.webhookUrl?.sealedUrl ?? null],
  [COLUMNS.plainWebhookUrl, (job) => job.webhookUrl?.plainUrl ?? null],
];

const INSERT_JOB = insertStatement(NEW_JOB_VALUES.map(([column]) => column));

export async function insertJob(tx: Queryable, job: NewJob): Promise<Job> {
  const values = NEW_JOB_VALUES.map(([, valueOf]) => valueOf(job));
  const { rows } = await tx.query<Job>(INSERT_JOB, values, PREPARED);
  return only(rows);
}

function insertStatement(columns: readonly string[]): string {
  const parameter = (column: string): string => `$${columns.indexOf(column) + 1}`;
  const values = columns.map((column) =>
    column === COLUMNS.plainWebhookUrl
      ? plainUrlUntilEnd(parameter(column), parameter(COLUMNS.createdAt))
      : parameter(column),
  );
  return `insert into jobs (${columns.join(', ')}) values (${values.join(', ')}) returning ${JOB_COLUMNS}`;
}

/** Returns a job of any account, for internal use; null when there is none. */
export async function findJob(db: Queryable, id: string): Promise<Job | null> {
  return db.findRow<Job>(`select ${JOB_COLUMNS} from jobs where id = $1`, [id], PREPARED);
}

/** Returns the jobs with these ids, by id. */
export async function findJobs(db: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Job>> {
  const rows = await db.selectRows<Job>(
    `select ${JOB_COLUMNS} from jobs where id = any (${anyLength('$1::text[]')})`,
    [ids],
    PREPARED,
  );
  return new Map(rows.map((job) => [job.id, job]));
}

/**
 * Returns a job of this account and mode while its record is readable; null otherwise
 * (docs/reference/limits-and-prices.md#limits-for-every-plan).
 */
export async function findReadableJob(
  db: Queryable,
  owner: { accountId: string; livemode: boolean; finishedAfter: Date },
  id: string,
): Promise<Job | null> {
  return db.findRow<Job>(
    `select ${JOB_COLUMNS} from jobs
     where id = $1 and account_id = $2 and livemode = $3 and (completed_at is null or completed_at > $4)`,
    [id, owner.accountId, owner.livemode, owner.finishedAfter],
    PREPARED,
  );
}

export interface JobFilter {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly finishedAfter: Date;
  readonly status: JobStatus | null;
  readonly operation: string | null;
  readonly createdAfter: Date | null;
  readonly createdBefore: Date | null;
  /** Text of the id, the file name or the metadata, ignoring case; null: any. */
  readonly text: string | null;
}

/** Keyset position of a page: the job before its first or after its last row. */
export interface Cursor {
  readonly direction: 'older' | 'newer';
  readonly createdAt: Date;
  readonly id: string;
}

/** Returns the jobs after the cursor (`older`: newest first, `newer`: oldest first); without a cursor the newest. */
export async function selectJobs(
  db: Queryable,
  filter: JobFilter,
  page: { cursor: Cursor | null; limit: number },
): Promise<readonly Job[]> {
  const { cursor } = page;
  const newer = cursor?.direction === 'newer';
  return db.selectRows<Job>(
    `select ${JOB_COLUMNS} from jobs
     where account_id = $1 and livemode = $2 and (completed_at is null or completed_at > $3)
       and ($4::text is null or status = $4) and ($5::text is null or operation = $5)
       and ($6::timestamptz is null or created_at > $6) and ($7::timestamptz is null or created_at < $7)
       and ($11::text is null or id = lower($11) or position(lower($11) in lower(input_filename)) > 0
         or exists (select from json_each_text(metadata) where position(lower($11) in lower(key || ' ' || value)) > 0))
       and ($8::timestamptz is null or (created_at, id) ${newer ? '>' : '<'} ($8, $9))
     order by created_at ${newer ? 'asc' : 'desc'}, id ${newer ? 'asc' : 'desc'}
     limit $10`,
    [
      filter.accountId,
      filter.livemode,
      filter.finishedAfter,
      filter.status,
      filter.operation,
      filter.createdAfter,
      filter.createdBefore,
      cursor?.createdAt ?? null,
      cursor?.id ?? null,
      page.limit,
      filter.text,
    ],
  );
}

/** Returns the number of queued and processing jobs of an account. */
export async function countUnfinishedJobs(tx: Queryable, accountId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from jobs where account_id = $1 and status in ('queued', 'processing')`,
    [accountId],
    PREPARED,
  );
  return only(rows).count;
}

/** Locks the row of a job until the transaction ends. Returns null when there is none. */
export async function lockJob(tx: Queryable, id: string): Promise<Job | null> {
  return tx.findRow<Job>(`select ${JOB_COLUMNS} from jobs where id = $1 for update`, [id], PREPARED);
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined || rows.length > 1) throw new Error(`expected one row, got ${rows.length}`);
  return row;
}

export type JobState = Pick<Job, 'id' | 'status' | 'percent'>;

/** Returns the states of the jobs among `ids` that belong to the account. */
export async function selectJobStates(
  db: Queryable,
  { accountId, ids }: { accountId: string; ids: readonly string[] },
): Promise<readonly JobState[]> {
  return db.selectRows<JobState>(
    'select id, status, percent from jobs where account_id = $1 and id = any($2::text[])',
    [accountId, [...ids]],
  );
}

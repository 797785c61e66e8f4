/**
 * Secrets of an installation on Kubernetes: made once and never replaced. Helm neither renders nor stores them, so no
 * render, upgrade or rollback can change a key.
 *
 *   absent ──▶ created
 *   present ──▶ missing keys are added, all others stay; Helm's annotation protects a Secret of an earlier chart
 */
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { issueCertificate } from '#api/installation-secrets/issue-certificate.ts';
import { newKey, newKeyRing, newPassword, newReceiptKey } from '#api/installation-secrets/new-keys.ts';
import { UNTRACKED } from '#crds/contract/names.ts';
import type { KubeClient } from '#crds/kube/kube-client.ts';
import { isRefusal, orNull } from '#crds/kube/kube-error.ts';
import type { KubeObject } from '#crds/kube/kube-object.ts';
import type { Clock } from '#crds/process/clock.ts';
import type { Log } from '#crds/process/log.ts';

/** What the chart asks for; null: the operator provides it. */
export const secretsPlanSchema = z.strictObject({
  labels: z.record(z.string(), z.string()),
  /** ServiceAccount with which the Secrets are deleted that do not outlive the release. */
  owner: z.string().min(1),
  /** Keys of the service. `keep`: they outlive the release. */
  keys: z.strictObject({ name: z.string().min(1), keep: z.boolean() }).nullable(),
  tls: z.strictObject({ name: z.string().min(1), names: z.array(z.string().min(1)).min(1) }).nullable(),
  /** Passwords of the stores of an evaluation. `earlier`: Secret of charts up to 0.1.0, whose values are kept. */
  evaluation: z
    .strictObject({
      name: z.string().min(1),
      earlier: z.string().min(1),
      postgresHost: z.string().min(1),
      redisHost: z.string().min(1),
    })
    .nullable(),
});
export type SecretsPlan = z.infer<typeof secretsPlanSchema>;

export interface MakeSecretsDeps {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'mergePatch'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly namespace: string;
}

type Values = Readonly<Record<string, string>>;

interface WantedSecret {
  readonly name: string;
  readonly type: string;
  readonly keep: boolean;
  /** Whether values are added that an existing Secret lacks. */
  readonly completes: boolean;
  readonly values: () => Values | Promise<Values>;
  /** Returns names that the certificate of an existing Secret lacks. */
  readonly missingNames?: (present: Values) => readonly string[];
}

/** Log message for a kept certificate. */
const CERTIFICATE_LACKS_NAMES =
  'the certificate is not valid for names of the release: delete the Secret and upgrade the release again';
/** Annotations against deletion: by Helm, and by Argo CD, which may take an object with the labels of a release for its own. */
const KEEP = { 'helm.sh/resource-policy': 'keep', ...UNTRACKED };
/** Maximum attempts at a Secret that another process changes at the same time. */
const ATTEMPTS = 5;

/** Creates the missing Secrets of the plan. Idempotent; instances may run concurrently. */
export async function makeSecrets(deps: MakeSecretsDeps, plan: SecretsPlan): Promise<void> {
  const path = `/api/v1/namespaces/${deps.namespace}/serviceaccounts/${plan.owner}`;
  const owner = await orNull(deps.client.get(path), 404);
  for (const wanted of wantedSecrets(deps, plan)) await makeSecret(deps, { wanted, labels: plan.labels, owner });
}

function wantedSecrets(deps: MakeSecretsDeps, { keys, tls, evaluation }: SecretsPlan): WantedSecret[] {
  const now = deps.clock.now();
  const wanted: WantedSecret[] = [];
  if (keys !== null) wanted.push({ ...keys, type: 'Opaque', completes: true, values: () => keyValues(now) });
  if (tls !== null)
    wanted.push({
      name: tls.name,
      type: 'kubernetes.io/tls',
      keep: false,
      // A certificate without its authority was provided by somebody.
      completes: false,
      values: () => certificateValues(tls.names, now),
      missingNames: (present) => missingNames(present['tls.crt'], tls.names),
    });
  if (evaluation !== null)
    wanted.push({
      name: evaluation.name,
      type: 'Opaque',
      keep: false,
      completes: true,
      values: () => evaluationValues(deps, evaluation),
    });
  return wanted;
}

interface Making {
  readonly wanted: WantedSecret;
  readonly labels: Values;
  /** null: it does not exist yet, as before an upgrade from an earlier chart. */
  readonly owner: KubeObject | null;
}

async function makeSecret(deps: MakeSecretsDeps, { wanted, labels, owner }: Making): Promise<void> {
  const path = secretsPath(deps);
  for (let attempt = 1; ; attempt += 1) {
    const present = await orNull(deps.client.get(`${path}/${wanted.name}`), 404);
    const owners = ownersOf(wanted, owner);
    try {
      if (present === null) {
        const metadata = { name: wanted.name, labels, annotations: KEEP, ...owners };
        const data = encoded(await wanted.values());
        await deps.client.create(path, { apiVersion: 'v1', kind: 'Secret', type: wanted.type, metadata, data });
        deps.log.info({ name: wanted.name, keys: Object.keys(data) }, 'Secret created');
      } else {
        const { resourceVersion } = present.metadata;
        const data = wanted.completes ? without(encoded(await wanted.values()), dataOf(present)) : {};
        const metadata = { resourceVersion, annotations: KEEP, ...owners };
        await deps.client.mergePatch(`${path}/${wanted.name}`, { metadata, data });
        deps.log.info({ name: wanted.name, keys: Object.keys(data) }, 'Secret kept');
        warnOfMissingNames(deps, wanted, present);
      }
      return;
    } catch (error) {
      if (!isRefusal(error, 404, 409) || attempt === ATTEMPTS) throw error;
    }
  }
}

function warnOfMissingNames({ log }: Pick<MakeSecretsDeps, 'log'>, wanted: WantedSecret, present: KubeObject): void {
  const missing = wanted.missingNames?.(dataOf(present)) ?? [];
  if (missing.length > 0) log.warn({ name: wanted.name, missing }, CERTIFICATE_LACKS_NAMES);
}

/** Returns the owner of a Secret that is deleted with the release. One that is kept has none. */
function ownersOf({ keep }: WantedSecret, owner: KubeObject | null): object {
  if (keep) return { ownerReferences: [] };
  if (owner === null) return {};
  const { name, uid } = owner.metadata;
  return { ownerReferences: [{ apiVersion: 'v1', kind: 'ServiceAccount', name, uid }] };
}

function keyValues(now: Date): Values {
  return {
    MEDIAJOBS_KEY_PEPPER: newPassword(),
    MEDIAJOBS_ENCRYPTION_KEYS: newKeyRing(),
    MEDIAJOBS_LINK_KEYS: newKeyRing(),
    MEDIAJOBS_ENGINE_KEYS: newKeyRing(),
    MEDIAJOBS_HEARTBEAT_KEY: newKey(),
    MEDIAJOBS_RECEIPT_KEYS: newReceiptKey(now),
  };
}

function certificateValues(names: readonly string[], now: Date): Values {
  const { authority, certificate, key } = issueCertificate({ names, now });
  return { 'ca.crt': authority, 'tls.crt': certificate, 'tls.key': key };
}

/** Returns the names for which a certificate, in base64, is not valid; none for what is no certificate. */
function missingNames(encodedPem: string | undefined, names: readonly string[]): readonly string[] {
  try {
    const certificate = new X509Certificate(Buffer.from(encodedPem ?? '', 'base64'));
    return names.filter(
      (name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) === undefined,
    );
  } catch {
    return [];
  }
}

async function evaluationValues(deps: MakeSecretsDeps, plan: NonNullable<SecretsPlan['evaluation']>): Promise<Values> {
  const earlier = await orNull(deps.client.get(`${secretsPath(deps)}/${plan.earlier}`), 404);
  const stored = earlier === null ? {} : dataOf(earlier);
  const value = (name: string): string => {
    const text = stored[name];
    return text === undefined ? newPassword() : Buffer.from(text, 'base64').toString('utf8');
  };
  const [postgres, redis] = [value('POSTGRES_PASSWORD'), value('REDIS_PASSWORD')];
  return {
    POSTGRES_PASSWORD: postgres,
    REDIS_PASSWORD: redis,
    S3_ACCESS_KEY_ID: value('S3_ACCESS_KEY_ID'),
    S3_SECRET_ACCESS_KEY: value('S3_SECRET_ACCESS_KEY'),
    DATABASE_URL: `postgresql://mediajobs:${postgres}@${plan.postgresHost}:5432/mediajobs`,
    REDIS_URL: `redis://:${redis}@${plan.redisHost}:6379`,
  };
}

function secretsPath({ namespace }: Pick<MakeSecretsDeps, 'namespace'>): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

function dataOf(secret: KubeObject): Values {
  return (secret['data'] as Values | undefined) ?? {};
}

function encoded(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  );
}

function without(values: Values, present: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(present, name)));
}

/**
 * Settings of all processes, one zod field each. A process picks the ones that it reads. The table of docs/settings.md is
 * generated from here. Units are in the names.
 */
import { z } from 'zod';
import { receiptKeyRing } from '#crds/process/receipt-key-ring.ts';
import {
  cidrs,
  count,
  flag,
  isSocketUrl,
  json,
  key,
  keyRing,
  pepperRing,
  port,
  shortText,
  socket,
  url,
} from '#crds/process/setting-types.ts';
import { traceSettings } from '#crds/process/trace-settings.ts';

export const settings = z.object({
  DATABASE_URL: z.string().min(1).meta({ description: 'PostgreSQL connection string.' }),
  REDIS_URL: z
    .string()
    .min(1)
    .meta({ description: 'Redis connection string: `redis://…`, `rediss://…` or `unix:///path`.' }),
  MEDIAJOBS_NAME: shortText.default('mediajobs').meta({
    description:
      'Name of the installation: in the headers and titles of dashboard and documentation, and in authenticator apps. Up to 40 characters.',
  }),
  MEDIAJOBS_BASE_URL: url.meta({ description: 'Public address of the service, used in links.' }),
  MEDIAJOBS_DOCS_URL: url
    .optional()
    .meta({ description: 'Address of the documentation, used in `doc_url`; default `<base url>/docs`.' }),
  MEDIAJOBS_DASHBOARD_URL: z
    .union([z.literal('off'), url])
    .optional()
    .meta({
      description:
        'Public address of the dashboard, whose path is `/dashboard`. With a separate host it is served at that host only. Default `<base url>/dashboard`; `off`: no dashboard.',
    }),
  MEDIAJOBS_GRAFANA_URL: url.optional().meta({ description: 'Address of Grafana, for links in the dashboard.' }),
  MEDIAJOBS_HIDE_PRICES: flag.meta({ description: '`true`: the dashboard shows no prices, spending and caps.' }),
  MEDIAJOBS_OIDC_ISSUER: url.optional().meta({
    description:
      'OpenID Connect provider for signing in to the dashboard; its redirect address is `<dashboard>/provider/callback`. People use it from an invitation link, or connect it to their login. It adds no members.',
  }),
  MEDIAJOBS_OIDC_CLIENT_ID: z.string().optional().meta({ description: 'Client id at that provider.' }),
  MEDIAJOBS_OIDC_CLIENT_SECRET: z.string().optional().meta({ description: 'Secret of that client.' }),
  MEDIAJOBS_LISTEN_HOST: z.string().default('127.0.0.1').meta({ description: 'Address of the HTTPS and http ports.' }),
  MEDIAJOBS_HTTPS_PORT: port.default(8443).meta({ description: 'HTTPS port.' }),
  MEDIAJOBS_HTTP_PORT: port.default(8080).meta({
    description:
      'Plain http port: returns 403 `https_required`, and requests that a trusted proxy received over HTTPS.',
  }),
  MEDIAJOBS_TLS_CERT_FILE: z.string().meta({ description: 'Certificate chain (PEM).' }),
  MEDIAJOBS_TLS_KEY_FILE: z.string().meta({ description: 'Private key (PEM).' }),
  MEDIAJOBS_CONNECTIONS: count.default(2000).meta({
    description:
      'Maximum number of open connections of callers on the HTTPS and http ports; the last tenth is reserved for addresses with fewer than four. Each takes about 50 KB of memory.',
  }),
  MEDIAJOBS_CONNECTIONS_PER_ADDRESS: count.default(600).meta({
    description:
      'Maximum number of open connections of one IPv4 address or IPv6 /64 network. Trusted proxies have no limit per address. Raise it where a load balancer hides the addresses of callers.',
  }),
  MEDIAJOBS_STOP_DELAY_SECONDS: z.coerce.number().int().min(0).max(600).default(0).meta({
    description:
      'Time after SIGTERM in which the API serves as before and every response closes its connection, in seconds. Where other instances take over, the time in which load balancers and callers move to them; the chart sets 10. One machine has no other instance, and kills a process 10 seconds after SIGTERM.',
  }),
  MEDIAJOBS_TRUSTED_PROXIES: cidrs
    .default([])
    .meta({ description: 'Networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.' }),
  MEDIAJOBS_PRIVATE_TARGETS: cidrs.default([]).meta({
    description: 'Private networks that `input.url`, `output.url` and webhooks may reach, on any port. Empty: none.',
  }),
  MEDIAJOBS_EXTRA_CA_FILE: z.string().optional().meta({
    description: "Certificates (PEM) that are trusted for callers' addresses in addition to those of the system.",
  }),
  MEDIAJOBS_KEY_PEPPER: pepperRing.meta({
    description:
      'Secrets of at least 32 characters for the HMAC of stored API keys, comma-separated. The first one is used for new HMACs; a key stored with another one is stored again at its next use. To add one with several replicas, append it on all of them, then move it to the front.',
  }),
  MEDIAJOBS_ENCRYPTION_KEYS: keyRing.meta({
    description: 'Keys that encrypt stored secrets, `id:base64` of 32 bytes, comma-separated; the first one encrypts.',
  }),
  MEDIAJOBS_LINK_KEYS: keyRing.meta({ description: 'Keys that sign links, in the same form; the first one signs.' }),
  MEDIAJOBS_RECEIPT_KEYS: receiptKeyRing.meta({
    description:
      'Ed25519 keys that sign receipts, newest first, comma-separated: `base64[@created[/retired]]` of the 32-byte seed, or `public:base64…` of a retired key, which no longer signs. The first one signs.',
  }),
  MEDIAJOBS_ENGINE_URL: url
    .refine((text) => text.startsWith('https:') || isSocketUrl(text), {
      message:
        'must be https://host:port, with MEDIAJOBS_ENGINE_KEYS, or http+unix://<path of a socket, percent-encoded>',
    })
    .meta({
      description:
        'Address of the engine of the direct lane: `https://host:port`, where both sides authenticate with `MEDIAJOBS_ENGINE_KEYS`, or `http+unix://<path of its socket, percent-encoded>`.',
    }),
  MEDIAJOBS_ENGINE_KEYS: keyRing.default([]).meta({
    description:
      'Keys with which the API and an engine on a port authenticate each other, `id:base64` of 32 bytes, comma-separated. The API uses the first one, the engine accepts all. To replace one, append the new key on both, then move it to the front, then remove the old one.',
  }),
  MEDIAJOBS_FILES_DIR: z
    .string()
    .optional()
    .meta({ description: 'Folder of the file store on disk; not with `S3_BUCKET`.' }),
  MEDIAJOBS_FILES_URL: url
    .refine(isSocketUrl, { message: 'must be http+unix://<path of a socket, percent-encoded>' })
    .optional()
    .meta({
      description:
        'Address under which workers reach the signed URLs of the file store on disk: `http+unix://<path of a socket, percent-encoded>`.',
    }),
  S3_BUCKET: z.string().optional().meta({ description: 'Bucket of the files, instead of a folder on disk.' }),
  S3_ENDPOINT: url
    .optional()
    .meta({ description: 'Address of the S3 API, also for workers; default: that of AWS for the region.' }),
  S3_REGION: z.string().default('us-east-1').meta({ description: 'Region of the bucket.' }),
  S3_ACCESS_KEY_ID: z.string().optional().meta({
    description: 'Access key; default: the credential chain of the AWS SDK, such as the role of a service account.',
  }),
  S3_SECRET_ACCESS_KEY: z.string().optional().meta({ description: 'Secret of the access key.' }),
  S3_PATH_STYLE: flag.meta({
    description:
      '`true`: the bucket is in the path of URLs instead of the host name, as most servers other than AWS require.',
  }),
  MEDIAJOBS_ENGINE_SOCKET: socket.meta({
    description:
      'Unix socket that the engine listens on instead of a port. The permissions of its folder limit who can connect.',
  }),
  MEDIAJOBS_ENGINE_PORT: port.default(8090).meta({ description: 'Port of the engine of the direct lane.' }),
  MEDIAJOBS_ENGINE_HOST: z.string().default('127.0.0.1').meta({ description: 'Address that the engine binds to.' }),
  MEDIAJOBS_ENGINE_CHILDREN: count
    .optional()
    .meta({ description: 'Maximum number of concurrent direct requests; default: the number of cores.' }),
  MEDIAJOBS_ENGINE_QUEUE: z.coerce.number().int().min(0).default(32).meta({
    description:
      'Maximum number of direct requests that wait for a child. Above it, for a while, only requests that soon get a child are admitted; the others are refused with 503 `engine_busy` at once.',
  }),
  MEDIAJOBS_ENGINE_SPOOL_MB: z.coerce.number().int().min(64).default(1024).meta({
    description:
      'Part of `MEDIAJOBS_WORK_DIR` for the bodies of direct requests until their results are sent, in megabytes. When it is full, slow bodies and bodies of the accounts with the largest shares are refused, and results that are read slowly are aborted.',
  }),
  MEDIAJOBS_ENGINE_FILES_PER_CHILD: count.default(256).meta({
    description:
      'Number of files of one account that an engine process processes before it is replaced. No process opens files of two accounts.',
  }),
  MEDIAJOBS_WORK_DIR: z
    .string()
    .optional()
    .meta({ description: "Folder for files that are being processed; default: the system's temporary folder." }),
  MEDIAJOBS_ISOLATION: z.enum(['auto', 'pod', 'none']).default('auto').meta({
    description:
      'Isolation of the processes that open files. `auto`: bubblewrap, otherwise namespaces, Landlock and seccomp; the process does not start when none of them works. `pod`: the same, but when none works the pod is the boundary. `none`: the same, but when none works files are opened without isolation; log, `/readyz` and dashboard show it.',
  }),
  MEDIAJOBS_RUNS_AT_ONCE: count.optional().meta({
    description:
      'Maximum number of concurrent runs of jobs, shared fairly between accounts; default: on one machine the number of cores, on Kubernetes unlimited.',
  }),
  MEDIAJOBS_RUNS_READY: z.coerce.number().int().min(0).default(1).meta({
    description:
      'Number of processes that wait for the next run on one machine, each with an engine process that has opened no file: about 40 MB together. `0`: each run has a new process, which takes longer to start than a small file takes.',
  }),
  MEDIAJOBS_OFFICE_READY: z.coerce.number().int().min(0).max(1).optional().meta({
    description: '`1`: LibreOffice waits for the next office document; `0`: not. Default: `1` from 4 GiB of memory on.',
  }),
  MEDIAJOBS_RUNS_SOCKET: socket.meta({ description: 'Unix socket of the process that runs jobs.' }),
  MEDIAJOBS_HEARTBEAT_SOCKET: socket.meta({ description: "Unix socket for workers' heartbeats, in place of a port." }),
  MEDIAJOBS_HEARTBEAT_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ description: "Address that the controller's heartbeat port binds to." }),
  MEDIAJOBS_HEARTBEAT_PORT: port.default(8091).meta({ description: "Port of the controller for workers' heartbeats." }),
  MEDIAJOBS_HEARTBEAT_URL: url.optional().meta({
    description: 'Address of the heartbeat port for the pods of jobs, on Kubernetes: that of its Service.',
  }),
  MEDIAJOBS_HEARTBEAT_KEY: key.optional().meta({
    description: 'Key of the tokens of attempts, base64 of 32 bytes; the same for every controller and recorder.',
  }),
  MEDIAJOBS_TRANSFER_HOST: z
    .string()
    .default('127.0.0.1')
    .meta({ description: "Address that the recorder's port for signed URLs binds to, on Kubernetes." }),
  MEDIAJOBS_TRANSFER_PORT: port.default(8092).meta({
    description: 'Port of the recorder, at which controllers request signed URLs for workers, on Kubernetes.',
  }),
  MEDIAJOBS_TRANSFER_URL: url.optional().meta({
    description: 'Address of that port for the controller: that of its Service, with the path `/transfer`.',
  }),
  MEDIAJOBS_WORKER_POD: json.optional().meta({
    description: 'Pods of jobs on Kubernetes, as JSON: `image` and the other fields in `controller/worker-pod.ts`.',
  }),
  MEDIAJOBS_SECRETS: json.optional().meta({
    description:
      'On Kubernetes: Secrets that the chart needs, as JSON: the fields in `api/installation-secrets/make-secrets.ts`.',
  }),
  MEDIAJOBS_NAMESPACE: z.string().optional().meta({
    description: 'On Kubernetes: namespace of MediaJobs and of the pods of jobs; default: that of this process.',
  }),
  MEDIAJOBS_RELEASE: z.string().default('mediajobs').meta({ description: 'On Kubernetes: prefix of Lease names.' }),
  MEDIAJOBS_INSTANCE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/, 'must be the name of a Helm release')
    .default('mediajobs')
    .meta({
      description:
        'On Kubernetes: label `app.kubernetes.io/instance` of all objects that controller and recorder make and see, so that several installations can share a namespace.',
    }),
  MEDIAJOBS_POD_NAME: z.string().optional().meta({ description: 'On Kubernetes: name of this pod.' }),
  MEDIAJOBS_POD_IP: z
    .string()
    .optional()
    .meta({ description: 'On Kubernetes: address of this pod, to which the other controllers forward heartbeats.' }),
  KUBECONFIG: z.string().optional().meta({
    description: 'Kubeconfig file, for a process outside the cluster; default: the service account of the pod.',
  }),
  MEDIAJOBS_KUBE_QPS: count.default(100).meta({ description: 'Mean requests to the API server per second, at most.' }),
  MEDIAJOBS_KUBE_BURST: count.default(200).meta({ description: 'Maximum burst of requests to the API server.' }),
  MEDIAJOBS_OPEN_JOBS: count.default(2000).meta({
    description:
      'Maximum number of unfinished MediaJobs; further jobs wait in PostgreSQL. Jobs whose input is still being fetched have as many of their own.',
  }),
  MEDIAJOBS_OPS_SOCKET: socket.meta({
    description: 'Unix socket of `/metrics`, `/healthz`, `/livez` and `/readyz` of a process, instead of a port.',
  }),
  MEDIAJOBS_OPS_PORT: port.default(9090).meta({
    description:
      'Port of `/metrics`, `/healthz`, `/livez` and `/readyz` of each process. On one machine they are on unix sockets unless this is set; the processes then use this port and the following ones.',
  }),
  MEDIAJOBS_OPS_HOST: z.string().default('127.0.0.1').meta({ description: 'Address that the ops port binds to.' }),
  ...traceSettings,
  MEDIAJOBS_CLOCK_FILE: z.string().optional().meta({
    description:
      'For tests of the service only: file with the whole seconds by which its clock runs ahead. Each process logs a warning at its start.',
  }),
  MEDIAJOBS_FAULTS_DIR: z.string().optional().meta({
    description:
      'For tests of the service only: folder whose files define where a process fails. Each process logs a warning at its start.',
  }),
  MEDIAJOBS_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .meta({ description: 'Lowest level that is logged.' }),
});
export type Settings = z.infer<typeof settings>;
export type SettingName = keyof Settings;

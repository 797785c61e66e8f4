/** Who may import whom. Each rule says in plain words what it protects. */
import { IMAGE_PACKAGES } from './hack/image-packages.ts';
import { CRDS_RULES } from './hack/crds-import-rules.ts';
import { ENGINE_RULES } from './hack/engine-import-rules.ts';

const packages = (names) => `^node_modules/(${names.map((name) => name.replaceAll('.', '\\.')).join('|')})/`;
const node = (...names) => names.map((name) => `^(node:)?${name}$`).join('|');

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'crds-is-the-bottom',
      comment: 'The contract is what every process shares: it knows none of them.',
      severity: 'error',
      from: { path: '^crds/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(api|controller|worker-image|test|hack)/' },
    },
    {
      name: 'api-knows-no-other-process',
      comment: 'The API talks to controller and workers through crds. Only the embedded mode puts them together.',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/embedded(-control)?\\.ts$|\\.test\\.ts$' },
      to: { path: '^(controller|worker-image)/' },
    },
    {
      name: 'embedded-start-only-names-missing-tools',
      comment: 'The start on one machine asks which tools are missing and knows nothing else of the worker.',
      severity: 'error',
      from: { path: '^api/embedded\\.ts$' },
      to: { path: '^(controller|worker-image)/', pathNot: '^worker-image/tools/(find-tool|debian-packages)\\.ts$' },
    },
    {
      name: 'embedded-control-knows-no-worker',
      comment: 'The process that puts recorder and controller together starts workers and imports nothing of them.',
      severity: 'error',
      from: { path: '^api/embedded-control\\.ts$' },
      to: { path: '^worker-image/' },
    },
    {
      name: 'controller-knows-no-other-process',
      comment: 'The controller knows no HTTP interface, no SQL, no accounts and no file contents.',
      severity: 'error',
      from: { path: '^controller/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(api|worker-image)/' },
    },
    {
      name: 'worker-knows-no-other-process',
      comment: "The worker decodes strangers' bytes: it knows no accounts, no SQL and no Kubernetes.",
      severity: 'error',
      from: { path: '^worker-image/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(api|controller)/|(^|/)node_modules/(pg|ioredis)/' },
    },
    {
      name: 'product-needs-no-tests-or-scripts',
      comment: 'What is shipped imports nothing of test/ or hack/.',
      severity: 'error',
      from: { path: '^(api|controller|crds|worker-image)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(test|hack)/|\\.test\\.ts$' },
    },
    {
      name: 'product-needs-no-dev-dependency',
      comment: 'A package that a process needs stands under dependencies.',
      severity: 'error',
      from: { path: '^(api|controller|crds|worker-image)/', pathNot: '\\.test\\.ts$' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '(^|/)node_modules/@types/' },
    },
    {
      name: 'service-image-has-its-packages',
      comment: 'The service image installs only the packages listed for it in hack/image-packages.ts.',
      severity: 'error',
      from: { path: '^(api|controller)/(main|recorder|courier|migrate|mediactl)\\.ts$' },
      to: { path: '(^|/)node_modules/', pathNot: packages(IMAGE_PACKAGES.service), reachable: true },
    },
    {
      name: 'worker-image-has-its-packages',
      comment: 'The worker image installs only the packages listed for it in hack/image-packages.ts.',
      severity: 'error',
      from: { path: '^worker-image/(run-job|serve-direct|sandbox/child)\\.ts$' },
      to: { path: '(^|/)node_modules/', pathNot: packages(IMAGE_PACKAGES.worker), reachable: true },
    },
    {
      name: 'api-store-knows-no-concept',
      comment: 'The database of the API knows none of the folders that keep their records in it.',
      severity: 'error',
      from: { path: '^api/store/', pathNot: '\\.test\\.ts$' },
      to: { path: '^api/', pathNot: '^api/store/' },
    },
    {
      name: 'outbound-knows-no-records',
      comment: "Requests to callers' addresses know only the address: no accounts, jobs or webhooks.",
      severity: 'error',
      from: { path: '^api/outbound/', pathNot: '\\.test\\.ts$' },
      to: { path: '^api/', pathNot: '^api/outbound/' },
    },
    {
      name: 'accounts-and-users-know-no-work',
      comment:
        'Accounts, users, files and limits come first: the folders of work import them, never the other way round.',
      severity: 'error',
      from: { path: '^api/(accounts|audit|files|limits|users)/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^api/(billing|dashboard|direct|http|jobs|mediactl|presets|receipts|recorder|transfers|uploads|webhooks)/',
      },
    },
    {
      name: 'transfers-and-webhooks-know-no-jobs',
      comment: 'Jobs queue transfers and webhook deliveries; what sends these knows only their own rows.',
      severity: 'error',
      from: { path: '^api/(transfers|webhooks)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^api/(jobs|recorder)/' },
    },
    {
      name: 'only-processes-start-the-recorder',
      comment: 'Dispatch, projection and clean-up run in the recorder alone: nothing in the API calls them.',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/(recorder/|recorder\\.ts$|embedded-control\\.ts$)|\\.test\\.ts$' },
      to: { path: '^api/recorder/' },
    },
    {
      name: 'nothing-needs-the-dashboard',
      comment: 'Dashboard and mediactl adapt to the functions of the API: only compositions import them.',
      severity: 'error',
      from: { path: '^api/[^/]+/', pathNot: '^api/(dashboard|mediactl)/|\\.test\\.ts$' },
      to: { path: '^api/(dashboard|mediactl)/' },
    },
    {
      name: 'decisions-are-pure',
      comment: 'decide and checks compute from facts alone: no files, no network, no clock, no packages.',
      severity: 'error',
      from: { path: '^controller/(decide|checks|decision)\\.ts$' },
      to: { dependencyTypes: ['core', 'npm'] },
    },
    {
      name: 'only-supervisors-start-processes',
      comment: 'Tools are started by run-command, our own processes by the named supervisors, nobody else.',
      severity: 'error',
      from: {
        path: '^(api|controller|crds|worker-image)/',
        pathNot: [
          '\\.test\\.ts$',
          '^worker-image/tools/run-command\\.ts$',
          '^worker-image/sandbox/(engine-process|spawn-engine)\\.ts$',
          '^controller/local-process\\.ts$',
          '^api/embedded/(run-service|system-process|node-process|warm-code-cache)\\.ts$',
        ],
      },
      to: { path: node('child_process', 'cluster', 'worker_threads') },
    },
    {
      name: 'one-file-knows-fluent-ffmpeg',
      comment: 'fluent-ffmpeg is archived and starts ffmpeg without our limits: it only reads what ffmpeg offers.',
      severity: 'error',
      from: { pathNot: '^worker-image/tools/missing-codecs\\.ts$' },
      to: { path: '(^|/)node_modules/(@types/)?fluent-ffmpeg/' },
    },
    {
      name: 'sharp-decodes-images-only',
      comment: 'sharp loads a large native library: it stays in the image engine, where its limits are set once.',
      severity: 'error',
      from: {
        path: '^(api|controller|crds|worker-image)/',
        pathNot: '^worker-image/engine/image/|\\.test\\.ts$',
      },
      to: { path: '^node_modules/sharp/' },
    },
    ...CRDS_RULES,
    ...ENGINE_RULES,
    {
      name: 'one-folder-knows-the-database-driver',
      comment: 'Time limits, retries and types of PostgreSQL are settled in api/store, once for everybody.',
      severity: 'error',
      from: { path: '^(api|controller|crds|worker-image)/', pathNot: '^api/store/|\\.test\\.ts$' },
      to: { path: '^node_modules/(@types/)?pg/' },
    },
    {
      name: 'folders-are-left-by-name',
      comment: 'From one top-level folder to another by the names in package.json (#crds/…), never by ../..',
      severity: 'error',
      from: { path: '^(api|controller|crds|worker-image|test|hack)/' },
      to: {
        path: '^(api|controller|crds|worker-image|test|hack)/',
        pathNot: '^$1/',
        dependencyTypesNot: ['aliased-subpath-import'],
      },
    },
    {
      name: 'verbs-know-no-http',
      comment:
        'What the API does is a function of a caller and an input. Requests and replies end in the endpoint files, which are named *-endpoints.ts.',
      severity: 'error',
      from: {
        path: '^api/[^/]+/',
        pathNot: '^api/(dashboard|docs|http|mediactl|openapi)/|-endpoints\\.ts$|\\.test\\.ts$',
      },
      to: { path: '^api/(dashboard|docs|http|mediactl|openapi)/|^node_modules/fastify/' },
    },
    {
      name: 'only-the-list-knows-endpoints',
      comment: 'Endpoint files adapt functions of the API to HTTP: only the list of endpoints imports them.',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/http/endpoints\\.ts$|\\.test\\.ts$' },
      to: { path: '^api/[^/]+/[^/]+-endpoints\\.ts$' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other, even for types alone, are one thing, or a third is missing.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-unresolved',
      comment: 'An import that leads nowhere would also hide from the rules above.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: 'specify',
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: '(^|/)node_modules/' },
    exclude: { path: '^test/fixtures/files/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};

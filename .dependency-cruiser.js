/** Who may import whom. Each rule says in plain words what it protects. */
import { IMAGE_PACKAGES } from './hack/image-packages.ts';
import { API_RULES } from './hack/api-import-rules.ts';
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
      from: { path: '^worker-image/(run-job|serve-attempts|serve-direct|sandbox/child)\\.ts$' },
      to: { path: '(^|/)node_modules/', pathNot: packages(IMAGE_PACKAGES.worker), reachable: true },
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
          '^controller/(local-process|spawn-worker|try-isolation)\\.ts$',
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
    ...API_RULES,
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
      name: 'one-file-knows-opentelemetry',
      comment: 'What is recorded is defined in crds/process/tracing.ts. Without tracing its SDK is not loaded.',
      severity: 'error',
      from: {
        path: '^(api|controller|crds|worker-image)/',
        pathNot: '^crds/process/otlp-tracing\\.ts$|\\.test\\.ts$',
      },
      to: { path: '^node_modules/@opentelemetry/' },
    },
    {
      name: 'opentelemetry-is-loaded-when-it-is-on',
      comment: 'A static import would load the modules of OpenTelemetry in every process.',
      severity: 'error',
      from: { path: '^(api|controller|crds|worker-image)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^crds/process/otlp-tracing\\.ts$', dynamic: false },
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

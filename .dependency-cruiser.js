/** Who may import whom. Each rule says in plain words what it protects. */
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
      from: { path: '^api/', pathNot: '^api/embedded[^/]*\\.ts$|\\.test\\.ts$' },
      to: { path: '^(controller|worker-image)/' },
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
          '^worker-image/engine/engine-child\\.ts$',
          '^controller/local-process\\.ts$',
          '^api/embedded/(run-service|system-process|node-process)\\.ts$',
        ],
      },
      to: { path: node('child_process', 'cluster', 'worker_threads') },
    },
    {
      name: 'one-place-knows-fluent-ffmpeg',
      comment: 'fluent-ffmpeg is archived: it stays behind worker-image/tools/ffmpeg.ts, so that it can be replaced.',
      severity: 'error',
      from: { pathNot: '^worker-image/tools/ffmpeg\\.ts$' },
      to: { path: '(^|/)node_modules/(@types/)?fluent-ffmpeg/' },
    },
    {
      name: 'kube-is-free-of-our-domain',
      comment: 'crds/kube is how we talk to an API server; it would serve any other operator as well.',
      severity: 'error',
      from: { path: '^crds/kube/', pathNot: '\\.test\\.ts$' },
      to: { path: '^crds/', pathNot: '^crds/(kube|shared)/' },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one thing, or a third is missing.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
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

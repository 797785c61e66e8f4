/** Who may import whom in `crds/`, the definitions that all processes share: rules of `.dependency-cruiser.js`. */
import type { IForbiddenRuleType } from 'dependency-cruiser';

const TESTS = '\\.test\\.ts$';

export const CRDS_RULES: IForbiddenRuleType[] = [
  {
    name: 'process-knows-no-other-definition',
    comment: 'Every process is built on crds/process: it imports no other folder of crds.',
    severity: 'error',
    from: { path: '^crds/process/', pathNot: TESTS },
    to: { path: '^crds/', pathNot: '^crds/process/' },
  },
  {
    name: 'kube-is-free-of-our-domain',
    comment: 'crds/kube is a client of an API server that would serve any other operator as well.',
    severity: 'error',
    from: { path: '^crds/kube/', pathNot: TESTS },
    to: { path: '^crds/', pathNot: '^crds/(kube|process)/' },
  },
  {
    name: 'catalogue-knows-no-messages',
    comment:
      'Formats, options, plans and prices are facts: of the contract they import only the errors of refusals and their words.',
    severity: 'error',
    from: { path: '^crds/catalogue/', pathNot: TESTS },
    to: { path: '^crds/', pathNot: '^crds/(catalogue/|contract/(media-error|error-codes|refusal-words)\\.ts$)' },
  },
  {
    name: 'contract-knows-no-cluster',
    comment: 'Messages between processes are the same with and without Kubernetes.',
    severity: 'error',
    from: { path: '^crds/contract/', pathNot: TESTS },
    to: { path: '^crds/(kube|media-jobs)/' },
  },
  {
    name: 'media-jobs-know-no-catalogue',
    comment: 'The client stores MediaJobs: the contract defines and validates them.',
    severity: 'error',
    from: { path: '^crds/media-jobs/', pathNot: TESTS },
    to: { path: '^crds/catalogue/' },
  },
  {
    name: 'worker-knows-no-kubernetes',
    comment: 'A worker gets its order from its environment and reports by heartbeats and its termination file.',
    severity: 'error',
    from: { path: '^worker-image/', pathNot: TESTS },
    to: { path: '^crds/(kube|media-jobs)/' },
  },
  {
    name: 'only-the-recorder-knows-kubernetes',
    comment:
      'In the API only the recorder and the embedded mode talk to the store of MediaJobs, and the Job that makes Secrets to an API server.',
    severity: 'error',
    from: {
      path: '^api/',
      pathNot: `^api/(recorder/|installation-secrets/|(recorder|make-secrets)\\.ts$|embedded-control\\.ts$)|${TESTS}`,
    },
    to: { path: '^crds/(kube|media-jobs)/' },
  },
];

/** Who may import whom in `api/`: rules of `.dependency-cruiser.js`. */
import type { IForbiddenRuleType } from 'dependency-cruiser';

const TESTS = '\\.test\\.ts$';
/** Files that adapt the functions of a folder to HTTP. */
const ENDPOINT_FILES = '-endpoints\\.ts$';
/** The list of all endpoints, which composes the folders above it. */
const ENDPOINT_LIST = '^api/http/endpoints\\.ts$';
/** Folders that only the processes import: each is an adapter or the work of one process. */
const PROCESS_FOLDERS = 'dashboard|docs|embedded|mediactl|recorder';

/**
 * Folders from the bottom to the top. A folder imports those of lower layers, never one of its own layer, so that jobs,
 * transfers, webhooks and HTTP cannot come to need each other.
 */
const LAYERS: readonly (readonly [folders: string, comment: string])[] = [
  [
    'fields|installation-secrets|loops|outbound|samples|store',
    'Tools for all folders: they know no account, no job and no request.',
  ],
  ['audit|files', 'The audit log and the file store know nothing of what is logged or stored.'],
  ['accounts', 'Accounts and keys come before everything that belongs to an account.'],
  [
    'billing|limits|presets|transfers|uploads|users|webhooks',
    'Each concept of an account is complete without the others. Transfers and webhooks are queued by jobs, and know only their own rows.',
  ],
  ['direct|jobs', 'Work on files uses the concepts of the account: none of them knows jobs.'],
  ['embedded|receipts|recorder', 'What follows from jobs, and the processes around them, know no HTTP request.'],
  ['http', 'Requests and replies: what the API does is a function of a caller and an input, which knows neither.'],
  ['docs|openapi', 'The description of the endpoints and the documentation are served through http.'],
  ['dashboard|mediactl', 'Dashboard and mediactl adapt to the functions of the API, as the endpoint files do.'],
];

export const API_RULES: IForbiddenRuleType[] = [
  ...LAYERS.map(([folders, comment], level) => layerRule(folders, comment, level)),
  {
    name: 'api-processes-import-their-folder',
    comment: 'A folder of a process or an adapter is started by its entry: no other folder imports it.',
    severity: 'error',
    from: { path: '^api/([^/]+)/', pathNot: TESTS },
    to: { path: `^api/(${PROCESS_FOLDERS})/`, pathNot: '^api/$1/' },
  },
  {
    name: 'api-folders-know-no-entry',
    comment:
      'Entries put folders together. Folders share only the lists of dependencies and settings, and the version.',
    severity: 'error',
    from: { path: '^api/[^/]+/', pathNot: TESTS },
    to: { path: '^api/[^/]+\\.ts$', pathNot: '^api/(dependencies|entry-settings|interface-version)\\.ts$' },
  },
  {
    name: 'api-dependencies-are-general',
    comment: 'The list of dependencies names what most functions need: stores, clock, log and settings.',
    severity: 'error',
    from: { path: '^api/(dependencies|interface-version)\\.ts$' },
    to: { path: '^api/', pathNot: '^api/(files|samples|store)/' },
  },
  {
    name: 'only-the-list-knows-endpoints',
    comment: 'Endpoint files adapt functions of the API to HTTP: only the list of endpoints imports them.',
    severity: 'error',
    from: { path: '^api/', pathNot: `${ENDPOINT_LIST}|${TESTS}` },
    to: { path: `^api/[^/]+/[^/]+${ENDPOINT_FILES}` },
  },
  {
    name: 'only-http-knows-fastify',
    comment: 'The HTTP server is known where requests arrive: API, dashboard and documentation.',
    severity: 'error',
    from: { path: '^api/', pathNot: `^api/(http|dashboard|docs)/|^api/compose-api\\.ts$|${TESTS}` },
    to: { path: '^node_modules/fastify/' },
  },
];

function layerRule(folders: string, comment: string, level: number): IForbiddenRuleType {
  const lower = LAYERS.slice(0, level).map(([names]) => names);
  return {
    name: `api-layer-${level + 1}`,
    comment,
    severity: 'error',
    from: { path: `^api/(${folders})/`, pathNot: `${ENDPOINT_FILES}|${ENDPOINT_LIST}|${TESTS}` },
    to: { path: '^api/[^/]+/', pathNot: `^api/(${['$1', ...lower].join('|')})/` },
  };
}

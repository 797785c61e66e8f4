/** README of the Helm chart: the comments and defaults of its values. */
import { readFileSync } from 'node:fs';
import { isMap, isScalar, parse, parseDocument, type Node, type Pair, type YAMLMap } from 'yaml';

const CHART = 'charts/mediajobs';
/** Longest default that the table shows, in characters. */
const MAX_DEFAULT = 70;

interface Value {
  readonly path: string;
  readonly value: unknown;
  /** Comment lines before the value. */
  readonly comment: string;
  /** Whether it has values below it, with comments of their own. */
  readonly isGroup: boolean;
}

/** Returns the README of the chart. */
export function chartReadme(): string {
  const chart = parse(readFileSync(`${CHART}/Chart.yaml`, 'utf8')) as { description: string; kubeVersion: string };
  const document = parseDocument(readFileSync(`${CHART}/values.yaml`, 'utf8'));
  const values = valuesOf(document.contents as YAMLMap, '');
  const podSettings = values.filter(({ path }) => /^defaults\.[^.]+$/.test(path)).map(({ path }) => path.split('.')[1]);
  const extra = ['extraEnv', 'extraEnvFrom', 'extraVolumes', 'extraVolumeMounts'];
  const isRepeated = ({ path, comment }: Value): boolean =>
    comment === '' && !path.startsWith('defaults.') && [...podSettings, ...extra].includes(path.split('.').at(-1));
  const rows = values.filter((value) => !isRepeated(value) && (value.comment !== '' || !value.isGroup)).map(rowOf);
  return `# mediajobs

${chart.description} Kubernetes ${chart.kubeVersion.replace(/-0$/, '')}.

\`\`\`sh
helm install mediajobs oci://REGISTRY/charts/mediajobs --namespace media --create-namespace --values values.yaml
helm test mediajobs --namespace media    # runs a sample job
\`\`\`

\`--set evaluation.enabled=true\` is all that an evaluation needs: it brings PostgreSQL, Valkey and an S3 server without
backups. docs/kubernetes.md in the repository is for platform teams.

## Values

Each workload (\`api\`, \`recorder\`, \`courier\`, \`controller\`, \`engine\`, \`worker\`, \`makeSecrets\`, \`migrate\`, \`test\`) also
has ${[...podSettings, ...extra].map((name) => `\`${name}\``).join(', ')}.

| value | default | meaning |
|---|---|---|
${rows.join('\n')}
`;
}

function valuesOf(map: YAMLMap, path: string, before = ''): Value[] {
  return (map.items as Pair<Node, Node | null>[]).flatMap(({ key, value }, index) => {
    const name = `${path}${String(isScalar(key) ? key.value : key)}`;
    const comment = [index === 0 ? before : '', key.commentBefore ?? ''].filter(Boolean).join('\n');
    const isGroup = isMap(value) && value.items.length > 0 && !value.flow;
    const own = { path: name, value: value === null ? null : value.toJS(parseDocument('')), comment, isGroup };
    // The comment before the first value of a group belongs to that value.
    return isGroup ? [own, ...valuesOf(value, `${name}.`, value.commentBefore ?? '')] : [own];
  });
}

function rowOf({ path, value, comment, isGroup }: Value): string {
  const text = JSON.stringify(value);
  const shown = isGroup || text.length > MAX_DEFAULT ? '' : `\`${text}\``;
  const meaning = comment
    .split('\n')
    .map((line) => line.trim())
    .join(' ')
    .trim();
  return `| \`${path}\` | ${shown.replaceAll('|', String.raw`\|`)} | ${meaning.replaceAll('|', String.raw`\|`)} |`;
}

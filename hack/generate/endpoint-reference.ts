import { z } from 'zod';
import { endpointCode } from './endpoint-code.ts';
import { EXAMPLES } from './endpoint-examples.ts';

/** The parts of a JSON schema that the tables show. */
const schema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  enum: z.array(z.unknown()).optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), schema).optional();
  },
  get anyOf() {
    return z.array(schema).optional();
  },
});
type Schema = z.infer<typeof schema>;

const parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean(),
  description: z.string(),
  schema,
});
const content = z.record(z.string(), z.object({ schema }));
const operation = z.object({
  summary: z.string(),
  security: z.array(z.unknown()).optional(),
  parameters: z.array(parameter).default([]),
  requestBody: z.object({ content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: content.optional() })),
});
type Operation = z.infer<typeof operation>;
const documentSchema = z.object({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.object({ schemas: z.record(z.string(), schema) }),
});
type Schemas = Readonly<Record<string, Schema>>;

/** Sections by the first segment of the path, with the page that explains it. */
const SECTIONS: Readonly<Record<string, { readonly title: string; readonly page: string }>> = {
  compress: { title: 'Direct requests', page: 'direct.md' },
  convert: { title: 'Direct requests', page: 'direct.md' },
  'strip-metadata': { title: 'Direct requests', page: 'direct.md' },
  uploads: { title: 'Uploads', page: 'uploads.md' },
  jobs: { title: 'Jobs', page: 'jobs.md' },
  webhook_endpoints: { title: 'Webhooks', page: 'webhooks.md' },
  presets: { title: 'Presets', page: 'presets.md' },
  estimate: { title: 'Estimate and usage', page: 'estimate-and-usage.md' },
  usage: { title: 'Estimate and usage', page: 'estimate-and-usage.md' },
  receipt_keys: { title: 'Receipts', page: 'receipts.md' },
  capabilities: { title: 'The service itself', page: 'basics.md' },
  'openapi.json': { title: 'The service itself', page: 'basics.md' },
};

const INTRODUCTION = `# Endpoints

All endpoints of the version, made from [openapi.json](../openapi.json), the input of client generators. Every response
has \`Svc-Request-Id\` and \`Svc-Version\`; every error is an [error object](errors.md).

The examples read \`url\`, \`key\` and the ids of objects, such as \`job\`, from the environment, as \`export job=job_…\` sets
them. Their files are the [samples](../index.md) of the first job. TypeScript needs Node 24, Python its package \`requests\`.
`;

/** Returns docs/reference/endpoints.md. @param openApi the OpenAPI document of the service. */
export function endpointReference(openApi: object): string {
  const { paths, components } = documentSchema.parse(openApi);
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, found]) => ({ path, method, found, ...sectionOf(path) })),
  );
  const titles = [...new Set(Object.values(SECTIONS).map(({ title }) => title))];
  const sections = titles.map((title) => {
    const own = rows.filter((row) => row.title === title);
    const parts = own.map(({ path, method, found }) => endpointPart(method, path, found, components.schemas));
    return `## ${title}\n\nIn detail: [${title}](${own[0]?.page}).\n\n${parts.join('\n')}`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

function sectionOf(path: string): { readonly title: string; readonly page: string } {
  const section = SECTIONS[path.split('/')[2] ?? ''];
  if (section === undefined) throw new Error(`${path} has no section: add one to SECTIONS`);
  return section;
}

function endpointPart(verb: string, path: string, found: Operation, schemas: Schemas): string {
  const { summary, parameters, requestBody, responses, security = [] } = found;
  const method = verb.toUpperCase();
  // Options have a page of their own, headers of all endpoints are in the introduction.
  const own = parameters.filter(
    ({ name, in: place }) => !name.includes('.') && !(place === 'header' && name === 'Svc-Version'),
  );
  const hasOptions = parameters.some(({ name }) => name.includes('.'));
  const needsKey = security.length > 0;
  const example = EXAMPLES[`${method} ${path}`];
  if (example === undefined) throw new Error(`${method} ${path} has no example: add one to EXAMPLES`);
  const lines = [
    `### ${method} ${path}`,
    `${summary}${needsKey ? '' : ' Needs no key.'}`,
    endpointCode({ path, ...example, method, needsKey }),
  ];
  if (own.length > 0)
    lines.push(
      table(
        'parameter',
        own.map((one) => parameterRow(one, schemas)),
      ),
    );
  if (hasOptions) lines.push('Also all [options](options.md) that apply, by their paths.');
  if (requestBody !== undefined) lines.push(bodyPart(requestBody.content, schemas));
  lines.push(responseList(responses));
  return `${lines.join('\n\n')}\n`;
}

function table(what: string, rows: readonly string[]): string {
  return `| ${what} | values | meaning |\n|---|---|---|\n${rows.join('\n')}`;
}

function parameterRow(
  { name, in: place, required, description, schema: values }: z.infer<typeof parameter>,
  schemas: Schemas,
): string {
  const where = place === 'query' && !required ? '' : ` (${place}${required ? ', required' : ''})`;
  return `| \`${name}\`${where} | ${valuesOf(values, schemas)} | ${description || (values.description ?? '')} |`;
}

/** Returns the table of a JSON body's fields; the media types of a body of bytes. */
function bodyPart(body: z.infer<typeof content>, schemas: Schemas): string {
  const json = body['application/json'];
  if (json === undefined)
    return `Body: the bytes of the file, as ${Object.keys(body)
      .map((type) => `\`${type}\``)
      .join(' or ')}.`;
  const { properties = {}, required = [] } = resolve(json.schema, schemas);
  const rows = Object.entries(properties).map(
    ([name, field]) =>
      `| \`${name}\`${required.includes(name) ? ' (required)' : ''} | ${valuesOf(field, schemas)} | ${descriptionOf(field)} |`,
  );
  return rows.length === 0 ? 'Body: a JSON object.' : table('field of the body', rows);
}

function resolve(found: Schema, schemas: Schemas): Schema {
  return found.$ref === undefined ? found : (schemas[found.$ref.split('/').at(-1) ?? ''] ?? found);
}

function descriptionOf({ description, anyOf = [] }: Schema): string {
  return description ?? anyOf.find((one) => one.description !== undefined)?.description ?? '';
}

function valuesOf(found: Schema, schemas: Schemas): string {
  const { enum: names, minimum, maximum, anyOf, type, properties } = resolve(found, schemas);
  if (anyOf !== undefined) {
    const kinds = anyOf.filter((one) => one.type !== 'null').map((one) => valuesOf(one, schemas));
    return [...new Set(kinds)].join('; ');
  }
  if (names !== undefined) return names.map((name) => `\`${String(name)}\``).join(', ');
  if (maximum === Number.MAX_SAFE_INTEGER || (minimum !== undefined && maximum === undefined)) return `from ${minimum}`;
  if (maximum !== undefined) return `${minimum ?? 0} to ${maximum}`;
  if (properties !== undefined)
    return `object of ${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`;
  return [type ?? 'any']
    .flat()
    .filter((one) => one !== 'null')
    .join(', ');
}

function responseList(responses: Operation['responses']): string {
  const answers = Object.entries(responses).filter(([status]) => status < '400');
  const refusals = Object.entries(responses).flatMap(([status, { description }]) => {
    const codes = [...description.matchAll(/^`(\w+)`:/gm)].map(([, code = '']) => `[\`${code}\`](errors.md#${code})`);
    return codes.length === 0 ? [] : [`${status} ${codes.join(', ')}`];
  });
  const good = answers.map(([status, { description }]) => `- **${status}**: ${description}`).join('\n');
  return refusals.length === 0 ? good : `${good}\n- Errors: ${refusals.join('; ')}`;
}

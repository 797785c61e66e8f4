/** Requests as code that a reader pastes: with curl, in TypeScript and in Python. */

export interface ExampleRequest {
  readonly method: string;
  /** Path with variables in braces, such as `/v1/jobs/{job}`. */
  readonly path: string;
  readonly needsKey: boolean;
  readonly query?: Readonly<Record<string, string | number>>;
  /** Body as JSON. A text that begins with `$`, such as `$upload`, is a variable. */
  readonly json?: Readonly<Record<string, unknown>>;
  /** Name of the file that is the body. */
  readonly file?: string;
  /** Name of the file for the body of the response, which is JSON otherwise. */
  readonly output?: string;
}

/** Returns three blocks of Markdown with labels, which the site shows as tabs. */
export function endpointCode(request: ExampleRequest): string {
  return [
    `\`\`\`sh [curl]\n${curlCode(request)}\n\`\`\``,
    `\`\`\`ts [TypeScript]\n${typeScriptCode(request)}\n\`\`\``,
    `\`\`\`python [Python]\n${pythonCode(request)}\n\`\`\``,
  ].join('\n\n');
}

function curlCode({ method, path, needsKey, query, json, file, output }: ExampleRequest): string {
  const address = `"$url${addressOf(path, query).replaceAll(/\{(\w+)\}/g, '$$$1')}"`;
  const words = [
    ...methodWords(method, json !== undefined || file !== undefined),
    ...(needsKey ? ['-H "Authorization: Bearer $key"'] : []),
    ...(file === undefined ? [] : [`${method === 'PUT' ? '-T ' : '--data-binary @'}${file}`]),
    ...(output === undefined ? [] : [`-o ${output}`]),
  ];
  const body = json === undefined ? [] : [`-d '${shellJson(json)}'`];
  const line = `curl -sS --fail-with-body ${words.join(' ')}`;
  return [...(`${line} ${address}`.length > 110 ? [line, address] : [`${line} ${address}`]), ...body].join(' \\\n  ');
}

/** Returns the option for a method that curl does not choose itself. A body is sent with POST, by -T with PUT. */
function methodWords(method: string, hasBody: boolean): string[] {
  const chosen = hasBody ? ['POST', 'PUT'] : ['GET'];
  return chosen.includes(method) ? [] : [`-X ${method}`];
}

function shellJson(json: object): string {
  return spaced(JSON.stringify(json)).replaceAll(/"\$(\w+)"/g, `"'"$$$1"'"`);
}

function typeScriptCode({ method, path, needsKey, query, json, file, output }: ExampleRequest): string {
  const names = variablesOf(path, json, needsKey);
  const files = [...(file === undefined ? [] : ['readFile']), ...(output === undefined ? [] : ['writeFile'])];
  const settings = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(needsKey ? ['headers: { authorization: `Bearer ${key}` }'] : []),
    ...(json === undefined ? [] : [`body: JSON.stringify(${literal(json)})`]),
    ...(file === undefined ? [] : [`body: await readFile('${file}')`]),
  ];
  const address = `\`\${url}${addressOf(path, query).replaceAll(/\{(\w+)\}/g, '${$1}')}\``;
  const call = settings.length === 0 ? address : `${address}, {\n${settings.map((line) => `  ${line},\n`).join('')}}`;
  return [
    ...(files.length === 0 ? [] : [`import { ${files.join(', ')} } from 'node:fs/promises';\n`]),
    `const { ${names.join(', ')} } = process.env;`,
    `const response = await fetch(${call});`,
    'if (!response.ok) throw new Error(await response.text());',
    output === undefined
      ? 'console.log(await response.json());'
      : `await writeFile('${output}', Buffer.from(await response.arrayBuffer()));`,
  ].join('\n');
}

/** Returns a value as TypeScript; a text `$name` as the variable. */
function literal(value: unknown): string {
  if (typeof value === 'string') return value.startsWith('$') ? value.slice(1) : `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const fields = Object.entries(value).map(([name, field]: [string, unknown]) =>
    field === `$${name}` ? name : `${name}: ${literal(field)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

function pythonCode({ method, path, needsKey, query, json, file, output }: ExampleRequest): string {
  const names = variablesOf(path, json, needsKey);
  const settings = [
    `f"{url}${addressOf(path, query)}"`,
    ...(needsKey ? ['headers={"Authorization": f"Bearer {key}"}'] : []),
    ...(json === undefined ? [] : [`json=${pythonJson(json)}`]),
    ...(file === undefined ? [] : [`data=open("${file}", "rb")`]),
  ];
  return [
    'import os, requests\n',
    ...names.map((name) => `${name} = os.environ["${name}"]`),
    `response = requests.${method.toLowerCase()}(\n${settings.map((line) => `    ${line},\n`).join('')})`,
    'if not response.ok:\n    raise SystemExit(response.text)',
    output === undefined ? 'print(response.json())' : `open("${output}", "wb").write(response.content)`,
  ].join('\n');
}

function pythonJson(json: object): string {
  return spaced(JSON.stringify(json))
    .replaceAll(/"\$(\w+)"/g, '$1')
    .replaceAll(/: (true|false)/g, (_, value: string) => `: ${value === 'true' ? 'True' : 'False'}`);
}

function addressOf(path: string, query: ExampleRequest['query'] = {}): string {
  const words = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return words.size === 0 ? path : `${path}?${words.toString()}`;
}

/** Returns the environment variables that a request needs, in the order of their use. */
function variablesOf(path: string, json: object | undefined, needsKey: boolean): string[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const inBody = [...JSON.stringify(json ?? {}).matchAll(/"\$(\w+)"/g)].map(([, name = '']) => name);
  return ['url', ...(needsKey ? ['key'] : []), ...inPath, ...inBody];
}

/** Returns JSON with a space after colons and commas between fields. The texts of the examples contain neither. */
function spaced(json: string): string {
  return json.replaceAll(/([:,])(?=["{\d]|true|false)/g, '$1 ');
}

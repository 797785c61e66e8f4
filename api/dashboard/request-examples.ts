/** A request in three languages, for the playground. */
import { DIRECT_KINDS, FORMATS, formatOfName, type Operation } from '#crds/catalogue/formats.ts';

interface ExampleRequest {
  readonly baseUrl: string;
  readonly operation: Operation;
  readonly filename: string;
  /** Options by dotted path. */
  readonly options: ReadonlyMap<string, string | number | boolean>;
  /** Options in the nested form. */
  readonly nested: Readonly<Record<string, unknown>>;
}

interface Example {
  readonly language: string;
  readonly code: string;
}

/** Returns whether direct requests process a file of that name; other files need a job. */
export function isDirect(filename: string): boolean {
  const format = formatOfName(filename);
  return format === null || DIRECT_KINDS.includes(FORMATS[format].kind);
}

/** Returns the request with curl, in TypeScript and in Python: a direct one, or a job where the kind needs one. */
export function requestExamples(request: ExampleRequest): readonly Example[] {
  return isDirect(request.filename) ? directExamples(request) : jobExamples(request);
}

function directExamples({ baseUrl, operation, filename, options }: ExampleRequest): readonly Example[] {
  const query = new URLSearchParams({ filename });
  for (const [path, value] of options) query.set(path, String(value));
  const url = `${baseUrl}/v1/${operation.replace('_', '-')}?${query.toString()}`;
  return [
    {
      language: 'curl',
      code: `curl -sS --fail-with-body -H "Authorization: Bearer $key" \\
  --data-binary @${shellWord(filename)} -OJ \\
  ${shellWord(url)}`,
    },
    {
      language: 'TypeScript',
      code: `import { readFile, writeFile } from 'node:fs/promises';

const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: { authorization: \`Bearer \${process.env.key}\` },
  body: await readFile(${JSON.stringify(filename)}),
});
if (!response.ok) throw new Error(await response.text());
await writeFile('result', Buffer.from(await response.arrayBuffer()));`,
    },
    {
      language: 'Python',
      code: `import os, requests

with open(${JSON.stringify(filename)}, "rb") as file:
    response = requests.post(
        ${JSON.stringify(url)},
        headers={"Authorization": f"Bearer {os.environ['key']}"},
        data=file,
    )
response.raise_for_status()
open("result", "wb").write(response.content)`,
    },
  ];
}

function jobExamples({ baseUrl, operation, filename, nested }: ExampleRequest): readonly Example[] {
  const options = JSON.stringify(nested);
  const name = JSON.stringify(filename);
  const word = shellWord(filename);
  return [
    {
      language: 'curl',
      code: `auth="Authorization: Bearer $key"
upload=$(curl -sS --fail-with-body -H "$auth" ${baseUrl}/v1/uploads \\
  -d "$(jq -n --arg name ${word} --argjson size $(stat -c %s ${word}) '{filename: $name, size: $size}')")
curl -sS --fail-with-body -H "$auth" -T ${word} "$(jq -r .url <<<"$upload")"
curl -sS --fail-with-body -H "$auth" ${baseUrl}/v1/jobs \\
  -d "$(jq -n --arg upload "$(jq -r .id <<<"$upload")" --argjson options ${shellWord(options)} \\
    '{operation: "${operation}", input: {upload: $upload}, options: $options}')"`,
    },
    {
      language: 'TypeScript',
      code: `import { readFile } from 'node:fs/promises';

const headers = { authorization: \`Bearer \${process.env.key}\` };
const send = async (method: string, url: string, body: string | Buffer) => {
  const response = await fetch(url, { method, headers, body });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
};
const file = await readFile(${name});
const upload = await send('POST', '${baseUrl}/v1/uploads', JSON.stringify({ filename: ${name}, size: file.length }));
await send('PUT', upload.url, file);
const input = { upload: upload.id };
const job = await send('POST', '${baseUrl}/v1/jobs', JSON.stringify({ operation: '${operation}', input, options: ${options} }));`,
    },
    {
      language: 'Python',
      code: `import json, os, requests

session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['key']}"
def send(method, url, **body):
    response = session.request(method, url, **body)
    response.raise_for_status()
    return response.json()
file = open(${name}, "rb").read()
upload = send("POST", "${baseUrl}/v1/uploads", json={"filename": ${name}, "size": len(file)})
send("PUT", upload["url"], data=file)
options = json.loads(${JSON.stringify(options)})
job = send("POST", "${baseUrl}/v1/jobs", json={"operation": "${operation}", "input": {"upload": upload["id"]}, "options": options})`,
    },
  ];
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

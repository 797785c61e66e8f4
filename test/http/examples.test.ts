/** Runs the examples of README and guides as a reader pastes them, in order, in fresh folders. */
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePorts } from '#api/embedded/free-ports.ts';
import { commandFor, examplesIn, freshFolder, paste, ROOT, textOf, trust } from '#test/support/documented-examples.ts';
import { useService } from '#test/support/use-service.ts';

const { service, live } = await useService('growth');

describe('the examples of the documentation', () => {
  const pages = ['index', 'guides/large-files', 'guides/choosing-quality'];
  const given = { url: service.baseUrl, key: live };

  function expectResults(folder: string): void {
    const size = (name: string): number => statSync(path.join(folder, name)).size;
    expect(size('smaller.jpg')).toBeLessThan(size('photo.jpg'));
    expect(readFileSync(path.join(folder, 'smaller.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
  }

  it('run as pasted, page after page, with the files that the service has', async () => {
    const all = [
      ...pages,
      ...['direct', 'uploads', 'jobs', 'webhooks', 'presets', 'estimate-and-usage'].map((name) => `reference/${name}`),
    ];
    const blocks = all.flatMap((name) => examplesIn(textOf(`docs/${name}.md`)));
    expect(blocks.length).toBeGreaterThan(8);
    const folder = freshFolder();
    await paste(folder, [trust(folder, service.ca), ...blocks], given);
    expectResults(folder);
    expect(readFileSync(path.join(folder, 'photo.webp')).subarray(8, 12).toString()).toBe('WEBP');
  });

  it.each(['TypeScript', 'Python'] as const)('run in %s, each as a file of its own', async (language) => {
    const folder = freshFolder();
    const isShared = (text: string): boolean => /^(curl .*--remote-name-all|yes )/.test(text);
    const commands = pages.flatMap((page) => {
      const blocks = examplesIn(textOf(`docs/${page}.md`), language);
      const programs = blocks.filter((text) => !isShared(text));
      expect(programs.length, page).toBeGreaterThan(0);
      const name = path.basename(page);
      return [
        ...blocks.filter(isShared),
        ...programs.map((text, index) => commandFor(folder, language, `${name}-${index}`, text)),
      ];
    });
    await paste(folder, [trust(folder, service.ca), ...commands], given);
    expectResults(folder);
  });
});

/** Returns the start of a service in the background of a script, which ends it. @param command of a document. */
function inBackground(command: string): string {
  return `${command.trimEnd()} >served 2>&1 & served=$!
      trap 'kill $served; wait $served || true' EXIT
      until [ -s ready.json ] && grep -q 'signs in once' served; do kill -0 $served; sleep 0.2; done`;
}

describe('the examples of the README', () => {
  it('process files as pasted into a fresh clone, beside the service that it starts', async () => {
    const [serve = '', ...rest] = examplesIn(textOf('README.md')).filter(
      (text) => text.includes('/tmp/mediajobs.json') || /\bcall\b|hack\/mediactl/.test(text),
    );
    expect(serve).toMatch(
      /^hack\/demo --serve --data \/var\/lib\/mediajobs --port 8443 --ready \/tmp\/mediajobs.json\n$/,
    );
    const dashboard = examplesIn(textOf('docs/dashboard.md'));
    expect([rest.length, dashboard.length]).toEqual([4, 1]);
    const folder = freshFolder();
    for (const name of ['api', 'hack']) symlinkSync(path.join(ROOT, name), path.join(folder, name));
    const here = (text: string): string =>
      text
        .replaceAll('/var/lib/mediajobs', path.join(folder, 'data'))
        .replaceAll('/tmp/mediajobs.json', path.join(folder, 'ready.json'))
        .replaceAll('--port 8443', '--port 0');
    await paste(folder, [inBackground(here(serve)), ...[...rest, ...dashboard].map((text) => here(text))]);
    const printed = readFileSync(path.join(folder, 'served'), 'utf8');
    const trusting = readFileSync(path.join(folder, 'data', 'client.env'), 'utf8').trimEnd();
    expect(printed).toContain(trusting.replaceAll(/^/gm, '  '));
    expect(printed).toMatch(/\nmediajobs stopped; its data stays in \/.+\/data\n$/);
    for (const name of ['CURL_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE'])
      expect(trusting).toMatch(new RegExp(`^export ${name}='/.+\\.pem'$`, 'm'));
    expect(readFileSync(path.join(folder, 'people.xlsx')).subarray(0, 2).toString()).toBe('PK');
    expect(readFileSync(path.join(folder, 'smaller.mp4')).subarray(4, 8).toString()).toBe('ftyp');
  });
});

/** Sends a signed ping to the receiver of the guide, and keeps the event that it has saved. */
const PING = `cp event.json kept.json && cp event.signature kept.signature
  at=$(date +%s) ping='{"type": "ping", "data": {}}'
  hex=$(printf %s "$at.$ping" | openssl dgst -sha256 -hmac "$secret" -r | cut -d ' ' -f 1)
  curl -sS --fail --cacert receiver.pem https://localhost:9443/ -H "Svc-Signature: t=$at,v1=$hex" --data-binary "$ping"
  mv kept.json event.json && mv kept.signature event.signature\n`;

describe('the guide to webhooks on a laptop', () => {
  it.each([
    ['Python', 'receiver.py', 'python3 receiver.py'],
    ['TypeScript', 'receiver.mts', 'node receiver.mts'],
  ] as const)('accepts genuine events alone in %s, as pasted', async (language, file, command) => {
    const guide = textOf('docs/guides/webhooks-on-a-laptop.md');
    const [certificate = '', account = '', event = '', deliveries = '', forged = ''] = examplesIn(guide);
    const [receiver = ''] = examplesIn(guide, language).filter((text) => text.includes('9443'));
    const serve = /^```\n(MEDIAJOBS_PRIVATE_TARGETS[\s\S]*?)^```/m.exec(guide)?.[1];
    const folder = freshFolder();
    for (const name of ['api', 'hack']) symlinkSync(path.join(ROOT, name), path.join(folder, name));
    const [port] = await freePorts(1);
    const here = (text = ''): string =>
      text
        .replace('--port 8443', '--port 0 --ready ready.json')
        .replace('https://localhost:8443', '$(jq -r .base_url ready.json)')
        .replaceAll('/var/lib/mediajobs', 'data')
        .replace('. data/client.env', '. ./data/client.env')
        .replace('python3 receiver.py', command)
        .replaceAll('9443', String(port));
    writeFileSync(path.join(folder, file), here(receiver));
    const shown = `{ ${here(deliveries)} } >deliveries`;
    const steps = [inBackground(here(serve)), here(account), here(event), shown, `{ ${here(forged)} } >statuses`];
    await paste(folder, [here(certificate), ...steps.toSpliced(3, 0, here(PING))]);
    expect(readFileSync(path.join(folder, 'deliveries'), 'utf8')).toContain('delivered');
    expect(readFileSync(path.join(folder, 'statuses'), 'utf8')).toBe('204\n400\n400\n');
    expect(readFileSync(path.join(folder, 'events'), 'utf8')).toMatch(
      /^(genuine job\.succeeded job_\w+\n)genuine ping *\n\1FORGED\nFORGED\n$/,
    );
  });
});

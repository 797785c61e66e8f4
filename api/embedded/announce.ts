import { rmSync } from 'node:fs';
import { writeClientEnvironment } from '#api/embedded/client-environment.ts';
import type { EmbeddedSettings } from '#api/embedded/process-settings.ts';
import { signInLink } from '#api/embedded/sign-in-link.ts';
import { dashboardUrlOf } from '#api/users/dashboard-url.ts';
import { systemClock } from '#crds/process/clock.ts';

type AnnouncedSettings = Pick<
  EmbeddedSettings,
  'MEDIAJOBS_DASHBOARD_URL' | 'MEDIAJOBS_DOCS_URL' | 'MEDIAJOBS_PRIVATE_TARGETS' | 'MEDIAJOBS_EXTRA_CA_FILE'
>;

interface Announcement {
  readonly baseUrl: string;
  readonly config: AnnouncedSettings;
  /** Data folder. */
  readonly folder: string;
  readonly caFile: string;
  /** Users of the processes, in a sentence. */
  readonly summary: string;
  readonly databaseUrl: string;
  /** Whether a person reads it, who needs the addresses and a link that signs in. */
  readonly printsLink: boolean;
}

/** Prints the addresses of the service, how clients trust it, and a link to the dashboard. */
export async function announce({ baseUrl, folder, caFile, printsLink, config, ...rest }: Announcement): Promise<void> {
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  const { file, lines } = writeClientEnvironment(folder, caFile);
  say(`mediajobs serves at ${baseUrl} with its data in ${folder}; the CA is ${caFile}`);
  say(`In this service ${rest.summary}`);
  for (const sentence of exceptionsIn(config)) say(sentence);
  if (!printsLink) return;
  const dashboardUrl = dashboardUrlOf({
    MEDIAJOBS_BASE_URL: baseUrl,
    MEDIAJOBS_DASHBOARD_URL: config.MEDIAJOBS_DASHBOARD_URL,
  });
  const addresses = [
    ['API', `${baseUrl}/v1`],
    ['documentation', config.MEDIAJOBS_DOCS_URL ?? `${baseUrl}/docs`],
    ...(dashboardUrl === null ? [] : [['dashboard', dashboardUrl], await linkRow(dashboardUrl, rest.databaseUrl)]),
  ];
  say(`\n${addresses.map(([name = '', url = '']) => `  ${name.padEnd(13)}  ${url}`).join('\n')}\n`);
  say(`In other shells of this machine, let curl, Node and Python trust its certificate with\n\n  . ${file}\n`);
  say(`which contains\n\n${lines.replaceAll(/^(?=.)/gm, '  ')}`);
  say('Stop it with ctrl-C.');
}

/** Returns a sentence for each setting by which the service connects to addresses that it refuses otherwise. */
export function exceptionsIn(config: AnnouncedSettings): string[] {
  const { MEDIAJOBS_PRIVATE_TARGETS: networks = [], MEDIAJOBS_EXTRA_CA_FILE: caFile } = config;
  return [
    ...(networks.length === 0
      ? []
      : [
          `Webhooks, input.url and output.url may use the private networks ${networks.join(', ')} (MEDIAJOBS_PRIVATE_TARGETS)`,
        ]),
    ...(caFile === undefined
      ? []
      : [`Webhooks, input.url and output.url also trust the certificates in ${caFile} (MEDIAJOBS_EXTRA_CA_FILE)`]),
  ];
}

/** Returns the row of a link that signs in the first operator. */
async function linkRow(dashboardUrl: string, databaseUrl: string): Promise<string[]> {
  const path = await signInLink({ clock: systemClock }, databaseUrl);
  return ['sign in', `${dashboardUrl}${path} (signs in once, within an hour)`];
}

/** Removes the ready file and prints that the service has stopped. Returns the exit code. @param folder Data folder. */
export function announceEnd(folder: string, readyFile: string | null): number {
  if (readyFile !== null) rmSync(readyFile, { force: true });
  process.stdout.write(`mediajobs stopped; its data stays in ${folder}\n`);
  return 0;
}

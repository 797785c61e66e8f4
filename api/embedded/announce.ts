import { rmSync } from 'node:fs';
import { writeClientEnvironment } from '#api/embedded/client-environment.ts';
import { signInLink } from '#api/embedded/sign-in-link.ts';
import { dashboardUrlOf } from '#api/users/dashboard-url.ts';
import { systemClock } from '#crds/process/clock.ts';

interface Announcement {
  readonly baseUrl: string;
  /** MEDIAJOBS_DASHBOARD_URL; likewise of the documentation. */
  readonly dashboardUrl: string | undefined;
  readonly docsUrl: string | undefined;
  /** Data folder. */
  readonly folder: string;
  readonly caFile: string;
  /** Users of the processes, in a sentence. */
  readonly summary: string;
  readonly databaseUrl: string;
  /** Whether a person reads it, who needs the addresses and a link that signs in. */
  readonly printsLink: boolean;
}

/** Prints the address of the service, how clients trust it, and a link to the dashboard. */
export async function announce({ baseUrl, folder, caFile, printsLink, ...rest }: Announcement): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  say(`mediajobs serves at ${baseUrl} with its data in ${folder}; the CA is ${caFile}`);
  say(`In this service ${rest.summary}`);
  const { file, lines } = writeClientEnvironment(folder, caFile);
  if (!printsLink) return;
  say(`Clients on this machine trust its certificate after “. ${file}”, which contains:\n${lines.trimEnd()}`);
  say(`The documentation is at ${rest.docsUrl ?? `${baseUrl}/docs`}`);
  const dashboardUrl = dashboardUrlOf({ MEDIAJOBS_BASE_URL: baseUrl, MEDIAJOBS_DASHBOARD_URL: rest.dashboardUrl });
  if (dashboardUrl === null) return;
  const link = `${dashboardUrl}${await signInLink({ clock: systemClock }, rest.databaseUrl)}`;
  say(`The dashboard is at ${dashboardUrl}; this link signs in once, within an hour: ${link}`);
}

/** Removes the ready file and prints that the service has stopped. Returns the exit code. @param folder Data folder. */
export function announceEnd(folder: string, readyFile: string | null): number {
  if (readyFile !== null) rmSync(readyFile, { force: true });
  process.stdout.write(`mediajobs stopped; its data stays in ${folder}\n`);
  return 0;
}

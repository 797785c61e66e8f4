/** Command line and environment of each process of the service: its settings, its user and its view of the machine's files. */
import { CODE_CACHE } from '#api/embedded/code-cache.ts';
import type { Identities } from '#api/embedded/identities.ts';
import type { ProcessName } from '#api/embedded/process-list.ts';
import { settingsOf, type Ports, type SettingTexts } from '#api/embedded/process-settings.ts';
import type { ServiceSockets } from '#api/embedded/service-sockets.ts';
import type { ProcessStart } from '#api/embedded/tree.ts';

interface StartsInput {
  readonly identities: Identities;
  readonly ports: Ports;
  readonly sockets: ServiceSockets;
  /** Environment of the supervisor. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const PASSED = ['PATH', 'HOME', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS'];

/** Returns a function that returns, for settings of the service, how each process starts with its part of them. */
export function processStarts({ identities, ports, sockets, environment }: StartsInput) {
  const passed = PASSED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]]));
  const home = identities.users === null ? {} : { HOME: '/' };
  const common = { ...(Object.fromEntries(passed) as Record<string, string>), NODE_COMPILE_CACHE: CODE_CACHE, ...home };
  return (service: SettingTexts) =>
    (name: ProcessName): ProcessStart => {
      const env = { ...common, ...settingsOf(name, service, { ops: ports.ops, sockets }) };
      // A run connects to the sockets for its input and output files and for heartbeats.
      const extra = name === 'runs' ? [sockets.files, sockets.heartbeat] : [];
      const bound = name === 'api' ? [ports.https, ports.http] : [];
      return { env, identity: identities.commandOf(name, { env, sockets: extra, ports: bound }) };
    };
}

import { ownSettings, serverSettings, type Ports } from '#api/embedded/process-settings.ts';
import { settings, type SettingName } from '#crds/process/settings.ts';

/**
 * Returns the table of settings. The default `–` marks an optional setting without a default, and `required`
 * one without which a process does not start. A star marks settings that the start on one machine generates.
 */
export function settingsTable(): string {
  const names = Object.keys(settings.shape) as SettingName[];
  const filled = filledOnOneMachine();
  const rows = names.map((name) => {
    const star = filled.has(name) ? ' *' : '';
    return `| \`${name}\` | ${defaultOf(name)}${star} | ${settings.shape[name].meta()?.description ?? ''} |`;
  });
  return `| setting | default | meaning |
|---|---|---|
${rows.join('\n')}

\\* Generated on one machine unless you set it.
`;
}

function defaultOf(name: SettingName): string {
  const parsed = settings.shape[name].safeParse(undefined);
  if (!parsed.success) return 'required';
  const { data } = parsed;
  if (data == null || (Array.isArray(data) && data.length === 0)) return '–';
  return `\`${typeof data === 'string' ? data : JSON.stringify(data)}\``;
}

/** Returns the names of the settings that the start generates when the operator sets none. */
function filledOnOneMachine(): ReadonlySet<string> {
  const ports: Ports = { https: 0, http: 0, ops: null };
  const ops = { api: '', control: '', courier: '', engine: '', runs: '' };
  const own = ownSettings({
    given: {},
    folder: { path: '', in: () => '' },
    ports,
    sockets: { engine: '', files: '', heartbeat: '', runs: '', ops },
    secrets: {
      MEDIAJOBS_KEY_PEPPER: '',
      MEDIAJOBS_ENCRYPTION_KEYS: '',
      MEDIAJOBS_LINK_KEYS: '',
      MEDIAJOBS_RECEIPT_KEYS: '',
    },
  });
  const servers = serverSettings({ certificates: { certFile: '', keyFile: '' }, databaseUrl: '', redisUrl: '' });
  return new Set([...Object.keys({ ...own, ...servers }), 'MEDIAJOBS_OPS_SOCKET']);
}

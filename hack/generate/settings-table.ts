import { serviceSettings, type Ports } from '#api/embedded/process-settings.ts';
import { settings, type SettingName } from '#crds/shared/settings.ts';

/**
 * The README's table of settings. A default of `–` is a setting that may be absent; "required" is one
 * that stops the start when it is; a star marks what the start on one machine fills in by itself.
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

\\* On one machine this is filled in unless you give it.
`;
}

function defaultOf(name: SettingName): string {
  const parsed = settings.shape[name].safeParse(undefined);
  if (!parsed.success) return 'required';
  const { data } = parsed;
  if (data == null || (Array.isArray(data) && data.length === 0)) return '–';
  return `\`${typeof data === 'string' ? data : JSON.stringify(data)}\``;
}

/** What the start makes when the operator gives nothing. */
function filledOnOneMachine(): ReadonlySet<string> {
  const ports: Ports = {
    https: 0,
    http: 0,
    engine: 0,
    files: 0,
    heartbeat: 0,
    ops: { api: 0, control: 0, courier: 0, engine: 0 },
  };
  const made = serviceSettings({
    given: {},
    folder: { path: '', in: () => '' },
    ports,
    secrets: {
      MEDIAJOBS_KEY_PEPPER: '',
      MEDIAJOBS_ENCRYPTION_KEYS: '',
      MEDIAJOBS_LINK_KEYS: '',
      MEDIAJOBS_RECEIPT_KEYS: '',
    },
    certificates: { certFile: '', keyFile: '', caFile: '' },
    databaseUrl: '',
    redisUrl: '',
  });
  return new Set([...Object.keys(made), 'MEDIAJOBS_OPS_PORT']);
}

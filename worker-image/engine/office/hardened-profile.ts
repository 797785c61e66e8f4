/** LibreOffice user profile for untrusted documents: no macros, no links, no network. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { officeFolder } from '#worker-image/engine/office/office-program.ts';

type Setting = readonly [path: string, name: string, value: string | number | boolean];

const SCRIPTING = '/org.openoffice.Office.Common/Security/Scripting';
const INET = '/org.openoffice.Inet/Settings';

const SETTINGS: readonly Setting[] = [
  [SCRIPTING, 'BlockUntrustedRefererLinks', true],
  [SCRIPTING, 'DisableMacrosExecution', true],
  [SCRIPTING, 'DisableActiveContent', true],
  [SCRIPTING, 'MacroSecurityLevel', 3],
  // Never update links to other files; each program numbers the choices differently.
  ['/org.openoffice.Office.Common/Load', 'UpdateDocMode', 0],
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', 0],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', 1],
  ['/org.openoffice.Office.Java/VirtualMachine', 'Enable', false],
  // A proxy on a closed port blocks any remaining request.
  [INET, 'ooInetProxyType', 2],
  [INET, 'ooInetHTTPProxyName', '127.0.0.1'],
  [INET, 'ooInetHTTPProxyPort', 9],
  [INET, 'ooInetHTTPSProxyName', '127.0.0.1'],
  [INET, 'ooInetHTTPSProxyPort', 9],
  // Version that last used the profile. With an older one, or none, LibreOffice tests the graphics driver at start, which
  // takes more than half of a short conversion.
  ['/org.openoffice.Setup/Product', 'ooSetupLastVersion', '99.9'],
  // A profile that is not set up is filled with samples at start: a gallery, a bibliography, autotexts.
  ['/org.openoffice.Setup/Office', 'ooSetupInstCompleted', true],
];

/** Name of the profile in its directory. */
export const PROFILE = 'profile';
/** Name of the service in `convert-document.py`. */
export const CONVERSION_SERVICE = 'dev.mediajobs.ConvertDocument';
/** Settings that make LibreOffice run the service at its start. */
const CONVERSION_JOB = [
  `<item oor:path="/org.openoffice.Office.Jobs/Jobs"><node oor:name="convert" oor:op="replace"><prop oor:name="Service"><value>${CONVERSION_SERVICE}</value></prop></node></item>`,
  '<item oor:path="/org.openoffice.Office.Jobs/Events"><node oor:name="OnStartApp" oor:op="replace"><node oor:name="JobList"><node oor:name="convert" oor:op="replace"/></node></node></item>',
];

/**
 * Writes a new profile below the directory and returns its URL for `-env:UserInstallation`. `runsConversion`: LibreOffice
 * runs `convert-document.py` at its start.
 */
export async function writeHardenedProfile(directory: string, { runsConversion = false } = {}): Promise<string> {
  const profile = join(directory, PROFILE);
  const extensions = join(profile, 'user', 'extensions');
  await mkdir(extensions, { recursive: true });
  await writeFile(join(profile, 'user', 'registrymodifications.xcu'), registry(runsConversion ? CONVERSION_JOB : []));
  const build = await readBuildId();
  if (build !== null) await writeFile(join(extensions, 'buildid'), build);
  return pathToFileURL(profile).href;
}

/**
 * Returns the setting of the start by which LibreOffice reads the profile's settings and never writes them: a thread
 * would write them later, and a process with such a thread cannot be forked. Null when LibreOffice has another default.
 */
export async function readOnlyLayers(): Promise<string | null> {
  const settings = await readFile(join(await officeFolder(), 'fundamentalrc'), 'utf8').catch(() => '');
  const layers = /^CONFIGURATION_LAYERS=.* user:!.*$/m.exec(settings);
  return layers === null ? null : layers[0].trim().replace(' user:!', ' user:*');
}

/**
 * Returns the build id that LibreOffice compares with the profile: without it the program checks its extensions and
 * restarts. Null when the file of the program does not have it, which only costs the restart.
 */
async function readBuildId(): Promise<string | null> {
  const settings = await readFile(join(await officeFolder(), 'versionrc'), 'utf8').catch(() => '');
  return /^buildid=(.+)$/m.exec(settings)?.[1]?.trim() ?? null;
}

function registry(more: readonly string[]): string {
  const items = SETTINGS.map(
    ([path, name, value]) =>
      `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
    ...items,
    ...more,
    '</oor:items>',
  ].join('\n');
}

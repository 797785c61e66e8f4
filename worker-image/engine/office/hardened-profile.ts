/** LibreOffice's user profile for strangers' documents: no macros, no links, no network. */
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
  // Never update links to other files, in each program's own numbering.
  ['/org.openoffice.Office.Common/Load', 'UpdateDocMode', 0],
  ['/org.openoffice.Office.Writer/Content/Update', 'Link', 0],
  ['/org.openoffice.Office.Calc/Content/Update', 'Link', 1],
  ['/org.openoffice.Office.Java/VirtualMachine', 'Enable', false],
  // A proxy that is not there swallows what still wants to leave.
  [INET, 'ooInetProxyType', 2],
  [INET, 'ooInetHTTPProxyName', '127.0.0.1'],
  [INET, 'ooInetHTTPProxyPort', 9],
  [INET, 'ooInetHTTPSProxyName', '127.0.0.1'],
  [INET, 'ooInetHTTPSProxyPort', 9],
  // The version that used the profile last. When that is older than the program, which a fresh profile is, each start
  // tests how graphics are drawn, for more than half of a short conversion's time.
  ['/org.openoffice.Setup/Product', 'ooSetupLastVersion', '99.9'],
];

/** Writes a fresh profile below the directory and gives the URL that `-env:UserInstallation` takes. */
export async function writeHardenedProfile(directory: string): Promise<string> {
  const profile = join(directory, 'profile');
  const extensions = join(profile, 'user', 'extensions');
  await mkdir(extensions, { recursive: true });
  await writeFile(join(profile, 'user', 'registrymodifications.xcu'), registry());
  const build = await buildOfProgram();
  if (build !== null) await writeFile(join(extensions, 'buildid'), build);
  return pathToFileURL(profile).href;
}

/**
 * The build that LibreOffice compares a profile with: without it the program looks through its extensions,
 * ends, and starts anew. Null when it is not where the program has it; that only costs the second start.
 */
async function buildOfProgram(): Promise<string | null> {
  const settings = await readFile(join(await officeFolder(), 'versionrc'), 'utf8').catch(() => '');
  return /^buildid=(.+)$/m.exec(settings)?.[1]?.trim() ?? null;
}

function registry(): string {
  const items = SETTINGS.map(
    ([path, name, value]) =>
      `<item oor:path="${path}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">',
    ...items,
    '</oor:items>',
  ].join('\n');
}

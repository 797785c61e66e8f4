/** Checks imports by the rules of `.dependency-cruiser.js`, and that the files were read. */
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseOptions from 'dependency-cruiser/config-utl/extract-depcruise-options';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';

const FOLDERS = ['api', 'controller', 'crds', 'worker-image', 'test', 'hack'];
/** Minimum number of modules: a run that resolves no import finds no violation either. */
const KNOWN_MODULES = 300;
const KNOWN_IMPORT = { from: 'api/main.ts', to: 'crds/process/config.ts' };

const options = await extractDepcruiseOptions('./.dependency-cruiser.js');
const { output } = await cruise(FOLDERS, options, undefined, { tsConfig: extractTSConfig('./tsconfig.json') });
if (typeof output === 'string') throw new Error('dependency-cruiser returned text instead of its findings');

const problems = [...blindness(output), ...output.summary.violations.map(sentence)];
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.stdout.write(`imports: ${output.summary.totalCruised} modules, ${problems.length} problems\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

function blindness({ modules, summary }: ICruiseResult): string[] {
  const seen = modules
    .find(({ source }) => source === KNOWN_IMPORT.from)
    ?.dependencies.some(({ resolved }) => resolved === KNOWN_IMPORT.to);
  const few = summary.totalCruised < KNOWN_MODULES ? [`only ${summary.totalCruised} modules were read`] : [];
  return seen === true ? few : [...few, `the import of ${KNOWN_IMPORT.to} in ${KNOWN_IMPORT.from} was not seen`];
}

function sentence({ from, to, rule, cycle }: ICruiseResult['summary']['violations'][number]): string {
  const comment = options.ruleSet?.forbidden?.find((each) => each.name === rule.name)?.comment ?? '';
  const way = cycle === undefined ? to : cycle.map(({ name }) => name).join(' → ');
  return `${from} → ${way}: ${rule.name}. ${comment}`;
}

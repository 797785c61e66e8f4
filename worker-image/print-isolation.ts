/** Prints the name of the strongest isolation level that passes its trial on this machine; `none` when no level does. */
import { probeIsolation } from '#worker-image/tools/isolation.ts';

const { level } = await probeIsolation({ setting: 'none' });
process.stdout.write(`${level}\n`);

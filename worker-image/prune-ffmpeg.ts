/** Makes the copies of ffmpeg's libraries in the folder of the compile cache: `prune-ffmpeg.ts <folder>`. */
import { pruneFfmpegLibraries } from '#worker-image/tools/ffmpeg-libraries.ts';
import { makeRunCommand } from '#worker-image/tools/run-command.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new RangeError('the folder is missing');
await pruneFfmpegLibraries(makeRunCommand(), folder);

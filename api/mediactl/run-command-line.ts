import type { Command } from 'commander';
import { CommandLineError } from '#api/mediactl/command-line-error.ts';
import type { MediactlService } from '#api/mediactl/open-service.ts';
import type { CommandResult } from '#api/mediactl/format-result.ts';

/** Options parsed by commander; each command declares its own type. */
type Options = never;

/** Work of a command. @param argument first argument of the command line; '' without one. */
export type CommandWork = (service: MediactlService, options: Options, argument: string) => Promise<CommandResult>;

/** Returns the action of a command: connects to the service, runs the work and prints its result or its error. */
export function runCommand(program: Command, work: CommandWork) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const { data, json } = program.opts<{ data?: string; json?: boolean }>();
    try {
      const { openService } = await import('#api/mediactl/open-service.ts');
      const { formatResult } = await import('#api/mediactl/format-result.ts');
      const service = await openService({ data, env: process.env });
      try {
        const result = await work(service, command.opts(), command.args[0] ?? '');
        process.stdout.write(formatResult(result, json === true ? 'json' : 'text'));
      } finally {
        await service.database.close();
      }
    } catch (error) {
      const { visibleText } = await import('#crds/process/visible-text.ts');
      process.stderr.write(`mediactl: ${visibleText(await messageOf(error))}\n`);
      process.exitCode = 1;
    }
  };
}

async function messageOf(error: unknown): Promise<string> {
  const [{ MediaError }, { ConfigError }] = await Promise.all([
    import('#crds/contract/media-error.ts'),
    import('#crds/process/config.ts'),
  ]);
  const isExpected = error instanceof MediaError || error instanceof ConfigError || error instanceof CommandLineError;
  if (isExpected) return error.message;
  return `unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

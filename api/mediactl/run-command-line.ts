import type { Command } from 'commander';
import { CommandLineError } from '#api/mediactl/command-line-error.ts';
import type { Service } from '#api/mediactl/open-service.ts';
import type { Answer } from '#api/mediactl/print.ts';

/** What commander read; each command's own declarations say of which form. */
type Options = never;

/** A command's action: opens the service, runs the work, prints its answer, and says refusals in one sentence. */
export function runCommand(
  program: Command,
  work: (service: Service, options: Options, args: readonly [string]) => Promise<Answer>,
) {
  return async (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const { data, json } = program.opts<{ data?: string; json?: boolean }>();
    try {
      const { openService } = await import('#api/mediactl/open-service.ts');
      const { print } = await import('#api/mediactl/print.ts');
      const service = await openService({ data, env: process.env });
      try {
        const answer = await work(service, command.opts(), command.args as [string]);
        process.stdout.write(print(answer, json === true ? 'json' : 'text'));
      } finally {
        await service.database.close();
      }
    } catch (error) {
      process.stderr.write(`mediactl: ${await sentence(error)}\n`);
      process.exitCode = 1;
    }
  };
}

async function sentence(error: unknown): Promise<string> {
  const [{ MediaError }, { ConfigError }] = await Promise.all([
    import('#crds/media-error.ts'),
    import('#crds/shared/config.ts'),
  ]);
  const isPlain = error instanceof MediaError || error instanceof ConfigError || error instanceof CommandLineError;
  if (isPlain) return error.message;
  return `this failed for a reason that mediactl does not know: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

#!/usr/bin/env node
/**
 * Command line for operators: accounts, keys, users, webhooks. Uses the database of the service that runs on the folder
 * of `--data DIR`, else the one of `DATABASE_URL`.
 */
import { Argument, Command, Option } from 'commander';
import { eachOf, usdOrNone } from '#api/mediactl/arguments.ts';
import { runCommand } from '#api/mediactl/run-command-line.ts';
import { ROLES } from '#api/users/user.ts';
import { FEATURES, PLAN_NAMES } from '#crds/catalogue/plans.ts';

const program = new Command('mediactl')
  .description(
    'Makes and changes the accounts and API keys of a mediajobs service, and shows what its webhooks came to.',
  )
  .option(
    '--data <dir>',
    'folder of the service that runs on this machine; without it, DATABASE_URL and MEDIAJOBS_KEY_PEPPER say where',
  )
  .option('--json', 'print one JSON object')
  .configureHelp({ showGlobalOptions: true });

const plan = (): Option => new Option('--plan <plan>', 'plan of the account').choices(PLAN_NAMES);
const feature = (): Option =>
  new Option('--feature <feature>', `switch on: ${FEATURES.join(', ')}; may be repeated`).argParser(eachOf(FEATURES));
const withoutFeature = (): Option => {
  const option = new Option('--no-feature <feature>', 'switch off; may be repeated').argParser(eachOf(FEATURES));
  // Has a value of its own; commander would otherwise treat it as the negation of `--feature`.
  option.negate = false;
  return option;
};

const account = program.command('account').description('accounts');
account
  .command('create')
  .description('make an account')
  .requiredOption('--name <name>', 'name, up to 100 characters')
  .addOption(plan().default('none'))
  .option('--payment-method', 'the account has a payment method')
  .addOption(feature())
  .action(
    runCommand(program, async (service, options) =>
      (await import('#api/mediactl/account-commands.ts')).create(service, options),
    ),
  );
account
  .command('set')
  .description('change an account; what is not named stays')
  .addArgument(new Argument('<account>', 'id, acc_…'))
  .addOption(plan())
  .option('--payment-method', 'the account has a payment method')
  .option('--no-payment-method', 'it has none')
  .option('--unpaid-invoice', 'the account has an unpaid invoice')
  .option('--no-unpaid-invoice', 'it has none')
  .option('--suspended', 'suspend the account')
  .option('--no-suspended', 'end the suspension')
  .addOption(
    new Option('--spend-cap <usd>', 'monthly spend cap in US dollars; `none` for that of the plan').argParser(
      usdOrNone,
    ),
  )
  .addOption(feature())
  .addOption(withoutFeature())
  .action(
    runCommand(program, async (service, options, [id]) =>
      (await import('#api/mediactl/account-commands.ts')).set(service, id, options),
    ),
  );
account
  .command('list')
  .description('list every account')
  .action(runCommand(program, async (service) => (await import('#api/mediactl/account-commands.ts')).list(service)));

const key = program.command('key').description('API keys');
key
  .command('create')
  .description('make a key; its text is shown this once')
  .requiredOption('--account <account>', 'id, acc_…')
  .addOption(new Option('--mode <mode>', 'mode of the key').choices(['live', 'test']).makeOptionMandatory())
  .requiredOption('--name <name>', 'name, up to 60 characters')
  .addOption(
    new Option('--allow <cidr>', 'address or range that may use the key; may be repeated, default any').argParser(
      eachOf(null),
    ),
  )
  .action(
    runCommand(program, async (service, options) =>
      (await import('#api/mediactl/key-commands.ts')).create(service, options),
    ),
  );
key
  .command('revoke')
  .description('revoke a key for good')
  .addArgument(new Argument('<key>', 'id, key_…'))
  .action(
    runCommand(program, async (service, _options, [id]) =>
      (await import('#api/mediactl/key-commands.ts')).revoke(service, id),
    ),
  );
key
  .command('list')
  .description('list the keys of an account, or all')
  .option('--account <account>', 'id, acc_…')
  .action(
    runCommand(program, async (service, options) =>
      (await import('#api/mediactl/key-commands.ts')).list(service, options),
    ),
  );

const user = program.command('user').description('people of the dashboard');
user
  .command('invite')
  .description('invite a person into an account, or as an operator; prints the one-time link to accept with')
  .requiredOption('--email <address>', 'e-mail address')
  .option('--account <account>', 'id, acc_…')
  .addOption(new Option('--role <role>', 'role in the account').choices(ROLES).default('owner'))
  .option('--operator', 'an operator of the whole installation')
  .action(
    runCommand(program, async (service, options) =>
      (await import('#api/mediactl/user-commands.ts')).invite(service, options),
    ),
  );
user
  .command('reset')
  .description('print a one-time link to a new password')
  .addArgument(new Argument('<email>', 'e-mail address, or the id where several people have it'))
  .option('--second-step', 'switch the codes of the authenticator app off, too')
  .action(
    runCommand(program, async (service, options, [email]) =>
      (await import('#api/mediactl/user-commands.ts')).reset(service, email, options),
    ),
  );
user
  .command('sign-in-link')
  .description('print a one-time link that signs in, for an hour')
  .addArgument(new Argument('<email>', 'e-mail address, or the id where several people have it'))
  .action(
    runCommand(program, async (service, _options, [email]) =>
      (await import('#api/mediactl/user-commands.ts')).signInLink(service, email),
    ),
  );
user
  .command('remove')
  .description('remove a person, all sessions and open invitations; accounts and what was done stay')
  .addArgument(new Argument('<email>', 'e-mail address, or the id where several people have it'))
  .option('--leave-without-owner', 'also the only owner of an account')
  .action(
    runCommand(program, async (service, options, [email]) =>
      (await import('#api/mediactl/user-commands.ts')).remove(service, email, options),
    ),
  );
user
  .command('list')
  .description('list everybody')
  .action(runCommand(program, async (service) => (await import('#api/mediactl/user-commands.ts')).list(service)));

const webhook = program.command('webhook').description('webhook deliveries');
webhook
  .command('deliveries')
  .description('list the newest 1,000 deliveries of the last 30 days')
  .option('--account <account>', 'id, acc_…')
  .option('--dead', 'only those that were given up after eight attempts')
  .action(
    runCommand(program, async (service, options) =>
      (await import('#api/mediactl/webhook-commands.ts')).deliveries(service, options),
    ),
  );
webhook
  .command('resend')
  .description('send a delivered or dead event again: the same id and body, eight attempts from now on')
  .addArgument(new Argument('<event>', 'id, evt_…'))
  .action(
    runCommand(program, async (service, _options, [id]) =>
      (await import('#api/mediactl/webhook-commands.ts')).resend(service, id),
    ),
  );

await program.parseAsync();

#!/usr/bin/env node
/**
 * Command line for operators: accounts, keys, users, webhooks. Uses the database of the service that runs on the folder
 * of `--data DIR`, else the one of `DATABASE_URL`.
 */
import { Argument, Command, Option } from 'commander';
import { eachOf, usdOrNone } from '#api/mediactl/arguments.ts';
import { runCommand, type CommandWork } from '#api/mediactl/run-command-line.ts';
import { ROLES } from '#api/users/user.ts';
import { FEATURES, PLAN_NAMES } from '#crds/catalogue/plans.ts';

const program = new Command('mediactl')
  .description('Manages accounts, API keys, users and webhook deliveries of a mediajobs service.')
  .option(
    '--data <dir>',
    'data folder of a service on this machine; without it, DATABASE_URL and MEDIAJOBS_KEY_PEPPER are used',
  )
  .option('--json', 'print one JSON object')
  .configureHelp({ showGlobalOptions: true });

// Loaded by the command that needs them: the help is shown without.
const accounts = () => import('#api/mediactl/account-commands.ts');
const keys = () => import('#api/mediactl/key-commands.ts');
const users = () => import('#api/mediactl/user-commands.ts');
const checks = () => import('#api/mediactl/check-service.ts');
const webhooks = () => import('#api/mediactl/webhook-commands.ts');
const run = (work: CommandWork) => runCommand(program, work);

const plan = (): Option => new Option('--plan <plan>', 'plan of the account').choices(PLAN_NAMES);
const feature = (): Option =>
  new Option('--feature <feature>', `switch on: ${FEATURES.join(', ')}; may be repeated`).argParser(eachOf(FEATURES));
const withoutFeature = (): Option => {
  const option = new Option('--no-feature <feature>', 'switch off; may be repeated').argParser(eachOf(FEATURES));
  // Has a value of its own; commander would otherwise treat it as the negation of `--feature`.
  option.negate = false;
  return option;
};

program
  .command('check')
  .description('run a sample job through the API, with a test key of its own')
  .option('--address <host:port>', 'connect to this address in place of that of the base URL')
  .option('--ca <file>', 'authorities (PEM) that are trusted in addition to the public ones')
  .action(run(async (service, options) => (await checks()).check(service, options)));

const account = program.command('account').description('accounts');
account
  .command('create')
  .description('create an account')
  .requiredOption('--name <name>', 'name, up to 100 characters')
  .addOption(plan().default('none'))
  .option('--payment-method', 'the account has a payment method')
  .addOption(feature())
  .action(run(async (service, options) => (await accounts()).create(service, options)));
account
  .command('set')
  .description('change an account; settings without an option are kept')
  .addArgument(new Argument('<account>', 'id, acc_…'))
  .addOption(plan())
  .option('--payment-method', 'the account has a payment method')
  .option('--no-payment-method', 'it has none')
  .option('--unpaid-invoice', 'the account has an unpaid invoice')
  .option('--no-unpaid-invoice', 'it has none')
  .option('--suspended', 'suspend the account')
  .option('--no-suspended', 'reactivate the account')
  .addOption(
    new Option('--spend-cap <usd>', 'monthly spend cap in US dollars; `none`: the default of the plan').argParser(
      usdOrNone,
    ),
  )
  .addOption(feature())
  .addOption(withoutFeature())
  .action(run(async (service, options, id) => (await accounts()).set(service, id, options)));
account
  .command('list')
  .description('list all accounts')
  .action(run(async (service) => (await accounts()).list(service)));

const key = program.command('key').description('API keys');
key
  .command('create')
  .description('create a key; the key is shown only once')
  .requiredOption('--account <account>', 'id, acc_…')
  .addOption(new Option('--mode <mode>', 'mode of the key').choices(['live', 'test']).makeOptionMandatory())
  .requiredOption('--name <name>', 'name, up to 60 characters')
  .addOption(
    new Option('--allow <cidr>', 'address or range that may use the key; may be repeated, default any').argParser(
      eachOf(null),
    ),
  )
  .action(run(async (service, options) => (await keys()).create(service, options)));
key
  .command('revoke')
  .description('revoke a key permanently')
  .addArgument(new Argument('<key>', 'id, key_…'))
  .action(run(async (service, _options, id) => (await keys()).revoke(service, id)));
key
  .command('list')
  .description('list the keys of an account, or all')
  .option('--account <account>', 'id, acc_…')
  .action(run(async (service, options) => (await keys()).list(service, options)));

const user = program.command('user').description('users of the dashboard');
user
  .command('invite')
  .description('invite a person into an account, or as an operator; prints the one-time link to accept with')
  .requiredOption('--email <address>', 'e-mail address')
  .option('--account <account>', 'id, acc_…')
  .addOption(new Option('--role <role>', 'role in the account').choices(ROLES).default('owner'))
  .option('--operator', 'invite an operator of the whole installation')
  .action(run(async (service, options) => (await users()).invite(service, options)));
user
  .command('reset')
  .description('print a one-time link that sets a new password')
  .addArgument(new Argument('<email>', 'e-mail address, or the user id when several users have the address'))
  .option('--second-step', 'also switch off the codes of the authenticator app')
  .action(run(async (service, options, email) => (await users()).reset(service, email, options)));
user
  .command('sign-in-link')
  .description('print a one-time sign-in link, valid for an hour')
  .addArgument(new Argument('<email>', 'e-mail address, or the user id when several users have the address'))
  .action(run(async (service, _options, email) => (await users()).signInLink(service, email)));
user
  .command('remove')
  .description('remove a user with all sessions and open invitations; accounts and the activity log are kept')
  .addArgument(new Argument('<email>', 'e-mail address, or the user id when several users have the address'))
  .option('--leave-without-owner', 'remove even the only owner of an account')
  .action(run(async (service, options, email) => (await users()).remove(service, email, options)));
user
  .command('list')
  .description('list all users')
  .action(run(async (service) => (await users()).list(service)));

const webhook = program.command('webhook').description('webhook deliveries');
webhook
  .command('deliveries')
  .description('list the newest 1,000 deliveries of the last 30 days')
  .option('--account <account>', 'id, acc_…')
  .option('--dropped', 'only those whose eight attempts failed')
  .action(run(async (service, options) => (await webhooks()).deliveries(service, options)));
webhook
  .command('resend')
  .description('send a delivered or dropped event again with the same id and body, in up to eight attempts')
  .addArgument(new Argument('<event>', 'id, evt_…'))
  .action(run(async (service, _options, id) => (await webhooks()).resend(service, id)));

await program.parseAsync();

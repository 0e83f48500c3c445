// `albaran ...`: finds and runs the command. Exit codes: 0 success, 1 failure, 2 wrong arguments.
import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { commandTools, type Interruption } from './command.ts';
import { addAccountCreate } from './commands/account-create.ts';
import { addAccountDelete } from './commands/account-delete.ts';
import { addAccountList } from './commands/account-list.ts';
import { addAccountSet } from './commands/account-set.ts';
import { addCheck } from './commands/check.ts';
import { addDemo } from './commands/demo.ts';
import { addDistribute } from './commands/distribute.ts';
import { addExport } from './commands/export.ts';
import { addIdKeyForget } from './commands/id-key-forget.ts';
import { addIdKeyList } from './commands/id-key-list.ts';
import { addImport } from './commands/import.ts';
import { addKeyCreate } from './commands/key-create.ts';
import { addKeyList } from './commands/key-list.ts';
import { addKeyRevoke } from './commands/key-revoke.ts';
import { addMigrate } from './commands/migrate.ts';
import { addPersonAnonymise } from './commands/person-anonymise.ts';
import { addRenew } from './commands/renew.ts';
import { addRestoreMark } from './commands/restore-mark.ts';
import { addServe } from './commands/serve.ts';
import { addUserCreate } from './commands/user-create.ts';
import { addUserGrant } from './commands/user-grant.ts';
import { addUserLeave } from './commands/user-leave.ts';
import { addUserPassword } from './commands/user-password.ts';
import { addVerifactuCorrect } from './commands/verifactu-correct.ts';
import { addVerifactuExport } from './commands/verifactu-export.ts';
import { addVerifactuStatus } from './commands/verifactu-status.ts';
import { addVerifactuSwitch } from './commands/verifactu-switch.ts';
import { addVerify } from './commands/verify.ts';
import { Failure, Interrupted } from './failure.ts';
import { complaints, isOutputFailure, output } from './output.ts';

/** The command line with every command. */
export function makeProgram(interruption: Interruption): Command {
  const program = new Command('albaran')
    .description('The albaran service and its companies. Settings come from the environment: docs/configuration.md')
    .version(manifest.version)
    .option('--json', 'answer in JSON, errors too')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => output.say(text.trimEnd()),
      writeErr: (text) => complaints.say(text.trimEnd()),
    })
    .showHelpAfterError('(see --help)')
    .exitOverride();
  const tools = commandTools(program, interruption);
  for (const add of [
    addServe,
    addMigrate,
    addDemo,
    addImport,
    addExport,
    addRenew,
    addCheck,
    addVerify,
    addRestoreMark,
    addDistribute,
  ])
    add(program, tools);
  const account = program.command('account').description('companies');
  for (const add of [addAccountCreate, addAccountSet, addAccountList, addAccountDelete]) add(account, tools);
  const key = program.command('key').description('API keys of a company');
  for (const add of [addKeyCreate, addKeyList, addKeyRevoke]) add(key, tools);
  const idKey = program.command('id-key').description('keys that record ids are sealed with (ID_KEYS)');
  for (const add of [addIdKeyList, addIdKeyForget]) add(idKey, tools);
  const user = program.command('user').description('people who sign in, and the companies they belong to');
  for (const add of [addUserCreate, addUserPassword, addUserGrant, addUserLeave]) add(user, tools);
  const verifactu = program.command('verifactu').description('registers of invoices for the tax agency');
  for (const add of [addVerifactuSwitch, addVerifactuStatus, addVerifactuCorrect, addVerifactuExport])
    add(verifactu, tools);
  const person = program.command('person').description('people in the data of a company');
  addPersonAnonymise(person, tools);
  return program;
}

/** Runs one command and prints its output. Returns the exit code. */
export async function runCommandLine(args: readonly string[], interruption: Interruption): Promise<number> {
  const { stop } = interruption;
  const program = makeProgram(interruption);
  try {
    await program.parseAsync(args, { from: 'user' });
    if (stop.reason instanceof Interrupted) return 0;
    stop.throwIfAborted();
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (stop.reason instanceof Interrupted) return stop.reason.exitCode;
    // An uncaught error comes first: other failures follow from it.
    const failure = failureOf(stop.aborted ? stop.reason : error);
    if (failure.lines.length === 0) return failure.exitCode;
    if (program.opts().json) output.say(JSON.stringify(failure.json));
    else for (const line of failure.lines) complaints.say(line);
    return failure.exitCode;
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  // Output failures are reported when the process ends.
  if (isOutputFailure(error)) return new Failure([]);
  const debug = ['debug', 'trace'].includes(process.env.LOG_LEVEL ?? '');
  return new Failure(debug && stack ? stack : `Failed: ${message} (LOG_LEVEL=debug tells where)`, {
    json: { error: message },
    cause: error,
  });
}

import { version } from '../../package.json';
import { printHelp } from '../cli/command-line.ts';
import { argument, programFlags } from '../cli/flag.ts';
import { action, type Program } from '../cli/verb.ts';

/** `petstore version`, and `petstore --version` with other flags. bin/petstore.js answers `--version` without other words. */
const printVersion = action({
  wrongSettings: 'unread',
  examples: ['petstore version'],
  async run({ io }) {
    await io.stdout.write(`${version}\n`);
    return { kind: 'nothing' };
  },
});

/** `petstore help` after other flags. A line that begins with it needs no program: see `without-program.ts`. */
const help = action({
  wrongSettings: 'unread',
  examples: ['petstore help pets list', 'petstore help runs'],
  args: { words: argument('[words...]', 'a command, or a topic such as runs', { offers: 'command' }) },
  async run(context, { words }) {
    await printHelp(context, ['help', ...words]);
    return { kind: 'nothing' };
  },
});

/** The command line: the commands in the order of help, and the look-up for completion. */
export const program: Program = {
  name: 'petstore',
  summary: 'The command line of the pet store service',
  examples: [
    'petstore --offline pets list',
    'petstore profile create shop --base-url https://petstore.example.com',
    'petstore pets list --status available -o json',
    'petstore inventory apply stock.csv',
  ],
  flags: programFlags,
  complete: async (...args) => (await import('./completion.ts')).complete(...args),
  verbs: [
    {
      name: 'pets',
      aliases: ['pet'],
      summary: 'List, get, create, update and delete pets',
      load: async () => (await import('./pets.ts')).petCommands,
    },
    {
      name: 'categories',
      aliases: ['category'],
      summary: 'List, get, create, update and delete categories',
      load: async () => (await import('./categories.ts')).categoryCommands,
    },
    {
      name: 'orders',
      aliases: ['order'],
      summary: 'List, get, create, update, complete and delete orders',
      load: async () => (await import('./orders.ts')).orderCommands,
    },
    {
      name: 'inventory',
      summary: 'List, get, set and adjust stock counts, or apply a whole file of them',
      load: async () => (await import('./inventory/index.ts')).inventoryCommands,
    },
    {
      name: 'runs',
      summary: 'List past runs, or show what one run did',
      load: async () => (await import('./runs.ts')).runCommands,
    },
    {
      name: 'resume',
      summary: 'Finish a run that stopped',
      load: async () => (await import('./runs.ts')).resume,
    },
    {
      name: 'undo',
      summary: 'Take back the changes of a run',
      load: async () => (await import('./runs.ts')).undo,
    },
    {
      name: 'overview',
      summary: 'Show pets by status, the lowest counts and open orders',
      load: async () => (await import('./overview.ts')).overview,
    },
    {
      name: 'api',
      summary: "List the operations, bind to a service's own description, send requests of your own",
      load: async () => (await import('./api/index.ts')).apiCommands,
    },
    {
      name: 'serve',
      summary: 'Serve the pet store from memory, on this machine',
      load: async () => (await import('./serve.ts')).serve,
    },
    {
      name: 'offline',
      summary: 'Copy a service into the embedded store, or reset that store',
      load: async () => (await import('./offline.ts')).offlineCommands,
    },
    {
      name: 'smoke',
      summary: 'Check a deployment',
      load: async () => (await import('./checks/smoke.ts')).smoke,
    },
    {
      name: 'config',
      summary: 'Read and change the config; explain where settings come from',
      load: async () => (await import('./config.ts')).configCommands,
    },
    {
      name: 'profile',
      summary: 'List, create, use, show and delete profiles of services',
      load: async () => (await import('./profile.ts')).profileCommands,
    },
    {
      name: 'doctor',
      summary: 'Check the config, the token and the connection',
      load: async () => (await import('./checks/doctor.ts')).doctor,
    },
    {
      name: 'completion',
      summary: 'Print the completion script of a shell',
      load: async () => (await import('./completion.ts')).completion,
    },
    {
      name: 'version',
      summary: 'Print the version',
      ...printVersion,
    },
    {
      name: 'help',
      summary: 'Show help for a command or a topic',
      ...help,
    },
  ],
};

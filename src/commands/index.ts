import type { Entry } from './entry.ts';

/** The commands, as help lists them. */
export const entries: readonly Entry[] = [
  {
    name: 'pets',
    aliases: ['pet'],
    summary: 'List, get, create, update and delete pets',
    examples: [
      'petstore pets list --status available',
      'petstore pets create --name Rex --category Dogs',
      'petstore pets update 3 --status sold',
    ],
    verbs: () => import('./pets/index.ts'),
  },
  {
    name: 'categories',
    aliases: ['category'],
    summary: 'List, get, create, update and delete categories',
    examples: [
      'petstore categories list',
      'petstore categories create --name Amphibians --description "Frogs, toads and newts"',
    ],
    verbs: () => import('./categories/index.ts'),
  },
  {
    name: 'orders',
    aliases: ['order'],
    summary: 'List, get, create, update, complete and delete orders',
    examples: [
      'petstore orders list --open',
      'petstore orders create --pet 3 --quantity 2 --ship-date 2027-01-15',
      'petstore orders complete 1',
    ],
    verbs: () => import('./orders/index.ts'),
  },
  {
    name: 'inventory',
    summary: 'List, get, set and adjust stock counts, or apply a whole file of them',
    examples: [
      'petstore inventory list --below 5',
      'petstore inventory set 42 10',
      'petstore inventory diff stock.csv',
      'petstore inventory apply stock.csv',
    ],
    verbs: () => import('./inventory/index.ts'),
  },
  {
    name: 'api',
    summary: "List the operations, bind to a service's own description, send requests of your own",
    examples: [
      'petstore api operations',
      'petstore api bind https://shop.example/openapi.json --profile staging',
      'petstore api request GET /pets -f status=available',
      'petstore api try createPet --offline',
    ],
    verbs: () => import('./api/index.ts'),
  },
  {
    name: 'serve',
    summary: 'Serve the pet store from memory, on this machine',
    load: () => import('./serve/index.ts'),
  },
  {
    name: 'smoke',
    summary: 'Check a deployment',
    load: () => import('./smoke/index.ts'),
  },
  {
    name: 'config',
    summary: 'Read and change the config; explain where settings come from',
    examples: ['petstore config init', 'petstore config explain', 'petstore config set output json'],
    verbs: () => import('./config/index.ts'),
  },
  {
    name: 'profile',
    summary: 'List, create, use, show and delete profiles of services',
    examples: [
      'petstore profile create staging --base-url https://staging.example.com/v1',
      'petstore profile use staging',
      'petstore profile list',
    ],
    verbs: () => import('./profile/index.ts'),
  },
  {
    name: 'doctor',
    summary: 'Check config, permissions and the way to the service',
    load: () => import('./doctor/index.ts'),
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell, or install it',
    load: () => import('./completion/index.ts'),
  },
  { name: 'help', summary: 'Show help for a command or a topic', load: () => import('./help/index.ts') },
];

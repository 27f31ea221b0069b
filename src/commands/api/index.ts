import type { Contract } from '../../api/contract.ts';
import { isPath } from '../../api/http.ts';
import type { OperationId } from '../../api/nouns.ts';
import { operationIds, operations } from '../../api/operations.ts';
import { argument, flag, value, values } from '../../cli/flag.ts';
import { type Group, verb } from '../../cli/verb.ts';
import { rawMethods } from '../../client/user-request.ts';
import { propertyColumns } from '../../output/columns.ts';
import { parseChoice, ValueError } from '../../process/errors.ts';
import { printJson } from '../../process/exact-json.ts';

/** Parses an absolute path without a query. @throws ValueError for any other text. */
function parseBasePath(text: string): string {
  if (isPath(text)) return text;
  throw new ValueError('must be a path such as /v3, or / for none');
}

const operationsVerb = verb({
  name: 'operations',
  aliases: ['ls'],
  summary: 'List the operations of the service and the source of each',
  description:
    'Lists the operations of the service, each with its method and path. An operation that the service lacks has neither. The source of an operation is stated (by the specification of the service), chosen (by this program), bound (to the description of a service), or missing (from the description). --all also shows why an operation is missing.',
  examples: [
    'petstore api operations',
    'petstore api operations --all',
    'petstore api operations --fields operation,source,why',
  ],
  flags: { all: flag('--all', 'show every column') },
  view(_, { all = false }) {
    const shown = propertyColumns(['operation', 'method', 'path', 'source', 'stability', 'deprecated']);
    const further = propertyColumns(['tag', 'sunset', 'tryIt', 'why']);
    const hidden = further.map((column) => ({ ...column, isHidden: true }) as const);
    return { plural: 'operations', columns: [...shown, ...(all ? further : hidden)] };
  },
  async run(context) {
    const contract = await context.contract();
    return { kind: 'list', pages: [operationIds.map((id) => toOperationRecord(id, contract))] };
  },
});

/** If the service lacks the operation, only its tag and the reason are known. */
function toOperationRecord(id: OperationId, contract: Contract) {
  const operation = contract.operations.get(id);
  return {
    operation: id,
    method: operation?.method ?? null,
    path: operation?.path ?? null,
    tag: (operation ?? operations[id]).tag,
    source: operation?.source ?? 'missing',
    stability: operation?.stability ?? null,
    deprecated: operation?.isDeprecated ?? null,
    sunset: operation?.sunset ?? null,
    tryIt: operation ? !operation.hidesTryIt : null,
    why: operation?.why ?? contract.missing.get(id),
  };
}

const spec = verb({
  name: 'spec',
  summary: 'Print the OpenAPI 3.0.3 document of the built-in contract',
  description:
    'Prints the OpenAPI 3.0.3 document of the built-in contract, as `petstore serve` answers it: JSON, or YAML with -o yaml.',
  examples: ['petstore api spec > openapi.json', 'petstore api spec -o yaml > openapi.yaml'],
  async run({ settings, io }) {
    const { toOpenApi } = await import('../../api/openapi.ts');
    const { localSunset } = await import('../../server/app.ts');
    const document = toOpenApi({ serverUrl: settings.baseUrl, sunset: localSunset });
    return { kind: 'text', text: `${printJson(document, io.stdout.isTerminal ? 2 : 0)}\n`, data: document };
  },
});

const bind = verb({
  name: 'bind',
  summary: "Follow a service's own OpenAPI description",
  description: [
    'Reads an OpenAPI 3 or Swagger 2.0 description, JSON or YAML, finds the operations that petstore uses, and stores the binding for the active profile, or without a profile for the origin of the base URL. From then on the commands for that profile or origin follow the binding. Prints which operations are bound, and why the others are not. Ids must be whole numbers.',
    'For the URL of a service, by default the base URL, it tries the usual paths of descriptions. If several operations of the description fit one operation of petstore, none of them is bound, and the exit code is 3.',
  ],
  examples: [
    'petstore api bind',
    'petstore api bind https://shop.example --profile staging',
    'petstore api bind openapi.yaml --dry-run',
    "petstore api bind openapi.yaml --map updateInventory='PATCH /stock/{petId}'",
    'petstore api bind openapi.yaml --map pets.id=animalId --map pets.name=title',
  ],
  args: {
    location: argument(
      '[file or URL]',
      'the description, or a service that has one; - reads stdin (default: the base URL)',
      { offers: 'file' },
    ),
  },
  flags: {
    map: values(
      '--map <name=value>',
      'bind this operation or field of the description; ?name=value after a path fixes a query parameter; can be repeated',
    ),
    basePath: value(
      '--base-path <path>',
      'the base path of the operations, in place of that of the description; / for none',
      { parse: parseBasePath },
    ),
    withToken: flag(
      '--with-token',
      'send the token to the origin of the description, even if the service is elsewhere',
    ),
    dryRun: flag('--dry-run', 'show what would be bound and store nothing'),
  },
  view: () => ({ plural: 'operations', columns: propertyColumns(['operation', 'method', 'path', 'why']) }),
  run: async (context, values) => (await import('./bind.ts')).bindDescription(context, values),
});

const unbind = verb({
  name: 'unbind',
  summary: 'Remove the binding, and use the built-in contract',
  description: 'Removes the binding of the active profile, and that of the origin of the base URL.',
  examples: ['petstore api unbind', 'petstore api unbind --profile staging'],
  run: async (context) => (await import('./bind.ts')).unbind(context),
});

const request = verb({
  name: 'request',
  summary: 'Send any request to the service',
  description: [
    'Sends a request to the service, with the same base URL, credential, deadline and retries as every other command, and prints the body of the answer unchanged. The path lies below the base URL; a whole URL must be of the same origin.',
    'Each -f adds a query parameter to a GET, HEAD, OPTIONS or DELETE, and to any request with --input; otherwise it adds a field to a JSON body. key=value is text, and key:=value is JSON, such as a number.',
  ],
  writes: 'any-request',
  examples: [
    'petstore api request GET /pets -f status=available -f limit=5',
    'petstore api request POST /pets -f name=Rex -f categoryId:=1',
    "petstore api request PUT /store/inventory/42 -f 'quantity:=10' -i",
    'petstore api request POST /store/orders --input order.json',
  ],
  args: {
    method: argument('<METHOD>', 'GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS', {
      parse: (text) => parseChoice(text.toUpperCase(), rawMethods),
      offers: rawMethods,
    }),
    path: argument('<path>', 'path below the base URL'),
  },
  flags: {
    field: values('-f, --field <key=value>', 'add a query parameter or a field of the body; can be repeated'),
    input: value('--input <file>', 'send this file as the body; - reads it from stdin', { offers: 'file' }),
    include: flag('-i, --include', 'print the status line and the headers too'),
  },
  run: async (context, values) => (await import('./raw-request.ts')).sendRaw(context, values),
});

export const apiCommands: Group = {
  examples: [
    'petstore api operations',
    'petstore api bind https://shop.example --profile staging',
    'petstore api request GET /pets -f status=available',
  ],
  verbs: [operationsVerb, spec, bind, unbind, request],
};

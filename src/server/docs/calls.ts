import { operations } from '../../api/operations.ts';
import { type JsonValue, printJson } from '../../process/exact-json.ts';
import { shellWord } from '../../process/text.ts';
import type { DocsOperation } from './docs-operations.ts';

/**
 * The operation as a command line of this program, with the examples of the document, which works on the seeded shop.
 * Every pet there has an inventory entry, so the line that creates one deletes it first.
 */
export function petstoreCall(docsOperation: DocsOperation, baseUrl: string): string {
  const id = docsOperation.operation.operationId;
  const { noun } = operations[id];
  const ids = idsOf(docsOperation);
  const { quantity, petId } = docsOperation.body?.example ?? {};
  const line = (...words: string[]) =>
    ['petstore', noun, ...words, '--base-url', baseUrl].map(shellWord).join(' ');
  if (id === 'createInventory')
    return `${line('delete', `${petId}`, '--yes')} && ${line('create', `${petId}`, `${quantity}`)}`;
  if (id === 'updateInventory') return line('set', ...ids, `${quantity}`);
  const verb = /^[a-z]+/.exec(id)?.[0] ?? '';
  return line(verb, ...ids, ...(verb === 'delete' ? ['--yes'] : flagsOf(docsOperation)));
}

/** The operation as a command line of curl. */
export function curlCall(docsOperation: DocsOperation, baseUrl: string): string {
  const { operation, method, path, parameters, body } = docsOperation;
  const target = path.replace(/\{(\w+)\}/g, (_, name) =>
    printExample(parameters.find((each) => each.name === name)?.example),
  );
  const words = ['curl', ...(method === 'GET' ? [] : ['-X', method]), baseUrl + target];
  if (body) words.push('-H', 'Content-Type: application/json', '-d', printJson(body.example));
  const line = words.map(shellWord).join(' ');
  if (operation.operationId !== 'createInventory') return line;
  const entry = shellWord(`${baseUrl}${target}/${body?.example.petId}`);
  return `curl -X DELETE ${entry} && ${line}`;
}

export function printExample(value: JsonValue | undefined): string {
  return value === undefined ? '' : String(value);
}

function idsOf({ parameters }: DocsOperation): string[] {
  return parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ example }) => printExample(example));
}

/** The flags for the fields of a body: `--ship-date` for `shipDate`, `--pet` for `petId`. */
function flagsOf({ body }: DocsOperation): string[] {
  return Object.entries(body?.example ?? {}).flatMap(([field, value]) => {
    if (field === 'id') return [];
    if (field === 'complete') return [value === true ? '--complete' : '--no-complete'];
    const name = field.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return [`--${name}`, printExample(value)];
  });
}

import { isListId, offeredOperation } from '../../api/contract.ts';
import { type Input, type Operation, type OperationId, operations } from '../../api/operations.ts';
import { confirmWrite } from '../../asking.ts';
import type { Client } from '../../client/client.ts';
import { type Context, commandLine } from '../../context.ts';
import type { Prompt } from '../../input/question.ts';
import { propertyColumns, type View } from '../../output/columns.ts';
import { messageOf, UsageError } from '../../process/errors.ts';
import type { JsonObject } from '../../process/exact-json.ts';
import { readPet } from '../../records/pets.ts';
import { requestText, showRequests } from '../../records/print.ts';
import { findOperation } from './operations.ts';
import { describeQuestion, type Question, questionsOf } from './question.ts';

type AnyInput = Input<OperationId>;

/** Asks for the parameters of an operation, shows the request and sends it. */
export async function tryOut(context: Context, name: string): Promise<void> {
  const id = findOperation(name, 'api try');
  const operation = offeredOperation(await context.contract(), id);
  const words = ['api', 'request', operation.method, operation.path];
  const withoutQuestions = `without questions: ${commandLine(context, words)}`;
  if (operation.hideTryIt)
    throw new UsageError(
      `api try ${id}: the service asks that it is not offered to try (x-hideTryItPanel)`,
      withoutQuestions,
    );
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      'api try: needs a terminal to ask on, and neither CI nor --no-input',
      withoutQuestions,
    );
  const client = await context.client();
  const input = await askInput(prompt, operation);
  const request = client.toRequest(id, input);
  if (context.flags.dryRun) return showRequests(context, [request]);
  await context.io.stderr.write(`\n${requestText(request)}\n`);
  if (operation.method !== 'GET' || operations[id].method !== 'GET')
    await confirmWrite(context, { what: `send this ${operation.method}`, destructive: true });
  await send(context, client, id, input);
}

async function askInput(prompt: Prompt, operation: Operation): Promise<AnyInput> {
  const ids: Record<string, unknown> = {};
  const query: Record<string, unknown> = {};
  const body: Record<string, unknown> = {};
  const places = { id: ids, query, body };
  for (const question of questionsOf(operation)) {
    const value = await ask(prompt, question);
    if (value !== undefined) places[question.place][question.name] = value;
  }
  return { ...ids, query, ...(operation.body && { body }) } as unknown as AnyInput;
}

async function ask(prompt: Prompt, question: Question): Promise<unknown> {
  const { bounds, required, read } = question;
  const message = `${question.name} (${describeQuestion(question)})`;
  const choices = bounds.enum ?? (bounds.type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices) {
    const none = required ? [] : [{ name: '(leave it out)', value: undefined }];
    const text = await prompt.select(message, [
      ...none,
      ...choices.map((choice) => ({ name: choice, value: choice })),
    ]);
    return text === undefined ? undefined : read(text);
  }
  const check = (text: string) => {
    if (text.trim() === '') return required ? 'a value is needed' : undefined;
    try {
      read(text);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  const text = await prompt.text(message, { check });
  return text.trim() === '' ? undefined : read(text);
}

/** Sends the request and prints the record of the answer, or the first page of a list. */
async function send(context: Context, client: Client, id: OperationId, input: AnyInput): Promise<void> {
  const printer = await context.printer();
  if (isListId(id)) {
    const { query } = input as { readonly query?: object };
    for await (const page of client.list(id, query)) {
      const records = page as unknown as JsonObject[];
      return printer.records([records], viewOf(records[0]));
    }
    return;
  }
  const { value, status } =
    id === 'getPet'
      ? await readPet(context, client, (input as Input<'getPet'>).petId)
      : await client.call(id, input);
  if (value === undefined) return context.notice(`done: ${status}`);
  const record = value as unknown as JsonObject;
  await printer.record(record, viewOf(record));
}

/** All fields of the record, in its order. */
function viewOf(example: JsonObject = { id: null }): View<JsonObject> {
  return { noun: 'records', columns: propertyColumns(Object.keys(example)) };
}

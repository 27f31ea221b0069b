import { type Contract, isListId, type Operation, offeredOperation } from '../../api/contract.ts';
import type { Input, OperationId } from '../../api/operations.ts';
import { confirmWrite } from '../../asking/confirmation.ts';
import type { Client } from '../../client/client.ts';
import type { Context } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import type { Prompt } from '../../input/prompt.ts';
import type { JsonObject, JsonValue } from '../../json.ts';
import type { View } from '../../output/columns.ts';
import { readPet } from '../../records/read-pet.ts';
import { requestText, showRequests } from '../../records/show-requests.ts';
import { describe, type Question, questionsOf } from './question.ts';
import { findOperation } from './targets.ts';

type AnyInput = Input<OperationId>;

/** Asks for what an operation takes, shows the request and sends it. */
export async function tryOut(context: Context, name: string): Promise<void> {
  const id = findOperation(name, 'api try');
  const operation = triable(await context.contract(), id);
  const prompt = await context.prompt();
  if (!prompt)
    throw new UsageError(
      'api try: nobody can answer: it needs a terminal, and neither CI nor --no-input',
      withoutQuestions(operation),
    );
  const client = await context.client();
  const input = await askInput(prompt, operation);
  const request = client.toRequest(id, input);
  if (context.flags.dryRun) return showRequests(context, [request]);
  await context.io.stderr.write(`\n${requestText(request)}\n`);
  if (operation.method !== 'GET')
    await confirmWrite(context, { what: `send this ${operation.method}`, destructive: true });
  await send(context, client, { id, input });
}

function triable(contract: Contract, id: OperationId): Operation {
  const operation = offeredOperation(contract, id);
  if (!operation.hideTryIt) return operation;
  throw new UsageError(
    `api try ${id}: the service asks that nobody tries it like this (x-hideTryItPanel)`,
    withoutQuestions(operation),
  );
}

function withoutQuestions({ method, path }: Operation): string {
  return `without questions: petstore api request ${method} '${path}'`;
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
  const message = `${question.name} (${describe(question)})`;
  const choices =
    question.bounds.enum ?? (question.bounds.type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices) {
    const none = question.required ? [] : [{ name: '(leave it out)', value: undefined }];
    const text = await prompt.select(message, [
      ...none,
      ...choices.map((choice) => ({ name: choice, value: choice })),
    ]);
    return text === undefined ? undefined : question.read(text);
  }
  const refuse = (text: string) => {
    if (text.trim() === '') return question.required ? 'a value is needed' : undefined;
    try {
      question.read(text);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  };
  const text = await prompt.text(message, { refuse });
  return text.trim() === '' ? undefined : question.read(text);
}

async function send(
  context: Context,
  client: Client,
  { id, input }: { readonly id: OperationId; readonly input: AnyInput },
): Promise<void> {
  const printer = await context.printer();
  if (isListId(id)) {
    const { query } = input as { readonly query?: object };
    for await (const page of client.list(id, query)) {
      const rows = page as unknown as JsonObject[];
      await printer.records([rows], viewOf(rows[0]));
      break;
    }
    return;
  }
  const { value, status } =
    id === 'getPet'
      ? await readPet(context, client, (input as Input<'getPet'>).petId)
      : await client.call(id, input);
  if (value === undefined) return context.notice(`done: ${status}`);
  const row = value as unknown as JsonObject;
  await printer.record(row, viewOf(row));
}

/** Whatever fields the record has, in its own order. */
function viewOf(row: JsonObject | undefined): View<JsonObject> {
  const names = Object.keys(row ?? { id: null });
  return {
    noun: 'records',
    columns: names.map((name) => ({ name, value: (record): JsonValue | undefined => record[name] })),
  };
}

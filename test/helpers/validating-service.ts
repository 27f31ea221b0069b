import { readFile } from 'node:fs/promises';
import { Validator } from '@cfworker/json-schema';
import { parse } from 'yaml';
import {
  type ReceivedRequest,
  type RecordingServer,
  type Reply,
  recordingServer,
} from './recording-server.ts';
import { storeRecords } from './stored-records.ts';

// A service that an OpenAPI document describes. It validates every request and every answer with the document, and keeps its
// records in memory. It shares no code with the program.

interface Schema {
  readonly [keyword: string]: unknown;
}

interface Media {
  readonly content?: { readonly 'application/json'?: { readonly schema?: Schema } };
}

interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: Media & { readonly required?: boolean };
  readonly responses: Readonly<Record<string, Media>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

interface ValidatingService extends RecordingServer {
  /** A line for each request or answer that breaks the document. */
  readonly violations: string[];
}

/** Starts a service on a free port, which serves its description at `/openapi.yaml`. */
export async function validatingService(file: string): Promise<ValidatingService> {
  const text = await readFile(file, 'utf8');
  const document = parse(text) as Document;
  const violations: string[] = [];
  const records = storeRecords(
    { '/pets': [], '/pet': [], '/store/order': [] },
    { list: (found, _, url) => ({ body: found.slice(0, Number(url.searchParams.get('limit') ?? 100)) }) },
  );
  const carryOut = (request: ReceivedRequest, template: string): Reply => {
    const path = request.path.replace(/\/findByStatus$/, '?status=available').replace('/findByStatus', '');
    const { status, body } = records.answer({ ...request, path });
    if (status === 404) return { status, body: { code: 404, message: 'no such record' } };
    return { status: status === 204 && template === '/pets/{id}' ? 204 : 200, body };
  };

  const check = (subject: string, schema: Schema | undefined, value: unknown) => {
    if (!schema) return;
    const { components } = document;
    const { valid, errors } = new Validator({ ...schema, components } as object, '2019-09', false).validate(
      value,
    );
    if (!valid)
      violations.push(
        `${subject}: ${errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`)}`,
      );
  };

  const answer = (request: ReceivedRequest): Reply => {
    const { pathname, searchParams } = new URL(request.path, 'http://service.test');
    const call = `${request.method} ${request.path}`;
    const match = findOperation(document, request.method, pathname);
    if (!match) {
      violations.push(`${call}: no such operation`);
      return { status: 404 };
    }
    const { operation, template, ids } = match;
    for (const { name, in: location, required, schema } of operation.parameters ?? []) {
      const headers = request.headers[name];
      const value = { path: ids[name], query: searchParams.get(name) }[location] ?? headers;
      if (value === null || value === undefined) {
        if (required) violations.push(`${call}: ${name} is required`);
      } else check(`${call} ${name}`, schema, schema.type === 'integer' ? Number(value) : value);
    }
    for (const name of searchParams.keys())
      if (!operation.parameters?.some((each) => each.name === name))
        violations.push(`${call}: unknown parameter ${name}`);
    const body = request.body === '' ? undefined : JSON.parse(request.body);
    const media = operation.requestBody?.content?.['application/json'];
    if (body !== undefined && !media) violations.push(`${call}: takes no body`);
    if (body === undefined && media) violations.push(`${call}: a body is required`);
    if (media) check(`${call} body`, media.schema, body);
    const reply = carryOut(request, template);
    const response = operation.responses[String(reply.status)] ?? operation.responses.default;
    const answerSchema = response?.content?.['application/json']?.schema;
    if (!response) violations.push(`${call}: ${reply.status} is not documented`);
    if (reply.body !== undefined) check(`${call} answer`, answerSchema, reply.body);
    return reply;
  };

  const server = await recordingServer({ '/openapi.yaml': text }, answer);
  return Object.assign(server, { violations });
}

function findOperation(document: Document, method: string, pathname: string) {
  const templates = Object.keys(document.paths).sort((a, b) => a.split('{').length - b.split('{').length);
  for (const template of templates) {
    const operation = document.paths[template]?.[method.toLowerCase()];
    const pattern = new RegExp(`^${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = pattern.exec(pathname);
    if (operation && match) return { operation, template, ids: match.groups ?? {} };
  }
  return undefined;
}

import { hidesTryIt } from '../../api/contract.ts';
import type { OpenApi, OpenApiParameter } from '../../api/openapi.ts';
import { type JsonObject, printJson } from '../../process/exact-json.ts';
import { escapeMarkup } from '../../process/text.ts';
import {
  curlCommand,
  type DocsOperation,
  listDocsOperations,
  petstoreCommand,
  printExample,
  referenceName,
  resolveSchema,
  responsesOf,
} from './docs-operations.ts';

interface PageOptions {
  /** The URL of the server, without a slash at the end, for the calls on the page. */
  readonly baseUrl: string;
  /** True if the page offers no form for a write. */
  readonly readOnly: boolean;
}

export function renderPage(document: OpenApi, options: PageOptions): string {
  const operations = listDocsOperations(document);
  const { title, version, description } = document.info;
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const links = groups.map(
    (group) => html`
<p>${group.name}</p>
<ul>${group.operations.map(
      ({ operation, method }) =>
        html`<li><a href="#${operation.operationId}"><span class="method">${method}</span> ${operation.summary}</a></li>`,
    )}</ul>`,
  );
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} ${version}</title>
<link rel="stylesheet" href="docs.css">
<script type="module" src="docs.js"></script>
</head>
<body>
<main>
<header>
<h1>${title} <small>${version}</small></h1>
<p>${description}</p>
<p>It answers at <code>${options.baseUrl}</code>. The same description for programs: <a href="openapi.json">openapi.json</a>, <a href="openapi.yaml">openapi.yaml</a>.</p>
</header>
<nav aria-label="Operations">${links}<p><a href="#schemas">Schemas</a></p></nav>
<noscript><p class="note">Without JavaScript this page can be read, but its forms cannot send anything.</p></noscript>
${groups.map(
  (group) => html`<section aria-labelledby="tag-${group.name}">
<h2 id="tag-${group.name}">${group.name}</h2>
<p>${group.description}</p>
${group.operations.map((docsOperation) => renderOperation(docsOperation, options))}
</section>`,
)}
<section id="schemas" aria-labelledby="schemas-title">
<h2 id="schemas-title">Schemas</h2>
${Object.entries(document.components.schemas).map(([name, schema]) => renderSchema(document, name, schema))}
</section>
</main>
</body>
</html>
`;
  return page.text;
}

function renderOperation(docsOperation: DocsOperation, options: PageOptions): Html {
  const { operation, method, path, parameters, body, document } = docsOperation;
  const id = operation.operationId;
  return html`<article id="${id}" aria-labelledby="${id}-title">
<h3 id="${id}-title"><a href="#${id}">${operation.summary}</a>${badgesOf(operation)}</h3>
<p class="route"><span class="method">${method}</span> <code>${path}</code> <span class="hint">${id}</span></p>
${
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
${renderTable(
  `Parameters of ${id}`,
  ['Name', 'In', 'Type', 'Description'],
  parameters.map((each) => [
    html`<code>${each.name}</code>`,
    each.required ? `${each.in}, required` : each.in,
    renderType(document, each.schema),
    each.description,
  ]),
)}`
}
${
  body &&
  html`<h4>Body</h4>
<p><code>application/json</code>, ${renderType(document, body.schema)}</p>
${fieldTable(document, `Body of ${id}`, body.schema)}`
}
<h4>Responses</h4>
${renderResponses(docsOperation)}
<h4>The same call in a shell</h4>
${renderCall(`petstore, ${id}`, petstoreCommand(docsOperation, options.baseUrl))}
${renderCall(`curl, ${id}`, curlCommand(docsOperation, options.baseUrl))}
${renderTryIt(docsOperation, options)}
</article>
`;
}

function renderResponses(docsOperation: DocsOperation): Html {
  const responses = responsesOf(docsOperation);
  const cells = responses.map(([status, { description, content }]) => [
    html`<code>${status}</code>`,
    description,
    content ? renderType(docsOperation.document, content['application/json'].schema) : 'none',
  ]);
  const head = ['Status', 'Meaning', 'Body'];
  return renderTable(`Responses of ${docsOperation.operation.operationId}`, head, cells);
}

function badgesOf(operation: DocsOperation['operation']): HtmlPart {
  const { deprecated, 'x-deprecated-sunset': sunset, 'x-stability': stability } = operation;
  const badges = [
    deprecated === true && (sunset ? `deprecated, ends on ${sunset}` : 'deprecated'),
    stability,
  ];
  return badges.map((badge) => badge && html` <span class="badge">${badge}</span>`);
}

function renderCall(label: string, line: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="Command line, ${label}"><code>${line}</code></pre>
`;
}

/** Renders the form that sends the request, or the reason why there is no form. */
function renderTryIt(docsOperation: DocsOperation, { readOnly }: PageOptions): Html {
  const { document, pathItem, operation, method, path, parameters, body } = docsOperation;
  const id = operation.operationId;
  if (hidesTryIt(document, pathItem, operation))
    return html`<p class="note">The service asks that this operation is not tried from its documentation (<code>x-hideTryItPanel</code>).</p>`;
  if (readOnly && method !== 'GET')
    return html`<p class="note">This server is read-only, so this operation cannot be tried here.</p>`;
  return html`<form class="try" data-method="${method}" data-path="${path}" aria-label="Try ${id}">
<h4>Try it</h4>
${parameters.map((parameter) => renderField(id, parameter))}
${
  body &&
  html`<div class="field"><label for="${id}-body">Body <span class="hint">application/json</span></label>
<textarea id="${id}-body" name="body" rows="${Object.keys(body.example).length + 2}" spellcheck="false">${printJson(body.example, 2)}</textarea></div>`
}
<button type="submit" disabled>Send ${method}</button>
<div class="answer" role="status" aria-label="Response to ${id}"></div>
</form>`;
}

function renderField(id: string, { name, in: place, required, example }: OpenApiParameter): Html {
  return html`<div class="field"><label for="${id}-${name}"><code>${name}</code> <span class="hint">${place}${required && ', required'}</span></label>
<input type="text" id="${id}-${name}" name="${name}" data-in="${place}"${required && ' required'} autocomplete="off" value="${printExample(example)}"></div>
`;
}

function renderSchema(document: OpenApi, name: string, schema: JsonObject): Html {
  const { properties } = resolveSchema(document, schema);
  return html`<article id="schema-${name}" aria-labelledby="schema-${name}-title">
<h3 id="schema-${name}-title"><a href="#schema-${name}">${name}</a></h3>
${properties ? fieldTable(document, `Fields of ${name}`, schema) : html`<p>${renderType(document, schema)}</p>`}
</article>
`;
}

function fieldTable(document: OpenApi, caption: string, schema: JsonObject): Html {
  const { properties = {}, required = [] } = resolveSchema(document, schema);
  const rows = Object.entries(properties as { [name: string]: JsonObject }).map(([name, field]) => [
    html`<code>${name}</code>`,
    renderType(document, field),
    (required as string[]).includes(name) ? 'yes' : 'no',
  ]);
  return renderTable(caption, ['Field', 'Type', 'Required'], rows);
}

/** Renders a table. A wide table scrolls by itself, with the keyboard too, so that the page does not scroll sideways. */
function renderTable(caption: string, head: readonly string[], rows: readonly (readonly HtmlPart[])[]): Html {
  return html`<div class="table" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;
}

/** Renders a type in words. A schema with a name becomes a link to it. */
function renderType(document: OpenApi, schema: JsonObject): Html {
  const name = referenceName(schema);
  if (name !== undefined) return html`<a href="#schema-${name}">${name}</a>`;
  if (schema.type === 'array') return html`array of ${renderType(document, schema.items as JsonObject)}`;
  if (Array.isArray(schema.enum)) return html`one of ${schema.enum.map(String).join(', ')}`;
  const { type, format, minimum, maximum } = schema;
  const bounds = [
    format !== undefined && String(format),
    minimum !== undefined && `at least ${minimum}`,
    maximum !== undefined && `at most ${maximum}`,
  ].filter((bound) => bound !== false);
  return html`${String(type)}${bounds.length > 0 && `, ${bounds.join(', ')}`}`;
}

/** Markup that goes into a page as it is. */
class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | false | undefined | readonly HtmlPart[];

/** A template tag for markup. It escapes every value that is not markup, for text and for quoted attributes. */
function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(toMarkup)));
}

function toMarkup(content: HtmlPart): string {
  if (content instanceof Html) return content.text;
  if (content === undefined || content === false) return '';
  if (typeof content === 'object') return content.map(toMarkup).join('');
  return escapeMarkup(String(content));
}

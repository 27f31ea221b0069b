import { argument, flag, value, values } from '../../cli/flag.ts';
import { verb } from '../../cli/verb.ts';
import { rawMethods } from '../../client/request.ts';

export const request = verb({
  name: 'request',
  summary: 'Send a request of your own making',
  description: [
    'Sends a request to the service, with the same base URL, credential, deadline and retries as every other command, and prints the body of the answer as it came. The path lies below the base URL; a whole URL must be of the same origin.',
    'Each -f adds a parameter to the query of a GET, HEAD or DELETE, or of any request that has --input, and else a field to a JSON body. A field has the type that the operation gives it; where no operation is known, true, false, null and numbers are themselves and all else is text. key:=value takes the value as JSON.',
  ].join('\n\n'),
  write: true,
  examples: [
    'petstore api request GET /pets -f status=available -f limit=5',
    'petstore api request POST /pets -f name=Rex -f categoryId=1',
    "petstore api request PUT /store/inventory/42 -f 'quantity:=10' -i",
    'petstore api request POST /store/orders --input order.json',
  ],
  args: {
    method: argument('<METHOD>', 'GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS', { offers: rawMethods }),
    path: argument('<path>', 'path below the base URL'),
  },
  flags: {
    field: values(
      '-f, --field <key=value>',
      'add a query parameter or a field of the body; may be given again',
    ),
    input: value('--input <file>', 'send this file as the body; - reads it from stdin', { offers: 'file' }),
    include: flag('-i, --include', 'print the status line and the headers too'),
  },
  async run(context, { method, path, field = [], input, include }) {
    const { sendRaw } = await import('./send-raw.ts');
    await sendRaw(context, { method, path, fields: field, input, include: include === true });
  },
});

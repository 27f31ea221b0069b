import { expect, test } from 'vitest';
import { whyMoreRecords } from '../../src/api/list-signs.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/process/exact-json.ts';

// Ten records of 25 were sent, in one page. Whatever the description says, an answer that says so is believed.

const link = 'http://service.test/pets?page=2';

/**
 * Answers that say that there is more, by the fields of the body; `#` marks a header. An answer with other values says that the
 * list is whole: 10 records in place of 25, one page in place of 3, no link and no token, and the opposite of a flag.
 */
const answers = `
OData, by its versions
  {"@odata.nextLink":LINK}  {"@odata.count":25}  {"odata.nextLink":LINK}
  {"d":{"results":[],"__next":LINK}}  {"d":{"results":[],"__count":"25"}}
Laravel
  {"current_page":2,"next_page_url":LINK}  {"links":{"next":LINK,"prev":null},"meta":{"last_page":3}}
Spring
  {"last":false,"number":0,"size":7}  {"page":{"size":7,"totalElements":25}}
Django, Salesforce
  {"count":25,"previous":null}  {"done":false}  {"nextRecordsUrl":LINK}
Jira, GitHub, Slack
  {"isLast":false,"maxResults":7}  {"incomplete_results":true}  {"response_metadata":{"next_cursor":"abc"}}
Kubernetes
  {"metadata":{"continue":"abc"}}  {"metadata":{"remainingItemCount":15}}
Links
  {"next":LINK}  {"next_url":LINK}  {"links":{"next":{"href":LINK}}}  {"_links":{"next":LINK,"self":{}}}
  {"_links":{"next":{"href":LINK}}}  {"links":[{"rel":"next","href":LINK}]}
  {"links":[{"rel":["next"],"href":LINK}]}
  {"paging":{"next":LINK,"cursors":{"after":null}}}
Pages and tokens
  {"next_page":2}  {"nextPage":2}  {"next_page_token":"abc"}  {"nextToken":"abc"}  {"continuationToken":"abc"}
  {"pagination":{"page":1,"pages":3}}  {"totalPages":3}
Totals
  {"meta":{"total":25}}  {"meta":{"pagination":{"total":25}}}  {"data":{"items":[],"total":25}}
  {"totalCount":25}  {"total_count":25}  {"totalResults":25}  {"totalElements":25}
Flags
  {"hasNext":true}  {"hasMore":true}  {"has_next":true}  {"hasNextPage":true}  {"truncated":true}
  {"pageInfo":{"hasNextPage":true,"endCursor":null}}  {"IsTruncated":true}  {"more":true}
  {"has_more":1}  {"hasNextPage":"True"}  {"is_last":0}  {"hits":{"total":25}}
Headers
  {"#content-range":"pets 0-9/25"}  {"#status":206,"#content-range":"pets 0-9/25"}
  {"#x-total":"25"}  {"#x-total-count":"25"}  {"#total-count":"25"}  {"#x-total-pages":"3"}
  {"#pagination-count":"25"}  {"#x-pagination-total-count":"25"}  {"#x-has-more":"true"}
  {"#x-wp-total":"25"}  {"#x-wp-totalpages":"3"}  {"#x-next-page":"2"}  {"#x-pagination":"{\\"TotalCount\\":25,\\"HasNext\\":true}"}
  {"#x-continuation-token":"abc"}  {"#x-ms-continuation":"abc"}  {"#x-next-token":"abc"}  {"#opc-next-page":"abc"}
  {"#link":"<http://service.test/pets?page=2>; rel=next"}  {"#link":"<http://service.test/pets?page=2>; rel='next'"}  {"#x-link":"<http://service.test/pets?page=2>; rel=\\"next\\""}
`
  .split(/ {2}|\n/)
  .filter((text) => text.startsWith('{'))
  .map((text) => text.replaceAll('LINK', JSON.stringify(link)));

const whole: Readonly<Record<string, string>> = {
  true: 'false',
  false: 'true',
  '25': '10',
  '15': '0',
  '3': '1',
  '2': '0',
  '1': '0',
  '0': '1',
  True: 'False',
  next: 'prev',
  abc: '',
};
const inWhole = (text: string) => text.replace(/\b\w+\b/g, (word) => whole[word] ?? word);

/** Makes the answer of a list that is whole. */
function wholeOf(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value === link ? null : inWhole(value);
  if (Array.isArray(value)) return value.map(wholeOf);
  if (!isJsonObject(value)) return JSON.parse(inWhole(String(value)));
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, wholeOf(member)]));
}

function signOf(answer: JsonObject) {
  const isHeader = ([name]: [string, unknown]) => name.startsWith('#');
  const headers = Object.entries(answer).filter(isHeader);
  const { '#status': status = 200, ...fields } = Object.fromEntries(headers);
  const body = Object.fromEntries(Object.entries(answer).filter((entry) => !isHeader(entry)));
  return whyMoreRecords(
    {
      status: Number(status),
      headers: Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name.slice(1), String(value)]),
      ),
      envelope: Object.keys(body).length > 0 ? { items: [], ...body } : undefined,
    },
    { count: 10, pages: 1 },
  );
}

test.each(answers)('a list that goes on is believed, and one that is whole too: %s', (text) => {
  const answer: JsonObject = JSON.parse(text);
  expect(signOf(answer)).toMatch(/^(the header )?\S+( \S+)? says |^it answered 206/);
  expect(signOf(wholeOf(answer) as JsonObject)).toBeUndefined();
});

test('status 206 alone is a part, and with a range that is reached it is not', () => {
  expect(signOf({ '#status': 206 })).toBe('it answered 206 (Partial Content)');
  expect(signOf({ '#status': 206, '#content-range': 'pets 0-9/*' })).toContain('(Partial Content)');
  expect(signOf({ '#status': 206, '#content-range': 'pets 0-9/10' })).toBeUndefined();
});

test('the clause names the field', () => {
  expect(signOf({ meta: { total: 25 } })).toBe('meta.total says 25, and the list has 10');
  expect(signOf({ links: { next: '/pets?page=2' } })).toBe('links.next says /pets?page=2');
});

test('a total of another kind says nothing: money, text, the fields of records', () => {
  const others = [
    '{"total":100.5}',
    '{"total":"12 EUR"}',
    '{"items":[{"total":99}]}',
    '{"next":{}}',
    '{"next":[]}',
  ];
  for (const text of others) expect(signOf(JSON.parse(text))).toBeUndefined();
});

test('the key after which DynamoDB goes on is believed', () => {
  expect(signOf({ LastEvaluatedKey: { id: 7 } })).toBe('LastEvaluatedKey says id');
  expect(signOf({ LastEvaluatedKey: {} })).toBeUndefined();
});

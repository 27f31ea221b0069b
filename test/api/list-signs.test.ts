import { expect, test } from 'vitest';
import { findListSign } from '../../src/api/list-signs.ts';
import type { JsonObject } from '../../src/process/exact-json.ts';

// Ten records of 25 were sent, in one page. Whatever the description says, an answer that says so is believed.

const link = 'http://service.test/pets?page=2';
const records: JsonObject[] = [];

/** By kind of service: the headers and the body, with and without more records. */
const ways: Record<string, [more: JsonObject, whole: JsonObject]> = {
  'OData 4': [{ '@odata.nextLink': link }, {}],
  'OData 4, count': [{ '@odata.count': 25 }, { '@odata.count': 10 }],
  'OData 3': [{ 'odata.nextLink': link }, {}],
  'OData 2': [{ d: { results: records, __next: link } }, { d: { results: records } }],
  'OData 2, count': [{ d: { results: records, __count: '25' } }, { d: { results: records, __count: '10' } }],
  Laravel: [
    { current_page: 1, next_page_url: link },
    { current_page: 3, next_page_url: null },
  ],
  'Laravel, simple': [
    { next_page_url: link, from: 1, to: 10 },
    { next_page_url: null, from: 1, to: 10 },
  ],
  'Laravel, resource': [
    { links: { next: link, prev: null }, meta: { last_page: 3 } },
    { links: { next: null, prev: link }, meta: { last_page: 1 } },
  ],
  next: [{ next: link }, { next: null }],
  next_url: [{ next_url: link }, { next_url: '' }],
  next_page: [{ next_page: 2 }, { next_page: null }],
  nextPage: [{ nextPage: 2 }, { nextPage: 0 }],
  next_page_token: [{ next_page_token: 'abc' }, { next_page_token: '' }],
  nextToken: [{ nextToken: 'abc' }, {}],
  continuationToken: [{ continuationToken: 'abc' }, { continuationToken: null }],
  'Kubernetes, continue': [{ metadata: { continue: 'abc' } }, { metadata: { continue: '' } }],
  'Kubernetes, remaining': [{ metadata: { remainingItemCount: 15 } }, { metadata: {} }],
  'links.next.href': [{ links: { next: { href: link } } }, { links: { next: null } }],
  '_links.next': [{ _links: { next: link } }, { _links: { self: link } }],
  'HAL, _links.next.href': [{ _links: { next: { href: link } } }, { _links: { self: { href: link } } }],
  'links as an array': [{ links: [{ rel: 'next', href: link }] }, { links: [{ rel: 'prev', href: link }] }],
  'paging.next': [{ paging: { next: link } }, { paging: { cursors: { after: 'abc' } } }],
  pagination: [{ pagination: { page: 1, pages: 3 } }, { pagination: { page: 1, pages: 1 } }],
  'meta.total': [{ meta: { total: 25 } }, { meta: { total: 10 } }],
  'meta.pagination.total': [{ meta: { pagination: { total: 25 } } }, { meta: { pagination: { total: 10 } } }],
  totalCount: [{ totalCount: 25 }, { totalCount: 10 }],
  total_count: [{ total_count: 25 }, { total_count: 10 }],
  totalResults: [{ totalResults: 25 }, { totalResults: 10 }],
  totalElements: [{ totalElements: 25 }, { totalElements: 10 }],
  totalPages: [{ totalPages: 3 }, { totalPages: 1 }],
  'Spring, last': [
    { last: false, number: 0, size: 10 },
    { last: true, number: 0, size: 10 },
  ],
  'Spring, page': [{ page: { size: 10, totalElements: 25 } }, { page: { size: 20, totalElements: 10 } }],
  'Django, count': [
    { count: 25, previous: null },
    { count: 10, previous: null },
  ],
  'Salesforce, done': [{ done: false }, { done: true }],
  'Salesforce, nextRecordsUrl': [{ nextRecordsUrl: '/services/query/01-2000' }, {}],
  hasNext: [{ hasNext: true }, { hasNext: false }],
  hasMore: [{ hasMore: true }, { hasMore: false }],
  has_next: [{ has_next: true }, { has_next: false }],
  hasNextPage: [{ hasNextPage: true }, { hasNextPage: false }],
  'pageInfo.hasNextPage': [
    { pageInfo: { hasNextPage: true, endCursor: 'x' } },
    { pageInfo: { hasNextPage: false, endCursor: 'x' } },
  ],
  'Jira, isLast': [
    { isLast: false, maxResults: 10 },
    { isLast: true, maxResults: 10 },
  ],
  truncated: [{ truncated: true }, { truncated: false }],
  IsTruncated: [{ IsTruncated: true }, { IsTruncated: false }],
  more: [{ more: true }, { more: false }],
  'GitHub, incomplete_results': [{ incomplete_results: true }, { incomplete_results: false }],
  'Slack, response_metadata': [
    { response_metadata: { next_cursor: 'dGVhbQ==' } },
    { response_metadata: { next_cursor: '' } },
  ],
  'a list in data': [{ data: { items: records, total: 25 } }, { data: { items: records, total: 10 } }],
  'header Content-Range': [{ '#content-range': 'pets 0-9/25' }, { '#content-range': 'pets 0-9/10' }],
  'header Content-Range, without a total, with 206': [
    { '#content-range': 'pets 0-9/*', '#status': 206 },
    { '#content-range': 'pets 0-9/10', '#status': 206 },
  ],
  'status 206': [{ '#status': 206 }, { '#status': 200 }],
  'header X-Total': [{ '#x-total': '25' }, { '#x-total': '10' }],
  'header X-Total-Count': [{ '#x-total-count': '25' }, { '#x-total-count': '10' }],
  'header Total-Count': [{ '#total-count': '25' }, { '#total-count': '10' }],
  'header X-Total-Pages': [{ '#x-total-pages': '3' }, { '#x-total-pages': '1' }],
  'header X-Next-Page': [{ '#x-next-page': '2' }, { '#x-next-page': '' }],
  'header X-Pagination of ASP.NET': [
    { '#x-pagination': '{"TotalCount":25,"HasNext":true}' },
    { '#x-pagination': '{"TotalCount":10,"HasNext":false}' },
  ],
  'header Pagination-Count': [{ '#pagination-count': '25' }, { '#pagination-count': '10' }],
  'header X-Pagination-Total-Count': [
    { '#x-pagination-total-count': '25' },
    { '#x-pagination-total-count': '10' },
  ],
  'header X-Continuation-Token': [{ '#x-continuation-token': 'abc' }, {}],
  'header X-MS-Continuation': [{ '#x-ms-continuation': 'abc' }, {}],
  'header X-Next-Token': [{ '#x-next-token': 'abc' }, {}],
  'header OPC-Next-Page': [{ '#opc-next-page': 'abc' }, {}],
  'header Link': [{ '#link': `<${link}>; rel=next` }, { '#link': `<${link}>; rel=prev` }],
  'header X-Link': [{ '#x-link': `<${link}>; rel="next"` }, { '#x-link': `<${link}>; rel="first"` }],
  'header X-Has-More': [{ '#x-has-more': 'true' }, { '#x-has-more': 'false' }],
};

function signOf(answer: JsonObject) {
  const isHeader = ([name]: [string, unknown]) => name.startsWith('#');
  const headers = Object.entries(answer).filter(isHeader);
  const { '#status': status = 200, ...fields } = Object.fromEntries(headers);
  const body = Object.fromEntries(Object.entries(answer).filter((entry) => !isHeader(entry)));
  return findListSign(
    {
      status: Number(status),
      headers: Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name.slice(1), String(value)]),
      ),
      envelope: Object.keys(body).length > 0 ? { items: records, ...body } : undefined,
    },
    { count: 10, pages: 1 },
  );
}

test.each(Object.entries(ways))(
  'a list that goes on is believed, and one that is whole too: %s',
  (_, [more, whole]) => {
    expect(signOf(more)?.clause).toMatch(/^(it says |the header |it answered 206)/);
    expect(signOf(whole)).toBeUndefined();
  },
);

test('a link comes before a total, and the clause names the field', () => {
  expect(signOf({ meta: { total: 25 } })).toEqual({ clause: 'it says meta.total: 25, and sent 10' });
  expect(signOf({ total: 25, links: { next: '/pets?page=2' } })).toEqual({
    clause: 'it says links.next: /pets?page=2',
    link: '/pets?page=2',
  });
});

test('a total of another kind says nothing: money, text, the fields of records', () => {
  for (const body of [
    { total: 100.5 },
    { total: '12 EUR' },
    { items: [{ total: 99 }] },
    { next: {} },
    { next: [] },
  ])
    expect(signOf(body as JsonObject)).toBeUndefined();
});

import { isJsonObject, type JsonObject, type JsonValue, jsonIn } from '../process/exact-json.ts';
import { compactName, shorten } from '../process/text.ts';
import { type HttpHeaders, linkTarget } from './http.ts';

// Services say in many ways that a list has more pages, often without a word in their description. These are the names of the fields
// and headers, in the form that `compactName` returns. A header may also begin with `x-` or `pagination-`.

const nameSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** How many records the list has. */
const totals = nameSet(`
  total totalcount totalelements totalitems totalrecords totalresults totalrows totalsize totalhits totalentries
  count countall itemcount itemscount recordcount resultcount rowcount odatacount numfound nbhits
  numberofrecords numberofelementstotal fullcount`);
/** How many pages the list has. */
const pageCounts = nameSet(
  'totalpages pagecount pages pagescount lastpage numpages numberofpages nbpages maxpage',
);
/** How many records follow. */
const remainders = nameSet('remaining remainingitemcount remainingcount remainingitems');
/** True if there is more. */
const moreFlags = nameSet(`
  more hasmore hasnext hasnextpage hasmoreitems hasmorepages hasmoreresults moreavailable moreresults moreitems
  truncated istruncated incomplete incompleteresults exceededtransferlimit`);
/** False if there is more. */
const lastFlags = nameSet('last islast islastpage lastpagereached done islastitem isfinished endoflist');
/** The link, the token or the number of the next page. */
const nextNames = nameSet(`
  next nextlink nexturl nexturi nexthref nextpage nextpageurl nextpagelink nextpageuri nextpagetoken nexttoken nextcursor
  nextmarker nextkey nextoffset nextrecordsurl nextcontinuationtoken continue continuation continuationtoken odatanextlink
  lastevaluatedkey`);
/** Objects beside or around a list that may hold fields about its pages. */
const outerNames = nameSet(`
  meta metadata page pagination paging pageinfo pageable pager links link info responsemetadata searchmetadata
  resultset resultinfo cursor cursors next hits data result results response embedded d`);

/** Returns true if a field of an answer may hold the link or the cursor of the next page. */
export function isNextName(name: string): boolean {
  return nextNames.has(compactName(name)) || compactName(name) === 'cursor';
}

/** Returns true if a field of an answer may be an object that holds the link or the cursor of the next page. */
export function isOuterName(name: string): boolean {
  return outerNames.has(compactName(name));
}

/** The part of a list that was read: the records and pages so far. */
interface ListProgress {
  readonly count: number;
  readonly pages: number;
}

interface ListAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** The body, if it is an object around the list. */
  readonly envelope: JsonObject | undefined;
}

/**
 * Finds a statement of an answer that there are more records than were read, and returns it as a clause: `meta.total says 25, and the
 * list has 10`.
 */
export function whyMoreRecords(
  { status, headers, envelope }: ListAnswer,
  progress: ListProgress,
): string | undefined {
  const fields = [...headerFields(headers), ...fieldsIn(envelope)];
  const hasRange = fields.some(({ label, name }) => label.endsWith('content-range') && name === 'total');
  const [why] = fields.flatMap((field) => whyMore(field, progress) ?? []);
  return why ?? (status === 206 && !hasRange ? 'it answered 206 (Partial Content)' : undefined);
}

/** Returns how many records the whole list has, as an answer says. A plain `count` does not say so: it may count only the page. */
export function totalsIn({ headers, envelope }: ListAnswer): number[] {
  const fields = [...headerFields(headers), ...fieldsIn(envelope)];
  return fields
    .filter(({ name }) => totals.has(name) && /total|found|hits|full/.test(name))
    .flatMap(({ value }) => numberIn(value) ?? []);
}

/** A field that may say something about the pages. */
interface PageField {
  /** The name in messages. */
  readonly label: string;
  /** The name in the form of the tables. */
  readonly name: string;
  readonly value: JsonValue;
}

function whyMore({ label, name, value }: PageField, { count, pages }: ListProgress): string | undefined {
  const number = numberIn(value) ?? 0;
  const text = String(value).trim();
  const isMore =
    (totals.has(name) && number > count) ||
    (remainders.has(name) && number > 0) ||
    (pageCounts.has(name) && number > pages) ||
    (moreFlags.has(name) && /^(true|1|yes)$/i.test(text)) ||
    (lastFlags.has(name) && (name.startsWith('is') ? /^(false|0|no)$/i : /^false$/i).test(text));
  if (isMore) return `${label} says ${shorten(text, 80)}, and the list has ${count}`;
  if (!nextNames.has(name) || typeof value === 'boolean') return undefined;
  // HAL and others: `_links: { next: { href } }`. JSON:API allows the same.
  const link = isJsonObject(value) ? (value.href ?? value.url ?? null) : value;
  // DynamoDB states the key of the last record that it has read.
  const [key = null] = isJsonObject(value) && name === 'lastevaluatedkey' ? Object.keys(value) : [];
  const target = link ?? key;
  if (typeof target === 'object' || isEndOfCursor(target)) return undefined;
  return `${label} says ${shorten(String(target).trim(), 80)}`;
}

/** Returns true if the link or the cursor of the next page says that there is none: `null`, an empty text, `0` as of SCAN of Redis. */
export function isEndOfCursor(value: JsonValue): boolean {
  return value === false || /^(0?|null|none)$/i.test(String(value).trim());
}

/** Returns true if a text is a link, and not a token: an absolute URL, an absolute path or a query. */
export function isLink(text: string): boolean {
  return /^(https?:\/)?\/|^\?/.test(text);
}

function numberIn(value: JsonValue): number | undefined {
  const isDigits = typeof value === 'string' && /^\d{1,15}$/.test(value.trim());
  const number = typeof value === 'bigint' || isDigits ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) ? number : undefined;
}

/** Reads the headers. `X-Pagination` of ASP.NET is JSON. */
function headerFields(headers: HttpHeaders): PageField[] {
  return Object.keys(headers).flatMap((header): PageField[] => {
    const value = headers[header] ?? '';
    const label = `the header ${header}`;
    const name = compactName(header).replace(/^(xms|xwp|opc|x)?(pagination(?=.))?/, '');
    // `Content-Range: pets 0-9/25`, RFC 9110, 14.4
    const [, total] = name === 'contentrange' ? (/\/(\d+)\s*$/.exec(value) ?? []) : [];
    if (total !== undefined) return [{ label, name: 'total', value: total }];
    if (name === 'pagination' && value.startsWith('{')) return fieldsIn(jsonIn(value), `${label} `);
    // `X-Link` and `Links` are written like `Link`.
    const next = ['link', 'links'].includes(name) ? linkTarget(value, 'next') : undefined;
    if (next !== undefined) return [{ label, name: 'next', value: next }];
    return [{ label, name, value }];
  });
}

/** Lists the fields of an object and of the objects in it, up to two levels deeper, that may say something about the pages. */
function fieldsIn(object: JsonValue | undefined, prefix = '', depth = 0): PageField[] {
  if (!isJsonObject(object)) return [];
  return Object.entries(object).flatMap(([field, value]): PageField[] => {
    const name = compactName(field);
    const label = prefix + field;
    const isOuter = depth < 2 && outerNames.has(name);
    // `links: [{ rel: 'next', href }]`
    const isLinks = isOuter && Array.isArray(value) && /^links?$/.test(name);
    const links = isLinks
      ? value.filter((link) => isJsonObject(link) && [link.rel].flat().includes('next'))
      : [];
    const inner = isOuter ? fieldsIn(value, `${label}.`, depth + 1) : [];
    return [
      ...links.map((link) => ({ label: `${label}.next`, name: 'next', value: link })),
      { label, name, value },
      ...inner,
    ];
  });
}

import { fieldValue, type HttpFields } from '../api/http.ts';
import { linkTarget } from '../api/links.ts';
import { maskUrl } from '../mask.ts';
import { InvalidAnswerError } from './response.ts';

/** What is known of a page that was read. */
interface Page {
  /** Where it came from, redirects followed. */
  readonly url: string;
  readonly fields: HttpFields;
  /** How many records it holds. */
  readonly size: number;
}

const mostEmptyPages = 1000;

/** Follows the `next` links of one list. */
interface Pages {
  /**
   * The URL of the page that follows; undefined after the last.
   *
   * @throws InvalidAnswerError for a link to another origin, one that repeats, or one of very many empty pages.
   */
  after(page: Page): string | undefined;
}

export function createPages(): Pages {
  const seen = new Set<string>();
  let empty = 0;
  return {
    after({ url, fields, size }) {
      seen.add(normal(url));
      empty = size === 0 ? empty + 1 : 0;
      const link = linkTarget(fieldValue(fields, 'link'), 'next');
      if (link === undefined) return undefined;
      const next = resolve(link, url);
      if (seen.has(next)) throw new InvalidAnswerError(`the link to the next page repeats: ${maskUrl(next)}`);
      if (empty > mostEmptyPages)
        throw new InvalidAnswerError(`more than ${mostEmptyPages} empty pages in a row`);
      return next;
    },
  };
}

function resolve(link: string, base: string): string {
  const next = URL.canParse(link, base) ? new URL(link, base) : undefined;
  if (!next) throw new InvalidAnswerError(`the link to the next page is no URL: ${link}`);
  if (next.origin !== new URL(base).origin)
    throw new InvalidAnswerError(`the link to the next page leads to another origin: ${maskUrl(next.href)}`);
  return normal(next.href);
}

function normal(url: string): string {
  const parsed = new URL(url);
  parsed.hash = '';
  return parsed.href;
}

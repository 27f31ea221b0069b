/** The elements whose content is not shown. */
const hiddenElements: ReadonlySet<string> = new Set(['script', 'style']);

/** Whether a text is HTML or XML. */
export function isMarkup(text: string): boolean {
  return /^\s*</.test(text);
}

/** Returns what people read of a page: its title, or else its text. The time is linear in the length of the page. */
export function readMarkup(page: string): string {
  const title = decodeEntities(/<title[^<>]*>([^<]*)/i.exec(page)?.[1] ?? '').trim();
  return title === '' ? decodeEntities(visibleText(page)) : title;
}

function visibleText(page: string): string {
  let text = '';
  let hidden: string | undefined;
  for (const part of page.split('<').slice(1)) {
    const [, slash, tag = ''] = /^(\/?)(\w*)/.exec(part) ?? [];
    const name = tag.toLowerCase();
    if (hidden === undefined && hiddenElements.has(name)) hidden = name;
    else if (slash && name === hidden) hidden = undefined;
    const end = part.indexOf('>');
    if (hidden === undefined && end !== -1) text += ` ${part.slice(end + 1)}`;
  }
  return text;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]+));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return entities[name.toLowerCase()] ?? entity;
    return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal));
  });
}

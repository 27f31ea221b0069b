/** A member of a JSON object: its name, and the position of its value in the text. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The members of the JSON object in `text`, each value as written; `text` must be valid JSON. */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '{') return members;
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.push({ name, start, end });
    at = skipSpace(text, end);
    if (text[at] !== ',') break;
    at = skipSpace(text, at + 1);
  }
  return members;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1;
  return at;
}

/** Index after the string that opens at `open`. */
function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at += 1;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
}

function endOfValue(text: string, start: number): number {
  const nesting = /["[\]{},\s]/g;
  let depth = 0;
  nesting.lastIndex = start;
  for (let found = nesting.exec(text); found; found = nesting.exec(text)) {
    const [unit] = found;
    if (unit === '"') nesting.lastIndex = endOfString(text, found.index);
    else if (unit === '{' || unit === '[') depth += 1;
    else if ((unit === '}' || unit === ']') && depth > 0) depth -= 1;
    else if (depth === 0) return found.index;
    if (depth === 0 && /["}\]]/.test(unit)) return nesting.lastIndex;
  }
  return text.length;
}

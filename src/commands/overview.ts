import { value } from '../cli/flag.ts';
import { action } from '../cli/verb.ts';
import { type Context, followUpCommand } from '../context.ts';
import type { Column } from '../output/columns.ts';
import type { Printer } from '../output/print.ts';
import { UsageError } from '../process/errors.ts';
import { groupDigits } from '../process/text.ts';
import type { Overview } from '../records/overview.ts';
import { parseQuantity } from '../records/parse-values.ts';

export const overview = action({
  description:
    'Shows the state of the store on one screen: pets by status and by category, the ten lowest counts of pets that are not sold, and the open orders that ship first. Reads every list once; a part that the service cannot answer is left out.',
  examples: ['petstore overview', 'petstore overview --below 10', 'petstore overview -o json'],
  flags: {
    below: value('--below <n>', 'show counts under n (default: 5)', { parse: parseQuantity }),
  },
  async run(context, { below = 5 }) {
    const printer = await context.printer();
    if (!['table', 'json', 'jsonl', 'yaml'].includes(printer.format))
      throw new UsageError(`output ${printer.format}: overview is printed as table, json, jsonl or yaml`);
    const { readOverview } = await import('../records/overview.ts');
    const { overview, lowCount } = await readOverview(context, await context.client(), below);
    return { documents: [overview], text: await overviewText(context, printer, overview, lowCount) };
  },
});

const maxCategories = 7;
/** The least rows of a section, even if the terminal is too short for them. */
const leastRows = 2;
/** The width of the longest bar, in columns. */
const barWidth = 30;

/** A section of the overview as text. */
interface Section {
  readonly title: string;
  /** The number of lines that it always has below its title, such as the header of its table. */
  readonly fixedLines: number;
  /** The most rows that it shows. */
  readonly rows: number;
  /** The number of all rows. */
  readonly total: number;
  /** Draws the first rows. */
  draw(rows: number): Promise<string>;
  /** The words of the command that shows all rows. */
  readonly command?: readonly string[];
}

/** Draws the overview as tables. On a terminal the sections have as many rows as fit its height. */
async function overviewText(
  context: Context,
  printer: Printer,
  { pets, inventory, orders }: Overview,
  lowCount: number,
): Promise<string> {
  const { isTerminal, height = 24 } = context.io.stdout;
  const sections = [
    pets ? createPetsSection(printer, pets, isTerminal ? '█' : '#') : createMissingSection('Pets'),
    inventory ? createCountsSection(printer, inventory, lowCount) : createMissingSection('Lowest counts'),
    orders ? createOrdersSection(printer, orders) : createMissingSection('Open orders'),
  ];
  const lines = (limit: number) =>
    sections.reduce((sum, { fixedLines, rows, total }) => {
      const count = Math.min(rows, limit);
      return sum + 2 + fixedLines + count + (total > count ? 1 : 0);
    }, 0);
  let limit = Math.max(...sections.map(({ rows }) => rows));
  while (isTerminal && limit > leastRows && lines(limit) > height) limit -= 1;
  const { bold, dim } = await context.style('stdout');
  const texts = sections.map(async ({ title, rows, total, draw, command }) => {
    const count = Math.min(rows, limit);
    const all = command === undefined ? '' : `: ${followUpCommand(context, command)}`;
    const more = total > count ? `${dim(`and ${groupDigits(total - count)} more${all}`)}\n` : '';
    return `${bold(title)}\n${await draw(count)}${more}`;
  });
  return (await Promise.all(texts)).join('\n');
}

function createMissingSection(name: string): Section {
  return { title: `${name}: missing`, fixedLines: 0, rows: 0, total: 0, draw: async () => '' };
}

/** The number of pets with a status, or of a category. */
interface Share {
  readonly name: string;
  readonly total: number;
}

/** Creates the section of pets: by status, then by category. @param block the character of its bars */
function createPetsSection(printer: Printer, pets: NonNullable<Overview['pets']>, block: string): Section {
  const statuses = Object.entries(pets.byStatus).map(([name, total]) => ({ name, total }));
  const categories = pets.byCategory.map(({ categoryId, name, total }) => ({
    name: name ?? `category ${categoryId}`,
    total,
  }));
  const most = Math.max(1, ...[...statuses, ...categories].map(({ total }) => total));
  const columns: readonly Column<Share>[] = [
    { name: 'name', value: ({ name }) => name, isStatus: true },
    { name: 'total', value: ({ total }) => groupDigits(total), align: 'right' },
    { name: 'bar', value: ({ total }) => block.repeat(Math.ceil((total / most) * barWidth)) },
  ];
  return {
    title: `Pets: ${groupDigits(pets.total)}`,
    fixedLines: statuses.length,
    rows: Math.min(categories.length, maxCategories),
    total: categories.length,
    draw: (rows) => printer.alignedText(columns, [...statuses, ...categories.slice(0, rows)], false),
  };
}

function createCountsSection(
  printer: Printer,
  { below, lowest }: NonNullable<Overview['inventory']>,
  total: number,
): Section {
  const columns: readonly Column<(typeof lowest)[number]>[] = [
    { name: 'petId', value: ({ petId }) => petId, align: 'right' },
    { name: 'name', value: ({ name }) => name },
    { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
  ];
  return {
    title: `Lowest counts, under ${groupDigits(below)}: ${groupDigits(total)}`,
    fixedLines: 1,
    rows: lowest.length,
    total,
    draw: (rows) => printer.alignedText(columns, lowest.slice(0, rows)),
    command: ['inventory', 'list', '--below', `${below}`, '--sort', 'quantity'],
  };
}

function createOrdersSection(
  printer: Printer,
  { open, overdue, next }: NonNullable<Overview['orders']>,
): Section {
  const columns: readonly Column<(typeof next)[number]>[] = [
    { name: 'id', value: ({ id }) => id, align: 'right' },
    { name: 'pet', value: ({ petId }) => petId, align: 'right' },
    { name: 'name', value: ({ name }) => name },
    { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
    { name: 'shipDate', value: ({ shipDate }) => shipDate, isTime: true },
    { name: '', value: ({ overdue }) => (overdue ? 'overdue' : undefined), isStatus: true },
  ];
  return {
    title: `Open orders: ${groupDigits(open)}${overdue > 0 ? `, ${groupDigits(overdue)} overdue` : ''}`,
    fixedLines: 1,
    rows: next.length,
    total: open,
    draw: (rows) => printer.alignedText(columns, next.slice(0, rows)),
    command: ['orders', 'list', '--open', '--sort', 'shipDate'],
  };
}

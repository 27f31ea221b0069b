import { value } from '../cli/flag.ts';
import { action } from '../cli/verb.ts';
import type { Column } from '../output/columns.ts';
import { UsageError } from '../process/errors.ts';
import { groupDigits } from '../process/text.ts';
import type { Overview } from '../records/overview.ts';
import { parseQuantity } from '../records/parse-values.ts';

export const overview = action({
  description:
    'Shows the state of the store: pets by status, the ten lowest counts of pets that are not sold, and the open orders that ship first. Reads every list once; a part that the service cannot answer is said to be missing.',
  examples: ['petstore overview', 'petstore overview --below 10', 'petstore overview -o json'],
  flags: {
    below: value('--below <n>', 'only counts under n', { parse: parseQuantity }),
  },
  async run(context, { below = Number.POSITIVE_INFINITY }) {
    const printer = context.printer();
    if (printer.content !== 'text' && printer.content !== 'documents')
      throw new UsageError('overview is printed as table, json, jsonl or yaml');
    const { readOverview } = await import('../records/overview.ts');
    const { overview, open } = await readOverview(context, await context.client(), below);
    const { bold } = await context.style('stdout');
    const section = async <OverviewRow>(
      title: string,
      columns: readonly Column<OverviewRow>[],
      rows: readonly OverviewRow[] | null,
    ) => `${bold(title)}\n${rows ? await printer.tableText(columns, rows) : 'missing\n'}`;
    const { pets, inventory, orders } = overview;
    const sections = [
      await section('Pets', petColumns, pets),
      await section('Lowest counts', countColumns, inventory),
      await section(`Open orders${orders ? `: ${groupDigits(open)}` : ''}`, orderColumns, orders),
    ];
    return { documents: [overview], text: sections.join('\n') };
  },
});

type OverviewRow<Part extends keyof Overview> = NonNullable<Overview[Part]>[number];

const petColumns: readonly Column<OverviewRow<'pets'>>[] = [
  { name: 'status', value: ({ status }) => status, isStatus: true },
  { name: 'total', value: ({ total }) => total, align: 'right' },
];

const countColumns: readonly Column<OverviewRow<'inventory'>>[] = [
  { name: 'petId', value: ({ petId }) => petId, align: 'right' },
  { name: 'name', value: ({ name }) => name },
  { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
];

const orderColumns: readonly Column<OverviewRow<'orders'>>[] = [
  { name: 'id', value: ({ id }) => id, align: 'right' },
  { name: 'pet', value: ({ petId }) => petId, align: 'right' },
  { name: 'name', value: ({ name }) => name },
  { name: 'quantity', value: ({ quantity }) => quantity, align: 'right' },
  { name: 'shipDate', value: ({ shipDate }) => shipDate, isTime: true },
  { name: 'overdue', value: ({ overdue }) => (overdue ? 'overdue' : undefined), isStatus: true },
];

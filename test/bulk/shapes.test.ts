import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { isJsonObject, parseJson, printJson } from '../../src/process/exact-json.ts';
import { runCli } from '../helpers/run-cli.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { type Tool, testWith } from '../helpers/tools.ts';

// Files in the shapes that shops, ERPs, databases and spreadsheets export. The values are invented. Each is applied as it
// is, or is refused with a hint that is then typed.

interface Shape {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly flags?: readonly string[];
  /** The counts that are stored, as `pet=count`. */
  readonly counts: string;
  /** What the error says, if the file is not read as it is. The hint is typed. */
  readonly refusal?: RegExp;
  /** The tool that the hint names, if Node's machine need not have it. */
  readonly tool?: Tool;
}

const map = (columns: string) => ['--map', columns];
const titled = /line \d has the columns/;
const enveloped = /the records are within an object, in \.\w+/;

const shapes: Readonly<Record<string, Shape>> = {
  'Shopify, two locations of a product': {
    name: 'inventory_export.csv',
    content:
      'Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Location,Incoming,Unavailable,Committed,Available,On hand\n' +
      'cat-tower,"Tower, tall",Size,L,4,,,Shop,0,0,1,5,6\ncat-tower,"Tower, tall",Size,L,4,,,Cellar,0,0,0,5,5\n' +
      'bell,Bell,Title,Default Title,7,,,Shop,0,0,0,3,3\n',
    flags: map('petId=SKU,quantity=Available'),
    refusal: /pet 4 is on line 2 and on line 3, which differ in Location \("Shop", "Cellar"\)/,
    counts: '4=10 7=3',
  },
  WooCommerce: {
    name: 'wc-product-export.csv',
    content:
      '\ufeffID,Type,SKU,Name,Published,"In stock?",Stock,"Regular price"\n1,simple,b-1,"Bella ""B""",1,1,12,9.99\n2,simple,,"Line\nbreak",1,0,0,\n',
    counts: '1=12 2=0',
  },
  'Magento, four decimals': {
    name: 'catalog_product.csv',
    content:
      'sku,store_view_code,attribute_set_code,name,qty,is_in_stock\n1,,Default,"a,b",8.0000,1\n2,,Default,c,0.0000,0\n',
    flags: map('petId=sku'),
    counts: '1=8 2=0',
  },
  'Square, a column for each place': {
    name: 'catalog.csv',
    content: 'Token,Item Name,SKU,Price,"Current Quantity Old Town"\nX1,Bella,1,5.00,4\nX2,Rex,2,5.00,\n',
    flags: [...map('petId=SKU,quantity=Current Quantity Old Town'), '--skip-invalid'],
    counts: '1=4',
  },
  'Amazon, tabs under a line of its own': {
    name: 'report.txt',
    content:
      'TemplateType=inventory\tVersion=2024\tsettings=x\nseller-sku\tasin\tprice\tquantity\n1\tB00\t5.00\t4\n2\tB01\t6.00\t0\n',
    flags: map('petId=seller-sku'),
    refusal: titled,
    counts: '1=4 2=0',
  },
  'eBay, lines of #INFO': {
    name: 'ebay.csv',
    content:
      '#INFO,Version=1.0.0,,\n#INFO,"Created, today",,\nItem number,Custom label (SKU),Available quantity,Title\n110001,1,4,"Bella, a cat"\n110002,2,0,Rex\n',
    flags: map('petId=Custom label (SKU),quantity=Available quantity'),
    refusal: titled,
    counts: '1=4 2=0',
  },
  'ERPNext, a template with titles': {
    name: 'Bin.csv',
    content:
      '"Data Export"\n"Table:","Bin"\n""\n"item_code","warehouse","actual_qty"\n"1","Stores - P","8.0"\n"2","Stores - P","0.0"\n',
    flags: map('petId=item_code,quantity=actual_qty'),
    refusal: titled,
    counts: '1=8 2=0',
  },
  'SAP, a list with rules and signs behind': {
    name: 'MB52.txt',
    content:
      '17.11.2026\nStock list\n------------------------\n| Material | Stock |\n------------------------\n| 1        | 1.234,000 |\n| 2        | 8,000     |\n------------------------\n',
    flags: [...map('petId=Material,quantity=Stock'), '--thousands', '.'],
    refusal: titled,
    tool: 'sed',
    counts: '1=1234 2=8',
  },
  'Odoo, JSON with 8.0 in an envelope': {
    name: 'odoo.json',
    content:
      '{"jsonrpc":"2.0","id":null,"result":[{"id":1,"qty_available":8.0},{"id":2,"qty_available":0.0}]}',
    flags: map('petId=id,quantity=qty_available'),
    refusal: enveloped,
    tool: 'jq',
    counts: '1=8 2=0',
  },
  'Zoho, long ids as text': {
    name: 'items.json',
    content:
      '{"code":0,"message":"success","items":[{"item_id":"460000000027091","stock_on_hand":8.00}],"page_context":{"page":1}}',
    flags: map('petId=item_id,quantity=stock_on_hand'),
    refusal: enveloped,
    tool: 'jq',
    counts: '460000000027091=8',
  },
  'QuickBooks, two objects around the records': {
    name: 'query.json',
    content:
      '{"QueryResponse":{"Item":[{"Id":"1","QtyOnHand":8.0,"sparse":false}],"startPosition":1},"time":"2026-11-27"}',
    flags: map('petId=Id,quantity=QtyOnHand'),
    refusal: /in \.QueryResponse\.Item/,
    tool: 'jq',
    counts: '1=8',
  },
  'Lightspeed, five decimals as text': {
    name: 'inventory.json',
    content:
      '{"data":[{"product_id":"1","outlet_id":"o","inventory_level":"8.00000"}],"version":{"min":1,"max":2}}',
    flags: map('petId=product_id,quantity=inventory_level'),
    refusal: enveloped,
    tool: 'jq',
    counts: '1=8',
  },
  'PowerShell, #TYPE and quotes': {
    name: 'stock.csv',
    content:
      '#TYPE System.Management.Automation.PSCustomObject\r\n"petId","quantity"\r\n"1","4"\r\n"2","0"\r\n',
    refusal: titled,
    counts: '1=4 2=0',
  },
  'Excel in German: sep=, semicolons, points for thousands': {
    name: 'Bestand.csv',
    content: '\ufeffsep=;\r\nArtikel;Bestand;Preis\r\n1;1.234;9,99\r\n2;12;\r\n;;\r\n',
    flags: map('petId=Artikel,quantity=Bestand'),
    refusal: /quantity|Bestand "1\.234": must be a whole number/,
    counts: '1=1234 2=12',
  },
  'Excel, Unicode text: UTF-16 and tabs': {
    name: 'Unicode.txt',
    content: Buffer.from('\ufeffpetId\tquantity\tname\r\n1\t4\t"Bella, the dog"\r\n', 'utf16le'),
    refusal: /looks like UTF-16/,
    tool: 'iconv',
    counts: '1=4',
  },
  'Excel, tabs: a quoted cell with a line break, a backslash': {
    name: 'stock.tsv',
    content:
      'petId\tquantity\tname\tpath\r\n1\t4\t"Bella, the dog"\tC:\\new\\temp\r\n2\t5\t"two\nlines"\t\r\n',
    counts: '1=4 2=5',
  },
  'a Swiss bank of counts': {
    name: 'lager.csv',
    content: 'Artikel;Menge\n1;1’234\n2;12\n',
    flags: map('petId=Artikel,quantity=Menge'),
    refusal: /must be a whole number/,
    counts: '1=1234 2=12',
  },
  'pandas: an index, and floats of a column with gaps': {
    name: 'frame.csv',
    content: ',petId,quantity,note\n0,1.0,8.0,\n1,2.0,0.0,x\n',
    counts: '1=8 2=0',
  },
  'R: quoted names of rows': {
    name: 'frame.csv',
    content: '"","petId","quantity"\n"1",1,8\n"2",2,0\n',
    counts: '1=8 2=0',
  },
  'PostgreSQL, COPY as text': {
    name: 'copy.txt',
    content: 'petId\tquantity\tname\n1\t8\ta\\\\b\\tc\n2\t0\t\\N\n',
    counts: '1=8 2=0',
  },
  'MariaDB, --batch': {
    name: 'batch.txt',
    content: 'petId\tquantity\tname\n1\t8.00\t"Bella" the dog\n2\t0.00\tNULL\n',
    counts: '1=8 2=0',
  },
  'a number that can be both': {
    name: 'stock.csv',
    content: 'petId,quantity\n1,8.000\n2,12\n',
    refusal: /"8\.000": can be 8 with a fraction of zeros, or 8000/,
    counts: '1=8 2=12',
  },
  'points and commas of a scale': {
    name: 'stock.csv',
    content: 'petId;quantity\n1;8,000\n2;1.234,000\n',
    refusal: /can be 8|must be/,
    counts: '1=8 2=1234',
  },
  'ids that are formulas': {
    name: 'stock.csv',
    content: 'petId,quantity\n="1",4\n"=""2""",5\n',
    refusal: /petId "=/,
    tool: 'sed',
    counts: '1=4 2=5',
  },
  'ids with the mark of text': {
    name: 'stock.csv',
    content: "petId,quantity\n'1,4\n'2,5\n",
    refusal: /petId "'1"/,
    tool: 'sed',
    counts: '1=4 2=5',
  },
  'a file that gzip has compressed': {
    name: 'stock.csv.gz',
    content: gzipSync('petId,quantity\n1,4\n'),
    refusal: /compressed by gzip/,
    tool: 'gunzip',
    counts: '1=4',
  },
};

const petIds = [1n, 2n, 3n, 4n, 7n, 460000000027091n];

async function tryShape({ name, content, flags = [], counts, refusal }: Shape): Promise<void> {
  const folder = temporaryFolder();
  const store = join(folder, 'store.json');
  const pets = petIds.map((id) => ({ id, name: `pet ${id}`, categoryId: 1, status: 'available' }));
  writeFileSync(store, printJson({ categories: [{ id: 1, name: 'all' }], pets, inventory: [] }));
  mkdirSync(join(folder, 'state'));
  writeFileSync(join(folder, name), content);
  const env = { PETSTORE_OFFLINE_STORE: store, PETSTORE_STATE_DIR: join(folder, 'state') };
  const run = (...words: readonly string[]) =>
    runCli(['--offline', 'inventory', ...words], { cwd: folder, env });
  const apply = (file: string, ...more: readonly string[]) =>
    run('apply', file, ...flags, ...more, '--yes', '--create-missing');
  let applied = await apply(name);
  if (refusal) {
    expect(applied).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(refusal) });
    const [, hint = ''] = /^hint: (.*)$/ms.exec(applied.stderr.replaceAll(/\n {6}/g, ' ')) ?? [];
    const [, flag = '', value] = /add (--[\w-]+) ?("[^"]*"|[^-\s]\S*)? if/.exec(hint) ?? [];
    const [, command, converted] = /convert it: (.* > (\S+))/.exec(hint) ?? [];
    if (command) execFileSync('sh', ['-c', command], { cwd: folder });
    const more = flag === '' ? [] : [flag, ...(value === undefined ? [] : [value.replaceAll('"', '')])];
    applied = await apply(converted ?? name, ...more);
  }
  expect(applied.code, applied.stderr).toBe(flags.includes('--skip-invalid') ? 3 : 0);
  const stored = parseJson(await run('list', '-o', 'json').then(({ stdout }) => stdout));
  const found = Array.isArray(stored) ? stored.filter(isJsonObject) : [];
  expect(found.map(({ petId, quantity }) => `${petId}=${quantity}`).join(' ')).toBe(counts);
}

for (const [title, shape] of Object.entries(shapes))
  testWith(...(shape.tool ? [shape.tool] : []))(title, () => tryShape(shape));

test('a flag of numbers takes its character from the setting of the other', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'stock.csv'), 'petId,quantity\n1,8.000\n');
  const env = { PETSTORE_IMPORT_THOUSANDS: '.', PETSTORE_STATE_DIR: join(folder, 'state') };
  const diff = async (...flags: readonly string[]) => {
    const words = ['--offline', 'inventory', 'diff', 'stock.csv', ...flags, '-o', 'jsonl'];
    const { stdout, stderr } = await runCli(words, { cwd: folder, env });
    return stdout + stderr;
  };
  expect(await diff()).toMatch(/\b8000\b/);
  expect(await diff('--decimal', '.')).not.toMatch(/8000|error/);
  expect(await diff('--decimal', '.', '--thousands', '.')).toContain('cannot both be .');
});

import { type Flag, type Tree, type Values, walk } from './tree.ts';

/** A word that may be offered, with what it means. */
export interface Offer {
  readonly word: string;
  readonly summary: string;
}

/** The command tree as the flat tables that every shell's script looks things up in; a path is its words joined by a space. */
export interface Tables {
  /** The words that lead from a path to a longer one. */
  readonly steps: readonly {
    readonly from: string;
    readonly words: readonly string[];
    readonly to: string;
  }[];
  /** The commands and the own flags of a path. */
  readonly offers: readonly {
    readonly path: string;
    readonly commands: readonly Offer[];
    readonly flags: readonly Offer[];
  }[];
  readonly globalFlags: readonly Offer[];
  /** What a flag takes; a path of `*` holds for every command. */
  readonly values: readonly {
    readonly path: string;
    readonly flags: readonly string[];
    readonly spec: string;
  }[];
  /** What the operands of a path take. */
  readonly operands: readonly { readonly path: string; readonly spec: string }[];
}

export function toTables(tree: Tree): Tables {
  const nodes = [...walk(tree)].map(({ path, node }) => ({ path: path.join(' '), node }));
  return {
    steps: nodes.flatMap(({ path, node }) =>
      node.commands.map((sub) => ({
        from: path,
        words: [sub.name, ...sub.aliases],
        to: path === '' ? sub.name : `${path} ${sub.name}`,
      })),
    ),
    offers: nodes.map(({ path, node }) => ({
      path,
      commands: node.commands.map(({ name, summary }) => ({ word: name, summary })),
      flags: node.flags.map(toOffer),
    })),
    globalFlags: tree.globalFlags.map(toOffer),
    values: [
      ...tree.globalFlags.flatMap((flag) => toValueRow('*', flag)),
      ...nodes.flatMap(({ path, node }) => node.flags.flatMap((flag) => toValueRow(path, flag))),
    ],
    operands: nodes.flatMap(({ path, node }) => {
      const spec = node.operands.map(({ values }) => toSpec(values)).find((each) => each !== 'free');
      return spec ? [{ path, spec }] : [];
    }),
  };
}

/** A kind of value as one word for a script: `file`, `profiles`, `categories`, `free`, or `words a b c`. */
function toSpec(values: Values): string {
  return values.kind === 'words' ? `words ${values.words.join(' ')}` : values.kind;
}

function toOffer({ long, summary }: Flag): Offer {
  return { word: long, summary };
}

function toValueRow(path: string, { long, short, values }: Flag): Tables['values'] {
  return values ? [{ path, flags: short ? [long, short] : [long], spec: toSpec(values) }] : [];
}

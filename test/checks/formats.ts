import { SaxesParser } from 'saxes';
import { Parser as TapParser } from 'tap-parser';

interface Tag {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The tags of an XML text, read as strictly as the standard demands. */
export function readXml(text: string): Tag[] {
  const tags: Tag[] = [];
  const parser = new SaxesParser({ xmlns: false, defaultXMLVersion: '1.0' });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    tags.push({ name, attributes: attributes as Record<string, string> });
  });
  parser.write(text).close();
  return tags;
}

interface Tap {
  readonly complete: {
    readonly count: number;
    readonly pass: number;
    readonly fail: number;
    readonly skip: number;
  };
  readonly points: readonly {
    readonly name: string;
    readonly ok: boolean;
    readonly diag?: Record<string, unknown>;
  }[];
  /** Parts that break TAP 14. */
  readonly faults: readonly unknown[];
  readonly comments: readonly string[];
}

export function readTap(text: string): Tap {
  const events = TapParser.parse(text, { strict: true }) as unknown as readonly (readonly [
    kind: string,
    value: never,
  ])[];
  const of = (kind: string) => events.filter(([each]) => each === kind).map(([, value]) => value);
  const [complete] = of('complete') as unknown as (Tap['complete'] & {
    failures: { tapError?: string | null }[];
  })[];
  if (!complete) throw new Error('no end of TAP');
  const faults = [...of('extra'), ...complete.failures.filter(({ tapError }) => tapError)];
  return { complete, points: of('assert'), faults, comments: of('comment') };
}

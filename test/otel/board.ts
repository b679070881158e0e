import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';

/** What a query selects: names of metrics, which may be a regular expression, and the labels it asks for. */
export interface Selector {
  readonly metric: RegExp;
  readonly labels: readonly string[];
}

interface Board {
  readonly panels: readonly { readonly title: string; readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
}

/** Grafana's own words are put in before Prometheus sees a query. */
const filledIn = (query: string): string =>
  query.replace(/\$__(?:rate_interval|range|interval)\b/g, '5m').replace(/\$\w+/g, '.*');

/** @throws Error for what is no query of Prometheus */
export function selectorsOf(query: string): Selector[] {
  const text = filledIn(query);
  const selectors: { metric?: RegExp; labels: string[] }[] = [];
  /** Labels of `by (…)`, for every metric below it. */
  const grouped: string[] = [];
  const cursor = parser.parse(text).cursor();
  const here = (): string => text.slice(cursor.from, cursor.to);
  do {
    if (cursor.type.isError) throw new Error(`no query of Prometheus, at ${cursor.from}: ${text}`);
    if (cursor.name === 'VectorSelector') selectors.push({ labels: [] });
    const last = selectors.at(-1);
    if (cursor.name === 'Identifier' && last) last.metric = new RegExp(`^${here()}$`);
    if (cursor.name === 'LabelName') {
      const inSelector = cursor.node.parent?.name !== 'GroupingLabels';
      const name = here();
      if (!inSelector) grouped.push(name);
      else if (name === '__name__')
        last!.metric = new RegExp(`^(?:${/"(.*)"/.exec(text.slice(cursor.to))![1]!.split('"')[0]})$`);
      else last!.labels.push(name);
    }
  } while (cursor.next());
  return selectors.map(({ metric, labels }) => ({ metric: metric!, labels: [...labels, ...grouped] }));
}

/** Every query of a board, by the title of its panel. */
export function queriesOf(file: URL): [title: string, query: string][] {
  const board = JSON.parse(readFileSync(file, 'utf8')) as Board;
  const variables = board.templating.list.flatMap(({ definition }) => {
    const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? '') ?? [];
    return metric ? [[`variable ${label}`, `count by (${label}) (${metric})`] as [string, string]] : [];
  });
  return [
    ...variables,
    ...board.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as [string, string])),
  ];
}

/** Names of labels by name of metric, in the text that Prometheus reads. */
export function exposed(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name, labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name!) ?? new Set();
    found.set(name!, known);
    for (const [, label] of labels.matchAll(/(\w+)="/g)) known.add(label!);
  }
  return found;
}

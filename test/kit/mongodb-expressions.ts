/**
 * As many of MongoDB's aggregation expressions as the lock pipeline uses, read from its manual: so that what the pipeline
 * says can be compared with the rule where there is no server. It shows that our logic is right if MongoDB does what its
 * manual says; it is not MongoDB.
 */
type Value = unknown;
type Variables = Readonly<Record<string, Value>>;
type Operator = (args: Value, at: Variables) => Value;

const number = (value: Value): number => Number(value);
const order = (a: Value, b: Value): number => {
  const [left, right] = [a, b].map((value) => (value instanceof Date ? value.getTime() : value)) as [number, number];
  return left < right ? -1 : left > right ? 1 : 0;
};
/** One array as the argument stands for its elements. */
const spread = (args: Value[]): Value[] =>
  (args.length === 1 && Array.isArray(args[0]) ? (args[0] as Value[]) : args).filter((value) => value != null);
const plus = (a: Value, b: Value): Value =>
  a instanceof Date ? new Date(a.getTime() + number(b)) : number(a) + number(b);

/** Operators whose arguments are evaluated first. */
const PLAIN: Record<string, (...args: Value[]) => Value> = {
  $ifNull: (value, other) => value ?? other,
  $eq: (a, b) => order(a, b) === 0,
  $ne: (a, b) => order(a, b) !== 0,
  $gt: (a, b) => order(a, b) > 0,
  $lte: (a, b) => order(a, b) <= 0,
  $in: (value, list) => (list as Value[]).some((item) => order(item, value) === 0),
  $and: (...args) => args.every(Boolean),
  $not: (value) => !value,
  $sum: (...args) => spread(args).reduce((sum: number, value) => sum + number(value), 0),
  $max: (...args) => spread(args).sort(order).at(-1) ?? null,
  $min: (...args) => spread(args).sort(order)[0] ?? null,
  $add: (a, b) => (a == null || b == null ? null : plus(a, b)),
  $subtract: (a, b) => (a == null || b == null ? null : number(a) - number(b)),
  $multiply: (a, b) => number(a) * number(b),
  $divide: (a, b) => (a == null ? null : number(a) / number(b)),
  $toLong: (value) => (value == null ? null : Math.trunc(number(value))),
  $toDate: (value) => (value == null ? null : new Date(number(value))),
  $cond: (condition, yes, no) => (condition ? yes : no),
  $concatArrays: (...lists) => lists.flat(1),
  $mergeObjects: (...objects) => Object.assign({}, ...objects),
};

interface Loop {
  readonly input: Value;
  readonly as?: string;
  readonly cond?: Value;
  readonly in?: Value;
}
const loop = (args: Value, at: Variables): { items: Value[]; each(body: Value, item: Value): Value } => {
  const { input, as = 'this' } = args as Loop;
  const items = evaluate(input, at) as Value[];
  return { items, each: (body, item) => evaluate(body, { ...at, [as]: item }) };
};

const SPECIAL: Record<string, Operator> = {
  $literal: (value) => value,
  $filter(args, at) {
    const { items, each } = loop(args, at);
    return items.filter((item) => each((args as Loop).cond, item));
  },
  $map(args, at) {
    const { items, each } = loop(args, at);
    return items.map((item) => each((args as Loop).in, item));
  },
  $let(args, at) {
    const { vars, in: body } = args as { vars: Record<string, Value>; in: Value };
    const bound = Object.entries(vars).map(([name, value]) => [name, evaluate(value, at)]);
    return evaluate(body, { ...at, ...Object.fromEntries(bound) });
  },
};

function path(names: string[], value: Value): Value {
  const [name, ...rest] = names;
  if (name === undefined || value == null) return value;
  if (Array.isArray(value)) return value.map((item) => path(names, item));
  return path(rest, (value as Record<string, Value>)[name]);
}

function evaluate(expression: Value, at: Variables): Value {
  if (typeof expression === 'string' && expression.startsWith('$')) {
    const [variable, ...names] = (
      expression.startsWith('$$') ? expression.slice(2) : `ROOT.${expression.slice(1)}`
    ).split('.');
    return path(names, at[variable!]);
  }
  if (Array.isArray(expression)) return expression.map((item) => evaluate(item, at));
  if (typeof expression !== 'object' || expression === null || expression instanceof Date) return expression;
  const [[name, args] = ['', undefined]] = Object.entries(expression);
  if (name in SPECIAL) return SPECIAL[name]!(args, at);
  if (name in PLAIN) return PLAIN[name]!(...[args].flat(1).map((arg) => evaluate(arg, at)));
  if (name.startsWith('$')) throw new Error(`${name} is not among the expressions that are known here`);
  const fields = Object.entries(expression).map(([field, value]) => [field, evaluate(value, at)]);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined));
}

/** A document after an update pipeline, at a time of the server. */
export function apply(document: object, pipeline: readonly object[], now: Date): Record<string, Value> {
  let root = document as Record<string, Value>;
  for (const stage of pipeline) {
    const [[name, body] = ['', {}]] = Object.entries(stage);
    const value = evaluate(body, { ROOT: root, NOW: now }) as Record<string, Value>;
    if (name === '$set') root = { ...root, ...value };
    else if (name === '$replaceWith') root = value;
    else throw new Error(`${name} is not among the stages that are known here`);
  }
  return root;
}

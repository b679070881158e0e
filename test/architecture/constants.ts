import { parseAst } from 'vitest/node';
import { nodes } from './rules.ts';

type Parts = ReturnType<typeof nodes> extends Generator<infer Each> ? Each : never;

interface Constant {
  readonly name: string;
  readonly value: number | undefined;
  /** The comment above it, or above those that follow each other down to it. */
  readonly comment: string;
  readonly together: readonly string[];
}

/** They say how much, and not of what. */
const DEGREES = /(?:^|_)(LONGEST|SHORTEST|LARGEST|SMALLEST|MOST|LEAST|TRIES)(?:_|$)/;
/** They say nothing alone, nor with a bound and a unit around them. */
const VAGUE =
  /^(?:MAX_|MIN_)?(AGAIN|ENOUGH|FEW|GONE|KEPT|LATE|LATEST|LOOK|MANY|NEW|NOBODY|NOTHING|OLD|SOON|SOONEST)(?:_MS|_PART)?$/;
const isConstant = (name: string): boolean => /^[A-Z][A-Z0-9_]+$/.test(name);
const TIMES = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'WEEK'];
/** What takes a time in ms. */
const TIMERS = ['after', 'sleep', 'setTimeout', 'setInterval', 'timeout'];

const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
  '**': (a, b) => a ** b,
};

/** The number that an expression of numbers, and of constants before it, comes to. */
function numberOf(node: Parts, known: ReadonlyMap<string, number | undefined>): number | undefined {
  if (node.type === 'Literal') return typeof node.value === 'number' ? node.value : undefined;
  if (node.type === 'Identifier') return known.get(node.name as string);
  if (node.type === 'UnaryExpression' && node.operator === '-') {
    const positive = numberOf(node.argument as Parts, known);
    return positive === undefined ? undefined : -positive;
  }
  if (node.type !== 'BinaryExpression') return undefined;
  const left = numberOf(node.left as Parts, known);
  const right = numberOf(node.right as Parts, known);
  return left === undefined || right === undefined ? undefined : OPERATIONS[node.operator as string]?.(left, right);
}

/** The constants in capitals at the top of a source. */
function constantsOf(program: Parts, text: string): Constant[] {
  const found: (Constant & { together: string[] })[] = [];
  const known = new Map<string, number | undefined>();
  let end = 0;
  for (const statement of program.body as Parts[]) {
    const between = text.slice(end, statement.start);
    end = statement.end;
    const declaration = (statement.declaration ?? statement) as Parts;
    if (declaration.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations as { id: Parts; init: Parts }[]) {
      const name = id.name as string;
      if (!isConstant(name ?? '')) continue;
      const value = numberOf(init, known);
      known.set(name, value);
      const before = found.at(-1);
      const follows = before !== undefined && between === '\n';
      const comment = follows ? before.comment : between;
      const together = follows ? before.together : [];
      together.push(name);
      found.push({ name, value, comment, together });
    }
  }
  return found;
}

/** The constants without a unit that stand where ms are wanted. */
function usedAsMs(program: Parts): string[] {
  const within = (node: Parts): string[] => {
    if (node.type === 'Identifier') return isConstant(node.name as string) ? [node.name as string] : [];
    if (node.type === 'CallExpression' && ['min', 'max'].includes(calledOf(node)))
      return (node.arguments as Parts[]).flatMap(within);
    return node.type === 'BinaryExpression' && /^[+-]$/.test(node.operator as string)
      ? [...within(node.left as Parts), ...within(node.right as Parts)]
      : [];
  };
  return [...nodes(program)].flatMap((node) => {
    if (node.type === 'CallExpression' && TIMERS.includes(calledOf(node)))
      return (node.arguments as Parts[]).flatMap(within);
    const { operator, left, right } = node as Parts & { readonly left: Parts; readonly right: Parts };
    if (node.type !== 'BinaryExpression' || !/^[+-]$/.test(operator as string)) return [];
    return [left, right].some((side) => side.type === 'CallExpression' && calledOf(side) === 'now')
      ? [left, right].flatMap(within)
      : [];
  });
}

function calledOf({ callee }: Parts): string {
  const { name, property } = (callee ?? {}) as { name?: string; property?: { name?: string } };
  return name ?? property?.name ?? '';
}

/** What is wrong with the names of the constants of a source, a line each: a name says what is counted, and in which unit. */
export function unclearConstants(path: string, text: string): string[] {
  const program = parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Parts;
  const named = constantsOf(program, text).flatMap((constant) => {
    const wrong = wrongIn(constant);
    return wrong ? [`${path}: ${constant.name} ${wrong}`] : [];
  });
  const timed = usedAsMs(program).filter((name) => !name.endsWith('_MS'));
  return [...named, ...[...new Set(timed)].map((name) => `${path}: ${name} is used as a time: let it end in _MS`)];
}

function wrongIn({ name, value, comment, together }: Constant): string | undefined {
  const [, degree] = DEGREES.exec(name) ?? VAGUE.exec(name) ?? [];
  if (degree) return `does not say what it is: "${degree}" of what? Say MAX_ or MIN_, the thing and the unit`;
  if (value === undefined) return undefined;
  const has = (ending: RegExp): boolean => together.some((each) => ending.test(each));
  if (TIMES.includes(name)) return 'is a time: let it end in _MS';
  if (/\bms\b/.test(comment) && !has(/_MS$/)) return 'is in ms, as its comment says: let it end in _MS';
  if (/µs\b/.test(comment) && !has(/_(US|MS|DIGITS)$/)) return 'is in µs, as its comment says: let it end in _US';
  if (/\bbytes\b/i.test(comment) && !has(/_(BYTES|LENGTH)$/))
    return 'is in bytes, as its comment says: let it end in _BYTES';
  if (value > 0 && value < 1 && !has(/_(PART|RATE|FACTOR)$/)) return 'is a part of something: let it end in _PART';
  return undefined;
}

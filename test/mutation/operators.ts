import type { Change } from './mutant.ts';

/** A node of the syntax tree, by the names of ESTree. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const OTHER: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '==': ['!='],
  '!=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '**': ['*'],
  '&': ['|'],
  '|': ['&'],
  '<<': ['>>'],
  '>>': ['<<'],
  '>>>': ['<<'],
  '&&': ['||'],
  '||': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '*=': ['/='],
  '/=': ['*='],
  '??=': ['='],
  '||=': ['='],
  '&&=': ['='],
};

/** Methods that are easily taken for each other. */
const OTHER_METHOD = new Map(
  Object.entries({
    min: 'max',
    max: 'min',
    some: 'every',
    every: 'some',
    floor: 'ceil',
    ceil: 'floor',
    shift: 'pop',
    pop: 'shift',
    findLast: 'find',
    startsWith: 'endsWith',
  }),
);
/** Methods whose result may be taken as it was before them. */
const NEEDLESS = new Set(['filter', 'toSorted', 'sort', 'toReversed', 'slice', 'trim', 'unref']);

type Text = (part: unknown) => string;

const node = (value: unknown): Node | undefined =>
  typeof value === 'object' && value !== null && 'type' in value ? (value as Node) : undefined;

const isText = (value: unknown): boolean => {
  const it = node(value);
  return it?.type === 'TemplateLiteral' || (it?.type === 'Literal' && typeof it.value === 'string');
};
/** Whether an expression can only be true or false. */
export const isBoolean = (value: unknown): boolean => {
  const it = node(value);
  if (it?.type === 'ParenthesizedExpression') return isBoolean(it.expression);
  if (it?.type === 'UnaryExpression') return it.operator === '!';
  if (it?.type === 'BinaryExpression') return /^([<>]=?|[!=]==?|in|instanceof)$/.test(String(it.operator));
  return it?.type === 'LogicalExpression' && it.operator !== '??' && isBoolean(it.left) && isBoolean(it.right);
};
const isTrue = (value: unknown): boolean => node(value)?.type === 'Literal' && node(value)?.value === true;

function numbers(value: number, raw: string): string[] {
  if (raw.endsWith('n')) return [value === 0 ? '1n' : '0n'];
  if (value === 0) return ['1'];
  return value === 1 ? ['0', '2'] : ['0', `(${raw} * 10)`];
}

/**
 * What else may stand where an expression stands.
 * @param decides whether both answers stand there anyway, which say more than its opposite
 */
export function replacements(it: Node, text: Text, decides: boolean): string[] {
  const operator = String(it.operator ?? '');
  const sides = (between: string) => `${text(it.left)} ${between} ${text(it.right)}`;
  switch (it.type) {
    case 'BinaryExpression':
      if (operator === '+' && (isText(it.left) || isText(it.right))) return [];
      return (OTHER[operator] ?? []).filter((_, i) => !decides || (i === 0 && !/[!=]=/.test(operator))).map(sides);
    case 'LogicalExpression':
      if (operator === '??') return [text(it.left), text(it.right)];
      return OTHER[operator]!.map((other) => `(${text(it.left)}) ${other} (${text(it.right)})`);
    case 'AssignmentExpression':
      return (OTHER[operator] ?? []).map(sides);
    case 'UpdateExpression': {
      const other = operator === '++' ? '--' : '++';
      return [it.prefix ? `${other}${text(it.argument)}` : `${text(it.argument)}${other}`];
    }
    case 'UnaryExpression':
      return (operator === '!' && !decides) || operator === '-' ? [text(it.argument)] : [];
    case 'ConditionalExpression':
      return [text(it.consequent), text(it.alternate)];
    case 'Literal':
      if (typeof it.value === 'boolean') return [`${!it.value}`];
      if (typeof it.value === 'number' || typeof it.value === 'bigint')
        return numbers(Number(it.value), String(it.raw));
      // With blanks it is a message.
      return typeof it.value === 'string' && /^\S+$/.test(it.value) ? ["''"] : [];
    case 'TemplateLiteral':
      return (it.quasis as Node[]).some(({ value }) => /\s/.test((value as { raw: string }).raw)) ? [] : ['``'];
    case 'ArrayExpression':
      return (it.elements as unknown[]).length > 0 ? ['[]'] : [];
    case 'ChainExpression':
      return [text(it).replace('?.[', '[').replace('?.(', '(').replace('?.', '.')].filter((to) => to !== text(it));
    case 'CallExpression': {
      const callee = node(it.callee);
      const method = callee?.type === 'MemberExpression' && !callee.computed ? text(callee.property) : '';
      const before = callee ? text(callee.object) : '';
      const after = text(it).slice(text(callee).length);
      if (NEEDLESS.has(method) && !callee?.optional) return [before];
      const other = OTHER_METHOD.get(method);
      return other ? [`${before}.${other}${after}`] : [];
    }
    default:
      return [];
  }
}

const conditions = (test: unknown): string[] => {
  const it = node(test);
  if (!it || it.type === 'Literal') return [];
  return ['true', 'false'];
};

const block = (value: unknown, least: number): Change[] => {
  const it = node(value);
  if (it?.type !== 'BlockStatement' || (it.body as unknown[]).length < least) return [];
  return [{ kind: 'skip', start: it.start, end: it.end, to: '' }];
};

/** What may be done to a statement, beside what is done to its expressions. */
export function changes(it: Node, parent: Node | undefined, text: Text): Change[] {
  const instead = (of: unknown, ...to: string[]): Change[] => {
    const place = node(of);
    return place ? to.map((each) => ({ kind: 'expression', start: place.start, end: place.end, to: each })) : [];
  };
  const guard = (): Change[] => [{ kind: 'guard', start: it.start, end: it.end, to: '' }];
  switch (it.type) {
    case 'IfStatement':
      return instead(it.test, ...conditions(it.test));
    case 'WhileStatement':
    case 'ForStatement':
      return isTrue(it.test) ? [] : instead(it.test, ...(it.test ? ['false'] : []));
    case 'ReturnStatement':
      return instead(it.argument, ...(isBoolean(it.argument) ? ['true', 'false'] : ['undefined'])).filter(() => {
        const { type } = node(it.argument) ?? {};
        return type !== 'Literal' && !(type === 'Identifier' && node(it.argument)?.name === 'undefined');
      });
    case 'ArrowFunctionExpression':
      if (!it.expression || node(it.body)?.type === 'Literal') return [];
      return instead(it.body, ...(isBoolean(it.body) ? ['true', 'false'] : ['undefined']));
    case 'FunctionDeclaration':
    case 'FunctionExpression':
      return parent?.type === 'MethodDefinition' && parent.kind === 'constructor' ? [] : block(it.body, 2);
    case 'CatchClause':
      return block(it.body, 1);
    case 'TryStatement':
      return block(it.finalizer, 1);
    case 'ContinueStatement':
    case 'BreakStatement':
    case 'ThrowStatement':
      return guard();
    case 'ExpressionStatement': {
      const expression = node(it.expression);
      if (!expression || it.directive || node(expression.callee)?.type === 'Super') return [];
      const waits = expression.type === 'AwaitExpression';
      return [...guard(), ...(waits ? instead(expression, `void ${text(expression.argument)}`) : [])];
    }
    default:
      return [];
  }
}

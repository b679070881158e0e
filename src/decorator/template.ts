import { counted, invalid, shown } from '../core/contract/errors.ts';
import { parametersOf } from './parameters.ts';

/** Makes the key of one call. */
export type KeyOf = (args: readonly unknown[]) => string;

type Method = (...args: never[]) => unknown;

const HOLE = /\{([^{}]*)\}/g;
const PATH = /^(\d+|[\p{ID_Start}$_][\p{ID_Continue}$]*)((?:\.[\p{ID_Continue}$]+)*)$/u;

/**
 * The key that a template makes from a call's arguments: `{0}` is the first argument, `{0.id}` a property of it, `{order.id}`
 * the same by the parameter's name in the source. Each value must be text, a number, a bigint or a boolean.
 * @param name the method, for messages
 * @throws LockError `LOCK_INVALID` for a placeholder without a parameter
 */
export function fromTemplate(template: string, method: Method, name: string): KeyOf {
  const parts = template.split(HOLE);
  if (parts.some((part, i) => i % 2 === 0 && /[{}]/.test(part)))
    throw invalid(
      `the template ${shown(template)} of ${name} has a brace without its other; for braces in a key give a function`,
    );
  const holes = parts.map((part, i) => (i % 2 === 0 ? part : hole(part, method, name)));
  return (args) => holes.map((part) => (typeof part === 'string' ? part : part(args))).join('');
}

/** The key without a template: the method's name and, if there is one, the first argument. */
export function fromName(name: string): KeyOf {
  return (args) => (args.length === 0 ? name : `${name}:${textOf(args[0], '0', name)}`);
}

function hole(path: string, method: Method, name: string): KeyOf {
  const [, first, rest] = PATH.exec(path) ?? [];
  if (first === undefined)
    throw invalid(`{${path}} in the template of ${name} is no argument; write {0}, {0.id} or {order.id}`);
  const index = /^\d/.test(first) ? byNumber(Number(first), method, name) : byName(first, method, name);
  const properties = rest!.split('.').slice(1);
  return (args) => textOf(properties.reduce(read, args[index]), path, name);
}

function byNumber(index: number, method: Method, name: string): number {
  const { names, open } = parametersOf(method);
  if (index < names.length || open) return index;
  throw invalid(
    `{${index}} in the template of ${name} is missing: it has ${counted(names.length, 'parameter')}, counted from {0}`,
  );
}

function byName(parameter: string, method: Method, name: string): number {
  const index = parametersOf(method).names.indexOf(parameter);
  if (index >= 0) return index;
  throw invalid(
    `{${parameter}} in the template of ${name} is not the name of a parameter (minified or wrapped, perhaps); count them instead, from {0}, or give a function`,
  );
}

const read = (value: unknown, property: string): unknown =>
  value === undefined || value === null ? undefined : (value as Record<string, unknown>)[property];

function textOf(value: unknown, path: string, name: string): string {
  const plain =
    typeof value === 'number' ? Number.isFinite(value) : ['string', 'bigint', 'boolean'].includes(typeof value);
  if (plain && value !== '') return String(value);
  throw invalid(
    `{${path}} of a call to ${name} is ${shown(value)}, which makes no key; give a function of the arguments as the key`,
  );
}

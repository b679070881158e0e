import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { layouts as ofStock } from '../../products/stock/redis/layout.ts';
import { compile } from '../../scripts/build-lua.mjs';
import { literal, statementsOf } from '../../scripts/build-sql.mjs';
import { layouts as ofBackend } from '../../src/backends/redis/layout.ts';
import { temporaryFolder } from '../kit/folder.ts';
import { type Change, type Declaration, type Mutant, mutantOf } from './mutant.ts';

type Language = 'lua' | 'sql';

/** Comments and texts are one token each; so nothing inside them is taken for code. */
const TOKENS: Readonly<Record<Language, RegExp>> = {
  lua: /--[^\n]*|'(?:[^'\\\n]|\\.)*'|\d+(?:\.\d+)?|[\w.]+|==|~=|<=|>=|\.\.|[<>+\-*/%=#]|\S/g,
  sql: /--[^\n]*|'(?:[^']|'')*'|\{\w+\}|[@:$]\w+|\d+(?:\.\d+)?|\w+|:=|<>|!=|<=|>=|\|\||[<>+\-*/%=]|\S/g,
};

const OTHER: Readonly<Record<Language, Readonly<Record<string, string>>>> = {
  lua: {
    ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '~=', '~=': '==', '+': '-', '-': '+', '*': '/', '/': '*' },
    ...{ and: 'or', or: 'and', not: '', true: 'false', false: 'true', 'math.min': 'math.max', 'math.max': 'math.min' },
  },
  sql: {
    ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '=': '<>', '<>': '=', '+': '-', '-': '+', '*': '/', '/': '*' },
    ...{ and: 'OR', or: 'AND', not: '', true: 'false', false: 'true', greatest: 'LEAST', least: 'GREATEST' },
    ...{ desc: 'ASC', asc: 'DESC', min: 'max', max: 'min', exists: 'NOT EXISTS' },
  },
};

/** Lines that are a statement by themselves, and may be left out. */
const STATEMENT: Readonly<Record<Language, RegExp>> = {
  lua: /^\s*(?!local |return|end|if |for |while |else|function )[\w.[\], ]+(?:\(.*\)|\s=\s.*[^,({])$/,
  sql: /^\s*(?:PERFORM|DELETE|UPDATE|[\w.]+ :=|RETURN NEXT|EXIT|CONTINUE|AND|FOR UPDATE|ORDER BY)\b.*$/,
};
const CONDITION: Readonly<Record<Language, RegExp>> = {
  lua: /\b(?:els)?if (.+?) then\b/g,
  sql: /\b(?:ELS)?IF (.+?) THEN\b/g,
};

const balanced = (text: string): boolean => {
  let depth = 0;
  for (const char of text.replace(/'[^']*'/g, '')) {
    if ('({'.includes(char)) depth++;
    if (')}'.includes(char) && --depth < 0) return false;
  }
  return depth === 0;
};

function* inLine(line: string, at: number, language: Language): Generator<Change> {
  const code = line.replace(/\s*-- .*$/, '');
  const change = (from: number, length: number, to: string): Change => ({
    ...{ kind: 'text', start: at + from, end: at + from + length, to },
  });
  if (STATEMENT[language].test(code) && balanced(code) && (language === 'lua' || /;$|^\s*(AND|FOR|ORDER)/.test(code)))
    yield change(code.search(/\S/), code.trimStart().length, '');
  for (const found of code.matchAll(CONDITION[language]))
    for (const to of ['true', 'false']) yield change(found.index + found[0].indexOf(found[1]!), found[1]!.length, to);
  let before = '';
  for (const { 0: token, index } of code.matchAll(TOKENS[language])) {
    const other = OTHER[language][token.toLowerCase()];
    const sign = token === '-' && /^([(,=<>+*/]|return|then|)$/.test(before);
    // At the start of a line, behind SET or a comma it says what is to be: no comparison.
    const sets = language === 'sql' && token === '=' && /(^|\bSET|,)\s*[\w.]+\s*$/i.test(code.slice(0, index));
    const all = token === '*' && /^(select|\(|count)$/i.test(before);
    const named = /^(create|is)$/i.test(before);
    // That of a column is like a type, and IS NOT NULL has its opposite below.
    const nothing = /^not$/i.test(token) && /^not null/i.test(code.slice(index));
    if (other !== undefined && !sign && !sets && !all && !named && !nothing) yield change(index, token.length, other);
    if (/^\d+$/.test(token)) {
      const value = Number(token);
      for (const to of value === 0 ? ['1'] : value === 1 ? ['0', '2'] : ['0', `${token}0`])
        yield change(index, token.length, to);
    }
    if (language === 'sql' && /^is$/i.test(token) && /^is null/i.test(code.slice(index)))
      yield change(index, 7, 'IS NOT NULL');
    if (language === 'sql' && /^is not null/i.test(code.slice(index))) yield change(index, 11, 'IS NULL');
    before = token;
  }
}

/** The functions of a script, and what lies between them. */
function declarations(file: string, whole: string): Declaration[] {
  const begins = [
    0,
    ...[...whole.matchAll(/^(?:local function|CREATE OR REPLACE|-- name:) .*$/gm)].map(({ index }) => index),
  ];
  return begins.map((start, i) => {
    const text = whole.slice(start, begins[i + 1]);
    const name = /(?:function \{?|-- name: )(\w+)/i.exec(text.split('\n', 1)[0]!)?.[1] ?? 'script';
    return { file, name, start, text };
  });
}

/** Every mutant of a script. Pure. */
export function mutantsOfScript(file: string, whole: string): Mutant[] {
  const language: Language = file.endsWith('.lua') ? 'lua' : 'sql';
  const all = declarations(file, whole);
  const found: Mutant[] = [];
  let at = 0;
  for (const line of whole.split('\n')) {
    for (const change of inLine(line, at, language)) {
      const around = all.findLast(({ start }) => start <= change.start)!;
      found.push(mutantOf(whole, around, change));
    }
    at += line.length + 1;
  }
  return [...new Map(found.map((mutant) => [mutant.id, mutant])).values()];
}

/** The script with one of its mutants. */
export const mutated = (whole: string, { start, end, to }: Mutant): string =>
  whole.slice(0, start) + to + whole.slice(end);

/** The text of the module that has the mutant's script compiled into it. @param root ends with a slash */
export function moduleWith(root: string, mutant: Mutant, generated: string): string {
  const whole = readFileSync(`${root}${mutant.file}`, 'utf8');
  const text = mutated(whole, mutant);
  const [folder, name] = mutant.file.split(/\/(?:lua|sql)\//) as [string, string];
  if (mutant.file.endsWith('.sql')) {
    const other = new Map(statementsOf(name, text));
    return statementsOf(name, whole).reduce(
      (module, [one, old]) => module.replace(literal(old), () => literal(other.get(one)!)),
      generated,
    );
  }
  using copy = temporaryFolder();
  cpSync(`${root}${folder}/lua`, copy.path, { recursive: true });
  writeFileSync(join(copy.path, name), text);
  return compile(pathToFileURL(`${copy.path}/`), folder.includes('stock') ? ofStock : ofBackend);
}

/** Where that module is, in the sources. */
export const moduleOf = ({ file }: Mutant): string =>
  file.replace(/\/lua\/.*/, '/scripts.generated.ts').replace(/\/sql\/.*/, '/sql.generated.ts');

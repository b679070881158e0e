import { describe, expect, test } from 'vitest';
import {
  CommandBatcher,
  type Request,
  type ScriptServers,
  shareOf,
} from '../../../src/backends/redis/command-batcher.ts';

const MOST = 100;
const SCRIPT = { name: 'attempt', sha1: '', text: '' };

describe('how many requests share a command', () => {
  test('a lone request goes by itself, whatever is under way', () => {
    for (const underWay of [0, 1, 2, 3, 10]) expect(shareOf(1, underWay, MOST)).toBe(1);
  });

  test('with nothing under way they are three commands', () => {
    expect(Math.ceil(64 / shareOf(64, 0, MOST))).toBe(3);
  });

  test('with enough under way they are one: commands do not fall apart into ever smaller ones', () => {
    expect(shareOf(22, 2, MOST)).toBe(22);
    expect(shareOf(22, 9, MOST)).toBe(22);
  });

  test('no command has more than it may', () => {
    expect(shareOf(5_000, 0, MOST)).toBe(MOST);
  });
});

describe('when a request is sent', () => {
  /** What was sent so far, each command by its questions, and the answers that are awaited. */
  function traffic() {
    const sent: string[][] = [];
    const answers: (() => void)[] = [];
    const send = async <Answer>(questions: readonly string[], answer: Answer): Promise<Answer> => {
      sent.push([...questions]);
      servers.commands++;
      const { promise, resolve } = Promise.withResolvers<void>();
      answers.push(resolve);
      await promise;
      servers.commands--;
      return answer;
    };
    const keysOf = (requests: readonly Request[]): string[] => requests.map(({ key }) => key);
    const servers = {
      commands: 0,
      askOne: (_, { key }) => send([key], key),
      ask: (_, requests) => send(keysOf(requests), keysOf(requests)),
    } satisfies ScriptServers;
    const batcher = new CommandBatcher(MOST, servers, SCRIPT);
    return { sent, answers, turn: { ask: (key: string) => batcher.ask({ key, args: [] }) } };
  }
  const nextTurn = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

  test('at once where nothing is under way', async () => {
    const { sent, answers, turn } = traffic();
    const first = turn.ask('a');
    expect(sent, 'sent before the turn is over').toEqual([['a']]);
    answers[0]!();
    expect(await first).toBe('a');
    const second = turn.ask('b');
    expect(sent.at(-1), 'sent at once again after the answer').toEqual(['b']);
    answers[1]!();
    expect(await second).toBe('b');
  });

  test('at once too beside one that is not answered yet: a node of five is late more often than not', () => {
    const { sent, turn } = traffic();
    void turn.ask('a');
    void turn.ask('b');
    expect(sent, 'sent before the turn is over').toEqual([['a'], ['b']]);
  });

  test('not beside another where the last turn had company: who sends alone there sends many commands', async () => {
    const { sent, answers, turn } = traffic();
    const many = ['a', 'b', 'c', 'd'].map((question) => turn.ask(question));
    await nextTurn();
    for (const answer of answers.splice(0)) answer();
    await Promise.all(many);
    void turn.ask('e');
    void turn.ask('f');
    expect(sent.slice(3), 'sent before the turn is over').toEqual([['e']]);
    await nextTurn();
    void turn.ask('g');
    await nextTurn();
    for (const answer of answers.splice(0)) answer();
    await nextTurn();
    void turn.ask('h');
    void turn.ask('i');
    expect(sent.slice(3), 'f and g were alone in their turns').toEqual([['e'], ['f'], ['g'], ['h'], ['i']]);
  });

  test('with whatever else is asked in this turn where more is under way', async () => {
    const { sent, answers, turn } = traffic();
    const all = ['a', 'b', 'c', 'd', 'e'].map((question) => turn.ask(question));
    expect(sent).toEqual([['a'], ['b']]);
    await nextTurn();
    expect(sent).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
    for (const answer of answers) answer();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

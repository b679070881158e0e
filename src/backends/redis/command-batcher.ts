/** The number of commands to keep under way at once: the server works on one while the client reads and writes the others. */
const LANES = 3;

/** The traffic on one connection, of all its senders. */
export interface Traffic {
  readonly commands: number;
}

/** Answers one question in a command of its own, or several in one command, which counts as traffic at once. Rejects, and never throws. */
export interface Asker<Question, Answer> {
  one(question: Question): Promise<Answer>;
  many(questions: Question[]): Promise<Answer[]>;
}

interface PendingQuestion<Question, Answer> {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Collects the questions of one turn of the event loop and sends them in few commands. A command costs client and server many times what a
 * lock costs, and many questions share that. A question waits for nothing but the end of its turn. It does not even wait for that if
 * nothing is under way, or if one command is and the last turn had one question: a lone caller has nobody to share with.
 */
export class CommandBatcher<Question, Answer> {
  #pending: PendingQuestion<Question, Answer>[] = [];
  /** Whether several questions were asked in the last turn that was waited for. */
  #hadSeveral = false;
  readonly #most: number;
  readonly #traffic: Traffic;
  readonly #asker: Asker<Question, Answer>;
  readonly #groupOf: ((asked: PendingQuestion<Question, Answer>) => number) | undefined;

  /**
   * @param most the largest number of questions in one command
   * @param groupOf gives the group of a question. One command has questions of one group; without groups, of all
   */
  constructor(
    most: number,
    traffic: Traffic,
    asker: Asker<Question, Answer>,
    groupOf?: (question: Question) => number,
  ) {
    this.#most = most;
    this.#traffic = traffic;
    this.#asker = asker;
    this.#groupOf = groupOf && (({ question }) => groupOf(question));
  }

  ask(question: Question): Promise<Answer> {
    if (this.#pending.length === 0 && this.#traffic.commands <= (this.#hadSeveral ? 0 : 1))
      return this.#asker.one(question);
    return new Promise((resolve, reject) => {
      this.#pending.push({ question, resolve, reject });
      // The flush runs after everything that the last reply caused.
      if (this.#pending.length === 1) process.nextTick(this.#flush);
    });
  }

  readonly #flush = (): void => {
    const asked = this.#pending;
    this.#pending = [];
    this.#hadSeveral = asked.length > 1;
    const share = shareOf(asked.length, this.#traffic.commands, this.#most);
    for (const part of parts(asked, share, this.#groupOf)) this.#command(part);
  };

  #command(part: PendingQuestion<Question, Answer>[]): void {
    if (part.length === 1) {
      const { question, resolve, reject } = part[0]!;
      this.#asker.one(question).then(resolve, reject);
      return;
    }
    this.#asker.many(part.map(({ question }) => question)).then(
      (answers) => {
        for (let i = 0; i < part.length; i++) part[i]!.resolve(answers[i]!);
      },
      (error) => {
        for (const { reject } of part) reject(error);
      },
    );
  }
}

/**
 * Gives how many of `count` requests go into one command. With one command for all, the client would rest while the server works, and then
 * the server while the client does. So there are a few, each written by itself, and the requests that the answer to one causes make up the
 * next.
 */
export function shareOf(count: number, underWay: number, most: number): number {
  const free = Math.max(1, LANES - underWay);
  return Math.min(most, Math.ceil(count / free));
}

/** Splits `all`, in order, into parts of at most `most` items of one group. */
export function parts<T>(all: T[], most: number, groupOf?: (one: T) => number): T[][] {
  if (all.length === 1) return [all];
  const groups = groupOf ? Map.groupBy(all, groupOf).values() : [all];
  return [...groups].flatMap((group) => {
    if (group.length <= most) return [group];
    return Array.from({ length: Math.ceil(group.length / most) }, (_, i) => group.slice(i * most, (i + 1) * most));
  });
}

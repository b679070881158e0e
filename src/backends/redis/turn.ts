interface Asked<Question, Answer> {
  readonly question: Question;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Collects what is asked in one turn of the event loop and sends it as one command: what a command costs client and server,
 * many times what a lock costs, is paid once. Nothing waits for anything but the turn it was asked in.
 */
export class Turn<Question, Answer> {
  #asked: Asked<Question, Answer>[] = [];
  readonly #send: (questions: Question[]) => Promise<Answer[]>;
  readonly #parts: <T extends { readonly question: Question }>(asked: T[]) => T[][];

  /** @param groupOf what only questions of one command have in common; without it, all do */
  constructor(
    most: number,
    send: (questions: Question[]) => Promise<Answer[]>,
    groupOf?: (question: Question) => number,
  ) {
    this.#send = send;
    this.#parts = (asked) => parts(asked, most, groupOf && (({ question }) => groupOf(question)));
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ question, resolve, reject });
      // Runs when everything that the last reply set off has run.
      if (this.#asked.length === 1) process.nextTick(this.#flush);
    });
  }

  readonly #flush = (): void => {
    const asked = this.#asked;
    this.#asked = [];
    for (const part of this.#parts(asked)) {
      this.#send(part.map(({ question }) => question)).then(
        (answers) => {
          for (let j = 0; j < part.length; j++) part[j]!.resolve(answers[j]!);
        },
        (error) => {
          for (const { reject } of part) reject(error);
        },
      );
    }
  };
}

/** `all`, in order, in parts of at most `most` of one group. */
export function parts<T>(all: T[], most: number, groupOf?: (one: T) => number): T[][] {
  if (all.length === 1) return [all];
  const groups = groupOf ? Map.groupBy(all, groupOf).values() : [all];
  return [...groups].flatMap((group) => {
    if (group.length <= most) return [group];
    return Array.from({ length: Math.ceil(group.length / most) }, (_, i) => group.slice(i * most, (i + 1) * most));
  });
}

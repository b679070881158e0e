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
  readonly #most: number;

  /** @param most questions in one command */
  constructor(most: number, send: (questions: Question[]) => Promise<Answer[]>) {
    this.#most = most;
    this.#send = send;
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
    for (let i = 0; i < asked.length; i += this.#most) {
      const part = asked.length > this.#most ? asked.slice(i, i + this.#most) : asked;
      this.#send(part.map(({ question }) => question)).then(
        (answers) => {
          for (const [j, { resolve }] of part.entries()) resolve(answers[j]!);
        },
        (error) => {
          for (const { reject } of part) reject(error);
        },
      );
    }
  };
}

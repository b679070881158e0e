/** Choices, all from one source of randomness. */
export class Choice {
  readonly random: () => number;

  constructor(random: () => number) {
    this.random = random;
  }

  between(low: number, high: number): number {
    return low + this.random() * (high - low);
  }

  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  chance(part: number): boolean {
    return this.random() < part;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!;
  }
}

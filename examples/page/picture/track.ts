/** What something looks like from a moment on. */
export interface Change {
  /** ms of the picture. */
  readonly at: number;
  /** Declarations of CSS. */
  readonly css: string;
}

/** How long a change takes to be seen, ms of the picture. */
const MOVE = 350;
/** What is shorter is not seen. ms of the picture. */
const BLINK = 16;

/** Turns changes over time into keyframes of CSS. Equal ones share theirs. */
export class Tracks {
  readonly #length: number;
  readonly #names = new Map<string, string>();

  /** @param length ms of the picture */
  constructor(length: number) {
    this.#length = length;
  }

  /**
   * @param changes in the order of their times, from 0
   * @param move false: without a transition
   * @returns attributes: what it looks like in the end, and the name of its keyframes
   */
  of(changes: readonly Change[], move = true): string {
    const seen = changes.filter(({ at }, i) => i === changes.length - 1 || changes[i + 1]!.at - at >= BLINK);
    const distinct = seen.filter(({ css }, i) => i === 0 || css !== seen[i - 1]!.css);
    const last = distinct.at(-1)!.css;
    if (distinct.length === 1) return `style="${last}"`;
    const frames = this.#frames(distinct, move ? MOVE : 1);
    const name = this.#names.get(frames) ?? `k${this.#names.size.toString(36)}`;
    this.#names.set(frames, name);
    return `style="${last};animation-name:${name}"`;
  }

  /** All keyframes. */
  css(): string {
    return [...this.#names].map(([frames, name]) => `@keyframes ${name}{${frames}}`).join('\n');
  }

  #frames(changes: readonly Change[], move: number): string {
    const share = (at: number): string => `${Number(((100 * at) / this.#length).toFixed(3))}%`;
    const frames = [`0%{${changes[0]!.css}}`];
    let done = '0%';
    for (const [i, { at, css }] of changes.entries()) {
      if (i === 0) continue;
      const next = changes[i + 1]?.at ?? this.#length;
      if (share(at) !== done) frames.push(`${share(at)}{${changes[i - 1]!.css}}`);
      done = share(Math.min(at + move, next));
      frames.push(`${done}{${css}}`);
    }
    return [...frames, `100%{${changes.at(-1)!.css}}`].join('');
  }
}

/** What is used of autocannon, which has no types of its own. */
declare module 'autocannon' {
  interface Client {
    setRequest(request: { method: string; path: string }): void;
  }
  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly amount: number;
    readonly timeout: number;
    readonly requests: readonly { setupRequest(request: object): object }[];
  }
  interface Result {
    readonly errors: number;
    readonly non2xx: number;
    readonly duration: number;
  }
  interface Run extends PromiseLike<Result> {
    on(event: 'response', heard: (client: Client, status: number, bytes: number, ms: number) => void): this;
  }
  export default function autocannon(options: Options): Run;
}

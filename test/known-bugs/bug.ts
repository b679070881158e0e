/** A defect that somebody really had, and what finds it here. */
export interface KnownBug {
  /** Of other projects the tracker's number, or the version in which it was seen; of ours where it was. */
  readonly source: string;
  readonly what: string;
  readonly found: Found;
}

/** A check that finds it. `planted`: the defect stands in this repository, on purpose, and a test fails if the check misses it. */
export type Found =
  | { readonly by: 'planted in the core' | 'planted in the quorum' | 'planted in a backend'; readonly bug: string }
  | { readonly by: 'planted in memos'; readonly bug: string }
  | { readonly by: 'planted under torture'; readonly bug: string }
  | { readonly by: 'twin of a model'; readonly model: string; readonly twin: string }
  /** A scene that has the fault, with the name of the test. An ellipsis stands for what differs. */
  | { readonly by: 'scene'; readonly file: string; readonly test: string };

export const inCore = (bug: string): Found => ({ by: 'planted in the core', bug });
export const inQuorum = (bug: string): Found => ({ by: 'planted in the quorum', bug });
export const inBackend = (bug: string): Found => ({ by: 'planted in a backend', bug });
export const inMemos = (bug: string): Found => ({ by: 'planted in memos', bug });
export const underTorture = (bug: string): Found => ({ by: 'planted under torture', bug });
export const twin = (model: string, name: string): Found => ({ by: 'twin of a model', model, twin: name });
export const scene = (file: string, test: string): Found => ({ by: 'scene', file, test });
/** A case of the suite that runs on every engine; it stands in `products/testing`. */
export const onEveryEngine = (file: string, test: string): Found => scene(`products/testing/${file}.ts`, test);

export const bug = (source: string, what: string, found: Found): KnownBug => ({ source, what, found });
